"""Cuts the track of a device into trips and stops (docs/reports.md#trips-and-stops).

Pure. It uses the state machine of the pipeline (`actors/rules/trip_detection.py`): a report continues it from
the state at its beginning, and cuts the first and the last segment at the ends of its span.

A span is worked out in pieces, such as days. What a piece hands to the next is a `Carry`. A piece does not
depend on where the segment that it continues has begun, only on `Carry.key`; so the result for a day can be
kept and used by reports that begin at different times.
"""

from collections.abc import Iterable
from datetime import datetime
from hashlib import sha256
from typing import Final, cast

import msgspec

from motorpool.actors.rules.trip_detection import TrackPoint, Transition, TripSettings, TripState, advance

TAIL = 64
"""Fixes behind the present one that are kept before those that no transition can reach are dropped."""


class Fix(TrackPoint, frozen=True, gc=False):
    """A position as far as trips and stops need it."""

    speed: float
    """Knots."""


class Segment(msgspec.Struct, frozen=True, gc=False):
    """A trip or a stop, from its first fix to its last, which is the first one of the next segment."""

    is_moving: bool
    start: Fix
    """CARRIED if it began before this piece."""
    end: Fix
    max_speed: float
    """Knots: the highest of all fixes of the segment, both ends included; of a segment that began before this
    piece, of those that the carry has not counted."""


class Carry(msgspec.Struct, frozen=True):
    """Where the machine and its present segment stand between two fixes."""

    is_moving: bool = False
    anchor: Fix | None = None
    window: tuple[Fix, ...] = ()
    """These three are the `TripState`."""
    start: Fix | None = None
    """Where the present segment began; None before the first fix of the report."""
    max_speed: float = 0.0
    """The highest speed of the present segment before the tail."""
    tail: tuple[Fix, ...] = ()
    """The last fixes of the present segment: those where a transition may still lie."""

    @property
    def key(self) -> bytes:
        """All that the next piece depends on, as a digest."""
        known = (self.is_moving, self.anchor, self.window, self.tail, self.start is None)
        return sha256(_encoder.encode(known)).digest()[:16]

    def without_start(self) -> "Carry":
        """Return it without saying where the present segment began."""
        return self if self.start is None else msgspec.structs.replace(self, start=CARRIED)

    def for_piece(self) -> "Carry":
        """Return it for a piece whose result is to depend on `key` alone."""
        return msgspec.structs.replace(self.without_start(), max_speed=0.0)


_encoder = msgspec.json.Encoder()
CARRIED: Final = Fix(-1, datetime.fromisoformat("1970-01-01T00:00:00+00:00"), 0.0, 0.0, 0.0, 0.0)
"""Stands for the start of a segment that began before the present piece."""


class Segmenter:
    """Finds the segments of one device in a piece of its track, which continues from `carry`."""

    def __init__(self, carry: Carry, settings: TripSettings) -> None:
        self._state = TripState(carry.is_moving, carry.anchor, carry.window)
        self._settings = settings
        self._start = carry.start
        self._is_moving = carry.is_moving
        self._max_speed = carry.max_speed
        # Transitions refer to the objects of the window by identity; a stored carry has copies in its tail.
        window = {fix.position_id: fix for fix in carry.window}
        self._tail = [window.get(fix.position_id, fix) for fix in carry.tail]
        self._tail_limit = TAIL

    def add(self, fixes: Iterable[Fix]) -> list[Segment]:
        """Continue with fixes in the order of time; return the segments that they complete."""
        state, settings = self._state, self._settings
        found: list[Segment] = []
        for fix in fixes:
            if self._start is None:
                self._start = fix
            self._tail.append(fix)
            state, transitions = advance(state, fix, settings)
            if transitions:
                for transition in transitions:
                    self._turn(transition, found)
            elif len(self._tail) > self._tail_limit:
                self._trim(state)
        self._state = state
        return found

    def carry(self) -> Carry:
        """Return where the next piece continues."""
        self._trim(self._state)
        return Carry(
            is_moving=self._is_moving,
            anchor=cast("Fix | None", self._state.anchor),
            window=cast("tuple[Fix, ...]", self._state.window),
            start=self._start,
            max_speed=self._max_speed,
            tail=tuple(self._tail),
        )

    def finish(self) -> list[Segment]:
        """Return the last segment, which ends with the last fix; nothing if that is also where it starts."""
        found: list[Segment] = []
        if self._tail:
            self._close(len(self._tail) - 1, found)
        return found

    def _turn(self, transition: Transition, found: list[Segment]) -> None:
        # A point that is not in the tail lies before the span: the first fix stands for it.
        index = next(
            (index for index in range(len(self._tail) - 1, 0, -1) if self._tail[index] is transition.point), 0
        )
        self._close(index, found)
        self._start = self._tail[index]
        self._is_moving = transition.is_moving
        self._max_speed = 0.0
        del self._tail[:index]

    def _close(self, index: int, found: list[Segment]) -> None:
        assert self._start is not None
        end = self._tail[index]
        if end.position_id != self._start.position_id:
            speed = max(self._max_speed, _highest(self._tail[: index + 1]))
            found.append(Segment(self._is_moving, self._start, end, speed))

    def _trim(self, state: TripState) -> None:
        """Drop the fixes before the window of the machine."""
        first = state.window[0] if state.window else None
        index = next((index for index, fix in enumerate(self._tail) if fix is first), 0)
        if index:
            self._max_speed = max(self._max_speed, _highest(self._tail[:index]))
            del self._tail[:index]
        self._tail_limit = 2 * len(self._tail) + TAIL


def _highest(fixes: Iterable[Fix]) -> float:
    return max(fix.speed for fix in fixes)
