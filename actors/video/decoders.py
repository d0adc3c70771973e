"""Decodes key frames of cameras in separate processes, which may crash, hang or run out of memory."""

from collections.abc import Sequence

import msgspec

from motorpool.actors.messages.counters import WORKERS_FAILED
from motorpool.actors.video.media_worker import DecodeRequest
from motorpool.actors.video.worker_process import COMMAND, WorkerFailure, WorkerPool
from motorpool.codecs.errors import CodecError
from motorpool.codecs.media.video_codec import PictureFormat, VideoCodec
from motorpool.runtime import Actor, Failure, Kind, NodeLocal, Request

PROCESSES = 2
"""Processes at most: pictures for many channels must not take the processor from live video."""
DECODE_SECONDS = 15.0
"""Limit of one request, the start of its process included; a large picture takes less than a second."""
REQUEST_SECONDS = 2 * DECODE_SECONDS
"""How long to wait for a reply, behind others."""
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


class Decoders(Actor[DecoderMessage]):
    """Decodes in at most `PROCESSES` processes."""

    def __init__(self, command: Sequence[str] = COMMAND) -> None:
        """`command` starts a process."""
        self.pool = WorkerPool(
            command,
            size=PROCESSES,
            waiting=WAITING_REQUESTS,
            seconds=DECODE_SECONDS,
            on_failure=self._failed,
        )

    def handle(self, message: DecoderMessage) -> object:
        """Queue a request; the reply comes later."""
        decoder, keyframe = message.codec.ffmpeg_name, message.keyframe
        if isinstance(message, EncodeJpeg):
            reply = self.pool.put(DecodeRequest("jpeg", decoder, keyframe), bytes)
        else:
            reply = self.pool.put(DecodeRequest("format", decoder, keyframe), PictureFormat)
        return reply or Failure(CodecError("too many key frames wait to be decoded"))

    async def run(self) -> None:
        """Serve requests until cancelled; then no process is left."""
        await self.pool.run()

    def _failed(self, failure: WorkerFailure) -> CodecError:
        WORKERS_FAILED.labels("decoder").inc()
        self.context.log.warning("the decoder %s", failure.reason)
        return CodecError(f"the key frame does not decode: the decoder {failure.reason}")
