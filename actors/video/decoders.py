"""Decodes key frames of cameras in processes of its own, which may crash, hang or run out of memory.

A process is started for the first request, serves one request at a time, and ends when it was not needed for
a while. One that fails costs its request, and is replaced for the next one.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from typing import Literal

import msgspec
import trio

from motorpool.actors.messages.counters import DECODERS_FAILED
from motorpool.actors.video.decoder_worker import (
    LENGTH_BYTES,
    DecodeRequest,
    FormatFound,
    JpegEncoded,
    Rejected,
    WorkerReply,
)
from motorpool.codecs.errors import CodecError
from motorpool.codecs.media.mp4.decoder_configuration import PictureFormat
from motorpool.codecs.media.units import Coding
from motorpool.runtime import Actor, ChildSpec, Deferred, Failure, Kind, NodeLocal, Request

__all__ = [
    "DECODERS",
    "DECODE_SECONDS",
    "PATIENCE_SECONDS",
    "DecoderMessage",
    "Decoders",
    "EncodeJpeg",
    "ProbeFormat",
    "decoders_spec",
]

PROCESSES = 2
"""Processes at most: pictures for many channels must not take the processor from live video."""
DECODE_SECONDS = 15.0
"""Limit of one request, the start of its process included; a large picture takes less than a second."""
PATIENCE_SECONDS = 2 * DECODE_SECONDS
"""How long to wait for a reply, behind others."""
IDLE_SECONDS = 60.0
"""A process that was not needed for so long ends."""
WAITING_REQUESTS = 100
"""Requests that wait for a process; further ones fail at once."""
REPLY_BYTES = 64 << 20
"""Largest reply; a process whose decoder was taken over may claim any length."""
READ_BYTES = 1 << 16
EXIT_SECONDS = 1.0
"""A process that closed its pipes has this long to end by itself, so that its exit status is known."""
COMMAND = (sys.executable, "-m", "motorpool.actors.video.decoder_worker")
INHERITED = ("PATH", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "LD_LIBRARY_PATH")
"""Variables that the processes get: none of them is a secret of the server's."""


class EncodeJpeg(msgspec.Struct, Request[bytes], NodeLocal, frozen=True, gc=False):
    """Return this key frame as JPEG; raises CodecError in the asker where it does not decode."""

    coding: Coding
    keyframe: bytes


class ProbeFormat(msgspec.Struct, Request[PictureFormat], NodeLocal, frozen=True, gc=False):
    """Return size and sample format of this key frame; raises CodecError where it does not decode."""

    coding: Coding
    keyframe: bytes


DecoderMessage = EncodeJpeg | ProbeFormat
DECODERS: Kind[None, DecoderMessage] = Kind("decoders")

_Reply = Deferred[bytes | PictureFormat]


class Decoders(Actor[DecoderMessage]):
    """Distributes requests among at most `PROCESSES` processes."""

    def __init__(self, command: Sequence[str] = COMMAND) -> None:
        """`command` starts a process."""
        self._command = command
        self._send, self._receive = trio.open_memory_channel[tuple[DecoderMessage, _Reply]](WAITING_REQUESTS)
        self._slots = trio.Semaphore(PROCESSES)
        self._idle: list[tuple[trio.Process, float]] = []
        """Processes that wait, each with the time since when; the one used last at the end."""
        self.processes: dict[int, trio.Process] = {}
        """Those that run, by process id."""

    def handle(self, message: DecoderMessage) -> object:
        """Queue a request; the reply comes later."""
        reply = _Reply()
        try:
            self._send.send_nowait((message, reply))
        except trio.WouldBlock:
            return Failure(CodecError("too many key frames wait to be decoded"))
        return reply

    async def run(self) -> None:
        """Serve requests until cancelled; then no process is left."""
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._end_idle)
                async for message, reply in self._receive:
                    await self._slots.acquire()
                    nursery.start_soon(self._serve, nursery, message, reply)
        finally:
            for process in list(self.processes.values()):
                await self._end(process)

    async def _serve(self, nursery: trio.Nursery, message: DecoderMessage, reply: _Reply) -> None:
        """Serve one request, in the process that was used last if it is idle."""
        process: trio.Process | None = None
        try:
            with trio.fail_after(DECODE_SECONDS):
                while self._idle and (process is None or process.returncode is not None):
                    process, _ = self._idle.pop()
                if process is None or process.returncode is not None:
                    process = None
                    process = await self._start(nursery)
                found = await _exchange(process, message)
        except (_ProcessFailedError, OSError, trio.TooSlowError) as error:
            reason = await self._failed(process, error)
            reply.answer(Failure(CodecError(f"the key frame does not decode: {reason}")))
        else:
            self._idle.append((process, trio.current_time()))
            reply.answer(
                Failure(CodecError(found.reason)) if isinstance(found, Rejected) else _content(found)
            )
        finally:
            self._slots.release()

    async def _end_idle(self) -> None:
        while True:
            await trio.sleep(IDLE_SECONDS / 2)
            while self._idle and self._idle[0][1] <= trio.current_time() - IDLE_SECONDS:
                process, _ = self._idle.pop(0)
                await self._end(process)

    async def _end(self, process: trio.Process) -> None:
        """Kill a process and wait until it has ended; it holds nothing that could be lost."""
        process.kill()
        with trio.CancelScope(shield=True):
            await process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    await pipe.aclose()
        self.processes.pop(process.pid, None)

    async def _start(self, nursery: trio.Nursery) -> trio.Process:
        process = await trio.lowlevel.open_process(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={name: os.environ[name] for name in INHERITED if name in os.environ},
            # Ctrl+C must reach only the server, which ends its processes itself.
            start_new_session=True,
        )
        self.processes[process.pid] = process
        nursery.start_soon(self._reap, process)
        return process

    async def _reap(self, process: trio.Process) -> None:
        """Collect the exit status as soon as the process has ended, for whatever reason."""
        await process.wait()
        self.processes.pop(process.pid, None)

    async def _failed(self, process: trio.Process | None, error: Exception) -> str:
        """End a process that failed; return why."""
        if process is None:
            reason = f"no decoder could be started: {error}"
        else:
            with trio.move_on_after(EXIT_SECONDS, shield=True):
                if isinstance(error, _ProcessFailedError):
                    await process.wait()
            code = process.returncode
            await self._end(process)
            if isinstance(error, trio.TooSlowError):
                reason = f"the decoder was stopped after {DECODE_SECONDS:g} s"
            elif code is None:
                reason = f"the decoder was stopped: {error}"
            else:
                name = signal.Signals(-code).name if code < 0 else f"code {code}"
                reason = f"the decoder ended with {name}"
        DECODERS_FAILED.inc()
        self.context.log.warning("%s", reason)
        return reason


class _ProcessFailedError(Exception):
    """A process ended, or sent what is no reply."""


async def _exchange(process: trio.Process, message: DecoderMessage) -> WorkerReply:
    """Send a request to a process and return its reply; raises _ProcessFailedError."""
    assert process.stdin is not None
    assert process.stdout is not None
    operation: Literal["jpeg", "format"] = "jpeg" if isinstance(message, EncodeJpeg) else "format"
    request = msgspec.msgpack.encode(DecodeRequest(operation, message.coding, message.keyframe))
    received = bytearray()
    try:
        await process.stdin.send_all(len(request).to_bytes(LENGTH_BYTES) + request)
        expected = LENGTH_BYTES
        while len(received) < expected:
            chunk = await process.stdout.receive_some(READ_BYTES)
            if not chunk:
                raise _ProcessFailedError("it closed its output")
            received += chunk
            if expected == LENGTH_BYTES <= len(received):
                expected += int.from_bytes(received[:LENGTH_BYTES])
                if expected > REPLY_BYTES:
                    raise _ProcessFailedError(f"its reply has {expected} bytes")
        if len(received) > expected:
            raise _ProcessFailedError("it sent more than a reply")
        reply: WorkerReply = _decode_reply(bytes(received[LENGTH_BYTES:]))
    except (trio.BrokenResourceError, msgspec.DecodeError) as error:
        raise _ProcessFailedError(f"{type(error).__name__}: {error}") from error
    if isinstance(reply, JpegEncoded if operation == "format" else FormatFound):
        raise _ProcessFailedError("its reply is that of another request")
    return reply


_decode_reply = msgspec.msgpack.Decoder(WorkerReply).decode


def _content(reply: JpegEncoded | FormatFound) -> bytes | PictureFormat:
    return reply.content if isinstance(reply, JpegEncoded) else reply.format


def decoders_spec(command: Sequence[str] = COMMAND) -> ChildSpec[DecoderMessage]:
    """Return the child spec of the decoders, which start before snapshots and captures."""
    return ChildSpec(
        kind=DECODERS,
        factory=lambda: Decoders(command),
        resident=False,
        mailbox_size=WAITING_REQUESTS,
    )
