"""Messages to the playback of one channel. They carry media bytes and refs, and stay on their node."""

import msgspec

from motorpool.actors.messages.publishing import PublisherMessage, Subscribe, Unsubscribe
from motorpool.runtime import Kind, NodeLocal, Request

__all__ = [
    "PLAYBACK",
    "CheckPlayback",
    "FindSegment",
    "PlaybackCommandCompleted",
    "PlaybackControlSent",
    "PlaybackMessage",
    "PlaybackRequested",
    "ReadPlayback",
    "SegmentsEvicted",
]


class PlaybackRequested(msgspec.Struct, frozen=True, gc=False):
    """`videoPlayback` is about to be sent: what publishes now begins a new session."""


class PlaybackCommandCompleted(msgspec.Struct, frozen=True, gc=False):
    """The command after a `PlaybackRequested` was sent or refused."""

    sent: bool


class PlaybackControlSent(msgspec.Struct, frozen=True, gc=False):
    """`videoPlaybackControl` is about to be sent."""

    control: int
    """0 to 6 (JT/T 1078-2016, message 0x9202)."""
    speed: int = 1
    """Multiple, of forward and rewind."""


class ReadPlayback(msgspec.Struct, Request[str], frozen=True, gc=False):
    """Return the playlist; empty where nothing was requested.

    Waits `video.start_seconds` from the command for the first segment.
    """


class FindSegment(msgspec.Struct, Request[str | None], frozen=True, gc=False):
    """Return the name of a segment's session, for `segment_path`; None when it is no longer kept."""

    index: int


class SegmentsEvicted(msgspec.Struct, NodeLocal, frozen=True, gc=False):
    """The segment store removed segments of this playback to make room for another's."""

    session: str
    """Name of the session."""
    first_kept: int | None
    """The lowest index that is still there; None when the whole session is gone."""


class CheckPlayback(msgspec.Struct, frozen=True, gc=False):
    """Timer: check what ends by time."""


PlaybackMessage = (
    PublisherMessage
    | FindSegment
    | ReadPlayback
    | PlaybackRequested
    | PlaybackCommandCompleted
    | PlaybackControlSent
    | Subscribe
    | Unsubscribe
    | SegmentsEvicted
    | CheckPlayback
)
PLAYBACK: Kind[tuple[int, int], PlaybackMessage] = Kind("playback")
"""By device id and channel."""
