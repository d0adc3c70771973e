"""The demonstration: two users with generated passwords, and a simulated fleet."""

import logging
import secrets
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Never

import msgspec
import trio

from motorpool.runtime import Actor
from motorpool.storage.durable_files import make_folder, write_file

EMAIL = "demo@motorpool.local"
OPERATOR_EMAIL = "operator@motorpool.local"
STOP_SECONDS = 3.0
FIRST_PAUSE_SECONDS = 1.0
MAX_PAUSE_SECONDS = 30.0

_log = logging.getLogger(__name__)


class Login(msgspec.Struct, frozen=True):
    """An address and a generated password."""

    email: str
    password: str


class Credentials(msgspec.Struct, frozen=True):
    """The generated logins of the demonstration: an administrator, and a user with fewer rights."""

    email: str
    password: str
    operator: Login | None = None
    """None only in files of earlier versions."""


def load_or_create_credentials(data: Path) -> Credentials:
    """Read the logins of an earlier start, or generate them in a file that only its owner may read."""
    path = data / "login.json"
    try:
        made = msgspec.json.decode(path.read_bytes(), type=Credentials)
    except FileNotFoundError:
        made = Credentials(EMAIL, secrets.token_urlsafe(9))
    if made.operator is None:
        made = msgspec.structs.replace(made, operator=Login(OPERATOR_EMAIL, secrets.token_urlsafe(9)))
        make_folder(path.parent)
        write_file(path, msgspec.json.encode(made), 0o600)
    return made


def simulate_command(address: tuple[str, int], port_offset: int, credentials: Path) -> list[str]:
    """Return the command line of the simulated fleet."""
    host, port = address
    shown = f"[{host}]" if ":" in host else host
    return [
        sys.executable,
        "-m",
        "motorpool",
        "simulate",
        "--end-with-input",
        *("--server", f"http://{shown}:{port}"),
        *("--host", "127.0.0.1"),
        *("--port-offset", str(port_offset)),
        "--demo",
        *("--credentials", str(credentials)),
    ]


class FleetProgram(Actor[Never]):
    """Keeps the simulated fleet running, restarting it with increasing pauses.

    A fleet that cannot run must not take the server down, so its exit is not a crash of this actor.
    """

    def __init__(self, command: list[str], environ: Mapping[str, str]) -> None:
        self._command = command
        self._environ = environ
        self._program: trio.Process | None = None
        self._stopping = trio.Event()

    async def run(self) -> None:
        """Run the program, and restart it when it ends."""
        pause = FIRST_PAUSE_SECONDS
        while not self._stopping.is_set():
            started = trio.current_time()
            # Its standard input is a pipe that closes when this process dies for any reason. In a session
            # of its own it does not receive the terminal's Ctrl-C; `stop` ends it.
            self._program = await trio.lowlevel.open_process(
                self._command, stdin=subprocess.PIPE, env=dict(self._environ), start_new_session=True
            )
            code = await self._program.wait()
            if self._stopping.is_set():
                return
            if trio.current_time() - started > MAX_PAUSE_SECONDS:
                pause = FIRST_PAUSE_SECONDS
            _log.warning("the simulated fleet ended with code %d; restarting in %g s", code, pause)
            await trio.sleep(pause)
            pause = min(pause * 2, MAX_PAUSE_SECONDS)

    async def stop(self) -> None:
        """Terminate the program, then kill it if it does not end."""
        self._stopping.set()
        program = self._program
        if program is None or program.returncode is not None:
            return
        program.terminate()
        with trio.move_on_after(STOP_SECONDS):
            await program.wait()
        if program.returncode is None:
            program.kill()
            await program.wait()
