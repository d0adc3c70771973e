"""The requests of a player of a live playlist (RFC 8216, sections 6.3.3 and 6.3.4); no socket, no clock."""

from collections import deque

FIRST_SEGMENTS = 3
"""Segments from the end of the playlist at which a player begins (RFC 8216, section 6.3.3)."""


class Viewer:
    """One player: requests the playlist, each new segment once, and reloads the playlist in time."""

    def __init__(self, path: str, begin: float) -> None:
        """`path` is the stream's, without the playlist's name; `begin` in seconds of any clock."""
        self.due = begin
        """When to send `request`."""
        self._reload_at = begin
        """When to reload the playlist; segments are requested at once."""
        self.missed = 0
        """Segments that left the window before this player requested them."""
        self.stalls = 0
        """Segments that arrived after everything before had been played."""
        self._path = path
        self._wanted: deque[tuple[int, float]] = deque()
        self._latest: int | None = None
        self._ahead = 0.0
        self._shown_until: float | None = None

    @property
    def wants_segment(self) -> bool:
        """Whether the next request is for a segment; otherwise it is for the playlist."""
        return bool(self._wanted)

    def request(self) -> str:
        """Return the path of the next request."""
        name = f"{self._wanted[0][0]}.ts" if self._wanted else "live.m3u8"
        return f"{self._path}/{name}"

    def take_segment(self, now: float) -> None:
        """Record that the requested segment has arrived."""
        _, duration = self._wanted.popleft()
        self.due = now if self._wanted else self._reload_at
        if self._shown_until is None:
            # Playback starts once the first segments are there; before that there is no stall.
            self._ahead += duration
            if not self._wanted:
                self._shown_until = now + self._ahead
            return
        self.stalls += now > self._shown_until
        self._shown_until = max(now, self._shown_until) + duration

    def skip_segment(self) -> None:
        """Record that the requested segment is no longer available."""
        self._wanted.popleft()
        self.missed += 1
        if not self._wanted:
            self.due = self._reload_at

    def take_playlist(self, text: str, asked: float) -> None:
        """Note the playlist that was requested at `asked`."""
        listed = listed_segments(text)
        target = target_duration(text)
        if self._latest is None:
            new = listed[-FIRST_SEGMENTS:]
        else:
            latest = self._latest
            new = [(index, duration) for index, duration in listed if index > latest]
            if new:
                self.missed += new[0][0] - latest - 1
        if new:
            self._latest = new[-1][0]
            self._wanted.extend(new)
        # A playlist that has changed will not do so again before a target duration.
        self._reload_at = asked + (target if new else target / 2)
        self.due = asked if new else self._reload_at


def listed_segments(playlist: str) -> list[tuple[int, float]]:
    """Return index and EXTINF of each segment. Fast: it runs hundreds of times a second."""
    found, duration = [], 0.0
    for line in playlist.splitlines():
        if line.startswith("#EXTINF:"):
            duration = float(line[8:].partition(",")[0])
        elif line.endswith(".ts"):
            found.append((int(line.rpartition("/")[2][:-3]), duration))
    return found


def target_duration(playlist: str) -> float:
    """Return EXT-X-TARGETDURATION in seconds; 1 if there is none."""
    found = playlist.partition("#EXT-X-TARGETDURATION:")[2]
    return float(found.split("\n", 1)[0]) if found else 1.0
