"""A codec without NAL units and a container with an initialization section, defined here alone.

Both are only objects: segments, playlist and captures of them need no change of the program.
"""

import io

import av
import m3u8
import pytest

from motorpool.codecs.media.containers import Container
from motorpool.codecs.media.fragments import MediaFragment
from motorpool.codecs.media.h264 import H264
from motorpool.codecs.media.mp4.capture_file import CaptureFile
from motorpool.codecs.media.muxer import MPEG_TS, mux
from motorpool.codecs.media.playlist import LivePlaylist
from motorpool.codecs.media.segmenter import Segmenter
from motorpool.codecs.media.snapshot import encode_jpeg
from motorpool.codecs.media.units import AccessUnit, AudioCoding
from motorpool.codecs.media.video_codec import CodedPicture, PictureFormat, VideoCodec

SIZES = ((256, 64), (320, 96))


class JpegParser:
    """Each picture is a key frame, and its frame header tells the size."""

    def push(self, payload: bytes) -> CodedPicture | None:
        header = payload.find(b"\xff\xc0")
        if not payload.startswith(b"\xff\xd8") or header < 0:
            return None
        return CodedPicture(payload, keyframe=True, configuration=payload[header + 5 : header + 9])


def write_file(fragment: MediaFragment) -> bytes:
    return b"".join(len(picture.payload).to_bytes(4) + picture.payload for picture in fragment.pictures)


def write_initialization(fragment: MediaFragment) -> bytes:
    assert fragment.coding is MOTION_JPEG
    picture = JpegParser().push(fragment.pictures[0].payload)
    return b"size" + picture.configuration


BOXED = Container(
    name="Lengths and pictures",
    suffix="jpegs",
    media_type="video/x-jpegs",
    write=write_file,
    write_initialization=write_initialization,
)
MOTION_JPEG = VideoCodec(
    ffmpeg_name="mjpeg",
    container=BOXED,
    make_parser=JpegParser,
    recognizes=lambda payload: payload.startswith(b"\xff\xd8"),
    sample_entry=b"jpeg",
    decoder_configuration=lambda keyframe, picture_format: b"",
    to_mp4_sample=bytes,
)


@pytest.fixture(scope="session")
def jpegs(film) -> list[list[bytes]]:
    """Of each size, pictures that show their numbers."""
    return [[encode_jpeg("h264", picture) for picture in film(H264, 100, 1, size)] for size in SIZES]


def units_of(pictures: list[bytes], start: int = 0) -> list[AccessUnit]:
    return [
        AccessUnit(1, MOTION_JPEG, False, start + 40 * number, payload, 40)
        for number, payload in enumerate(pictures)
    ]


def cut(segmenter: Segmenter, units: list[AccessUnit]) -> list[MediaFragment]:
    fragments = [segmenter.push(unit, unit.timestamp / 1000) for unit in units]
    return [fragment for fragment in [*fragments, segmenter.flush()] if fragment is not None]


def read(data: bytes) -> list[bytes]:
    pictures = []
    while data:
        end = 4 + int.from_bytes(data[:4])
        pictures.append(data[4:end])
        data = data[end:]
    return pictures


def listed(fragments: list[MediaFragment], **options: float) -> LivePlaylist:
    playlist = LivePlaylist(20, target_seconds=1.0, **options)
    for fragment in fragments:
        playlist.append(mux(fragment))
    return playlist


def test_its_pictures_are_cut_at_the_target_and_what_is_no_picture_is_left_out(jpegs) -> None:
    units = units_of(jpegs[0])
    units[10:10] = [AccessUnit(1, MOTION_JPEG, False, 390, b"no picture", 40)]
    fragments = cut(Segmenter(1.0), units)
    assert [len(fragment.pictures) for fragment in fragments] == [23, 23, 23, 23, 8]
    assert [picture.payload for fragment in fragments for picture in fragment.pictures] == jpegs[0]
    assert all(fragment.independent and not fragment.discontinuity for fragment in fragments)
    assert {fragment.coding for fragment in fragments} == {MOTION_JPEG}


def test_another_size_of_its_pictures_begins_anew_and_so_does_another_codec(jpegs, film, camera) -> None:
    units = units_of(jpegs[0][:30]) + units_of(jpegs[1][:30], 1200)
    units += camera(film(H264, 30, 25), start=2400) + units_of(jpegs[1][:30], 3600)
    fragments = cut(Segmenter(10.0), units)
    assert [(fragment.coding, len(fragment.pictures), fragment.discontinuity) for fragment in fragments] == [
        (MOTION_JPEG, 30, False),
        (MOTION_JPEG, 30, True),
        (H264, 30, True),
        (MOTION_JPEG, 30, True),
    ]
    assert [mux(fragment).container for fragment in fragments] == [BOXED, BOXED, MPEG_TS, BOXED]


def test_its_segments_are_listed_with_what_is_read_before_them(jpegs) -> None:
    units = units_of(jpegs[0][:50]) + units_of(jpegs[1][:25], 2000)
    playlist = listed(cut(Segmenter(1.0), units), first_index=7)
    lines = playlist.render().splitlines()
    assert lines[lines.index("#EXT-X-VERSION:6") + 2 :] == [
        '#EXT-X-MAP:URI="init7.jpegs"',
        "#EXTINF:0.920000,",
        "7.jpegs",
        "#EXTINF:0.920000,",
        "8.jpegs",
        "#EXTINF:0.160000,",
        "9.jpegs",
        '#EXT-X-MAP:URI="init10.jpegs"',
        "#EXT-X-DISCONTINUITY",
        "#EXTINF:0.920000,",
        "10.jpegs",
        "#EXTINF:0.080000,",
        "11.jpegs",
    ]
    assert playlist.get_initialization(7) == b"size\0\x40\1\0"
    assert playlist.get_initialization(10) == b"size\0\x60\1\x40"
    assert playlist.get_initialization(8) is None
    assert [picture for index in range(7, 10) for picture in read(playlist.get(index))] == jpegs[0][:50]


def test_what_is_read_before_segments_is_kept_as_long_as_they_are(jpegs) -> None:
    segments = [mux(cut(Segmenter(1.0), units_of(jpegs[size][:10]))[0]) for size in (0, 0, 1, 0)]
    playlist = LivePlaylist(window=1, late=1)
    kept = []
    for segment in segments:
        playlist.append(segment)
        assert m3u8.loads(playlist.render()).segments[0].init_section is not None
        kept.append([index for index in range(6) if playlist.get_initialization(index) is not None])
    assert kept == [[0], [0], [0, 2], [2, 3]]


def test_it_is_listed_in_parts_too(jpegs) -> None:
    fragments = cut(Segmenter(1.0, part_seconds=0.5), units_of(jpegs[0][:40]))
    assert [len(fragment.pictures) for fragment in fragments] == [7, 5, 7, 7, 7, 2, 5]
    initialization = '#EXT-X-MAP:URI="init0.jpegs"'
    first = listed(fragments[:1], part_seconds=0.5).render().splitlines()
    assert first.index(initialization) + 1 == first.index(
        '#EXT-X-PART:DURATION=0.28,URI="0.0.jpegs",INDEPENDENT=YES'
    )
    playlist = listed(fragments[:-1], part_seconds=0.5)
    assert playlist.render().splitlines().count(initialization) == 1
    told = m3u8.loads(playlist.render())
    assert [part.uri for part in told.segments[0].parts] == ["0.0.jpegs", "0.1.jpegs"]
    assert read(playlist.get(0)) == jpegs[0][:12]
    assert read(playlist.get(1)) == jpegs[0][12:35]
    assert playlist.get_initialization(0) == b"size\0\x40\1\0"


def test_a_capture_holds_its_pictures_beside_those_of_another_codec(jpegs, film, sound, camera) -> None:
    units = units_of(jpegs[0][:50], 1000) + camera(film(H264, 50, 25), start=3000)
    units += [
        AccessUnit(1, AudioCoding.AAC, False, 1000 + 128 * number, payload)
        for number, payload in enumerate(sound("aac", 4))
    ]
    file = io.BytesIO()
    capture = CaptureFile(file, {MOTION_JPEG: PictureFormat(*SIZES[0])})
    for fragment in cut(Segmenter(1.0), sorted(units, key=lambda unit: unit.timestamp)):
        capture.write(capture.encode(fragment))
    capture.finish()
    with av.open(io.BytesIO(file.getvalue())) as container:
        assert [stream.codec.name for stream in container.streams.video] == ["mjpeg", "h264"]
        assert (container.streams.video[0].width, container.streams.video[0].height) == SIZES[0]
        packets = [bytes(packet) for packet in container.demux(video=0) if packet.size]
        assert packets == jpegs[0][:50]
        container.seek(0)
        assert len(list(container.decode(video=0))) == 50
