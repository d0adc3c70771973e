"""What a capture's file holds is compared with what the terminal sent, unit by unit, as a player reads it."""

import errno
import io
import re
import subprocess
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import av
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fragment_transcoder import FragmentTranscoder

from motorpool.codecs.errors import CodecError
from motorpool.codecs.media import adts
from motorpool.codecs.media.fragments import AudioFrame, MediaFragment, TimedPicture
from motorpool.codecs.media.h264 import H264
from motorpool.codecs.media.h265 import H265
from motorpool.codecs.media.mp4.capture_file import HEADER_BYTES, CaptureFile, CaptureState, repair
from motorpool.codecs.media.segmenter import Segmenter
from motorpool.codecs.media.snapshot import probe_format
from motorpool.codecs.media.units import AccessUnit, AudioCoding, Coding
from motorpool.codecs.media.video_codec import PictureFormat, VideoCodec

Film = Callable[..., tuple[bytes, ...]]
SECOND = 90_000
START = 10 * SECOND


def formats_of(fragments: list[MediaFragment]) -> dict[VideoCodec, PictureFormat]:
    """Of the first key frame of each codec, as far as it decodes."""
    formats: dict[VideoCodec, PictureFormat] = {}
    for fragment in fragments:
        coding = fragment.coding
        if coding is not None and coding not in formats:
            with suppress(CodecError):
                formats[coding] = probe_format(coding.ffmpeg_name, fragment.pictures[0].payload)
    return formats


def cuts_of(units: list[AccessUnit], target: float = 1.0) -> list[MediaFragment]:
    segmenter = Segmenter(target, live=False)
    fragments = [segmenter.push(unit, 0.0) for unit in units]
    return [fragment for fragment in [*fragments, segmenter.flush()] if fragment is not None]


def add(film: CaptureFile, fragment: MediaFragment) -> None:
    encoded = film.encode(fragment)
    if encoded is not None:
        film.write(encoded)


def capture(fragments: list[MediaFragment], *, finish: bool = True) -> bytes:
    file = io.BytesIO()
    film, transcoder = CaptureFile(file, formats_of(fragments)), FragmentTranscoder()
    for fragment in fragments:
        add(film, transcoder.transcode(fragment))
    if finish:
        film.finish()
    assert film.size == len(file.getvalue())
    return file.getvalue()


def nal_units(annex_b: bytes) -> list[bytes]:
    return re.split(b"\0?\0\0\1", annex_b)[1:]


class Crashed(NamedTuple):
    """An unfinished file, where its fragments end, and what is in all of it."""

    data: bytes
    ends: list[int]
    whole: "Read"

    def __repr__(self) -> str:
        return f"<Crashed: {len(self.data)} bytes>"


class Read:
    """What a demuxer finds in a file, track by track."""

    def __init__(self, data: bytes) -> None:
        self.pictures: list[list[bytes]] = []
        self.picture_times: list[int] = []
        self.keyframes: list[bool] = []
        self.frames: list[bytes] = []
        self.frame_times: list[int] = []
        self.tracks: list[str] = []
        with av.open(io.BytesIO(data)) as container:
            self.tracks = [f"{each.codec_context.codec_tag} {each.codec.name}" for each in container.streams]
            self.duration = container.duration
            for packet in container.demux():
                if not packet.size or packet.is_corrupt:
                    continue
                if packet.stream.type == "video":
                    self.pictures.append(split(bytes(packet)))
                    self.picture_times.append(packet.pts)
                    self.keyframes.append(packet.is_keyframe)
                else:
                    self.frames.append(bytes(packet))
                    self.frame_times.append(packet.pts)


def split(sample: bytes) -> list[bytes]:
    """A sample's NAL units, which lead with their lengths."""
    units = []
    while sample:
        size = int.from_bytes(sample[:4])
        units.append(sample[4 : 4 + size])
        sample = sample[4 + size :]
    return units


def decoded(data: bytes) -> tuple[list[tuple[int, int]], int]:
    """Sizes of all pictures and the count of samples, as a decoder has them."""
    sizes, samples = [], 0
    with av.open(io.BytesIO(data)) as container:
        for packet in container.demux():
            for frame in packet.decode():
                if isinstance(frame, av.VideoFrame):
                    sizes.append((frame.width, frame.height))
                else:
                    samples += frame.samples
    return sizes, samples


def complaints(data: bytes, path: Path) -> str:
    """What FFmpeg has to say of a file when it plays all of it."""
    path.write_bytes(data)
    command = ["ffmpeg", "-v", "warning", "-i", str(path), "-f", "null", "-"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stderr


@pytest.fixture(scope="module")
def reel(film: Film, sound: Film, camera) -> Callable[..., list[AccessUnit]]:
    """Four seconds of a camera: 100 pictures, 25 to the key frame, and AAC."""

    def made(coding: Coding = H264) -> list[AccessUnit]:
        return camera(film(coding, 100, 25), sound("aac", 4), coding=coding)

    return made


@pytest.mark.parametrize(("coding", "tag"), [(H264, "avc1 h264"), (H265, "hvc1 hevc")])
def test_pictures_and_aac_frames_are_those_that_were_sent_in_order(
    coding: Coding, tag: str, film: Film, sound: Film, reel, tmp_path: Path
) -> None:
    data = capture(cuts_of(reel(coding)))
    read = Read(data)
    assert read.tracks == [tag, "mp4a aac"]
    assert read.pictures == [nal_units(picture) for picture in film(coding, 100, 25)]
    assert read.frames == [frame[7:] for frame in sound("aac", 4)]
    assert read.picture_times == [3600 * number for number in range(100)]
    assert read.keyframes == [number % 25 == 0 for number in range(100)]
    assert all(after - before == 11_520 for before, after in pairwise(read.frame_times))
    assert decoded(data)[0] == [(256, 64)] * 100
    assert complaints(data, tmp_path / "film.mp4") == ""


def test_a_whole_file_tells_its_length_and_can_be_sought(reel) -> None:
    units = reel()
    data = capture(cuts_of(units))
    with av.open(io.BytesIO(data)) as container:
        assert container.duration == pytest.approx(33 * 0.128 * 1e6, abs=150_000)  # its sound is the longest
        video = container.streams.video[0]
        assert (video.width, video.height) == (256, 64)
        container.seek(3_200_000)
        assert next(container.demux(video)).pts == 3 * SECOND


def test_it_plays_while_it_grows(reel) -> None:
    file = io.BytesIO()
    film = CaptureFile(file, {})
    for number, fragment in enumerate(cuts_of(reel()), 1):
        add(film, fragment)
        assert len(Read(file.getvalue()).pictures) == 25 * number
        assert film.duration == pytest.approx(number, abs=0.3)


def test_nothing_is_written_before_there_is_something_whole() -> None:
    file = io.BytesIO()
    film = CaptureFile(file, {})
    add(film, MediaFragment(START, START + 1, None, (), (), False, True, 0.0))
    film.finish()
    assert (file.getvalue(), film.size, film.duration) == (b"", 0, 0.0)


@pytest.fixture(scope="module")
def crashed(reel) -> Crashed:
    file = io.BytesIO()
    film = CaptureFile(file, {})
    ends = []
    for fragment in cuts_of(reel()):
        add(film, fragment)
        ends.append(film.size)
    return Crashed(file.getvalue(), ends, Read(file.getvalue()))


@settings(max_examples=60, deadline=None)
@given(share=st.floats(0, 1))
def test_a_crash_at_any_byte_leaves_all_fragments_before_it_readable(crashed: Crashed, share: float) -> None:
    data, ends, whole = crashed
    at = ends[0] + round(share * (len(data) - ends[0]))
    file = io.BytesIO(data[:at])
    assert repair(file) == (at not in ends)
    assert not repair(file)
    read = Read(file.getvalue())
    assert len(read.pictures) == 25 * sum(end <= at for end in ends)
    assert read.pictures == whole.pictures[: len(read.pictures)]
    assert read.frames == whole.frames[: len(read.frames)]


@pytest.mark.parametrize("content", [b"", b"growing!", bytes(HEADER_BYTES), b"x" * 40_000])
def test_what_is_no_unfinished_capture_is_not_touched(content: bytes, reel) -> None:
    for data in (content, capture(cuts_of(reel()))[:-5]):
        file = io.BytesIO(data)
        assert not repair(file)
        assert file.getvalue() == data


@pytest.mark.parametrize(
    ("coding", "codec"),
    [(AudioCoding.G711A, "pcm_alaw"), (AudioCoding.G711U, "pcm_mulaw"), (AudioCoding.G726, "g726le")],
)
def test_telephone_sound_becomes_aac_in_full(
    coding: Coding, codec: str, film: Film, sound: Film, camera, tmp_path: Path
) -> None:
    payload = b"".join(sound(codec, 4))
    size = len(payload) // 100
    units_of_sound = tuple(payload[start : start + size] for start in range(0, 100 * size, size))
    units = camera(film(H264, 100, 25), units_of_sound, sound_coding=coding, sound_ms=40)
    data = capture(cuts_of(units))
    sizes, samples = decoded(data)
    assert len(sizes) == 100
    assert 32_000 <= samples <= 32_000 + 3 * 1024
    read = Read(data)
    # The encoder's first frame lies before the first sample.
    assert (read.frame_times[0], read.picture_times[0]) == (0, 11_520)
    assert complaints(data, tmp_path / "film.mp4") == ""


def test_sound_that_comes_late_gets_its_track_in_the_file_that_stands(
    film: Film, sound: Film, camera, tmp_path: Path
) -> None:
    later = [
        AccessUnit(1, AudioCoding.AAC, False, unit.timestamp + 2_000, unit.payload)
        for unit in camera(sounds=sound("aac", 2))
    ]
    units = sorted(camera(film(H264, 100, 25)) + later, key=lambda unit: unit.timestamp)
    fragments = cuts_of(units)
    assert Read(capture(fragments[:2], finish=False)).tracks == ["avc1 h264"]
    data = capture(fragments)
    read = Read(data)
    assert read.tracks == ["avc1 h264", "mp4a aac"]
    assert len(read.pictures) == 100
    assert read.frames == [frame[7:] for frame in sound("aac", 2)]
    assert read.frame_times[0] == 2 * SECOND
    assert complaints(data, tmp_path / "film.mp4") == ""


def test_pictures_that_come_after_sound_alone_get_their_track(film: Film, sound: Film, camera) -> None:
    units = camera(sounds=sound("aac", 2)) + camera(film(H264, 50, 25), start=3_200)
    read = Read(capture(cuts_of(units)))
    assert read.tracks == ["mp4a aac", "avc1 h264"]
    assert len(read.pictures) == 50
    assert read.frames == [frame[7:] for frame in sound("aac", 2)]


def test_sound_alone_is_a_file_too(sound: Film, camera) -> None:
    data = capture(cuts_of(camera(sounds=sound("aac", 4))))
    read = Read(data)
    assert (read.tracks, read.pictures) == (["mp4a aac"], [])
    assert read.frames == [frame[7:] for frame in sound("aac", 4)]
    assert decoded(data)[1] == 1024 * len(read.frames)


@pytest.mark.parametrize("coding", [H264, H265])
def test_pictures_of_another_size_play_on_in_the_same_track(
    coding: Coding, film: Film, camera, tmp_path: Path
) -> None:
    small = film(coding, 50, 25, (128, 64))
    units = camera(film(coding, 50, 25), coding=coding) + camera(small, coding=coding, start=3_000)
    data = capture(cuts_of(units))
    read = Read(data)
    assert len(read.tracks) == 1
    assert read.pictures == [nal_units(picture) for picture in film(coding, 50, 25) + small]
    assert decoded(data)[0] == [(256, 64)] * 50 + [(128, 64)] * 50


def test_another_coding_gets_a_track_of_its_own(film: Film, sound: Film, camera) -> None:
    units = camera(film(H264, 50, 25), sound("aac", 2))
    units += camera(film(H265, 50, 25), sound("aac", 2, 16_000), coding=H265, sound_ms=64, start=3_300)
    read = Read(capture(cuts_of(units)))
    assert sorted(read.tracks) == ["avc1 h264", "hvc1 hevc", "mp4a aac", "mp4a aac"]
    assert len(read.pictures) == 100
    frames = [frame[7:] for frame in sound("aac", 2) + sound("aac", 2, 16_000)]
    assert read.frames == frames


def test_a_clock_that_jumps_makes_no_hole(film: Film, camera) -> None:
    units = camera(film(H264, 50, 25)) + camera(film(H264, 50, 25), start=50_000_000)
    units += camera(film(H264, 50, 25), start=2_000)
    read = Read(capture(cuts_of(units)))
    assert len(read.pictures) == 150
    assert all(3_600 <= after - before <= SECOND for before, after in pairwise(read.picture_times))
    assert read.duration <= 8e6


@pytest.mark.parametrize("code", [b"\0\0\1", b"\0\0\0\1"])
def test_a_picture_of_several_slices_keeps_them_all(code: bytes, film: Film) -> None:
    key = film(H264, 25, 25)[0]
    several = code + b"\x41first" + code + b"\x41second\0" + b"\0\0\1\x41third\0\0"
    pictures = (TimedPicture(START, key, True), TimedPicture(START + 3600, several, False))
    read = Read(capture([MediaFragment(START, START + 7200, H264, pictures, (), False, True, 0.0)]))
    assert read.pictures[1] == [b"\x41first", b"\x41second", b"\x41third"]


def test_several_frames_in_one_unit_and_checksums_are_taken_apart(sound: Film) -> None:
    frames = sound("aac", 1)[:4]
    checked = b"\xff\xf0" + frames[3][2:7] + b"CC" + frames[3][7:]
    length = len(checked)
    checked = (
        checked[:3]
        + bytes((checked[3] & 0xFC | length >> 11, length >> 3 & 0xFF))
        + bytes((checked[5] & 0x1F | (length & 7) << 5,))
        + checked[6:]
    )
    sounds = (
        AudioFrame(START, AudioCoding.AAC, b"".join(frames[:3]), 3072),
        AudioFrame(START + 3 * 11_520, AudioCoding.AAC, checked, 1024),
    )
    read = Read(capture([MediaFragment(START, START + 4 * 11_520, None, (), sounds, False, True, 0.0)]))
    assert read.frames == [frame[7:] for frame in frames]
    assert read.frame_times == [0, 11_520, 23_040, 34_560]


def test_pictures_that_no_decoder_takes_are_written_all_the_same() -> None:
    broken = b"\0\0\0\1\x67\x42" + b"\0\0\0\1\x68x" + b"\0\0\0\1\x65nothing"
    pictures = (TimedPicture(START, broken, True),)
    data = capture([MediaFragment(START, START + 3600, H264, pictures, (), False, True, 0.0)])
    assert b"nothing" in data[HEADER_BYTES:]


def test_more_tracks_than_a_camera_has_are_left_out(film: Film) -> None:
    file = io.BytesIO()
    capture_file = CaptureFile(file, {})
    for number, rate in enumerate(adts.SAMPLE_RATES):
        sounds = (
            AudioFrame(START + number * SECOND, AudioCoding.AAC, adts.header(100, rate) + bytes(100), 1024),
        )
        start = START + number * SECOND
        add(capture_file, MediaFragment(start, start + 1, None, (), sounds, False, True, 0.0))
    capture_file.finish()
    read = Read(file.getvalue())
    assert (len(read.tracks), len(read.frames)) == (8, 8)
    assert file.getvalue()[HEADER_BYTES + 4 : HEADER_BYTES + 8] == b"moof"


def test_the_index_of_a_long_film_stays_within_its_room(film: Film) -> None:
    key = film(H264, 25, 25)[0]
    fragments = []
    for number in range(2_500):
        start = START + number * 2 * SECOND
        pictures = (TimedPicture(start, key, True),)
        fragments.append(MediaFragment(start, start + 2 * SECOND, H264, pictures, (), False, True, 0.0))
    data = capture(fragments)
    assert data[HEADER_BYTES + 4 : HEADER_BYTES + 8] == b"moof"
    with av.open(io.BytesIO(data)) as container:
        assert container.duration == 5_000_000_000
        assert sum(packet.size > 0 for packet in container.demux()) == 2_500
        container.seek(4_000_000_000)
        found = next(container.demux())
        assert 3_980 * SECOND <= found.pts <= 4_000 * SECOND


class SmallDisk(io.BytesIO):
    """Takes a few bytes at a time, and no more than it has room for."""

    def __init__(self, room: int) -> None:
        super().__init__()
        self.room = room

    def write(self, content) -> int:  # type: ignore[no-untyped-def]  # anything that has bytes
        place = min(len(content), self.room - self.tell(), 10_000)
        if place <= 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        return super().write(content[:place])


def test_a_full_disk_leaves_what_is_whole(reel) -> None:
    fragments = cuts_of(reel())
    size = len(capture(fragments[:3], finish=False))
    disk = SmallDisk(size + 500)
    film = CaptureFile(disk, {})
    for fragment in fragments[:3]:
        add(film, fragment)
    with pytest.raises(OSError, match="No space left"):
        add(film, fragments[3])
    assert len(disk.getvalue()) == film.size == size
    assert len(Read(disk.getvalue()).pictures) == 75


def go_on(state: CaptureState) -> CaptureState:
    """The state as another server reads it."""
    return msgspec.msgpack.decode(msgspec.msgpack.encode(state), type=CaptureState)


def test_another_one_goes_on_with_the_file_that_was_let_go_of(reel, tmp_path: Path) -> None:
    file, fragments = io.BytesIO(), cuts_of(reel())
    state = None
    for _ in range(2):
        # The second time for a stream that begins anew, with the same times.
        film, transcoder = CaptureFile(file, formats_of(fragments), state), FragmentTranscoder()
        for fragment in fragments:
            add(film, transcoder.transcode(fragment))
        state = go_on(film.state())
    film.finish()
    data = file.getvalue()
    assert film.size == len(data)
    read, once = Read(data), Read(capture(fragments))
    assert read.tracks == once.tracks
    assert read.pictures == once.pictures * 2
    assert read.frames == once.frames * 2
    assert read.picture_times[:100] == once.picture_times
    # The sound of the first is the longest: the second begins behind it.
    gap = read.picture_times[100] - read.picture_times[99]
    assert 3600 <= gap < SECOND // 2
    assert [time - read.picture_times[100] for time in read.picture_times[100:]] == once.picture_times
    assert complaints(data, tmp_path / "film.mp4") == ""
    with av.open(io.BytesIO(data)) as container:
        assert container.duration == pytest.approx(film.duration * 1e6, abs=150_000)
        container.seek(7_200_000)
        assert next(container.demux(container.streams.video[0])).pts >= 6 * SECOND


def test_the_state_of_a_long_film_stays_small(film: Film) -> None:
    key = film(H264, 25, 25)[0]
    capture_file = CaptureFile(io.BytesIO(), {})
    for number in range(2_500):
        start = START + number * 2 * SECOND
        pictures = (TimedPicture(start, key, True),)
        add(
            capture_file,
            MediaFragment(start, start + 2 * SECOND, H264, pictures, (), False, True, 0.0),
        )
    state = go_on(capture_file.state())
    assert state.sequence == 2_500
    assert len(state.index) <= 1_000
    assert sum(each.size for each in state.index) == state.size - HEADER_BYTES
