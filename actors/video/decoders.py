"""Decodes key frames of cameras in separate processes, which may crash, hang or run out of memory.

A process is started for the first request, serves one request at a time, and ends when it was not needed for
a while. One that fails costs its request, and is replaced for the next one.
"""

from collections.abc import Sequence

import msgspec
import trio

from motorpool.actors.messages.counters import WORKERS_FAILED
from motorpool.actors.video.media_worker import DecodeRequest, FormatFound, JpegEncoded, Rejected
from motorpool.actors.video.worker_process import COMMAND, WorkerFailedError, WorkerProcess, WorkerProcesses
from motorpool.codecs.errors import CodecError
from motorpool.codecs.media.video_codec import PictureFormat, VideoCodec
from motorpool.runtime import Actor, Deferred, Failure, Kind, NodeLocal, Request

PROCESSES = 2
"""Processes at most: pictures for many channels must not take the processor from live video."""
DECODE_SECONDS = 15.0
"""Limit of one request, the start of its process included; a large picture takes less than a second."""
REQUEST_SECONDS = 2 * DECODE_SECONDS
"""How long to wait for a reply, behind others."""
IDLE_SECONDS = 60.0
"""How long an unused process is kept."""
WAITING_REQUESTS = 100
"""Requests that wait for a process; further ones fail at once."""


class EncodeJpeg(msgspec.Struct, Request[bytes], NodeLocal, frozen=True, gc=False):
    """Return this key frame as JPEG; raises CodecError in the asker where it does not decode."""

    codec: VideoCodec
    keyframe: bytes


class ProbeFormat(msgspec.Struct, Request[PictureFormat], NodeLocal, frozen=True, gc=False):
    """Return size and sample format of this key frame; raises CodecError where it does not decode."""

    codec: VideoCodec
    keyframe: bytes


DecoderMessage = EncodeJpeg | ProbeFormat
DECODERS: Kind[None, DecoderMessage] = Kind("decoders")

_Reply = Deferred[bytes | PictureFormat]


class Decoders(Actor[DecoderMessage]):
    """Distributes requests among at most `PROCESSES` processes."""

    def __init__(self, command: Sequence[str] = COMMAND) -> None:
        """`command` starts a process."""
        self._send, self._receive = trio.open_memory_channel[tuple[DecoderMessage, _Reply]](WAITING_REQUESTS)
        self._slots = trio.Semaphore(PROCESSES)
        self._idle: list[tuple[WorkerProcess, float]] = []
        """Processes that wait, each with the time since when; the one used last at the end."""
        self.processes = WorkerProcesses(command)
        """Running processes."""

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
                await self.processes.end(process)

    async def _serve(self, nursery: trio.Nursery, message: DecoderMessage, reply: _Reply) -> None:
        """Serve one request, in the process that was used last if it is idle."""
        process: WorkerProcess | None = None
        try:
            with trio.fail_after(DECODE_SECONDS):
                process = await self._take(nursery)
                found = await _decode(process, message)
        except (WorkerFailedError, trio.TooSlowError) as error:
            reason = await self.processes.end_failed(process, error, DECODE_SECONDS)
            WORKERS_FAILED.labels("decoder").inc()
            self.context.log.warning("the decoder %s", reason)
            reply.answer(Failure(CodecError(f"the key frame does not decode: the decoder {reason}")))
        else:
            self._idle.append((process, trio.current_time()))
            reply.answer(
                Failure(CodecError(found.reason)) if isinstance(found, Rejected) else _content(found)
            )
        finally:
            self._slots.release()

    async def _take(self, nursery: trio.Nursery) -> WorkerProcess:
        """Return an idle process, or a new one."""
        while self._idle:
            process, _ = self._idle.pop()
            if not process.has_ended:
                return process
        return await self.processes.start(nursery)

    async def _end_idle(self) -> None:
        while True:
            await trio.sleep(IDLE_SECONDS / 2)
            while self._idle and self._idle[0][1] <= trio.current_time() - IDLE_SECONDS:
                process, _ = self._idle.pop(0)
                await self.processes.end(process)


async def _decode(process: WorkerProcess, message: DecoderMessage) -> JpegEncoded | FormatFound | Rejected:
    """Have a process decode a key frame; raises WorkerFailedError."""
    decoder, keyframe = message.codec.ffmpeg_name, message.keyframe
    if isinstance(message, EncodeJpeg):
        return await process.request(DecodeRequest("jpeg", decoder, keyframe), JpegEncoded)
    return await process.request(DecodeRequest("format", decoder, keyframe), FormatFound)


def _content(reply: JpegEncoded | FormatFound) -> bytes | PictureFormat:
    return reply.content if isinstance(reply, JpegEncoded) else reply.format
