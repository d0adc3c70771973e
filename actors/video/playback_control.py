"""What the viewer did to a playback (9202), as far as it tells how to take what comes next.

The order is noted before its bytes go out, and what is on its way by then still belongs to what was: so the
break is looked for in the units.
"""

from collections.abc import Mapping
from typing import Any

from motorpool.codecs.devices.jt808.video_commands import CONTROLS
from motorpool.codecs.media.units import AccessUnit

__all__ = ["END", "PlaybackControlTracker", "parse_control"]

RESUME, PAUSE, END, FORWARD, REWIND, SEEK, KEYFRAMES = range(7)

LATE_SECONDS = 3.0
"""Units that come so long after an order obey it."""
LONGEST_STEP_MS = 1_000
"""A larger step of the pictures' stamps is a jump, as `timestamps` has it."""


def parse_control(attributes: Mapping[str, Any]) -> tuple[int, int] | None:
    """The control (0 to 6) and speed of a `videoPlaybackControl`; None where no codec sends such."""
    wanted = attributes.get("control", "start")
    if isinstance(wanted, str) and wanted in CONTROLS:
        wanted = CONTROLS[wanted]
    try:
        control, speed = int(wanted), int(attributes.get("speed", 1))
    except (TypeError, ValueError, OverflowError):
        return None
    return (control, speed) if RESUME <= control <= KEYFRAMES else None


class PlaybackControlTracker:
    """Of one playback."""

    def __init__(self) -> None:
        self._paused = False
        self._pace: tuple[int, int] = (RESUME, 1)
        self._sent_at = 0.0
        self._is_seeking = False
        self._expects_break = False
        self._timestamp: int | None = None

    @property
    def is_paused(self) -> bool:
        """Silence is no end."""
        return self._paused

    def note_sent(self, control: int, speed: int, now: float) -> None:
        """Note an order: `control` 0 to 6 without the end, `speed` for forward and rewind."""
        self._sent_at = now
        if control == PAUSE:
            self._paused = True
            return
        if control == SEEK:
            self._is_seeking = self._expects_break = True
            return
        self._paused = False
        pace = (control, speed if control in (FORWARD, REWIND) else 1)
        if pace != self._pace:
            self._pace = pace
            self._expects_break = True

    def breaks_before(self, unit: AccessUnit, now: float) -> bool:
        """Whether this unit, which arrived at `now`, is the first of what was ordered.

        That is where the stamps jump; or a key frame, at once after a change of speed, after a while where a
        seek did not go far enough to be seen.
        """
        late = now - self._sent_at >= LATE_SECONDS
        if self._paused and late:
            self._paused = False  # it does not obey, or somebody else let it go on
        if not unit.coding.is_video:
            return False
        before, self._timestamp = self._timestamp, unit.timestamp
        if not self._expects_break:
            return False
        jumps = before is not None and not 0 <= unit.timestamp - before <= LONGEST_STEP_MS
        if jumps or (unit.keyframe and (late or not self._is_seeking)):
            self._expects_break = self._is_seeking = False
            return True
        return False
