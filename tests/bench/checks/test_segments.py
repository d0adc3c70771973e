"""What the reader of `live` notices of segments, and of nothing else."""

from pathlib import Path

import pytest

from motorpool.bench.checks.media_integrity import Findings
from motorpool.bench.checks.segments import check_stream, read_segment
from motorpool.bench.vehicles import media_loop
from motorpool.bench.vehicles.media_loop import LoopUnit


def write_second(
    loop: list[LoopUnit], second: int, path: Path, *, first_number: int, sounds: bool = True
) -> None:
    """One second of the loop as a segment, its pictures numbered from `first_number`."""
    shots = [
        unit
        for unit in loop
        if second * 1000 <= unit.milliseconds < (second + 1) * 1000 and (unit.is_video or sounds)
    ]
    media_loop.write_transport_stream(shots, 8, path, first_number=first_number)


@pytest.fixture
def three(loop: list[LoopUnit], tmp_path: Path) -> dict[int, float]:
    """Three segments of a second, 10 to 12, in `tmp_path`; their EXTINF."""
    for second in range(3):
        write_second(loop, second, tmp_path / f"{10 + second}.ts", first_number=25 * second)
    return {10: 1.0, 11: 1.0, 12: 1.0}


def faults(found: Findings) -> tuple[int, int, int]:
    return found.gaps, found.altered, found.broken


def test_a_whole_stream_has_nothing_wrong(film: Path, three: dict[int, float], tmp_path: Path) -> None:
    found = check_stream(film, tmp_path, three)
    # 47 frames of sound begin within the first three seconds.
    assert (found.frames, found.sounds, found.decoded) == (75, 47, 1)
    assert faults(found) == (0, 0, 0)
    assert found.drift_ms < 0.01
    assert found.sound_offset_ms < 0.1


def test_a_wrong_duration_is_drift(film: Path, three: dict[int, float], tmp_path: Path) -> None:
    assert check_stream(film, tmp_path, three | {11: 1.5}).drift_ms == pytest.approx(500, abs=1)


def test_a_number_left_out_between_two_segments_is_a_hole(
    film: Path, loop: list[LoopUnit], three: dict[int, float], tmp_path: Path
) -> None:
    write_second(loop, 2, tmp_path / "12.ts", first_number=250, sounds=False)
    # Ten seconds on in the loop are another place in it.
    assert check_stream(film, tmp_path, three).gaps == 1


def test_sound_that_is_missing_from_a_segment_is_a_hole(
    film: Path, loop: list[LoopUnit], three: dict[int, float], tmp_path: Path
) -> None:
    write_second(loop, 1, tmp_path / "11.ts", first_number=25, sounds=False)
    assert faults(check_stream(film, tmp_path, three)) == (1, 0, 0)


def test_pictures_that_are_not_what_their_numbers_say_are_foreign(
    film: Path, loop: list[LoopUnit], three: dict[int, float], tmp_path: Path
) -> None:
    write_second(loop, 3, tmp_path / "12.ts", first_number=50, sounds=False)
    assert faults(check_stream(film, tmp_path, three)) == (0, 25, 0)


def test_a_first_segment_that_decodes_to_other_pictures_is_broken(
    film: Path, loop: list[LoopUnit], three: dict[int, float], tmp_path: Path
) -> None:
    write_second(loop, 3, tmp_path / "10.ts", first_number=0, sounds=False)
    assert check_stream(film, tmp_path, three).broken == 1


def test_a_segment_that_is_no_video_is_broken(film: Path, three: dict[int, float], tmp_path: Path) -> None:
    (tmp_path / "11.ts").write_bytes(b"never mind" * 100)
    assert faults(check_stream(film, tmp_path, three)) == (0, 0, 1)


def test_a_segment_that_the_reader_missed_is_no_hole(
    film: Path, three: dict[int, float], tmp_path: Path
) -> None:
    del three[11]
    found = check_stream(film, tmp_path, three)
    assert found.frames == 50
    assert faults(found) == (0, 0, 0)


def test_only_what_is_to_be_decoded_is(three: dict[int, float], tmp_path: Path) -> None:
    assert three
    decoded = read_segment(tmp_path / "11.ts", decode=True)
    plain = read_segment(tmp_path / "11.ts", decode=False)
    assert decoded is not None
    assert plain is not None
    assert decoded.drawn == list(range(25, 50))
    assert plain.drawn == []
    assert plain.pictures == decoded.pictures
