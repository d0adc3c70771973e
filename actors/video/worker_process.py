"""A process of `media_worker.py` as the server sees it: started, spoken to, and ended whatever it does."""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from typing import TypeVar

import msgspec
import trio

from motorpool.actors.video.media_worker import LENGTH_BYTES, Rejected, WorkerReply

R = TypeVar("R", bound=WorkerReply)

REPLY_BYTES = 64 << 20
"""Largest reply; a process whose decoder was taken over may claim any length."""
READ_BYTES = 1 << 16
EXIT_SECONDS = 1.0
"""A process that closed its pipes has this long to end by itself, so that its exit status is known."""
COMMAND = (sys.executable, "-m", "motorpool.actors.video.media_worker")
INHERITED = ("PATH", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "LD_LIBRARY_PATH")
"""Variables that the processes get: none of them is a secret of the server's."""


class WorkerFailedError(Exception):
    """A process could not be started, ended, or sent an invalid reply."""


class WorkerProcess:
    """One process, which serves one request at a time."""

    def __init__(self, process: trio.Process) -> None:
        self._process = process

    @classmethod
    async def start(cls, command: Sequence[str]) -> "WorkerProcess":
        """Start a process.

        Raises:
            WorkerFailedError: the system does not start it.
        """
        try:
            process = await trio.lowlevel.open_process(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={name: os.environ[name] for name in INHERITED if name in os.environ},
                # Ctrl+C must reach only the server, which ends its processes itself.
                start_new_session=True,
            )
        except OSError as error:
            raise WorkerFailedError(f"cannot be started: {error}") from error
        return cls(process)

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def has_ended(self) -> bool:
        """Whether the process has ended; its exit status is collected then."""
        return self._process.returncode is not None

    async def wait(self) -> None:
        """Wait until the process has ended, and collect its exit status."""
        await self._process.wait()

    async def exchange(self, request: bytes) -> bytes:
        """Send a request and return the reply.

        Raises:
            WorkerFailedError: the process ended, or sent something else; it is of no further use.
        """
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        received = bytearray()
        expected = LENGTH_BYTES
        try:
            await process.stdin.send_all(len(request).to_bytes(LENGTH_BYTES) + request)
            while len(received) < expected:
                chunk = await process.stdout.receive_some(READ_BYTES)
                if not chunk:
                    raise WorkerFailedError("closed its output")
                received += chunk
                if expected == LENGTH_BYTES <= len(received):
                    expected += int.from_bytes(received[:LENGTH_BYTES])
                    if expected > REPLY_BYTES:
                        raise WorkerFailedError(f"sent a reply of {expected} bytes")
        except trio.BrokenResourceError as error:
            raise WorkerFailedError("closed its input") from error
        if len(received) > expected:
            raise WorkerFailedError("sent more than a reply")
        return bytes(received[LENGTH_BYTES:])

    async def request(self, request: msgspec.Struct, reply_type: type[R]) -> R | Rejected:
        """Send a request of `media_worker.py` and return the reply, or why it was rejected.

        Raises:
            WorkerFailedError: as `exchange`.
        """
        try:
            reply = _decode_reply(await self.exchange(msgspec.msgpack.encode(request)))
        except msgspec.DecodeError as error:
            raise WorkerFailedError(f"sent no reply: {error}") from error
        if isinstance(reply, Rejected | reply_type):
            return reply
        raise WorkerFailedError("sent the reply to another request")

    async def explain(self, error: WorkerFailedError) -> str:
        """Return what became of a process that failed: its exit status if it ends soon, else the error."""
        with trio.move_on_after(EXIT_SECONDS, shield=True):
            await self._process.wait()
        code = self._process.returncode
        if code is None:
            return str(error)
        return f"ended with {signal.Signals(-code).name if code < 0 else f'code {code}'}"

    async def end(self) -> None:
        """Kill the process and wait until it has ended; it holds nothing that could be lost."""
        self._process.kill()
        with trio.CancelScope(shield=True):
            await self._process.wait()
            for pipe in (self._process.stdin, self._process.stdout):
                if pipe is not None:
                    await pipe.aclose()


_decode_reply = msgspec.msgpack.Decoder(WorkerReply).decode


class WorkerProcesses(dict[int, WorkerProcess]):
    """The processes of one actor that run, by process id."""

    def __init__(self, command: Sequence[str]) -> None:
        """`command` starts a process."""
        super().__init__()
        self._command = command

    async def start(self, nursery: trio.Nursery) -> WorkerProcess:
        """Start a process; its exit status is collected in the nursery as soon as it has ended.

        Raises:
            WorkerFailedError: the system does not start it.
        """
        process = await WorkerProcess.start(self._command)
        self[process.pid] = process
        nursery.start_soon(self._collect, process)
        return process

    async def end(self, process: WorkerProcess) -> None:
        """Kill a process and wait until it has ended."""
        await process.end()
        self.pop(process.pid, None)

    async def end_failed(
        self, process: WorkerProcess | None, error: WorkerFailedError | trio.TooSlowError, seconds: float
    ) -> str:
        """End a process that failed, or was stopped after `seconds`; return what became of it.

        None stands for one that could not be started.
        """
        if isinstance(error, trio.TooSlowError):
            reason = f"was stopped after {seconds:g} s"
        else:
            reason = str(error) if process is None else await process.explain(error)
        if process is not None:
            await self.end(process)
        return reason

    async def _collect(self, process: WorkerProcess) -> None:
        await process.wait()
        self.pop(process.pid, None)
