"""Files of captures on a real disk."""

import os
from datetime import UTC, datetime
from pathlib import Path

import av
import pytest
from tests.actors.capture_at import CaptureAt

from motorpool.actors.files.media_store import MediaStore, folder_name
from motorpool.actors.video.capture_files import new_file_name, repair_all
from motorpool.codecs.media.mp4.capture_file import HEADER_BYTES

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)


def count(path: Path) -> int:
    with av.open(str(path)) as container:
        return sum(packet.size > 0 for packet in container.demux(video=0))


def kept(media: Path, device: str, seconds_ago: float, size: int) -> Path:
    """A file that was last written so long before NOW."""
    path = media / folder_name(device) / new_file_name(NOW)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(bytes(size))
    at = NOW.timestamp() - seconds_ago
    os.utime(path, (at, at))
    return path


def test_the_file_grows_with_each_cut_and_ends_whole(tmp_path, film, cut_up):
    writing = CaptureAt(tmp_path / "van 1" / "capture-a.mp4")
    fragments = cut_up(film(5))
    assert (writing.size, writing.path.stat().st_size) == (0, 0)
    writing.add(fragments[:2])
    assert writing.size == writing.path.stat().st_size > HEADER_BYTES
    assert count(writing.path) == 10
    writing.add(fragments[2:])
    writing.finish()
    assert count(writing.path) == 25
    assert writing.duration == pytest.approx(5)
    assert writing.size == writing.path.stat().st_size
    with av.open(str(writing.path)) as container:
        assert container.duration == 5_000_000


def test_a_finished_file_survives_a_power_failure(tmp_path, film, cut_up, disk_log):
    writing = CaptureAt(tmp_path / "van 1" / "capture-a.mp4")
    writing.add(cut_up(film(2)))
    assert disk_log == [f"sync {tmp_path.name}"]
    writing.finish()
    assert disk_log[1:] == ["sync capture-a.mp4", "sync capture-a.mp4", "sync van 1"]


def test_what_was_missed_leaves_its_time(tmp_path, film, cut_up):
    writing = CaptureAt(tmp_path / "capture-a.mp4")
    fragments = cut_up(film(4))
    writing.add([fragments[0], *fragments[2:]])
    writing.finish()
    assert count(writing.path) == 15
    assert writing.duration == pytest.approx(4)


def test_nothing_that_decodes_leaves_no_file(tmp_path):
    writing = CaptureAt(tmp_path / "capture-a.mp4")
    writing.add([])
    writing.finish()
    assert (writing.size, list(tmp_path.iterdir())) == (0, [])


def test_a_name_that_is_taken_is_not_written_over(tmp_path):
    (tmp_path / "capture-a.mp4").write_bytes(b"older")
    with pytest.raises(FileExistsError):
        CaptureAt(tmp_path / "capture-a.mp4")
    assert (tmp_path / "capture-a.mp4").read_bytes() == b"older"


def test_after_a_crash_files_end_with_their_last_whole_fragment(tmp_path, film, cut_up):
    names = ["capture-whole.mp4", "capture-crashed.mp4", "capture-open.mp4", "capture-empty.mp4"]
    for name in names:
        writing = CaptureAt(tmp_path / "van" / name)
        writing.add(cut_up(film(7)))
        if name == names[0]:
            writing.finish()
        if name != names[2]:
            writing.close()
        else:
            being_written = writing
    paths = [tmp_path / "van" / name for name in names]
    for path, less in zip(paths, (0, 50, 50, 10**9), strict=True):
        os.truncate(path, max(100, path.stat().st_size - less))
    assert repair_all(MediaStore(tmp_path)) == [names[1]]
    assert [path.exists() for path in paths] == [True, True, True, False]
    assert [count(path) for path in paths[:2]] == [35, 30]
    assert repair_all(MediaStore(tmp_path)) == []
    being_written.close()
    assert repair_all(MediaStore(tmp_path)) == [names[2]]
    assert repair_all(MediaStore(tmp_path / "nowhere")) == []
