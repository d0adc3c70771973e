"""What a player of a live playlist asks for, and when (RFC 8216 6.3.3, 6.3.4); without a socket or clock."""

from collections import deque

FIRST_SEGMENTS = 3
"""A player begins so far from the end of the playlist (RFC 8216 6.3.3)."""


class Viewer:
    """One player: asks for the playlist, for each new segment once, and for the playlist again in time."""

    def __init__(self, path: str, begin: float) -> None:
        """`path` is the stream's, without the playlist's name; `begin` in seconds of any clock."""
        self.due = begin
        """When to send `request`."""
        self._reload_at = begin
        """When to ask for the playlist again; segments are asked for at once."""
        self.missed = 0
        """Segments that left the window before this player came to them."""
        self.stalls = 0
        """Segments that came after all that was there before had been shown."""
        self._path = path
        self._wanted: deque[tuple[int, float]] = deque()
        self._latest: int | None = None
        self._ahead = 0.0
        self._shown_until: float | None = None

    @property
    def wants_segment(self) -> bool:
        """The next request is for a segment, else for the playlist."""
        return bool(self._wanted)

    def request(self) -> str:
        """The path of what is asked for next."""
        name = f"{self._wanted[0][0]}.ts" if self._wanted else "live.m3u8"
        return f"{self._path}/{name}"

    def take_segment(self, now: float) -> None:
        """The segment that was asked for is there."""
        _, duration = self._wanted.popleft()
        self.due = now if self._wanted else self._reload_at
        if self._shown_until is None:
            # Before the first picture nothing can stand still: it is shown once the first segments are there.
            self._ahead += duration
            if not self._wanted:
                self._shown_until = now + self._ahead
            return
        self.stalls += now > self._shown_until
        self._shown_until = max(now, self._shown_until) + duration

    def give_up_segment(self) -> None:
        """The segment that was asked for is gone."""
        self._wanted.popleft()
        self.missed += 1
        if not self._wanted:
            self.due = self._reload_at

    def take_playlist(self, text: str, asked: float) -> None:
        """The playlist that was asked for at `asked`."""
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
    """Index and EXTINF of each segment of a playlist; quick, for it is read hundreds of times a second."""
    found, duration = [], 0.0
    for line in playlist.splitlines():
        if line.startswith("#EXTINF:"):
            duration = float(line[8:].partition(",")[0])
        elif line.endswith(".ts"):
            found.append((int(line.rpartition("/")[2][:-3]), duration))
    return found


def target_duration(playlist: str) -> float:
    """EXT-X-TARGETDURATION in seconds; 1 where there is none."""
    found = playlist.partition("#EXT-X-TARGETDURATION:")[2]
    return float(found.split("\n", 1)[0]) if found else 1.0
