"""Processes of `media_worker.py` as the server sees them: started, spoken to, and ended whatever they do."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import msgspec
import trio

from motorpool.actors.video.media_worker import LENGTH_BYTES, Done, Rejected, WorkerReply
from motorpool.codecs.errors import CodecError
from motorpool.runtime import Deferred, Failure

_Waiting = tuple[msgspec.Struct, type, Deferred[Any]]
"""A request, the type of its result, and where the reply goes."""

REPLY_BYTES = 64 << 20
"""Largest reply; a process whose decoder was taken over may claim any length."""
READ_BYTES = 1 << 16
IDLE_SECONDS = 60.0
"""How long an unused process is kept, and up to half of that more."""
EXIT_SECONDS = 1.0
"""A process that closed its pipes has this long to end by itself, so that its exit status is known."""
COMMAND = (sys.executable, "-m", "motorpool.actors.video.media_worker")
INHERITED = ("PATH", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "LD_LIBRARY_PATH")
"""Variables that the processes get: none of them is a secret of the server's."""


class WorkerFailedError(Exception):
    """A process could not be started, ended, or sent an invalid reply."""


class WorkerFailure(NamedTuple):
    """What became of a process that failed."""

    reason: str
    may_succeed: bool
    """Another attempt may: the machine had no processes, memory or time for it."""


_decode_reply = msgspec.msgpack.Decoder(WorkerReply).decode


async def _start(command: Sequence[str]) -> trio.Process:
    """Start a process.

    Raises:
        WorkerFailedError: the system does not start it.
    """
    try:
        return await trio.lowlevel.open_process(
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


async def _exchange(process: trio.Process, request: bytes) -> bytes:
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


async def _request(process: trio.Process, request: msgspec.Struct, result_type: type) -> WorkerReply:
    """Send a request of `media_worker.py` and return the reply, whose result is of `result_type`.

    Raises:
        WorkerFailedError: the process ended, or sent something else; it is of no further use.
    """
    try:
        reply: WorkerReply = _decode_reply(await _exchange(process, msgspec.msgpack.encode(request)))
    except msgspec.DecodeError as error:
        raise WorkerFailedError(f"sent no reply: {error}") from error
    if isinstance(reply, Done) and not isinstance(reply.result, result_type):
        raise WorkerFailedError("sent the reply to another request")
    return reply


async def _explain(process: trio.Process, error: WorkerFailedError) -> WorkerFailure:
    """Return what became of a process that failed: its exit status if it ends soon, else the error."""
    with trio.move_on_after(EXIT_SECONDS, shield=True):
        await process.wait()
    code = process.returncode
    if code is None:
        return WorkerFailure(str(error), may_succeed=False)
    status = signal.Signals(-code).name if code < 0 else f"code {code}"
    # The kernel kills where memory is short.
    return WorkerFailure(f"ended with {status}", may_succeed=code == -signal.SIGKILL)


class WorkerPool:
    """Processes that serve requests, one at a time each.

    One is started for a request that finds none idle, and ends when it was not needed for a while. One that
    fails costs its request, and is replaced for the next one. The one used last is used first.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        size: int,
        waiting: int,
        seconds: float,
        on_failure: Callable[[WorkerFailure], Exception],
    ) -> None:
        """`command` starts a process, of which at most `size` run; `waiting` requests may wait for one.

        `seconds` is the limit of one request, the start of its process included. `on_failure` is told what
        became of a process that failed, and returns the error of its request.
        """
        self.processes: dict[int, trio.Process] = {}
        """Running processes, by process id."""
        self._command = command
        self._seconds = seconds
        self._on_failure = on_failure
        self._send, self._receive = trio.open_memory_channel[_Waiting](waiting)
        self._slots = trio.Semaphore(size)
        self._idle: list[tuple[trio.Process, float]] = []
        """Each with the time since when; the one used last at the end."""

    def put(self, request: msgspec.Struct, result_type: type) -> Deferred[Any] | None:
        """Queue a request; return its reply, a result or a Failure. None where too many wait."""
        reply: Deferred[Any] = Deferred()
        try:
            self._send.send_nowait((request, result_type, reply))
        except trio.WouldBlock:
            return None
        return reply

    async def run(self) -> None:
        """Serve requests until cancelled; then no process is left."""
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._end_idle)
                async for waiting in self._receive:
                    await self._slots.acquire()
                    nursery.start_soon(self._serve, nursery, *waiting)
        finally:
            for process in list(self.processes.values()):
                await self._end(process)

    async def _serve(
        self,
        nursery: trio.Nursery,
        request: msgspec.Struct,
        result_type: type,
        reply: Deferred[Any],
    ) -> None:
        process: trio.Process | None = None
        try:
            with trio.fail_after(self._seconds):
                process = await self._take(nursery)
                found = await _request(process, request, result_type)
        except (WorkerFailedError, trio.TooSlowError) as error:
            reply.answer(Failure(self._on_failure(await self._end_failed(process, error))))
        else:
            self._idle.append((process, trio.current_time()))
            reply.answer(Failure(CodecError(found.reason)) if isinstance(found, Rejected) else found.result)
        finally:
            self._slots.release()

    async def _take(self, nursery: trio.Nursery) -> trio.Process:
        """Return an idle process, or a new one; raises WorkerFailedError where the system starts none."""
        while self._idle:
            process, _ = self._idle.pop()
            if process.returncode is None:
                return process
        process = await _start(self._command)
        self.processes[process.pid] = process
        nursery.start_soon(self._collect, process)
        return process

    async def _collect(self, process: trio.Process) -> None:
        """Collect the exit status of a process as soon as it has ended."""
        await process.wait()
        self.processes.pop(process.pid, None)

    async def _end_idle(self) -> None:
        while True:
            await trio.sleep(IDLE_SECONDS / 2)
            while self._idle and self._idle[0][1] <= trio.current_time() - IDLE_SECONDS:
                process, _ = self._idle.pop(0)
                await self._end(process)

    async def _end_failed(
        self, process: trio.Process | None, error: WorkerFailedError | trio.TooSlowError
    ) -> WorkerFailure:
        """End a process that failed; return what became of it. None: it could not be started."""
        if isinstance(error, trio.TooSlowError):
            failure = WorkerFailure(f"was stopped after {self._seconds:g} s", may_succeed=True)
        elif process is None:
            failure = WorkerFailure(str(error), may_succeed=True)
        else:
            failure = await _explain(process, error)
        if process is not None:
            await self._end(process)
        return failure

    async def _end(self, process: trio.Process) -> None:
        """Kill a process and wait until it has ended; it holds nothing that could be lost."""
        process.kill()
        with trio.CancelScope(shield=True):
            await process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    await pipe.aclose()
        self.processes.pop(process.pid, None)
