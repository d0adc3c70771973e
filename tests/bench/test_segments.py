"""What the reader of `live` notices: everything that is wrong with a segment, and nothing else."""

from pathlib import Path

import pytest

from motorpool.bench import footage
from motorpool.bench.footage import Shot
from motorpool.bench.load.readers import listed_segments
from motorpool.bench.segments import check_stream


@pytest.fixture(scope="module")
def loop() -> list[Shot]:
    return footage.film_loop()


def write_second(loop: list[Shot], second: int, path: Path, *, first_number: int) -> None:
    """One second of the loop as a segment, its pictures numbered from `first_number`."""
    shots = [
        shot for shot in loop if second * 1000 <= shot.milliseconds < (second + 1) * 1000 and shot.is_picture
    ]
    footage.write_transport_stream(shots, 8, path, first_number=first_number)


def three_seconds(loop: list[Shot], folder: Path) -> dict[int, float]:
    for second in range(3):
        write_second(loop, second, folder / f"{10 + second}.ts", first_number=25 * second)
    return {10: 1.0, 11: 1.0, 12: 1.0}


def test_a_whole_stream_has_nothing_wrong(loop: list[Shot], tmp_path: Path) -> None:
    checks = check_stream(tmp_path, three_seconds(loop, tmp_path))
    assert (checks.frames, checks.holes, checks.broken) == (75, 0, 0)
    assert checks.drift_ms < 0.01


def test_a_wrong_duration_is_drift(loop: list[Shot], tmp_path: Path) -> None:
    durations = three_seconds(loop, tmp_path) | {11: 1.5}
    assert check_stream(tmp_path, durations).drift_ms == pytest.approx(500, abs=1)


def test_a_number_left_out_between_two_segments_is_a_hole(loop: list[Shot], tmp_path: Path) -> None:
    durations = three_seconds(loop, tmp_path)
    write_second(loop, 2, tmp_path / "12.ts", first_number=250)
    assert check_stream(tmp_path, durations).holes == 1


def test_a_picture_that_is_not_what_its_number_says_breaks_its_segment(
    loop: list[Shot], tmp_path: Path
) -> None:
    durations = three_seconds(loop, tmp_path)
    write_second(loop, 3, tmp_path / "12.ts", first_number=50)
    checks = check_stream(tmp_path, durations)
    assert (checks.holes, checks.broken) == (0, 1)


def test_a_segment_that_is_no_video_is_broken(loop: list[Shot], tmp_path: Path) -> None:
    durations = three_seconds(loop, tmp_path)
    (tmp_path / "11.ts").write_bytes(b"never mind" * 100)
    assert check_stream(tmp_path, durations).broken == 1


def test_a_segment_that_the_reader_missed_is_no_hole(loop: list[Shot], tmp_path: Path) -> None:
    durations = three_seconds(loop, tmp_path)
    del durations[11]
    checks = check_stream(tmp_path, durations)
    assert (checks.frames, checks.holes, checks.broken) == (50, 0, 0)


def test_a_playlist_is_read_without_its_library() -> None:
    playlist = "#EXTM3U\n#EXT-X-VERSION:3\n#EXTINF:2.04,\n17.ts\n#EXT-X-DISCONTINUITY\n#EXTINF:1.96,\n18.ts\n"
    assert listed_segments(playlist) == [(17, 2.04), (18, 1.96)]
    assert listed_segments("#EXTM3U\n") == []
