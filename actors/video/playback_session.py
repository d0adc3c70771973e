"""One playback from its command to its end: what came of it, and when it is over.

No message says that a recording has been played to its end (docs/protocols/jt1078.md#end-of-a-playback): the
terminal closes, falls silent, or is stopped.
"""

from datetime import datetime, timedelta
from typing import Literal

from motorpool.actors.messages.downlink import ConnectionMessage
from motorpool.actors.messages.playback import PlaybackControlSent, PlaybackRequested, PlaybackState
from motorpool.actors.video.playback_control import SEEK, PlaybackControlTracker
from motorpool.actors.video.recording_clock import RecordingClock
from motorpool.actors.video.settings import VideoSettings
from motorpool.codecs.media.event_playlist import EventPlaylist
from motorpool.codecs.media.fragments import MediaFragment
from motorpool.codecs.media.muxer import Segment
from motorpool.codecs.media.segmenter import Segmenter
from motorpool.codecs.media.units import AccessUnit
from motorpool.runtime import Ref

CONNECT_SECONDS = 120.0
"""For a terminal to connect after the command: its disk may have to spin up first."""
PREFIX = "playback/"
LOOP_MS = 30_000
"""A recording that repeats sooner looks like a clock that is set back with each key frame."""
SAME_MS = 1_000
"""A picture stamped this near to the first one is the first one again."""
UNREQUESTED = PlaybackRequested()


def empty_playlist(settings: VideoSettings, numbers: tuple[int, int]) -> EventPlaylist:
    """Return a playlist whose first segment and discontinuity will have these numbers."""
    first_index, first_discontinuity = numbers
    return EventPlaylist(
        target_seconds=settings.segment_seconds,
        prefix=PREFIX,
        first_index=first_index,
        first_discontinuity=first_discontinuity,
    )


class PlaybackSession:
    """Turns access units into fragments and keeps the playlist; reads no clock."""

    def __init__(
        self,
        name: str,
        settings: VideoSettings,
        now: float,
        *,
        first_index: int,
        first_discontinuity: int,
        requested: PlaybackRequested = UNREQUESTED,
    ) -> None:
        """`name` names the session's files. `now` is in monotonic seconds, as all times here."""
        self.name = name
        self.requested = requested
        self.control = PlaybackControlTracker()
        self.playlist = empty_playlist(settings, (first_index, first_discontinuity))
        self.started_at = now
        self.read_at: float | None = None
        self.ended_at: float | None = None
        self.publisher: Ref[ConnectionMessage] | None = None
        self._settings = settings
        self._segmenter = Segmenter(settings.segment_seconds, live=False, discontinuity=first_index > 0)
        self._has_published = False
        self._active_at = now
        """When the last unit, control, or change of publisher came."""
        self._stamps: tuple[int, int] | None = None
        """Timestamps of this publisher's first and last picture."""
        self._repeats = False
        self._recording_clock = RecordingClock(requested.start_time)
        self._seek_to: datetime | None = None
        """Target of a seek that has not taken effect yet."""
        self._arrived_to: datetime | None = None
        self._reason: str | None = None

    @property
    def is_running(self) -> bool:
        """Whether more may come."""
        return self.ended_at is None

    def publish(self, publisher: Ref[ConnectionMessage], now: float) -> bool:
        """Accept units from this connection; return whether another one published before."""
        returns, self._has_published = self._has_published, True
        self.publisher = publisher
        self._active_at = now
        self._stamps = None
        return returns

    def publisher_left(self, now: float) -> None:
        """Note that the publisher has left; it may come back."""
        self.publisher = None
        self._active_at = now

    def control_sent(self, message: PlaybackControlSent, now: float) -> None:
        """Note a control that a viewer sent, other than the end."""
        self.control.note_sent(message.control, message.speed, now)
        if message.control == SEEK:
            self._seek_to = message.time
        self._active_at = now

    def push(self, units: list[AccessUnit], now: float) -> list[MediaFragment]:
        """Take units; return the fragments they complete."""
        self._active_at = now
        fragments: list[MediaFragment | None] = []
        segmenter = self._segmenter
        for unit in units:
            is_requested = self.control.breaks_before(unit, now)
            if is_requested:
                fragments.append(segmenter.discontinuity())
                self._recording_clock.seek(self._seek_to)
                self._seek_to = None
            if unit.is_video:
                self._detect_loop(unit, is_requested=is_requested)
            if self._repeats:
                break
            keyframe = segmenter.last_keyframe
            fragments.append(segmenter.push(unit, now))
            latest = segmenter.last_keyframe
            if latest is not keyframe and latest is not None:
                self._recording_clock.note_keyframe(unit.timestamp, latest.pts)
        return [fragment for fragment in fragments if fragment is not None]

    def _detect_loop(self, unit: AccessUnit, *, is_requested: bool) -> None:
        """Some terminals repeat a recording until stopped (docs/protocols/jt1078.md#end-of-a-playback)."""
        stamp = unit.timestamp
        first, last = self._stamps or (stamp, stamp)
        if unit.keyframe and last - first >= LOOP_MS and abs(stamp - first) <= SAME_MS and not is_requested:
            self._repeats = True
        self._stamps = first, stamp

    def recorded_at(self, fragment: MediaFragment) -> datetime | None:
        """Return when a fragment begins in the recording; None if that is unknown."""
        return self._recording_clock.time_of(fragment.start)

    def list_segment(self, segment: Segment, recorded_at: datetime | None) -> None:
        """Add a segment to the playlist, which begins at `recorded_at` in the recording."""
        self.playlist.append(
            segment.duration,
            discontinuity=segment.discontinuity,
            container=segment.container,
            recorded_at=recorded_at,
        )
        if recorded_at is not None:
            self._arrived_to = recorded_at + timedelta(seconds=segment.duration)

    def state(self, now: float) -> PlaybackState:
        """Return what viewers are shown of it."""
        status: Literal["WAITING", "RUNNING", "PAUSED", "ENDED"] = "RUNNING"
        if not self.is_running:
            status = "ENDED"
        elif self.control.is_paused:
            status = "PAUSED"
        elif not self._has_published:
            status = "WAITING"
        return PlaybackState(
            self.requested,
            status,
            self._arrived_to,
            self.playlist.seconds,
            self._reason,
            None if self.read_at is None else now - self.read_at,
        )

    def peek(self) -> MediaFragment | None:
        """Return the open fragment, which stays open."""
        return self._segmenter.peek()

    def flush(self) -> list[MediaFragment]:
        """Return the open fragment as a last one; a discontinuity follows."""
        fragment = self._segmenter.discontinuity()
        return [] if fragment is None else [fragment]

    def end_reason(self, now: float) -> str:
        """Return why nothing more is expected; empty while something is."""
        if self._repeats:
            return "the device begins again"
        quiet = now - self._active_at
        if not self._has_published:
            return "the device does not send it" if quiet >= CONNECT_SECONDS else ""
        if self.control.is_paused:
            return "paused for too long" if quiet >= self._settings.playback_linger_seconds else ""
        if self.publisher is None:
            return "the device has hung up" if quiet >= self._settings.playback_return_seconds else ""
        return "the device sends nothing more" if quiet >= self._settings.playback_silence_seconds else ""

    def end(self, reason: str, now: float) -> None:
        """End the session; its segments stay."""
        self.ended_at = now
        self._reason = reason
        self.playlist.end()
        self.publisher = None

    def unread_seconds(self, now: float) -> float:
        """Return how long nobody has read; once it has ended, at most since its end."""
        since = self.started_at if self.read_at is None else self.read_at
        return now - max(since, self.ended_at or 0.0)
