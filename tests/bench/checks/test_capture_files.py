"""What the bench notices of capture files."""

from pathlib import Path

import pytest

from motorpool.bench.checks.capture_files import check_capture
from motorpool.bench.vehicles.media_loop import LoopUnit
from motorpool.codecs.media.fragments import MediaFragment
from motorpool.codecs.media.mp4.capture_file import CaptureFile
from motorpool.codecs.media.segmenter import Segmenter


@pytest.fixture
def cuts(loop: list[LoopUnit]) -> list[MediaFragment]:
    """Eight seconds of a camera as a server cuts them."""
    segmenter, number, made = Segmenter(2.0), 0, []
    for unit in loop:
        made.append(segmenter.push(unit.access_unit(1, 0, number), unit.milliseconds / 1000))
        number += unit.is_video
    return [cut for cut in [*made, segmenter.flush()] if cut is not None]


def write(path: Path, cuts: list[MediaFragment]) -> Path:
    with path.open("w+b", buffering=0) as file:
        capture = CaptureFile(file, {})
        for cut in cuts:
            encoded = capture.encode(cut)
            assert encoded is not None
            capture.write(encoded)
        capture.finish()
    return path


def test_a_complete_file_has_no_findings(film: Path, cuts: list[MediaFragment], tmp_path: Path) -> None:
    found = check_capture(film, write(tmp_path / "film.mp4", cuts))
    assert (found.frames, found.sounds, found.decoded) == (200, 125, 1)
    assert (found.gaps, found.altered, found.broken) == (0, 0, 0)
    assert found.sound_offset_ms < 1


def test_a_fragment_that_is_missing_is_a_hole_of_both(
    film: Path, cuts: list[MediaFragment], tmp_path: Path
) -> None:
    found = check_capture(film, write(tmp_path / "film.mp4", cuts[:1] + cuts[2:]))
    assert (found.gaps, found.altered, found.broken) == (2, 0, 0)


def test_a_changed_byte_is_found(film: Path, cuts: list[MediaFragment], tmp_path: Path) -> None:
    path = write(tmp_path / "film.mp4", cuts)
    content = bytearray(path.read_bytes())
    content[-20] ^= 0xFF
    path.write_bytes(content)
    assert check_capture(film, path).altered == 1


def test_a_file_that_is_no_video_is_broken(film: Path, tmp_path: Path) -> None:
    (tmp_path / "film.mp4").write_bytes(b"never mind" * 100)
    assert check_capture(film, tmp_path / "film.mp4").broken == 1
