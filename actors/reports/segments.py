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
from typing import Final

import msgspec

from motorpool.actors.reports.path import Path, PathState
from motorpool.actors.rules.trip_detection import TrackPoint, Transition, TripSettings, TripState, advance
from motorpool.actors.rules.window import Window

TAIL = 64
"""Points behind the present one that are kept before those that no transition can reach are dropped."""


class Segment(msgspec.Struct, frozen=True, gc=False):
    """A trip or a stop, from its first point to its last, which is the first one of the next segment."""

    is_moving: bool
    start: TrackPoint
    """CARRIED if it began before this piece."""
    end: TrackPoint
    max_speed: float
    """Knots: the highest of all points of the segment, both ends included; of a segment that began before
    this piece, of those that the carry has not counted."""
    centimetres: int
    """The distance from start to end, counted likewise; that of a stop means nothing."""


class Carry(msgspec.Struct, frozen=True):
    """Where the machine and its present segment stand between two points."""

    state: TripState = TripState()
    path: PathState = PathState()
    is_moving: bool = False
    """Whether the present segment is a trip."""
    start: TrackPoint | None = None
    """Where the present segment began; None before the first point of the report."""
    max_speed: float = 0.0
    centimetres: int = 0
    """The highest speed of the present segment before the tail, and the distance up to its first point."""
    tail: tuple[TrackPoint, ...] = ()
    """The last points of the present segment: those where a transition may still lie."""
    steps: tuple[int, ...] = ()
    """Centimetres that each point of the tail adds to the distance."""

    @property
    def key(self) -> bytes:
        """All that the next piece depends on, as a digest."""
        known = (self.state, self.path, self.is_moving, self.tail, self.steps, self.start is None)
        return sha256(_encoder.encode(known)).digest()[:16]

    def without_start(self) -> "Carry":
        """Return it without saying where the present segment began."""
        return self if self.start is None else msgspec.structs.replace(self, start=CARRIED)

    def for_piece(self) -> "Carry":
        """Return it for a piece whose result is to depend on `key` alone."""
        return msgspec.structs.replace(self.without_start(), max_speed=0.0, centimetres=0)


def decode_window(_type: type, points: object) -> Window[TrackPoint]:
    """Return the window that `list` has made of one to encode it."""
    return Window(msgspec.convert(points, list[TrackPoint]))


_encoder = msgspec.json.Encoder(enc_hook=list)
CARRIED: Final = TrackPoint(-1, datetime.fromisoformat("1970-01-01T00:00:00+00:00"), 0.0, 0.0)
"""Stands for the start of a segment that began before the present piece."""


class Segmenter:
    """Finds the segments of one device in a piece of its track, which continues from `carry`."""

    def __init__(self, carry: Carry, settings: TripSettings) -> None:
        self._state = carry.state
        self._settings = settings
        self._path = Path(carry.path, settings.implausible_speed)
        self._carried = carry.path.latest
        """The last point of earlier pieces."""
        self._start = carry.start
        self._is_moving = carry.is_moving
        self._max_speed = carry.max_speed
        self._centimetres = carry.centimetres
        # Transitions refer to the objects of the state by identity; a stored carry has copies in its tail.
        known = {point.position_id: point for point in carry.state.window}
        if carry.state.unsure is not None:
            known[carry.state.unsure.position_id] = carry.state.unsure
        self._tail = [known.get(point.position_id, point) for point in carry.tail]
        self._steps = list(carry.steps)
        self._earlier = len(self._tail)
        """How many points of the tail belong to earlier pieces."""
        self.earlier_steps: list[tuple[datetime, int]] = []
        """What trips were found to have come along in earlier pieces: fix times and centimetres of points.
        They are part of the distances of segments and of the carry."""
        self._tail_limit = TAIL
        self.max_speed = 0.0
        """Knots: the highest of all points of this piece."""

    def add(self, points: Iterable[TrackPoint]) -> list[Segment]:
        """Continue with points in the order of time; return the segments that they complete."""
        state, settings = self._state, self._settings
        tail, steps, path = self._tail, self._steps, self._path
        highest = self.max_speed
        found: list[Segment] = []
        for point in points:
            turned = state.anchor
            state, transitions = advance(state, point, settings)
            if state.doubtful is point or point.is_nowhere:
                continue
            highest = max(highest, point.speed)
            if self._start is None:
                self._start = point
            tail.append(point)
            # One without a fix that repeats the last place is not in the window.
            step = 0
            window = state.window
            if state.unsure is point or (
                window.first < window.end and window.points[window.end - 1] is point
            ):
                before = path.latest
                late, step = path.add(point)
                if late:
                    self._add_late(before, late, turned)
            steps.append(step)
            if transitions:
                for transition in transitions:
                    self._turn(transition, found)
            elif len(tail) > self._tail_limit:
                self._trim(state)
        self.max_speed = highest
        self._state = state
        return found

    def carry(self) -> Carry:
        """Return where the next piece continues."""
        self._trim(self._state)
        return Carry(
            state=self._state,
            path=self._path.state,
            is_moving=self._is_moving,
            start=self._start,
            max_speed=self._max_speed,
            centimetres=self._centimetres,
            tail=tuple(self._tail),
            steps=tuple(self._steps),
        )

    def finish(self) -> list[Segment]:
        """Return the last segment, which ends with the last point; none if that is also where it starts."""
        found: list[Segment] = []
        if self._tail:
            self._close(len(self._tail) - 1, found)
        return found

    def _add_late(self, before: TrackPoint | None, centimetres: int, turned: TrackPoint | None) -> None:
        """Add what an earlier point has come along after all, if it is one of the present segment.

        `turned` is where the device last started or stopped.
        """
        assert before is not None
        for index in range(len(self._steps) - 1, 0, -1):
            if self._tail[index].position_id == before.position_id:
                self._steps[index] += centimetres
                return
        if self._tail and self._tail[0].position_id == before.position_id:
            # It is part of a trip that begins there.
            self._steps[0] += centimetres
        if turned is None or _order(turned) <= _order(before):
            self._centimetres += centimetres
            if self._is_moving and before is self._carried:
                self.earlier_steps.append((before.fix_time, centimetres))

    def _turn(self, transition: Transition, found: list[Segment]) -> None:
        # A point that is not in the tail lies before the span: the first one stands for it.
        index = next(
            (index for index in range(len(self._tail) - 1, 0, -1) if self._tail[index] is transition.point), 0
        )
        self._close(index, found)
        self._drop(index)
        self._start = self._tail[0]
        self._is_moving = transition.is_moving
        self._max_speed, self._centimetres = 0.0, 0
        if transition.is_moving:
            # A trip has the step to its first point, which may have been seen only after the device had left.
            self._centimetres = self._count(0, 0)

    def _close(self, index: int, found: list[Segment]) -> None:
        assert self._start is not None
        end = self._tail[index]
        if end.position_id != self._start.position_id:
            speed = max(self._max_speed, _highest(self._tail[: index + 1]))
            centimetres = self._centimetres + self._count(1, index)
            found.append(Segment(self._is_moving, self._start, end, speed, centimetres))

    def _count(self, first: int, last: int) -> int:
        """Return the sum of steps of points of the tail, which count as the present segment's from now on."""
        if self._is_moving:
            for index in range(first, min(last + 1, self._earlier)):
                if self._steps[index]:
                    self.earlier_steps.append((self._tail[index].fix_time, self._steps[index]))
        return sum(self._steps[first : last + 1])

    def _drop(self, count: int) -> None:
        """Forget the first points of the tail."""
        del self._tail[:count], self._steps[:count]
        self._earlier = max(0, self._earlier - count)

    def _trim(self, state: TripState) -> None:
        """Drop the points before the window of the machine."""
        first = state.window[0] if state.window else None
        index = next((index for index, point in enumerate(self._tail) if point is first), 0)
        if index:
            self._max_speed = max(self._max_speed, _highest(self._tail[:index]))
            self._centimetres += self._count(1, index)
            self._drop(index)
        self._tail_limit = 2 * len(self._tail) + TAIL


def _order(point: TrackPoint) -> tuple[datetime, int]:
    return point.fix_time, point.position_id


def _highest(points: Iterable[TrackPoint]) -> float:
    return max(point.speed for point in points)
