import os
import stat
import sys
from pathlib import Path

import trio

from motorpool.api import demo
from motorpool.api.demo import FleetProgram, keep_credentials, simulate_command
from motorpool.runtime.testing import run_actor


def test_the_login_is_made_once_and_only_its_owner_may_read_it(tmp_path):
    first = keep_credentials(tmp_path / "demo")
    path = tmp_path / "demo" / "login.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert keep_credentials(tmp_path / "demo") == first
    assert keep_credentials(tmp_path / "other").password != first.password
    assert len(first.password) >= 10


def test_the_fleet_is_told_where_the_server_is_and_finds_the_login_in_a_file():
    command = simulate_command(("::1", 8082), 100, Path("/d/login.json"))
    words = " ".join(command[1:])
    assert words.startswith("-m motorpool simulate ")
    assert "--server http://[::1]:8082" in words
    assert "--port-offset 100" in words
    assert "--vehicles 5" in words
    assert "--credentials /d/login.json" in words


async def test_a_program_that_ends_is_started_again(tmp_path, monkeypatch):
    monkeypatch.setattr(demo, "FIRST_PAUSE_SECONDS", 0.01)
    marks = tmp_path / "marks"
    command = [sys.executable, "-c", f"open({str(marks)!r}, 'a').write('x')"]
    async with run_actor(lambda: FleetProgram(command, os.environ)):
        with trio.fail_after(20):
            while not marks.exists() or len(marks.read_text()) < 3:
                await trio.sleep(0.02)


async def test_the_program_ends_with_the_server_even_if_it_does_not_listen(tmp_path, monkeypatch):
    monkeypatch.setattr(demo, "STOP_SECONDS", 0.2)
    pid_file = tmp_path / "pid"
    stubborn = (
        "import os, signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
        f"open({str(pid_file)!r} + '.new', 'w').write(str(os.getpid())); os.replace({str(pid_file)!r} + '.new', {str(pid_file)!r});"
        "time.sleep(60)"
    )
    async with run_actor(lambda: FleetProgram([sys.executable, "-c", stubborn], os.environ)):
        with trio.fail_after(20):
            while not pid_file.exists():
                await trio.sleep(0.02)
    assert not Path(f"/proc/{pid_file.read_text()}").exists()
