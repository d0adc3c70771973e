"""The latest picture of a camera: the last key frame of its live stream as JPEG.

One actor a channel, so that a key frame is decoded once however many ask at the same time: they wait in its
mailbox, and all but the first get the image that was made. Messages carry pictures and stay on their node.
"""

from datetime import datetime

import msgspec

from motorpool.actors.messages.live_stream import STREAM, ReadKeyframe, StreamKeyframe
from motorpool.actors.video.decoders import DECODERS, REQUEST_SECONDS, EncodeJpeg
from motorpool.codecs.errors import CodecError
from motorpool.runtime import Actor, ActorError, Kind, NodeLocal, Request, System


class SnapshotImage(msgspec.Struct, frozen=True, gc=False):
    """A key frame as an image."""

    jpeg: bytes
    taken_at: datetime
    """When it arrived at the server."""


class SnapshotFailed(msgspec.Struct, frozen=True, gc=False):
    """The key frame does not decode."""

    reason: str


class DecodeSnapshot(
    msgspec.Struct, Request[SnapshotImage | SnapshotFailed], NodeLocal, frozen=True, gc=False
):
    """Return this key frame as an image, made now or before."""

    keyframe: StreamKeyframe


SNAPSHOT: Kind[tuple[int, int], DecodeSnapshot] = Kind("snapshot")
"""By device id and channel."""


class Snapshot(Actor[DecodeSnapshot]):
    """Keeps the last image of one channel with the id of its key frame."""

    def __init__(self) -> None:
        self._keyframe_id: str | None = None
        self._result: SnapshotImage | SnapshotFailed | None = None

    def handle(self, message: DecodeSnapshot) -> object:
        """Return the image that was made, or decode the key frame."""
        if message.keyframe.id == self._keyframe_id:
            return self._result
        return self._decode(message.keyframe)

    async def _decode(self, keyframe: StreamKeyframe) -> SnapshotImage | SnapshotFailed:
        result: SnapshotImage | SnapshotFailed
        request = EncodeJpeg(keyframe.coding, keyframe.payload)
        try:
            jpeg = await self.context.system.ref(DECODERS).ask(request, REQUEST_SECONDS)
        except CodecError as error:
            self.context.log.warning("no snapshot: %s", error)
            result = SnapshotFailed(str(error))
        except ActorError as error:
            # The decoders are being restarted: the same key frame may be tried again.
            return SnapshotFailed(f"the key frame cannot be decoded now: {error}")
        else:
            result = SnapshotImage(jpeg, keyframe.taken_at)
        self._keyframe_id, self._result = keyframe.id, result
        return result


async def read_snapshot(
    system: System, key: tuple[int, int], timeout_seconds: float, *, may_start: bool = True
) -> SnapshotImage | SnapshotFailed | None:
    """Return the latest picture of a channel; None where nothing streams and nothing could be started.

    Without `may_start` no camera is started, and a stream that runs is not kept running.

    Raises:
        ActorError: too many ask, or a part of the server is being restarted.
    """
    keyframe = await system.ref(STREAM, key).ask(ReadKeyframe(may_start), seconds=timeout_seconds)
    if keyframe is None:
        return None
    return await system.ref(SNAPSHOT, key).ask(DecodeSnapshot(keyframe), REQUEST_SECONDS)
