"""When a request for a live playlist is answered, so that players which poll do not run dry.

A player reloads the playlist one segment's length after a reload that brought a segment, and half a target
duration after one that did not (RFC 8216, section 6.3.4). So it may learn of a segment half a target duration
after it was listed; a player that began with a single segment has played that by then
(docs/decisions/0230-first-playlist-and-reloads.md). Times are monotonic seconds.
"""

from math import inf

START_FRACTION = 0.5
"""The first playlist is held for this fraction of its segment's length after that was listed …"""
MIN_START_SECONDS = 0.5
"""… and at least this long: connections of cameras are read every 0.4 s."""
EARLY_SECONDS = 0.75
"""A request that comes at most this long before the next segment is expected waits for it; of short segments
at most half their length. Listings vary by 0.4 s, as connections of cameras are read at intervals.
"""
OVERDUE_SECONDS = 0.5
"""It waits at most this long after that segment was expected."""


class ReloadPacing:
    """Follows the listing of the segments of one stream."""

    def __init__(self) -> None:
        self._playable_at = inf
        """When the first playlist may be answered."""
        self._listed_at = -inf
        self._length = 0.0
        """Seconds of the last segment; key frames come regularly, so the next is expected to be as long."""

    def note_listed(self, seconds: float, now: float, *, first: bool) -> None:
        """Note that a segment was listed; `first`: the playlist was empty before."""
        start = max(START_FRACTION * seconds, MIN_START_SECONDS)
        self._playable_at = now + start if first else min(self._playable_at, now)
        self._listed_at = now
        self._length = seconds

    def start_hold(self, now: float) -> float:
        """Return for how many seconds a playlist with one segment is still held; 0 when it is not."""
        return max(0.0, self._playable_at - now)

    def reload_hold(self, now: float) -> float:
        """Return for how many seconds a request may wait for the next segment; 0: it does not wait."""
        late = now - (self._listed_at + self._length)
        early = min(EARLY_SECONDS, self._length / 2)
        return OVERDUE_SECONDS - late if -early <= late < OVERDUE_SECONDS else 0.0
