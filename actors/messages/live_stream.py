"""Messages to the live stream of one channel. They carry media bytes and refs, and stay on their node."""

from datetime import datetime
from enum import Enum, auto

import msgspec

from motorpool.actors.messages.publishing import PublisherMessage, Subscribe, Unsubscribe
from motorpool.codecs.media.playlist_window import PlaylistWindow
from motorpool.codecs.media.video_codec import VideoCodec
from motorpool.runtime import Kind, NodeLocal, Request
from motorpool.storage.cluster.homes import Home


class HoldStream(msgspec.Struct, frozen=True, gc=False):
    """`videoStart` was sent: keep the stream until `videoStop`."""


class ReleaseStream(msgspec.Struct, frozen=True, gc=False):
    """`videoStop` was sent: end the stream."""


class ResumeStream(msgspec.Struct, frozen=True, gc=False):
    """A talk with the driver has ended, for which the device may have ended the stream."""


class StreamedBy(msgspec.Struct, frozen=True, gc=False):
    """Another server answers reads of the stream, until this one has taken it over."""

    home: Home


class FormerLost(msgspec.Struct, frozen=True, gc=False):
    """The server that answers for the stream has not answered: go on without it."""

    node: int


class MoveStream(msgspec.Struct, frozen=True, gc=False):
    """The device has connected here, and another server has the stream: go on with it."""


class StreamState(msgspec.Struct, frozen=True, gc=False):
    """What another server goes on with."""

    is_wanted: bool
    """Whether the camera was started, and not stopped again."""
    is_held: bool
    """By `videoStart`."""


class LetMove(msgspec.Struct, Request[StreamState], frozen=True, gc=False):
    """Another server, that the device has connected to, is about to go on with the stream.

    It is published here until `HandOver`, for as long as media come, and no command is sent for it.
    """


class IsLive(msgspec.Struct, Request[bool], frozen=True, gc=False):
    """Whether media come, or another server is about to go on with the stream."""


class HandedOver(msgspec.Struct, frozen=True, gc=False):
    """What another server goes on with."""

    window: PlaylistWindow
    captures: tuple[str, ...] = ()
    """Ids of those that were running."""


class HandOver(msgspec.Struct, Request[HandedOver], NodeLocal, frozen=True, gc=False):
    """Another server has media of the device: end the stream here, and return what can be fetched.

    Its numbers are given back.
    """


class WaitFailure(Enum):
    """Why waiting for the playlist to hold something was in vain."""

    TOO_FAR_AHEAD = auto()
    """It will not come soon."""
    TIMED_OUT = auto()
    """It should have come by now."""


class Held(msgspec.Struct, frozen=True, gc=False):
    """An answer that the stream has held until there was something to read, or too long."""

    answer: str | bytes | WaitFailure | None
    seconds: float
    """For how long."""


class ReadPlaylist(msgspec.Struct, Request[str | StreamedBy | Held], frozen=True, gc=False):
    """Return the live playlist; the first reader may start the stream and waits for its first segment."""

    start: bool = True
    """Whether this reader may start the stream."""
    wait_seconds: float | None = None
    """Most seconds to wait for something to begin with; None: as the settings say."""


class AwaitPlaylist(msgspec.Struct, Request[str | WaitFailure | StreamedBy | Held], frozen=True, gc=False):
    """Return the live playlist as soon as it holds this, or something after it (a blocking reload).

    Without a publisher it is answered as `ReadPlaylist`.
    """

    index: int
    """Index of the segment."""
    part: int | None = None
    """Part of the segment; None for the whole segment."""


class ReadPart(msgspec.Struct, Request[bytes | StreamedBy | Held | None], NodeLocal, frozen=True, gc=False):
    """Return the bytes of a part; the next one is waited for.

    None when it has left the window, or does not come in time.
    """

    index: int
    part: int


class ReadSegment(msgspec.Struct, Request[bytes | StreamedBy | None], NodeLocal, frozen=True, gc=False):
    """Return the bytes of a segment; None when it has left the window or never was."""

    index: int


LiveRead = ReadPlaylist | AwaitPlaylist | ReadPart | ReadSegment
"""What players read."""
LiveAnswer = str | bytes | WaitFailure | StreamedBy | Held | None
"""What is answered to that."""


class ReadForOther(msgspec.Struct, Request[LiveAnswer], NodeLocal, frozen=True, gc=False):
    """Answer what another server is asked, to which the device has gone on or is about to; start nothing."""

    read: LiveRead


class StreamKeyframe(msgspec.Struct, frozen=True, gc=False):
    """A key frame of the stream, with its parameter sets."""

    id: str
    """Identifies the key frame among all of its channel, across restarts."""
    coding: VideoCodec
    payload: bytes
    taken_at: datetime
    """When it arrived at the server."""


class ReadKeyframe(msgspec.Struct, Request[StreamKeyframe | None], NodeLocal, frozen=True, gc=False):
    """Return the last key frame; the first reader may start the stream and waits for it.

    None if there was none.
    """

    start: bool = True
    """Whether this reader may start the stream, and keeps it running."""


class CheckStream(msgspec.Struct, frozen=True, gc=False):
    """Timer: check what ends by time."""


class ExpireReads(msgspec.Struct, frozen=True, gc=False):
    """Timer: some reader may have waited long enough."""


StreamMessage = (
    PublisherMessage
    | ReadSegment
    | ReadPart
    | AwaitPlaylist
    | ReadPlaylist
    | ReadKeyframe
    | ReadForOther
    | HoldStream
    | ReleaseStream
    | ResumeStream
    | MoveStream
    | LetMove
    | IsLive
    | HandOver
    | FormerLost
    | Subscribe
    | Unsubscribe
    | CheckStream
    | ExpireReads
)
STREAM: Kind[tuple[int, int], StreamMessage] = Kind("stream")
"""By device id and channel."""
