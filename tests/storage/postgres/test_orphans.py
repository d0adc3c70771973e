import os
import subprocess

import pytest

from motorpool.storage.postgres import orphans


@pytest.fixture
def dead():
    """The number of a process that has ended."""
    with subprocess.Popen(["true"]) as process:
        process.wait()
    return process.pid


@pytest.fixture
def stranger(tmp_path):
    """A process in the folder that is no PostgreSQL."""
    with subprocess.Popen(["sleep", "60"], cwd=tmp_path) as process:
        yield process
        process.kill()


async def test_an_empty_folder_has_nothing_left_in_it(tmp_path):
    assert orphans.processes(tmp_path) == []
    assert not await orphans.terminate_orphans(tmp_path, seconds=1)


async def test_the_mark_of_a_dead_postmaster_is_removed(tmp_path, dead):
    (tmp_path / "postmaster.pid").write_text(f"{dead}\n{tmp_path}\n")
    assert not await orphans.terminate_orphans(tmp_path, seconds=1)
    assert not (tmp_path / "postmaster.pid").exists()


async def test_a_program_that_got_the_number_since_is_spared(tmp_path, stranger):
    (tmp_path / "postmaster.pid").write_text(f"{stranger.pid}\n{tmp_path}\n")
    assert orphans.processes(tmp_path) == []
    await orphans.terminate_orphans(tmp_path, seconds=1)
    assert stranger.poll() is None
    assert not (tmp_path / "postmaster.pid").exists()


async def test_a_mark_that_makes_no_sense_is_no_process(tmp_path):
    for text in ("", "x\n", "-1\n", "0\n", "1\n", f"{1 << 70}\n"):
        (tmp_path / "postmaster.pid").write_text(text)
        assert orphans.processes(tmp_path) == []


async def test_we_ourselves_are_no_leftover_of_postgresql(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "postmaster.pid").write_text(f"{os.getpid()}\n{tmp_path}\n")
    assert orphans.processes(tmp_path) == []
