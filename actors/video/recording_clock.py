"""When the pictures of a playback were recorded: from the time that was asked for, by the device's stamps.

A packet holds no time of day (docs/protocols/jt1078.md#timestamps): the first picture is taken to be of the
asked start, the first one after a seek of the time that was sought.
"""

from collections import deque
from datetime import datetime, timedelta

from motorpool.codecs.media.timestamps import TICKS_PER_SECOND

MAX_GAP_MS = 86_400_000
"""A larger step of the stamps is no gap in the recording: their origin has changed."""


class RecordingClock:
    """Times of one playback. Presentation times are in ticks of 90 kHz and never decrease."""

    def __init__(self, start: datetime | None) -> None:
        """`start`: the time that was asked for; None if it is unknown, and with it all times."""
        self._jump_to: datetime | None = start
        """Time of the next key frame, where its stamp does not tell."""
        self._marks: deque[tuple[int, datetime]] = deque()
        """Presentation and recording times of key frames, back to the last fragment that was asked about."""
        self._latest: tuple[int, int, datetime] | None = None
        """Stamp, presentation and recording time of the latest key frame."""

    def seek(self, time: datetime | None) -> None:
        """Note that the next key frame is of `time`; None if that is unknown: the stamps go on."""
        self._jump_to = time if time is not None else self._jump_to

    def note_keyframe(self, stamp: int, pts: int) -> None:
        """Note a key frame: the device's stamp in milliseconds, and the presentation time."""
        time, self._jump_to = self._jump_to, None
        if time is None:
            if self._latest is None:
                return
            last_stamp, last_pts, last_time = self._latest
            step = stamp - last_stamp
            if 0 < step <= MAX_GAP_MS:
                time = last_time + timedelta(milliseconds=step)
            else:
                time = last_time + _span(pts - last_pts)
        self._latest = stamp, pts, time
        self._marks.append((pts, time))

    def time_of(self, pts: int) -> datetime | None:
        """Return the recording time of what is presented at `pts`, which must not decrease between calls."""
        marks = self._marks
        if not marks:
            if self._jump_to is None:
                return None
            marks.append((pts, self._jump_to))  # sound alone
            self._jump_to = None
        while len(marks) > 1 and marks[1][0] <= pts:
            marks.popleft()
        mark, time = marks[0]
        return time + _span(pts - mark)


def _span(ticks: int) -> timedelta:
    return timedelta(seconds=ticks / TICKS_PER_SECOND)
