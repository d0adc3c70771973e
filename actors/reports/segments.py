"""Cuts the track of a device into trips and stops (docs/reports.md#trips-and-stops).

Pure. The state machine is that of the pipeline (`actors/rules/trip_detection.py`): a report continues it from
the state at its beginning, and cuts the first and the last segment at the ends of its span.
"""

from collections.abc import Iterable
from typing import cast

import msgspec

from motorpool.actors.rules.trip_detection import TrackPoint, Transition, TripSettings, TripState, advance

__all__ = ["Fix", "Segment", "Segmenter"]

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
    end: Fix
    max_speed: float
    """Knots: the highest of all fixes of the segment, both ends included."""


class Segmenter:
    """Finds the segments of one device in a span of time.

    Args:
        state: that of the machine before the first fix.
        settings: those of the device.
    """

    def __init__(self, state: TripState, settings: TripSettings) -> None:
        self._state = state
        self._settings = settings
        self._start: Fix | None = None
        """Where the present segment starts; None before the first fix."""
        self._is_moving = state.is_moving
        self._max_speed = 0.0
        """The highest speed of the present segment before the fixes of the tail."""
        self._tail: list[Fix] = []
        """The latest fixes of the present segment; those where a transition may still lie are among them."""
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
        if end is not self._start:
            speed = max(self._max_speed, _highest(self._tail[: index + 1]))
            found.append(Segment(self._is_moving, self._start, end, speed))

    def _trim(self, state: TripState) -> None:
        """Drop the fixes before the window of the machine."""
        first = cast("Fix", state.window[0])
        index = next((index for index, fix in enumerate(self._tail) if fix is first), 0)
        if index:
            self._max_speed = max(self._max_speed, _highest(self._tail[:index]))
            del self._tail[:index]
        self._tail_limit = 2 * len(self._tail) + TAIL


def _highest(fixes: Iterable[Fix]) -> float:
    return max(fix.speed for fix in fixes)
