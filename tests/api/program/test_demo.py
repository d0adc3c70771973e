import os
import stat
import sys
from pathlib import Path

import pytest
import trio
from tests.runtime.actor_testing import run_actor

from motorpool.api.program import demo
from motorpool.api.program.demo import FleetProgram, load_or_create_credentials, simulate_command


def test_the_login_is_made_once_and_only_its_owner_may_read_it(tmp_path):
    first = load_or_create_credentials(tmp_path / "demo")
    path = tmp_path / "demo" / "login.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert load_or_create_credentials(tmp_path / "demo") == first
    assert load_or_create_credentials(tmp_path / "other").password != first.password
    assert len(first.password) >= 10
    assert first.operator is not None
    assert first.operator.password != first.password


def test_a_login_of_an_earlier_version_is_kept_and_gets_an_operator(tmp_path):
    path = tmp_path / "login.json"
    path.write_text('{"email": "demo@motorpool.local", "password": "of old"}', encoding="utf-8")
    found = load_or_create_credentials(tmp_path)
    assert (found.password, found.operator is not None) == ("of old", True)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert load_or_create_credentials(tmp_path) == found


def test_the_fleet_is_told_where_the_server_is_and_finds_the_login_in_a_file():
    command = simulate_command(("::1", 8082), 100, Path("/d/login.json"))
    words = " ".join(command[1:])
    assert words.startswith("-m motorpool simulate ")
    assert "--server http://[::1]:8082" in words
    assert "--port-offset 100" in words
    assert "--demo" in words
    assert "--credentials /d/login.json" in words


CALL = (
    "import os, socket; s = socket.create_connection(('127.0.0.1', {port})); s.sendall(b'%d.' % os.getpid());"
)
"""A program that says that it is there."""


@pytest.fixture
async def callers():
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    async with listener:
        yield listener


async def hear(callers) -> int:
    """The process id of the next program that calls."""
    with trio.fail_after(120):
        async with await callers.accept() as stream:
            said = b""
            while not said.endswith(b"."):
                said += await stream.receive_some()
            return int(said[:-1])


def command(callers, then: str = "") -> list[str]:
    port = callers.socket.getsockname()[1]
    return [sys.executable, "-c", CALL.format(port=port) + then]


async def test_a_program_that_ends_is_started_again(callers, monkeypatch):
    monkeypatch.setattr(demo, "FIRST_PAUSE_SECONDS", 0.01)
    async with run_actor(lambda: FleetProgram(command(callers), os.environ)):
        heard = {await hear(callers) for _ in range(3)}
    assert len(heard) == 3


async def test_the_program_ends_with_the_server_even_if_it_does_not_listen(callers, monkeypatch):
    monkeypatch.setattr(demo, "STOP_SECONDS", 0.2)
    deaf = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
    program = [sys.executable, "-c", deaf + command(callers, "time.sleep(60)")[2]]
    async with run_actor(lambda: FleetProgram(program, os.environ)):
        pid = await hear(callers)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
