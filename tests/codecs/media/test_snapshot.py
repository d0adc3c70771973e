"""Key frames as JPEG pictures."""

import contextlib
import io
import resource

import av
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from motorpool.codecs.errors import CodecError
from motorpool.codecs.media.h264 import H264
from motorpool.codecs.media.h265 import H265
from motorpool.codecs.media.snapshot import encode_jpeg

BITS, COLUMN = 16, 16


def shown(jpeg):
    """The number in sixteen black or white columns, and how dark and how bright the picture gets."""
    with Image.open(io.BytesIO(jpeg)) as picture:
        grey = picture.convert("L")
        levels = [grey.getpixel((bit * COLUMN + COLUMN // 2, grey.height // 2)) for bit in range(BITS)]
        return sum((level > 125) << bit for bit, level in enumerate(levels)), min(levels), max(levels)


@pytest.mark.parametrize("coding", [H264, H265])
def test_the_picture_shows_what_was_filmed_in_its_own_size_and_in_the_full_range_of_brightness(film, coding):
    payload = film(coding, 31, 5)[30]
    jpeg = encode_jpeg(coding.ffmpeg_name, payload)
    with Image.open(io.BytesIO(jpeg)) as picture:
        assert (picture.format, picture.size) == ("JPEG", (256, 64))
    number, darkest, brightest = shown(jpeg)
    assert number == 30
    # Cameras film black as 16 and white as 235.
    assert darkest < 8
    assert brightest > 247


def test_odd_sizes_are_kept(film):
    with Image.open(io.BytesIO(encode_jpeg(H264.ffmpeg_name, film(H264, 2, 5, (178, 98))[0]))) as picture:
        assert picture.size == (178, 98)


@pytest.mark.parametrize("coding", [H264, H265])
@pytest.mark.parametrize(
    "payload", [b"", b"\0", b"no start code at all", b"\0\0\0\1", b"\0\0\0\1\x65" + bytes(range(200))]
)
def test_what_is_no_picture_is_a_codec_error(coding, payload):
    with pytest.raises(CodecError, match="the key frame does not decode"):
        encode_jpeg(coding.ffmpeg_name, payload)


def test_a_key_frame_of_the_other_coding_is_a_codec_error(film):
    with pytest.raises(CodecError):
        encode_jpeg(H264.ffmpeg_name, film(H265, 2, 5)[0])


def test_parameter_sets_that_claim_an_absurd_size_cost_an_error_and_no_memory(film):
    picture = film(H264, 2, 5)[0]
    slice_of_it = picture[picture.rindex(b"\0\0\1\x65") :]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(CodecError):
        encode_jpeg(H264.ffmpeg_name, _parameter_sets(1000) + slice_of_it)
    # 16,000 by 16,000 pixels would be 384 MB.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000
    # Only the size is what is wrong with these sets.
    assert _decoded_size(_parameter_sets(4) + slice_of_it) == (64, 64)


def _decoded_size(payload):
    decoder = av.CodecContext.create("h264", "r")
    with contextlib.suppress(av.FFmpegError):
        decoder.decode(av.Packet(payload))
    return decoder.width, decoder.height


def _parameter_sets(macroblocks):
    """Baseline sets for a square of so many macroblocks, written from ITU-T H.264 7.3.2."""
    size = _golomb(macroblocks - 1)
    # Ids, frame numbers, order by decoding, one reference; the size; frames, no cropping; the stop bit.
    bits = "1" + "1" + "011" + "010" + "0" + size + size + "1" + "1" + "0" + "0" + "1"
    bits += "0" * (-len(bits) % 8)
    body = bytes((0x67, 0x42, 0x00, 0x3E)) + int(bits, 2).to_bytes(len(bits) // 8, "big")
    for low in (0, 1, 2, 3):  # no start code may be seen in it
        body = body.replace(bytes((0, 0, low)), bytes((0, 0, 3, low)))
    return b"\0\0\0\1" + body + bytes.fromhex("0000000168ce3c80")


def _golomb(value):
    digits = f"{value + 1:b}"
    return "0" * (len(digits) - 1) + digits


@settings(max_examples=60, deadline=None)
@given(
    spoilt=st.lists(st.tuples(st.floats(0, 1), st.binary(max_size=8)), min_size=1, max_size=4),
    end=st.floats(0, 1),
)
def test_a_spoilt_key_frame_gives_a_picture_or_a_codec_error(spoilt, end, film):
    payload = bytearray(film(H264, 2, 5)[0])
    for place, content in spoilt:
        at = int(place * len(payload))
        payload[at : at + len(content)] = content
    try:
        jpeg = encode_jpeg(H264.ffmpeg_name, bytes(payload[: int(end * len(payload)) + 1]))
    except CodecError:
        return
    with Image.open(io.BytesIO(jpeg)) as picture:
        assert picture.size[0] > 0
