"""The log of a database server that goes on writing to it."""

import errno

import pytest
import trio

from motorpool.storage.postgres import embedded, log_rotation
from motorpool.storage.postgres.log_rotation import rotate_log


@pytest.fixture
def log(tmp_path, monkeypatch):
    monkeypatch.setattr(log_rotation, "LOG_BYTES", 1000)
    return tmp_path / "postgres.log"


def test_a_writer_goes_on_in_the_emptied_file(log):
    with log.open("ab", buffering=0) as writer:
        for _ in range(10):
            writer.write(b"a" * 300)
            rotate_log(log)
            assert log.stat().st_size <= 1000
        writer.write(b"end")
    assert log.read_bytes().endswith(b"end")
    assert log.with_suffix(".log.old").stat().st_size == 1000
    assert sorted(path.name for path in log.parent.iterdir()) == ["postgres.log", "postgres.log.old"]


def test_a_short_log_and_one_that_is_not_there_stay(log):
    rotate_log(log)
    assert not log.exists()
    log.write_bytes(b"a" * 1000)
    rotate_log(log)
    assert (log.stat().st_size, log.with_suffix(".log.old").exists()) == (1000, False)


def test_a_full_disk_leaves_the_log(log, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    log.write_bytes(b"a" * 1001)
    monkeypatch.setattr("shutil.copyfileobj", full)
    with pytest.raises(OSError, match="No space"):
        rotate_log(log)
    assert [path.name for path in log.parent.iterdir()] == ["postgres.log"]
    assert log.stat().st_size == 1001


async def test_the_log_is_checked_while_the_server_runs(log, autojump_clock):
    server = embedded.EmbeddedServer(log.parent)
    log.write_bytes(b"a" * 5000)
    with trio.move_on_after(embedded._LOG_SECONDS + 1):
        await server._watch_log()
    assert log.stat().st_size == 0
