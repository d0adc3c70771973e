"""Runs a load program in a separate process and reads its messages."""

import contextlib
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from typing import IO, TypeVar

import msgspec

from motorpool.bench.load.plan import Load, Message

T = TypeVar("T", bound=Message)


class LoadFailed(Exception):
    """A load program ended without a result, or was too slow."""


class LoadProgram:
    """A running load program."""

    def __init__(self, process: subprocess.Popen[str], errors: IO[str]) -> None:
        """`errors` is the file that its standard error goes to."""
        self._process = process
        self._errors = errors
        self._messages: queue.SimpleQueue[Message | None] = queue.SimpleQueue()
        self._reader_thread = threading.Thread(target=self._read_output, daemon=True)
        self._reader_thread.start()

    def _read_output(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._messages.put(msgspec.json.decode(line, type=Message))
        self._messages.put(None)

    def next(self, seconds: float) -> Message:
        """Return the next message.

        Raises:
            LoadFailed: it has ended, or wrote nothing within `seconds`.
        """
        try:
            message = self._messages.get(timeout=max(0.0, seconds))
        except queue.Empty:
            raise LoadFailed(f"the load program wrote nothing for {seconds:.0f} s") from None
        if message is None:
            raise LoadFailed(self.why_ended())
        return message

    def why_ended(self) -> str:
        """Wait for the program to end; return the last line of its standard error, or else its exit code."""
        code = self._process.wait()
        self._errors.seek(0)
        lines = self._errors.read().split("\n")
        said = next((line for line in reversed(lines) if line.strip()), "")
        return f"the load program ended: {said or f'code {code}'}"

    def wait_for(self, kind: type[T], seconds: float, wanted: Callable[[T], bool] = lambda _: True) -> T:
        """Skip to the next message of this kind that satisfies `wanted`.

        Raises:
            LoadFailed: it has ended, or such a message does not come in time.
        """
        deadline = time.monotonic() + seconds
        while True:
            message = self.next(deadline - time.monotonic())
            if isinstance(message, kind) and wanted(message):
                return message

    def send_line(self, word: str) -> None:
        """Write a line to its standard input; the module docstring of a program lists what it accepts."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{word}\n")
        self._process.stdin.flush()

    def stop(self) -> None:
        """Ask it to stop and to write its result."""
        self.send_line("stop")

    def end(self) -> None:
        """Kill it."""
        self._process.kill()
        self._process.wait()
        # The pipe is closed now, so the reader thread ends.
        self._reader_thread.join()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            with contextlib.suppress(BrokenPipeError):
                pipe.close()


@contextlib.contextmanager
def run_program(name: str, load: Load) -> Iterator[LoadProgram]:
    """Start `motorpool.bench.load.<name>`; kill it at the end of the block.

    Raises:
        LoadFailed: it ended before it read the load.
    """
    with tempfile.TemporaryFile("w+", errors="replace") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", f"motorpool.bench.load.{name}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
        program = LoadProgram(process, errors)
        try:
            assert process.stdin is not None
            process.stdin.write(msgspec.json.encode(load).decode() + "\n")
            process.stdin.flush()
            yield program
        except BrokenPipeError as error:
            process.kill()
            raise LoadFailed(program.why_ended()) from error
        finally:
            program.end()
