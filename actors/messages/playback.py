"""Messages to the playback of one channel. They carry media bytes and refs, and stay on their node."""

from datetime import datetime
from typing import Literal

import msgspec

from motorpool.actors.messages.publishing import PublisherMessage, Subscribe, Unsubscribe
from motorpool.runtime import Kind, NodeLocal, Request


class PlaybackRequested(msgspec.Struct, frozen=True, gc=False):
    """`videoPlayback` is about to be sent: what publishes now begins a new session."""

    start_time: datetime | None = None
    end_time: datetime | None = None
    """The span that is asked for, as far as it is known."""
    user_id: int = 0
    """Who asks; 0 if nobody does."""


class PlaybackCommandCompleted(msgspec.Struct, frozen=True, gc=False):
    """The command after a `PlaybackRequested` was sent or refused."""

    sent: bool


class PlaybackControlSent(msgspec.Struct, frozen=True, gc=False):
    """`videoPlaybackControl` is about to be sent."""

    control: int
    """0 to 6 (JT/T 1078-2016, message 0x9202)."""
    speed: int = 1
    """Multiple, of forward and rewind."""
    time: datetime | None = None
    """Where a seek goes; None where it is unknown."""


class PlaybackState(msgspec.Struct, frozen=True, gc=False):
    """What became of the latest `videoPlayback`."""

    requested: PlaybackRequested
    status: Literal["WAITING", "RUNNING", "PAUSED", "ENDED"]
    """WAITING: nothing has arrived. PAUSED: by a viewer."""
    arrived_to: datetime | None
    """When the end of what has arrived was recorded; None where nothing has arrived or it is unknown."""
    seconds: float
    """Length of what has arrived and is still kept."""
    reason: str | None
    """Why it has ended."""
    unread_seconds: float | None = None
    """Time since a viewer read it; None where nobody has."""


class GetPlaybackState(msgspec.Struct, Request[PlaybackState | None], frozen=True, gc=False):
    """Return the state of the latest playback; None where there is none, or it is no longer kept."""


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
    | GetPlaybackState
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
