"""A recording as it arrives, as an HLS playlist (RFC 8216) in which a viewer seeks from its first second.

Type EVENT: segments are only ever added, until ENDLIST. Where the beginning must go after all (there is no
room for it), the type goes too, as section 4.3.3.5 requires: the rest is a playlist whose beginning moves.
"""

import math
from datetime import datetime
from itertools import islice

import msgspec

from motorpool.codecs.media.containers import Container
from motorpool.codecs.media.muxer import MPEG_TS

_VERSION = 3
"""The first with fractions of a second in EXTINF."""


class _Listed(msgspec.Struct, frozen=True, gc=False):
    lines: str
    discontinuity: bool
    seconds: float


class EventPlaylist:
    """The segments of one playback, by number, without their files. Reading changes nothing.

    The target duration is the longest segment so far, rounded, and at least the target, as in `LivePlaylist`.
    """

    def __init__(
        self,
        *,
        target_seconds: float = 2.0,
        prefix: str = "",
        first_index: int = 0,
        first_discontinuity: int = 0,
    ) -> None:
        """`prefix` precedes each segment's name; numbering continues from earlier playbacks."""
        self._prefix = prefix
        self._target_duration = max(1, math.ceil(target_seconds))
        self._first_index = first_index
        self._discontinuities = first_discontinuity
        self._listed: list[_Listed] = []
        self._is_whole = True
        self._ended = False
        self._text: str | None = None

    @property
    def next_index(self) -> int:
        """Number of the next segment; a later playback starts at or above it."""
        return self._first_index + len(self._listed)

    @property
    def next_discontinuity(self) -> int:
        """The first discontinuity sequence for a later playback."""
        return self._discontinuities + sum(listed.discontinuity for listed in self._listed)

    @property
    def seconds(self) -> float:
        """Length of all listed segments."""
        return math.fsum(listed.seconds for listed in self._listed)

    def __len__(self) -> int:
        return len(self._listed)

    def __contains__(self, index: int) -> bool:
        return self._first_index <= index < self.next_index

    def append(
        self,
        seconds: float,
        *,
        discontinuity: bool = False,
        container: Container = MPEG_TS,
        recorded_at: datetime | None = None,
    ) -> int:
        """List the next segment, whose first picture was recorded at `recorded_at`; returns its index.

        Raises:
            ValueError: the playlist has ended.
        """
        if self._ended:
            raise ValueError("the playlist has ended")
        index = self.next_index
        mark = "#EXT-X-DISCONTINUITY\n" if discontinuity else ""
        if recorded_at is not None:
            mark += f"#EXT-X-PROGRAM-DATE-TIME:{recorded_at.isoformat(timespec='milliseconds')}\n"
        lines = f"{mark}#EXTINF:{seconds:.6f},\n{self._prefix}{index}.{container.suffix}\n"
        self._listed.append(_Listed(lines, discontinuity, seconds))
        self._target_duration = max(self._target_duration, math.floor(seconds + 0.5))
        self._text = None
        return index

    def drop_before(self, index: int) -> None:
        """Drop the segments below `index`; the playlist no longer has the type EVENT."""
        count = min(index - self._first_index, len(self._listed))
        if count <= 0:
            return
        self._discontinuities += sum(listed.discontinuity for listed in islice(self._listed, count))
        del self._listed[:count]
        self._first_index += count
        self._is_whole = False
        self._text = None

    def end(self) -> None:
        """Declare that no segment follows: players stop reloading."""
        self._ended = True
        self._text = None

    def render(self) -> str:
        """Return the playlist as text; the same object until something changes."""
        if self._text is None:
            head = [
                "#EXTM3U",
                f"#EXT-X-VERSION:{_VERSION}",
                f"#EXT-X-TARGETDURATION:{self._target_duration}",
                f"#EXT-X-MEDIA-SEQUENCE:{self._first_index}",
                f"#EXT-X-DISCONTINUITY-SEQUENCE:{self._discontinuities}",
            ]
            if self._is_whole:
                head.append("#EXT-X-PLAYLIST-TYPE:EVENT")
            body = "".join(listed.lines for listed in self._listed)
            tail = "#EXT-X-ENDLIST\n" if self._ended else ""
            self._text = "\n".join(head) + "\n" + body + tail
        return self._text
