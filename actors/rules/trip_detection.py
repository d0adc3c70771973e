"""When a device starts and stops moving: a state machine over its positions (docs/events.md#motion).

Pure. The pipeline calls it for each position that becomes the latest, the reports over stored positions.
"""

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final

import msgspec

from motorpool.actors.rules.distance import DEGREE, great_circle
from motorpool.storage.records import Position

WINDOW_SLOTS = 64
"""Of the points of a 64th of `min_duration` only the first is kept once there is a newer one: a device that
reports each second has 60 points and not 180. Slots begin at fixed times, so that it does not matter when the
machine was started."""
MAX_WINDOW_POINTS = 512
"""Limit of the points that a state holds, many of which have one time. A window that is full is thinned out
to half of them."""
_EPOCH: Final = datetime.fromtimestamp(0, UTC)
_ZERO: Final = timedelta(0)

MAX_SECONDS = 1e8
"""A longer `min_duration` counts as this: three years."""


class TripSettings(msgspec.Struct, frozen=True):
    """What makes a trip and what a stop: the keys `report.trip.*` (docs/events.md#motion)."""

    min_distance: float = 200.0
    """Metres from where it stood that make a trip; remaining within it makes a stop."""
    min_duration: float = 180.0
    """Seconds within `min_distance` that make a stop."""
    stop_gap: float = 3600.0
    """Seconds without positions after which a drive in between counts as a trip of its own."""


class TrackPoint(msgspec.Struct, frozen=True, gc=False):
    """What the machine needs of a position."""

    position_id: int
    """0 while the position is not stored yet."""
    fix_time: datetime
    latitude: float
    longitude: float
    distance: float
    """Metres since the position before."""


class Transition(msgspec.Struct, frozen=True, gc=False):
    """The device started or stopped moving, at a point that may lie before the present one."""

    is_moving: bool
    point: TrackPoint


class TripState(msgspec.Struct, frozen=True, gc=False):
    """What the machine remembers; the default is that of a device without positions."""

    is_moving: bool = False
    anchor: TrackPoint | None = None
    """The point of the last transition, and before any the first point. None before the first point."""
    window: tuple[TrackPoint, ...] = ()
    """The latest points, oldest first: those of `min_duration` and one from before."""


_NONE: Final[tuple[Transition, ...]] = ()


def track_point(position: Position) -> TrackPoint:
    """Return what the machine needs of a position; a `distance` that is no number counts as 0."""
    distance = position.attributes.get("distance", 0.0)
    if distance.__class__ is not float and distance.__class__ is not int:
        distance = 0.0
    return TrackPoint(position.id, position.fix_time, position.latitude, position.longitude, float(distance))


def advance(
    state: TripState, point: TrackPoint, settings: TripSettings
) -> tuple[TripState, tuple[Transition, ...]]:
    """Return the state after `point`, and the transitions that it shows, in the order of their points.

    Points come in the order of their fix times; several may have the same. The point of a transition is
    `point` or one of the window, and its fix time is never before that of the transition before it.
    """
    anchor, window = state.anchor, state.window
    if anchor is None or not window:
        return TripState(state.is_moving, anchor or point, (point,)), _NONE
    if point.distance >= settings.min_distance:
        newest = window[-1]
        gap = (point.fix_time - newest.fix_time).total_seconds()
        if gap > settings.stop_gap and _is_fast(point.distance, gap, settings):
            drive = (Transition(True, newest), Transition(False, point))
            before = (Transition(False, newest),) if state.is_moving else ()
            return TripState(False, point, (point,)), before + drive
    span, slot = _spans(settings.min_duration)
    old = point.fix_time - span
    window = _extended(window, point, old, slot)
    if state.is_moving:
        if window[0].fix_time <= old and _has_stayed(window, point, settings.min_distance):
            return TripState(False, point, window), (Transition(False, point),)
        return TripState(True, anchor, window), _NONE
    if not _is_within(anchor, point, settings.min_distance):
        start = _start_of_trip(window, anchor, settings)
        return TripState(True, start, window), (Transition(True, start),)
    return TripState(False, anchor, window), _NONE


@lru_cache(maxsize=64)
def _spans(min_duration: float) -> tuple[timedelta, timedelta]:
    """Return `min_duration` and the length of a slot of the window."""
    span = timedelta(seconds=min(min_duration, MAX_SECONDS))
    return span, span / WINDOW_SLOTS


def _extended(
    window: tuple[TrackPoint, ...], point: TrackPoint, old: datetime, slot: timedelta
) -> tuple[TrackPoint, ...]:
    """Add `point`, and drop the oldest points while the next one is not after `old`."""
    first, last = 0, len(window) - 1
    while first < last and window[first + 1].fix_time <= old:
        first += 1
    if first < last:
        newest = window[last].fix_time
        gap = newest - window[last - 1].fix_time
        # Both lie in one slot if the newest is at least `gap` from its beginning.
        if _ZERO < gap < slot and gap <= (newest - _EPOCH) % slot:
            last -= 1
    kept = window[first : last + 1]
    if len(kept) >= MAX_WINDOW_POINTS:
        kept = (*kept[:-1:2], kept[-1])
    return kept + (point,)  # noqa: RUF005 - twice as fast as unpacking


def _has_stayed(window: tuple[TrackPoint, ...], point: TrackPoint, min_distance: float) -> bool:
    """Whether no point of the window is `min_distance` away from `point`."""
    # Oldest first: while the device drives, that is the point furthest away.
    for other in window:  # noqa: SIM110 - a generator would cost more than the first comparison
        if not _is_within(other, point, min_distance):
            return False
    return True


def _start_of_trip(window: tuple[TrackPoint, ...], anchor: TrackPoint, settings: TripSettings) -> TrackPoint:
    """Go back from the newest point: one step, and more for as long as the device was fast.

    The trip starts after the anchor, so that the stop before it takes some time.
    """
    start = window[-1]
    for index in range(len(window) - 2, -1, -1):
        before = window[index]
        if before.fix_time <= anchor.fix_time:
            break
        if index < len(window) - 2:
            seconds = (start.fix_time - before.fix_time).total_seconds()
            if not _is_fast(_metres(before, start), seconds, settings):
                break
        start = before
    return start


def _is_fast(metres: float, seconds: float, settings: TripSettings) -> bool:
    """Whether the average speed exceeds `min_distance` in `min_duration`."""
    return metres * settings.min_duration > settings.min_distance * seconds


def _is_within(start: TrackPoint, end: TrackPoint, metres: float) -> bool:
    """Whether two points are closer than `metres`."""
    # Most points are told by their coordinates: a way is not shorter than its part along the meridian, and
    # not longer than that and a part along the equator. The margins are far above errors of rounding.
    along = abs(end.latitude - start.latitude) * DEGREE
    if along > metres * 1.000001:
        return False
    if along + abs(end.longitude - start.longitude) * DEGREE < metres * 0.999999:
        return True
    return _metres(start, end) < metres


def _metres(start: TrackPoint, end: TrackPoint) -> float:
    return great_circle(start.latitude, start.longitude, end.latitude, end.longitude)
