import os
import subprocess

from motorpool.storage import leftovers


async def test_an_empty_folder_has_nothing_left_in_it(tmp_path):
    assert leftovers.processes(tmp_path) == []
    assert not await leftovers.clear(tmp_path, seconds=1)


async def test_the_mark_of_a_dead_postmaster_is_removed(tmp_path):
    with subprocess.Popen(["true"]) as gone:
        gone.wait()
    (tmp_path / "postmaster.pid").write_text(f"{gone.pid}\n{tmp_path}\n")
    assert not await leftovers.clear(tmp_path, seconds=1)
    assert not (tmp_path / "postmaster.pid").exists()


async def test_a_program_that_got_the_number_since_is_spared(tmp_path):
    with subprocess.Popen(["sleep", "60"], cwd=tmp_path) as other:
        try:
            (tmp_path / "postmaster.pid").write_text(f"{other.pid}\n{tmp_path}\n")
            assert leftovers.processes(tmp_path) == []
            await leftovers.clear(tmp_path, seconds=1)
            assert other.poll() is None
            assert not (tmp_path / "postmaster.pid").exists()
        finally:
            other.kill()


async def test_a_mark_that_makes_no_sense_is_no_process(tmp_path):
    for text in ("", "x\n", "-1\n", "0\n", "1\n", f"{1 << 70}\n"):
        (tmp_path / "postmaster.pid").write_text(text)
        assert leftovers.processes(tmp_path) == []


async def test_we_ourselves_are_no_leftover_of_postgresql(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "postmaster.pid").write_text(f"{os.getpid()}\n{tmp_path}\n")
    assert leftovers.processes(tmp_path) == []
