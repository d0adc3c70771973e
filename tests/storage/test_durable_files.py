"""What a power failure leaves: the order in which files, names and folders are synchronized."""

import os
import stat
import tracemalloc

import pytest

from motorpool.storage.durable_files import (
    COPY_BYTES,
    copy_file,
    make_folder,
    move_into_place,
    write_file,
)


def test_a_file_is_synchronized_before_its_name_and_its_name_before_the_return(tmp_path, disk_log):
    write_file(tmp_path / "a", b"content", 0o640)
    assert disk_log == ["sync .part", "rename a", f"sync {tmp_path.name}"]
    assert (tmp_path / "a").read_bytes() == b"content"
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640
    assert os.listdir(tmp_path) == ["a"]


def test_a_large_file_is_copied_in_pieces(tmp_path, disk_log):
    with (tmp_path / "from").open("wb") as large:
        large.truncate(32 * COPY_BYTES)
        large.write(b"begins")
    tracemalloc.start()
    copy_file(tmp_path / "from", tmp_path / "to")
    assert tracemalloc.get_traced_memory()[1] < 4 * COPY_BYTES
    tracemalloc.stop()
    assert disk_log == ["sync .part", "rename to", f"sync {tmp_path.name}"]
    assert (tmp_path / "to").stat().st_size == 32 * COPY_BYTES
    assert (tmp_path / "to").read_bytes().startswith(b"begins")


def test_each_new_folder_is_synchronized_in_its_parent(tmp_path, disk_log):
    make_folder(tmp_path / "b" / "c", 0o700)
    assert disk_log == [f"sync {tmp_path.name}", "sync b"]
    assert stat.S_IMODE((tmp_path / "b" / "c").stat().st_mode) == 0o700
    make_folder(tmp_path / "b" / "c")
    assert len(disk_log) == 2


def test_a_move_between_folders_synchronizes_both(tmp_path, disk_log):
    for name in ("from", "to"):
        (tmp_path / name).mkdir()
    (tmp_path / "from" / "x.part").write_bytes(b"x")
    move_into_place(tmp_path / "from" / "x.part", tmp_path / "to" / "x")
    assert disk_log == ["rename x", "sync to", "sync from"]


@pytest.mark.parametrize("fails", ["fsync", "rename"])
def test_an_error_leaves_what_was_there(tmp_path, monkeypatch, fails):
    def fail(*_, **__):
        raise OSError(5, "Input/output error")

    (tmp_path / "a").write_bytes(b"old")
    monkeypatch.setattr(*(("os.fsync", fail) if fails == "fsync" else ("pathlib.Path.replace", fail)))
    with pytest.raises(OSError, match="Input/output"):
        write_file(tmp_path / "a", b"new")
    assert os.listdir(tmp_path) == ["a"]
    assert (tmp_path / "a").read_bytes() == b"old"
