"""Audio that arrives while it is not known whether pictures come."""

from collections import deque
from typing import NamedTuple

from motorpool.codecs.media.audio_parser import ParsedAudio
from motorpool.codecs.media.timestamps import TICKS_PER_SECOND
from motorpool.codecs.media.units import AccessUnit

_MAX_UNITS = 500
"""10 s of the shortest."""
_PRECEDING_MS = 1000
"""Audio that came before a key frame goes with it when it is stamped at most this long after it."""


class LeadingUnit(NamedTuple):
    """A unit of audio that waits."""

    audio: ParsedAudio
    unit: AccessUnit
    arrived_at: float


class LeadingAudio:
    """Audio before the first key frame of a connection, or before it is clear that none comes."""

    def __init__(self) -> None:
        self._units: deque[LeadingUnit] = deque(maxlen=_MAX_UNITS)
        self._ticks = 0

    def __len__(self) -> int:
        return len(self._units)

    def keep(self, unit: LeadingUnit) -> int:
        """Keep a unit; return the ticks of all that came since the last `take`."""
        self._units.append(unit)
        self._ticks += unit.audio.samples * TICKS_PER_SECOND // unit.audio.rate
        return self._ticks

    def take(self) -> list[LeadingUnit]:
        """Return what is kept, and keep nothing."""
        kept = list(self._units)
        self._units.clear()
        self._ticks = 0
        return kept

    def take_beside(self, timestamp: int) -> list[LeadingUnit]:
        """Return what goes with a key frame of this timestamp, and keep nothing."""
        return [kept for kept in self.take() if 0 <= kept.unit.timestamp - timestamp <= _PRECEDING_MS]
