"""Runs a load program in a process of its own and hears what it tells."""

import contextlib
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import TypeVar

import msgspec

from motorpool.bench.load.plan import CameraLoad, ReaderLoad, TerminalLoad, Told

T = TypeVar("T", bound=Told)


class LoadFailed(Exception):
    """A load program ended without a result."""


class LoadProgram:
    """A running load program."""

    def __init__(self, process: subprocess.Popen[str], limit_seconds: float) -> None:
        self._process = process
        self._limit_seconds = limit_seconds

    @property
    def pid(self) -> int:
        """Of the process."""
        return self._process.pid

    def listen(self) -> Iterator[Told]:
        """All that it tells, to its end.

        Raises:
            LoadFailed: it ended with an error, or not within its limit.
        """
        assert self._process.stdout is not None
        for line in self._process.stdout:
            yield msgspec.json.decode(line, type=Told)
        if self._process.wait() != 0:
            raise LoadFailed(f"the load program ended with code {self._process.returncode}")

    def hear(self, kind: type[T]) -> T:
        """Skip to the next message of this kind.

        Raises:
            LoadFailed: it ended before.
        """
        for told in self.listen():
            if isinstance(told, kind):
                return told
        raise LoadFailed(f"the load program ended without telling its {kind.__name__}")

    def stop(self) -> None:
        """Ask a program that runs until it is told to end and to give its result."""
        assert self._process.stdin is not None
        self._process.stdin.write("stop\n")
        self._process.stdin.flush()


@contextlib.contextmanager
def run_program(
    name: str, load: TerminalLoad | CameraLoad | ReaderLoad, *, limit_seconds: float
) -> Iterator[LoadProgram]:
    """Start `motorpool.bench.load.<name>`; it is killed at the end of the block or past its limit."""
    process = subprocess.Popen(
        [sys.executable, "-m", f"motorpool.bench.load.{name}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    watch = threading.Timer(limit_seconds, process.kill)
    watch.daemon = True
    watch.start()
    try:
        assert process.stdin is not None
        process.stdin.write(msgspec.json.encode(load).decode() + "\n")
        process.stdin.flush()
        yield LoadProgram(process, limit_seconds)
    finally:
        watch.cancel()
        process.kill()
        process.communicate()
