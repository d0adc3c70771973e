import os
import subprocess
import sys

import pytest

from motorpool.storage.errors import AlreadyRunning, SetupFailed
from motorpool.storage.postgres.data_lock import DataLock


def test_a_second_holder_is_told_who_the_first_is(tmp_path):
    first = DataLock(tmp_path)
    first.acquire()
    with pytest.raises(AlreadyRunning) as refused:
        DataLock(tmp_path).acquire()
    assert str(refused.value) == f"another server (process {os.getpid()}) works on the data in {tmp_path}"
    assert refused.value.pid == os.getpid()
    first.release()


def test_a_released_folder_can_be_taken_again(tmp_path):
    for _ in range(2):
        lock = DataLock(tmp_path)
        lock.acquire()
        lock.release()
        lock.release()


def test_a_holder_that_was_killed_holds_nothing(tmp_path):
    script = (
        "import sys, pathlib, os, signal\n"
        "from motorpool.storage.postgres.data_lock import DataLock\n"
        "DataLock(pathlib.Path(sys.argv[1])).acquire()\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=False, timeout=60)
    assert done.returncode == -9
    lock = DataLock(tmp_path)
    lock.acquire()
    lock.release()


def test_the_folder_is_made(tmp_path):
    lock = DataLock(tmp_path / "a" / "b")
    lock.acquire()
    assert (tmp_path / "a" / "b").is_dir()
    lock.release()


def test_a_folder_that_cannot_be_is_named(tmp_path):
    (tmp_path / "file").write_text("here")
    with pytest.raises(SetupFailed, match=r"file/data cannot be used: "):
        DataLock(tmp_path / "file" / "data").acquire()
