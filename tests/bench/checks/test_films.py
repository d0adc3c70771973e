"""What the bench notices of capture files."""

from pathlib import Path

import pytest

from motorpool.bench.checks.films import check_film
from motorpool.bench.vehicles.footage import Shot
from motorpool.codecs.media.fragments import MediaFragment
from motorpool.codecs.media.mp4.capture_file import CaptureFile
from motorpool.codecs.media.segmenter import Segmenter


@pytest.fixture
def cuts(loop: list[Shot]) -> list[MediaFragment]:
    """Eight seconds of a camera as a server cuts them."""
    segmenter, number, made = Segmenter(2.0), 0, []
    for shot in loop:
        made.append(segmenter.push(shot.unit(1, 0, number), shot.milliseconds / 1000))
        number += shot.is_picture
    return [cut for cut in [*made, segmenter.flush()] if cut is not None]


def write(path: Path, cuts: list[MediaFragment]) -> Path:
    with path.open("w+b", buffering=0) as file:
        capture = CaptureFile(file)
        for cut in cuts:
            encoded = capture.encode(cut)
            assert encoded is not None
            capture.write(encoded)
        capture.finish()
    return path


def test_a_whole_film_has_nothing_wrong(film: Path, cuts: list[MediaFragment], tmp_path: Path) -> None:
    found = check_film(film, write(tmp_path / "film.mp4", cuts))
    assert (found.frames, found.sounds, found.decoded) == (200, 125, 1)
    assert (found.holes, found.strangers, found.broken) == (0, 0, 0)
    assert found.beside_ms < 1


def test_a_fragment_that_is_missing_is_a_hole_of_both(
    film: Path, cuts: list[MediaFragment], tmp_path: Path
) -> None:
    found = check_film(film, write(tmp_path / "film.mp4", cuts[:1] + cuts[2:]))
    assert (found.holes, found.strangers, found.broken) == (2, 0, 0)


def test_a_byte_that_was_changed_is_noticed(film: Path, cuts: list[MediaFragment], tmp_path: Path) -> None:
    path = write(tmp_path / "film.mp4", cuts)
    content = bytearray(path.read_bytes())
    content[-20] ^= 0xFF
    path.write_bytes(content)
    assert check_film(film, path).strangers == 1


def test_what_is_no_film_is_broken(film: Path, tmp_path: Path) -> None:
    (tmp_path / "film.mp4").write_bytes(b"never mind" * 100)
    assert check_film(film, tmp_path / "film.mp4").broken == 1
