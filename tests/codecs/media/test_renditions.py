"""Pictures and films made of files: real streams, and such that are broken."""

import io
import itertools
import os
import struct
from fractions import Fraction

import av
import pytest
from PIL import Image

from motorpool.codecs.errors import CodecError
from motorpool.codecs.media.exif import taken_at
from motorpool.codecs.media.h264 import H264
from motorpool.codecs.media.h265 import H265
from motorpool.codecs.media.renditions import (
    HEAD_BYTES,
    encode_picture,
    film_length,
    format_of,
    is_playable,
    write_film,
)


def file(tmp_path, content, name="film.h264"):
    path = tmp_path / name
    path.write_bytes(content)
    return str(path)


def shown_times(path):
    """When each picture of a film is shown, in seconds, and whether the film decodes to its end."""
    with av.open(path) as film:
        return [float(frame.pts * frame.time_base) for frame in film.decode(video=0)]


def reordered(pictures=30, rate=10):
    """A stream with pictures that depend on later ones."""
    content = io.BytesIO()
    with av.open(content, "w", format="h264") as output:
        stream = output.add_stream(
            "libx264", rate=rate, options={"bf": "2", "preset": "ultrafast", "g": "10"}
        )
        stream.width, stream.height, stream.pix_fmt = 128, 64, "yuv420p"
        for number in range(pictures):
            frame = av.VideoFrame(128, 64, "yuv420p")
            for plane in frame.planes:
                plane.update(bytes([number * 8]) * plane.buffer_size)
            frame.pts = number
            output.mux(stream.encode(frame))
        output.mux(stream.encode(None))
    return content.getvalue()


def test_the_length_of_a_film_is_told_by_its_container_or_its_pictures(film, tmp_path):
    raw = file(tmp_path, reordered(30, 10))
    assert film_length(raw, "h264") == 3000
    target = str(tmp_path / "film.mp4")
    write_film(raw, "h264", target)
    assert film_length(target, "mov") == pytest.approx(3000, abs=200)
    with pytest.raises(CodecError):
        film_length(file(tmp_path, b"\0\0\0\1 no film", "broken.mp4"), "mov")


@pytest.mark.parametrize(("coding", "file_format"), [(H264, "h264"), (H265, "hevc")])
def test_a_stream_without_a_container_becomes_a_film_with_all_pictures(film, tmp_path, coding, file_format):
    content = b"".join(film(coding, 50, 25))
    assert format_of(content[:HEAD_BYTES], "bin") == file_format
    target = str(tmp_path / "film.mp4")
    write_film(file(tmp_path, content), file_format, target)
    times = shown_times(target)
    assert len(times) == 50
    assert times == pytest.approx([number / 25 for number in range(50)], abs=0.002)
    with open(target, "rb") as made:
        head = made.read(4096)
    assert is_playable(head)
    assert head.index(b"moov") < 100  # in front, so that a browser begins at once
    with av.open(target) as made:
        tag = made.streams.video[0].codec_context.codec_tag
    assert tag == ("avc1" if coding is H264 else "hvc1")


def test_pictures_are_shown_in_their_order_at_the_rate_of_the_stream(tmp_path):
    target = str(tmp_path / "film.mp4")
    write_film(file(tmp_path, reordered()), "h264", target)
    times = shown_times(target)
    assert len(times) == 30
    steps = [after - before for before, after in itertools.pairwise(times)]
    assert steps == pytest.approx([0.1] * 29, abs=0.002)
    # Each picture is brighter than the one before it.
    with av.open(target) as made:
        bright = [frame.to_ndarray(format="gray")[0, 0] for frame in made.decode(video=0)]
    assert bright == sorted(bright)


def test_what_precedes_the_first_key_frame_is_left_out(film, tmp_path):
    pictures = film(H264, 50, 25)
    target = str(tmp_path / "film.mp4")
    write_film(file(tmp_path, b"".join(pictures[10:])), "h264", target)
    assert len(shown_times(target)) == 25


def test_a_film_in_another_container_is_copied_with_its_times(film, tmp_path):
    path = str(tmp_path / "film.ts")
    with av.open(path, "w", format="mpegts") as output:
        stream = output.add_mux_stream("h264")
        stream.time_base = Fraction(1, 90_000)
        for number, payload in enumerate(film(H264, 50, 25)):
            packet = av.Packet(payload)
            packet.stream, packet.time_base = stream, Fraction(1, 90_000)
            packet.pts = packet.dts = 900_000 + number * 9_000
            packet.is_keyframe = number % 25 == 0
            output.mux_one(packet)
    with open(path, "rb") as made:
        assert format_of(made.read(HEAD_BYTES), "bin") == "mpegts"
    target = str(tmp_path / "film.mp4")
    write_film(path, "mpegts", target)
    times = shown_times(target)
    assert len(times) == 50
    assert times[-1] - times[0] == pytest.approx(4.9, abs=0.01)


def test_the_picture_of_a_film_is_its_first_one_made_small(film, tmp_path):
    path = file(tmp_path, b"".join(film(H264, 10, 5, (1280, 720))))
    with Image.open(io.BytesIO(encode_picture(path, "h264"))) as picture:
        assert (picture.format, picture.size) == ("JPEG", (480, 270))


@pytest.mark.parametrize(("kind", "file_format"), [("JPEG", "jpeg_pipe"), ("PNG", "png_pipe")])
def test_a_photo_is_made_small_and_a_small_one_keeps_its_size(tmp_path, kind, file_format):
    for size, small in (((1000, 500), (480, 240)), ((100, 60), (100, 60))):
        content = io.BytesIO()
        Image.new("RGB", size, (10, 200, 30)).save(content, kind)
        head = content.getvalue()[:HEAD_BYTES]
        assert format_of(head, "jpg") == file_format
        path = file(tmp_path, content.getvalue(), "photo")
        with Image.open(io.BytesIO(encode_picture(path, file_format))) as picture:
            assert picture.size == small
            red, green, blue = picture.getpixel((50, 30))
            assert (red < 60, green > 150, blue < 90) == (True, True, True)


def golomb(number):
    return format(number + 1, "b").rjust(2 * (number + 1).bit_length() - 1, "0")


def large(content):
    """The stream with a parameter set that claims 16384 by 16384 pixels: baseline, level 6.2."""
    bits = "010000100000000000111110"  # profile, constraints, level
    numbers = "".join(map(golomb, (0, 0, 2, 1))) + "0" + golomb(1023) * 2
    bits += numbers + "11001"
    bits += "0" * (-len(bits) % 8)
    unit = bytes(int(bits[place : place + 8], 2) for place in range(0, len(bits), 8))
    place = content.index(b"\0\0\1\x67") + 3
    end = content.index(b"\0\0\0\1", place)
    return content[:place] + b"\x67" + unit + content[end:]


@pytest.mark.parametrize("spoil", ["empty", "noise", "parameters alone", "no key frame", "huge", "text"])
def test_what_is_no_film_is_refused(film, tmp_path, spoil):
    pictures = film(H264, 20, 10)
    content = {
        "empty": b"",
        "noise": b"\0\0\0\1\x67" + os.urandom(4000),
        "parameters alone": pictures[0][:40],
        "no key frame": b"".join(pictures[1:10]),
        "huge": large(b"".join(pictures[:10])),
        "text": b"#EXTM3U\nfile:///etc/passwd\n",
    }[spoil]
    path = file(tmp_path, content)
    with pytest.raises(CodecError):
        write_film(path, "h264", str(tmp_path / "made.mp4"))
    with pytest.raises(CodecError):
        encode_picture(path, "h264")


@pytest.mark.parametrize("cut", [0.3, 0.9])
def test_a_film_that_was_cut_off_plays_as_far_as_it_goes(film, tmp_path, cut):
    content = b"".join(film(H264, 50, 25))
    target = str(tmp_path / "film.mp4")
    write_film(file(tmp_path, content[: int(len(content) * cut)]), "h264", target)
    assert 2 < len(shown_times(target)) < 50


@pytest.mark.parametrize(
    ("head", "extension", "found"),
    [
        (b"\0\0\0\x20ftypisom", "h264", "mov"),
        (b"RIFF\0\0\0\0AVI LIST", "mp4", "avi"),
        (b"RIFF\0\0\0\0WAVEfmt ", "avi", None),
        (bytes.fromhex("3026b2758e66cf11"), "wmv", "asf"),
        (b"\0\0\0\1\x09\x10", "h265", "hevc"),
        (b"\0\0\1\x09", "bin", None),
        (b"ffconcat version 1.0\nfile /etc/passwd", "mp4", None),
        (b"#EXTM3U\n", "h264", None),
        (b"BM" + bytes(30), "bmp", "bmp_pipe"),
        (b"", "h264", None),
    ],
)
def test_the_first_bytes_tell_the_format(head, extension, found):
    assert format_of(head, extension) == found
    assert is_playable(head) == (found == "mov")


def exif(order, original="2026:11:21 14:32:07", changed="2026:11:22 01:02:03"):
    """A JPEG with the times at which it was taken and changed."""
    mark = {"<": b"II", ">": b"MM"}[order]
    entry = struct.Struct(order + "HHII").pack
    tiff = mark + struct.pack(order + "HI", 42, 8)
    tiff += struct.pack(order + "H", 2) + entry(0x0132, 2, 20, 100) + entry(0x8769, 4, 1, 50) + bytes(4)
    tiff = tiff.ljust(50, b"\0")
    tiff += struct.pack(order + "H", 1 if original else 0)
    tiff += entry(0x9003, 2, 20, 130) if original else b""
    tiff = tiff.ljust(100, b"\0") + changed.encode().ljust(30, b"\0") + original.encode() + b"\0"
    segment = b"Exif\0\0" + tiff
    return (
        b"\xff\xd8\xff\xe0\0\x04ab\xff\xe1"
        + struct.pack(">H", len(segment) + 2)
        + segment
        + b"\xff\xda\0\x02"
    )


@pytest.mark.parametrize("order", ["<", ">"])
def test_the_camera_says_when_a_photo_was_taken(order):
    assert taken_at(exif(order)).isoformat() == "2026-11-21T14:32:07"
    assert taken_at(exif(order, original="")).isoformat() == "2026-11-22T01:02:03"
    assert taken_at(exif(order, original="0000:00:00 00:00:00")) is None
    assert taken_at(b"\xff\xd8\xff\xe0\0\x04ab\xff\xda") is None
    whole = exif(order)
    for end in range(len(whole)):
        taken_at(whole[:end])  # never raises
