import io
import subprocess
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import av
import pytest
from tests.fragment_transcoder import FragmentTranscoder

from motorpool.codecs.errors import CodecError
from motorpool.codecs.media.fragments import AudioFrame, MediaFragment, TimedPicture
from motorpool.codecs.media.h264 import H264
from motorpool.codecs.media.h265 import H265
from motorpool.codecs.media.muxer import Segment, mux
from motorpool.codecs.media.segmenter import Segmenter
from motorpool.codecs.media.units import AccessUnit, AudioCoding, Coding

Film = Callable[..., tuple[bytes, ...]]
SECOND = 90_000
START = 10 * SECOND


def segments_of(units: list[AccessUnit], target: float = 1.0, **options: int) -> list[Segment]:
    segmenter, transcoder = Segmenter(target, **options), FragmentTranscoder()
    fragments = [segmenter.push(unit, unit.timestamp / 1000) for unit in units]
    return [
        mux(transcoder.transcode(fragment))
        for fragment in [*fragments, segmenter.flush()]
        if fragment is not None
    ]


@pytest.mark.parametrize("coding", [H264, H265])
def test_every_picture_plays_at_its_time_in_each_segment(
    coding: Coding, film: Film, sound: Film, camera, play
) -> None:
    units = camera(film(coding, 100, 25), sound("aac", 4), coding=coding)
    segments = segments_of(units)
    assert [segment.pictures for segment in segments] == [25, 25, 25, 25]
    for number, segment in enumerate(segments):
        played = play(segment.data)
        assert played.numbers == list(range(25 * number, 25 * number + 25))
        assert played.picture_times == [START + 3600 * n for n in range(25 * number, 25 * number + 25)]
        assert played.pids == {0x100, 0x101}
        assert (segment.end - segment.start, segment.duration) == (SECOND, 1.0)
    together = play(b"".join(segment.data for segment in segments))
    assert together.numbers == list(range(100))
    assert together.samples == 1024 * len(sound("aac", 4))
    assert sum(segment.duration for segment in segments) == 4.0


def test_a_segment_begins_with_its_tables_and_says_that_it_stands_alone(film: Film, camera) -> None:
    data = segments_of(camera(film(H264, 25, 25)))[0].data
    assert len(data) % 188 == 0
    packets = [data[start : start + 188] for start in range(0, len(data), 188)]
    pids = [int.from_bytes(packet[1:3]) & 0x1FFF for packet in packets]
    assert 0 in pids[:3]  # program association table
    assert pids.index(0x1000) < pids.index(0x100)  # program map before the first picture
    first = packets[pids.index(0x100)]
    assert first[3] & 0x20  # adaptation field
    assert first[5] & 0x80  # discontinuity indicator
    assert first[5] & 0x40  # random access indicator


@pytest.mark.parametrize(
    ("coding", "codec"),
    [(AudioCoding.G711A, "pcm_alaw"), (AudioCoding.G711U, "pcm_mulaw"), (AudioCoding.G726, "g726le")],
)
def test_telephone_sound_becomes_aac_in_full(
    coding: Coding, codec: str, film: Film, sound: Film, camera, play
) -> None:
    payload = b"".join(sound(codec, 4))
    size = len(payload) // 100
    units_of_sound = tuple(payload[start : start + size] for start in range(0, 100 * size, size))
    units = camera(film(H264, 100, 25), units_of_sound, sound_coding=coding, sound_ms=40)
    segments = segments_of(units)
    together = play(b"".join(segment.data for segment in segments))
    assert together.numbers == list(range(100))
    # All samples, the encoder's first 1024 before them and what fills up its last frame.
    assert 32_000 + 1024 <= together.samples <= 32_000 + 3 * 1024
    assert together.sound_times[0] == START - 11_520
    assert all(after - before == 11_520 for before, after in pairwise(together.sound_times))


def test_times_past_33_bits_wrap_as_players_expect(film: Film, camera, play) -> None:
    wrap = 1 << 33
    segments = segments_of(camera(film(H264, 100, 25)), start=wrap - 3 * SECOND // 2)
    assert sum(segment.duration for segment in segments) == 4.0
    raw = [play(segment.data).picture_times for segment in segments]
    assert [times[0] % wrap for times in raw] == [
        wrap - 135_000, wrap - 45_000, 45_000, 135_000,
    ]  # fmt: skip
    together = play(b"".join(segment.data for segment in segments))
    assert together.numbers == list(range(100))


def test_sound_alone_is_a_segment_too(sound: Film, camera, play) -> None:
    segments = segments_of(camera(sounds=sound("aac", 4)), 1.0)
    together = play(b"".join(segment.data for segment in segments))
    assert (together.numbers, together.pids) == ([], {0x101})
    assert together.samples == 1024 * len(sound("aac", 4))


def test_sound_that_changes_its_coding_plays_on(sound: Film, camera, play) -> None:
    units = camera(sounds=sound("aac", 2))
    later = camera(sounds=sound("pcm_alaw", 2), sound_coding=AudioCoding.G711A, sound_ms=40, start=3_200)
    latest = camera(sounds=sound("aac", 2), start=5_200)
    segments = segments_of(units + later + latest)
    together = play(b"".join(segment.data for segment in segments))
    frames = 2 * len(sound("aac", 2)) + 17  # 16,000 samples and the encoder's own beginning
    assert frames * 1024 <= together.samples <= (frames + 1) * 1024


def test_bytes_that_are_no_film_raise_a_codec_error() -> None:
    pictures = (TimedPicture(START, b"no start code at all", True),)
    with pytest.raises(CodecError, match="cannot be muxed"):
        mux(MediaFragment(START, START + 1, H264, pictures, (), False, True, 0.0))


def test_sound_too_short_for_a_frame_comes_with_the_next_segment(play) -> None:
    transcoder = FragmentTranscoder()
    sounds = tuple(AudioFrame(START + 3600 * n, AudioCoding.G711A, b"\xd5" * 320, 320) for n in range(2))
    first = mux(transcoder.transcode(MediaFragment(START, START + 7200, None, (), sounds, False, True, 0.0)))
    assert first.data == b""
    ending = MediaFragment(START + 7200, START + 7201, None, (), (), False, True, 0.0, last=True)
    last = mux(transcoder.transcode(ending))
    assert play(last.data).samples >= 640


def test_the_ffmpeg_program_plays_what_we_mux(film: Film, sound: Film, camera, tmp_path: Path) -> None:
    segments = segments_of(camera(film(H264, 100, 25), sound("aac", 4)))
    file = tmp_path / "film.ts"
    file.write_bytes(b"".join(segment.data for segment in segments))
    command = ["ffprobe", "-v", "error", "-count_frames", "-show_entries"]
    command += ["stream=codec_name,nb_read_frames,start_pts", "-of", "csv=p=0", str(file)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    except FileNotFoundError:
        pytest.skip("no ffprobe here")
    assert done.stderr == ""
    lines = [line for line in done.stdout.splitlines() if line]
    assert f"h264,{START},100" in lines
    assert f"aac,{START},{len(sound('aac', 4))}" in lines


def test_segments_can_be_read_by_name_of_their_streams(film: Film, sound: Film, camera) -> None:
    (segment,) = segments_of(camera(film(H265, 10, 10), sound("aac", 1)[:3], coding=H265, gop=10))
    with av.open(io.BytesIO(segment.data)) as container:
        assert {stream.codec_context.name for stream in container.streams} == {"hevc", "aac"}
