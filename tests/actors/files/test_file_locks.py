"""Locks of files, also between processes."""

import os
import subprocess
import sys

import pytest

from motorpool.actors.files.file_locks import create_locked, is_locked, lock_unwritten

HOLD = """
import sys
from pathlib import Path
from motorpool.actors.files.file_locks import create_locked
file = create_locked(Path(sys.argv[1]))
file.write(b"film")
print("locked", flush=True)
sys.stdin.read()
"""


def test_a_file_is_locked_until_it_is_closed(tmp_path):
    path = tmp_path / "a"
    with create_locked(path) as file:
        file.write(b"ab")
        assert is_locked(path)
        assert lock_unwritten(path) is None
        with pytest.raises(FileExistsError):
            create_locked(path)
    assert not is_locked(path)
    with lock_unwritten(path) as file:
        assert file.read() == b"ab"
        assert is_locked(path)
    with pytest.raises(FileNotFoundError):
        lock_unwritten(tmp_path / "none")
    assert not is_locked(tmp_path / "none")


def test_what_cannot_be_opened_may_be_locked(tmp_path, out_of_files):
    path = tmp_path / "a"
    path.touch()
    with out_of_files():
        assert is_locked(path)
    assert not is_locked(path)


def test_a_lock_ends_with_its_process_however_it_ends(tmp_path):
    path = tmp_path / "a"
    writer = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with writer:
        assert writer.stdout.readline() == "locked\n"
        assert is_locked(path)
        writer.kill()
        writer.wait()
        assert not is_locked(path)
    assert path.read_bytes() == b"film"


def test_a_file_that_was_removed_before_it_was_locked_is_created_again(tmp_path, monkeypatch):
    path = tmp_path / "a"
    fstat, removed = os.fstat, []

    def remove_first(descriptor):
        if not removed:
            removed.append(path.unlink())
        return fstat(descriptor)

    monkeypatch.setattr(os, "fstat", remove_first)
    with create_locked(path) as file:
        file.write(b"x")
    assert path.read_bytes() == b"x"
