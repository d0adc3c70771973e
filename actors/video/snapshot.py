"""The latest picture of a camera: the last key frame of its live stream as JPEG.

One actor a channel, so that however many ask at once a key frame is decoded once: they wait in its mailbox,
and all but the first find the picture made.
"""

from datetime import datetime, timedelta
from typing import assert_never

import msgspec
import trio

from motorpool.actors.video.stream import STREAM, ReadKeyframe
from motorpool.codecs.errors import CodecError
from motorpool.codecs.media.fragments import Keyframe
from motorpool.codecs.media.snapshot import encode_jpeg
from motorpool.runtime import Actor, DynamicSpec, Failure, Kind, Request, Restart, System

__all__ = [
    "SNAPSHOT",
    "DecodeSnapshot",
    "Snapshot",
    "SnapshotImage",
    "SnapshotMessage",
    "read_snapshot",
    "snapshot_spec",
]

DECODERS = 2
"""At a time: pictures for many channels must not keep segments that wait for a thread."""


class SnapshotImage(msgspec.Struct, frozen=True, gc=False):
    """A snapshot."""

    jpeg: bytes
    taken_at: datetime
    """When it arrived here."""


class DecodeSnapshot(msgspec.Struct, Request[SnapshotImage], frozen=True, gc=False):
    """Make a picture of this key frame, or give the one that was made of it.

    Fails with CodecError where it does not decode.
    """

    keyframe: Keyframe


SnapshotMessage = DecodeSnapshot
SNAPSHOT: Kind[tuple[int, int], SnapshotMessage] = Kind("snapshot")


class Snapshot(Actor[SnapshotMessage]):
    """Keeps the picture of one channel beside the key frame that it was made of."""

    def __init__(self, decoders: trio.CapacityLimiter) -> None:
        self._decoders = decoders
        self._keyframe: Keyframe | None = None
        self._made: SnapshotImage | Failure | None = None

    def handle(self, message: SnapshotMessage) -> object:
        """One message."""
        match message:
            case DecodeSnapshot():
                if message.keyframe is self._keyframe:
                    return self._made
                return self._decode(message.keyframe)
            case _:
                assert_never(message)

    async def _decode(self, keyframe: Keyframe) -> SnapshotImage | Failure:
        made: SnapshotImage | Failure
        clock = self.context.clock
        taken_at = clock.now() - timedelta(seconds=clock.monotonic() - keyframe.arrived_at)
        try:
            jpeg = await trio.to_thread.run_sync(encode_jpeg, keyframe, limiter=self._decoders)
        except CodecError as error:
            self.context.log.warning("no snapshot: %s", error)
            made = Failure(error)
        else:
            made = SnapshotImage(jpeg, taken_at)
        self._keyframe, self._made = keyframe, made
        return made


async def read_snapshot(
    system: System, key: tuple[int, int], patience_seconds: float
) -> SnapshotImage | None:
    """The latest picture of a channel; None where nothing streams, and nothing could be started in time.

    Raises:
        CodecError: the key frame does not decode.
        ActorError: too many ask, or a part of the server starts again.
    """
    keyframe = await system.ref(STREAM, key).ask(ReadKeyframe(), seconds=patience_seconds)
    if keyframe is None:
        return None
    return await system.ref(SNAPSHOT, key).ask(DecodeSnapshot(keyframe))


def snapshot_spec() -> DynamicSpec[tuple[int, int], SnapshotMessage]:
    """The snapshots of the tree, made by the first reader of each channel."""
    decoders = trio.CapacityLimiter(DECODERS)
    return DynamicSpec(
        kind=SNAPSHOT,
        name="snapshots",
        factory=lambda _: Snapshot(decoders),
        restart=Restart.TRANSIENT,
        mailbox_size=200,
        idle_seconds=60.0,
    )
