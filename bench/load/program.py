"""Runs a load program in a process of its own and hears what it tells."""

import contextlib
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

import msgspec

from motorpool.bench.load.plan import Load, Told

T = TypeVar("T", bound=Told)


class LoadFailed(Exception):
    """A load program ended without a result, or did not get there in time."""


class LoadProgram:
    """A running load program."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._told: queue.SimpleQueue[Told | None] = queue.SimpleQueue()
        self._ear = threading.Thread(target=self._hear_all, daemon=True)
        self._ear.start()

    def _hear_all(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._told.put(msgspec.json.decode(line, type=Told))
        self._told.put(None)

    def next(self, seconds: float) -> Told:
        """Return what it tells next.

        Raises:
            LoadFailed: it has ended, or tells nothing for so long.
        """
        try:
            told = self._told.get(timeout=max(0.0, seconds))
        except queue.Empty:
            raise LoadFailed(f"the load program told nothing for {seconds:.0f} s") from None
        if told is None:
            raise LoadFailed(f"the load program ended with code {self._process.wait()}")
        return told

    def hear(self, kind: type[T], seconds: float, wanted: Callable[[T], bool] = lambda _: True) -> T:
        """Skip to the next message of this kind that is as wanted.

        Raises:
            LoadFailed: it has ended, or such a message does not come in time.
        """
        deadline = time.monotonic() + seconds
        while True:
            told = self.next(deadline - time.monotonic())
            if isinstance(told, kind) and wanted(told):
                return told

    def say(self, word: str) -> None:
        """Tell a program that listens while it runs; what it understands stands on top of its file."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{word}\n")
        self._process.stdin.flush()

    def stop(self) -> None:
        """Ask a program that runs until it is told to end and to give its result."""
        self.say("stop")

    def end(self) -> None:
        """End it, whatever it does."""
        self._process.kill()
        self._process.wait()
        # The pipe is at its end now, and the ear with it.
        self._ear.join()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            with contextlib.suppress(BrokenPipeError):
                pipe.close()


@contextlib.contextmanager
def run_program(name: str, load: Load) -> Iterator[LoadProgram]:
    """Start `motorpool.bench.load.<name>`; it is killed at the end of the block.

    Raises:
        LoadFailed: it ended before it could read what to do.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", f"motorpool.bench.load.{name}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    program = LoadProgram(process)
    try:
        assert process.stdin is not None
        process.stdin.write(msgspec.json.encode(load).decode() + "\n")
        process.stdin.flush()
        yield program
    except BrokenPipeError as error:
        raise LoadFailed("the load program ended at once") from error
    finally:
        program.end()
