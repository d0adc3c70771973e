"""Controls of a playback (JT/T 1078-2016, message 0x9202): where their effect begins in the units.

A control is noted before it is sent, and units on their way by then precede its effect: so the discontinuity
is looked for in the units.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from motorpool.codecs.devices.jt808.video_commands import CONTROLS, read_time
from motorpool.codecs.errors import UnsupportedCommand
from motorpool.codecs.media.units import AccessUnit
from motorpool.codecs.numbers import whole_number

RESUME, PAUSE, END, FORWARD, REWIND, SEEK, KEYFRAMES = range(7)

LATE_SECONDS = 3.0
"""Units that arrive this long after a control follow it."""
MAX_STEP_MS = 1_000
"""A larger step of the pictures' stamps is a jump, as in `timestamps`."""


def parse_control(attributes: Mapping[str, Any]) -> tuple[int, int] | None:
    """Return control (0 to 6) and speed of a `videoPlaybackControl`; None where they are invalid."""
    wanted = attributes.get("control", "start")
    if isinstance(wanted, str) and wanted in CONTROLS:
        wanted = CONTROLS[wanted]
    control, speed = (whole_number(value) for value in (wanted, attributes.get("speed", 1)))
    if control is None or speed is None:
        return None
    return (control, speed) if RESUME <= control <= KEYFRAMES else None


def parse_time(attributes: Mapping[str, Any], name: str, short_name: str) -> datetime | None:
    """Return a time of a playback command as the codec reads it; None where it is absent or invalid."""
    try:
        return read_time(attributes, name, short_name)
    except UnsupportedCommand:
        return None


class PlaybackControlTracker:
    """Follows the controls of one playback."""

    def __init__(self) -> None:
        self.is_paused = False
        """Whether silence is expected."""
        self._pace: tuple[int, int] = (RESUME, 1)
        self._sent_at = 0.0
        self._is_seeking = False
        self._expects_break = False
        self._timestamp: int | None = None

    def note_sent(self, control: int, speed: int, now: float) -> None:
        """Note a control: `control` 0 to 6 without the end, `speed` for forward and rewind."""
        self._sent_at = now
        if control == PAUSE:
            self.is_paused = True
            return
        if control == SEEK:
            self._is_seeking = self._expects_break = True
            return
        self.is_paused = False
        pace = (control, speed if control in (FORWARD, REWIND) else 1)
        if pace != self._pace:
            self._pace = pace
            self._expects_break = True

    def breaks_before(self, unit: AccessUnit, now: float) -> bool:
        """Whether this unit, which arrived at `now`, is the first that follows the control.

        That is where the stamps jump; or a key frame, at once after a change of speed, after a while where a
        seek did not go far enough to be seen.
        """
        late = now - self._sent_at >= LATE_SECONDS
        if self.is_paused and late:
            self.is_paused = False  # it ignores the control, or was resumed from elsewhere
        if not unit.is_video:
            return False
        before, self._timestamp = self._timestamp, unit.timestamp
        if not self._expects_break:
            return False
        jumps = before is not None and not 0 <= unit.timestamp - before <= MAX_STEP_MS
        if jumps or (unit.keyframe and (late or not self._is_seeking)):
            self._expects_break = self._is_seeking = False
            return True
        return False
