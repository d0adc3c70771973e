"""When a device starts and stops moving: a state machine over its positions (docs/events.md#motion).

Pure. The pipeline calls it for each position that becomes the latest, the reports over stored positions. What
it remembers besides the last transition is a window of points that depends on the last minutes alone, so that
after a restart it goes on as if it had not stopped.
"""

from bisect import bisect_right
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import cached_property
from math import cos, hypot, radians
from operator import attrgetter
from typing import Final, NamedTuple

import msgspec

from motorpool.actors.rules.distance import DEGREE, great_circle
from motorpool.actors.rules.window import Window
from motorpool.storage.records import Position

REST_SHARE = 0.25
"""Of `min_distance`: the extent within which a device that rests for `min_duration` remains. One whose
receiver drifts further has to remain there for longer, in proportion."""
WINDOW_SPANS = 10
"""Times `min_duration` that the window reaches back; a device that remains within `min_distance` that long
has stopped, however it moves there."""
STILL_SHARE = 0.1
"""Of `min_distance`: a device that remains within this has come to rest."""
STEPS = 4
"""Parts of `min_duration` that the steps are long, along which the way of a receiver that drifts is measured:
in shorter ones its noise looks like a way there and back."""
STRAIGHT = 0.6
"""Share of the way that a drifting receiver seems to have come along, at most."""
FAST_KNOTS = 1.8
"""A device that reports this speed moves."""
KNOT: Final = 1852 / 3600
"""Metres a second."""
AHEAD = 60.0
"""Seconds by which a clock is no further ahead than before, unless it was set."""
DOUBTS = 10
"""Points in a row that show that it was."""
LEAST_JUMP = 300.0
"""Metres: a shorter step is not implausible."""
ACCELERATION = 1.5
"""Metres a second squared, of vehicles that start or brake."""
USUAL_SPEED = 8.0
"""Metres a second, of a device that does not report its speed."""
DETOUR = 1.5
"""Times as long as the straight way is what a device may have come along while it was silent."""
NEAR_SHARE = 0.05
"""Of `min_distance`: a point this close to both the one before and the one after adds nothing to them."""
HIDDEN = 10
"""Times `min_distance` within which a device leaves a place without a fix, as a garage, before it has one."""
SLOW = 0.2
"""Metres a second, of steps that only a device makes which reports by time."""
SAME_STEP = 0.15
"""Share by which steps of a device that reports by distance differ at most."""
SLOTS = 12
"""Parts of `min_duration` of whose points those that are near to each other are kept once."""
MAX_WINDOW_POINTS = 128
"""Limit of the points that a state holds, many of which have one time. A window that is full is thinned out
to half of them."""
LIKELY_STEPS = 8
"""Points ago at which a device that reports each second was elsewhere if it drives."""
LIKELY_GAP = 2.0
"""Seconds between two points after which it was elsewhere at the one before."""
MAX_SECONDS = 1e8
"""A longer `min_duration` counts as this: three years."""
ROUNDING: Final = 1e-6
"""Seconds: sums of times that differ by less are equal."""
_FIX_TIME: Final = attrgetter("fix_time")
_EPOCH: Final = datetime.fromtimestamp(0, UTC)


class Limits(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """What follows from `TripSettings`."""

    distance: float
    """Metres: `min_distance`."""
    duration: float
    """Seconds: `min_duration`, limited."""
    stop_gap: float
    """Seconds."""
    implausible_speed: float
    """Knots."""
    rest: float
    """Metres: the extent of a rest."""
    still: float
    """Metres, of a receiver that does not drift."""
    step: timedelta
    """Of the way of one that does."""
    near: float
    """Metres between points of which one is enough."""
    span: timedelta
    """`duration`."""
    kept: timedelta
    """How far the window reaches back."""
    far: timedelta
    """How far it does to points that are `distance` away."""
    slot: timedelta
    """In which points that are near to each other are thinned out."""


class TripSettings(msgspec.Struct, frozen=True, dict=True):
    """What makes a trip and what a stop: the keys `report.trip.*` (docs/events.md#motion)."""

    min_distance: float = 200.0
    """Metres from where it stood that make a trip; remaining within it makes a stop."""
    min_duration: float = 180.0
    """Seconds within `min_distance` that make a stop."""
    stop_gap: float = 3600.0
    """Seconds without positions after which a drive in between counts as a trip of its own."""
    implausible_speed: float = 162.0
    """Knots: a position that only a faster device could have reached is left out, until one follows that is
    near to it. 0: none is."""

    @cached_property
    def limits(self) -> Limits:
        """What follows from them."""
        duration = min(self.min_duration, MAX_SECONDS)
        span = timedelta(seconds=duration)
        return Limits(
            distance=self.min_distance,
            duration=duration,
            stop_gap=self.stop_gap,
            implausible_speed=self.implausible_speed,
            rest=REST_SHARE * self.min_distance,
            still=STILL_SHARE * self.min_distance,
            step=span / STEPS,
            near=NEAR_SHARE * self.min_distance,
            span=span,
            kept=WINDOW_SPANS * span,
            far=2 * span,
            slot=span / SLOTS,
        )


class TrackPoint(msgspec.Struct, frozen=True, gc=False):
    """What the machine needs of a position."""

    position_id: int
    """0 while the position is not stored yet."""
    fix_time: datetime
    latitude: float
    longitude: float
    speed: float = 0.0
    """Knots, as the device reported it; 0 if it does not."""
    valid: bool = True
    """Whether the receiver had a fix."""
    ignition: bool | None = None
    """None if the device does not say."""
    ahead: float = 0.0
    """Seconds that the fix time was ahead of the server's clock when the position arrived; not negative."""

    @property
    def is_nowhere(self) -> bool:
        """Whether it says nothing of where the device is."""
        return not self.valid and self.latitude == self.longitude == 0.0


class Transition(msgspec.Struct, frozen=True, gc=False):
    """The device started or stopped moving, at a point that may lie before the present one."""

    is_moving: bool
    point: TrackPoint


class TripState(msgspec.Struct, frozen=True, gc=False):
    """What the machine remembers; the default is that of a device without positions."""

    is_moving: bool = False
    anchor: TrackPoint | None = None
    """The point of the last transition, and before any the first point. None before the first point."""
    window: Window[TrackPoint] = Window()
    """The latest points, oldest first: where a stop or a trip may have begun, and one from before."""
    doubtful: TrackPoint | None = None
    """The last point, if it was implausible."""
    doubts: int = 0
    """How many points in a row were."""
    elsewhere: TrackPoint | None = None
    """Where a device stands that was found elsewhere than at its anchor, but was not seen on the way."""
    unsure: TrackPoint | None = None
    """The last point, if it alone tells that a device that stands has left; not in the window."""

    def believes(self, point: TrackPoint | Position, ahead: float, settings: TripSettings) -> bool:
        """Return whether the device can be at `point` then, whose clock was `ahead` seconds ahead.

        It can if it can have come there from its last plausible place or, where the last point was
        implausible as well, from there. From a point that alone tells that it has left it is back without
        having been there.
        """
        window, limit = self.window, settings.implausible_speed
        if not limit or window.first == window.end:
            return True
        newest = self.unsure or window.points[window.end - 1]
        if ahead and ahead > newest.ahead + AHEAD and self.doubts < DOUBTS:
            return False
        return (
            is_reachable(newest, point, limit)
            or (self.doubtful is not None and is_reachable(self.doubtful, point, limit))
            or self._is_back(point, settings.limits)
        )

    def _is_back(self, point: TrackPoint | Position, limits: Limits) -> bool:
        """Whether a device that stands is where it stood, so that `unsure` is left out."""
        unsure, place = self.unsure, self.elsewhere or self.anchor
        return (
            unsure is not None
            and place is not None
            and point.fix_time - unsure.fix_time < limits.kept
            and _metres(place, point) < limits.distance
            and is_reachable(self.window[-1], point, limits.implausible_speed)
        )

    def doubting(self, point: TrackPoint) -> "TripState":
        """Return the state after a point that it does not believe."""
        doubts = self.doubts + 1
        return TripState(self.is_moving, self.anchor, self.window, point, doubts, self.elsewhere, self.unsure)

    def turned(self, anchor: TrackPoint, settings: TripSettings, *, is_moving: bool) -> "TripState":
        """Return the state in which the device started or stopped at `anchor`, so that no point is unsure."""
        window = self.window
        if self.unsure is not None:
            limits = settings.limits
            window = _extended(window, self.unsure, limits, anchor)
        return TripState(is_moving, anchor, window, self.doubtful, self.doubts)


_NONE: Final[tuple[Transition, ...]] = ()


def track_point(position: Position) -> TrackPoint:
    """Return what the machine needs of a position."""
    ignition = position.attributes.get("ignition")
    ahead = 0.0
    if position.fix_time > position.server_time:
        ahead = (position.fix_time - position.server_time).total_seconds()
    return TrackPoint(
        position.id,
        position.fix_time,
        position.latitude,
        position.longitude,
        position.speed,
        position.valid,
        ignition if ignition.__class__ is bool else None,
        ahead,
    )


def advance(
    state: TripState, point: TrackPoint, settings: TripSettings
) -> tuple[TripState, tuple[Transition, ...]]:
    """Return the state after `point`, and the transitions that it shows, in the order of their points.

    Points come in the order of their fix times; several may have the same. The point of a transition is
    `point` or one of the window, and its fix time is never before that of the transition before it.
    """
    # The same question as `fold` asks for all positions, before those that say nothing are left out.
    if not state.believes(point, point.ahead, settings):
        return state.doubting(point), _NONE
    return follow(state, point, settings)


def follow(
    state: TripState, point: TrackPoint, settings: TripSettings, has_gaps: bool = False
) -> tuple[TripState, tuple[Transition, ...]]:
    """Do that for a point that `state.believes`; `has_gaps` says that others may be missing."""
    anchor, window, unsure = state.anchor, state.window, state.unsure
    if anchor is None or window.first == window.end:
        if point.is_nowhere:
            return state, _NONE
        return TripState(state.is_moving, anchor or point, Window((point,))), _NONE
    limits = settings.limits
    if not point.valid and (point.is_nowhere or _is_ignored(point, unsure or window[-1], limits)):
        return state, _NONE
    if unsure is None:
        return _advance(state, anchor, point, limits, state.doubtful is None and not has_gaps)
    state = TripState(state.is_moving, anchor, window, state.doubtful, state.doubts, state.elsewhere)
    started = _NONE
    if point.fix_time - unsure.fix_time >= limits.kept or not is_within(
        state.elsewhere or anchor, point, limits.distance
    ):
        state, started = _advance(state, anchor, unsure, limits, is_sure=True)
    state, transitions = _advance(state, state.anchor or anchor, point, limits)
    return state, started + transitions


def _advance(
    state: TripState,
    anchor: TrackPoint,
    point: TrackPoint,
    limits: Limits,
    is_next: bool = False,
    is_sure: bool = False,
) -> tuple[TripState, tuple[Transition, ...]]:
    """Do that for a point that says something, without an `unsure` one before it.

    `is_next` says that the device can have come there from the newest point, `is_sure` that this one shows a
    start by itself.
    """
    window = state.window
    if not is_next:
        limit = limits.implausible_speed
        if state.doubtful is not None and _is_wrong(state.doubtful, window, point, limit):
            window = Window(window[:-1])
        if limit and not is_reachable(window[-1], point, limit):
            # It was elsewhere all the time, or is now wrong: no way was seen that led there.
            is_found = not (state.is_moving or is_within(anchor, point, limits.distance))
            place = point if is_found else None
            return TripState(state.is_moving, anchor, Window((point,)), None, 0, place), _NONE
    newest = window.points[window.end - 1]
    gap = (point.fix_time - newest.fix_time).total_seconds()
    if gap > limits.stop_gap:
        metres = _metres(newest, point)
        if metres >= limits.distance and metres * limits.duration > limits.distance * gap:
            started: tuple[Transition, ...] = (Transition(True, newest),)
            if state.is_moving:
                if newest.fix_time < anchor.fix_time:
                    # What it started with was a wrong point, which the window no longer has.
                    return TripState(True, anchor, Window((point,))), _NONE
                started = (Transition(False, newest), *started)
            return TripState(True, newest, Window((point,))), started
    before, is_moving = window, state.is_moving
    window = _extended(before, point, limits, anchor if is_moving else None)
    if is_moving:
        if 2 * gap < limits.duration and (
            (
                _has_just_moved(window, gap, limits)
                and (
                    point.fix_time - window.points[window.first].fix_time < limits.kept
                    or point.fix_time - anchor.fix_time < limits.kept
                )
            )
            or _has_come_far(window, limits)
        ):
            # Only a device that has not moved for long, or was silent, may have stopped.
            return TripState(True, anchor, window), _NONE
        points = window[:]
        begin = _begin_of_stop(points, anchor, limits)
        if begin is None:
            return TripState(True, anchor, window), _NONE
        stopped = Transition(False, begin)
        if is_within(begin, point, limits.distance) or not _has_left(begin, points, gap, limits):
            return TripState(False, begin, window), (stopped,)
        if not is_sure and _is_unconfirmed(begin, newest, gap, limits):
            return TripState(False, begin, before, unsure=point), (stopped,)
        start = _start_of_trip(points, begin, limits)
        return TripState(True, start, window), (stopped, Transition(True, start))
    place = state.elsewhere or anchor
    if is_within(place, point, limits.distance) or not _has_left(place, points := window[:], gap, limits):
        return TripState(False, anchor, window, None, 0, state.elsewhere), _NONE
    if not is_sure and _is_unconfirmed(place, newest, gap, limits):
        return TripState(False, anchor, before, None, 0, state.elsewhere, point), _NONE
    start = _start_of_trip(points, place, limits)
    return TripState(True, start, window), (Transition(True, start),)


def is_reachable(before: TrackPoint, point: TrackPoint | Position, knots: float) -> bool:
    """Return whether a device comes from one point to the other at this speed, or at what it reports.

    A step of less than LEAST_JUMP may be the receiver's inaccuracy.
    """
    east = abs(point.longitude - before.longitude)
    if east > 180.0:
        east = 360.0 - east
    most = (abs(point.latitude - before.latitude) + east) * DEGREE
    if most < LEAST_JUMP:
        return True
    reach = knots * KNOT * abs((point.fix_time - before.fix_time).total_seconds())
    if most <= reach:
        return True
    reported = 1.5 * max(before.speed, point.speed)
    if reported > knots:
        reach *= reported / knots
    return _metres(before, point) <= max(LEAST_JUMP, reach)


def _is_wrong(doubtful: TrackPoint, window: Sequence[TrackPoint], point: TrackPoint, knots: float) -> bool:
    """Whether not the doubtful point but the one before it was wrong, as `point` agrees with the former.

    So it is if the device comes there from the point before both, and that is nearer.
    """
    if len(window) < 2 or not knots or not is_reachable(doubtful, point, knots):
        return False
    before, newest = window[-2], window[-1]
    return is_reachable(before, doubtful, knots) and _metres(before, newest) > 2 * _metres(before, doubtful)


def _is_unconfirmed(place: TrackPoint, newest: TrackPoint, gap: float, limits: Limits) -> bool:
    """Whether a point that shows a start after a silence of `gap` may be wrong, as after a sleep.

    After a longer silence the next point may be as late.
    """
    return limits.duration <= gap < limits.kept.total_seconds() and is_within(place, newest, limits.distance)


def _is_ignored(point: TrackPoint, newest: TrackPoint, limits: Limits) -> bool:
    """Whether a point without a fix says nothing, as in a tunnel, where it repeats the last place or guesses.

    It is where the device rests if that has lasted, or the ignition is off.
    """
    is_same = point.latitude == newest.latitude and point.longitude == newest.longitude
    if is_same and point.ignition is not None:
        return point.ignition
    return newest.valid and point.fix_time - newest.fix_time < limits.kept


def _extended(
    window: Window[TrackPoint], point: TrackPoint, limits: Limits, start: TrackPoint | None
) -> Window[TrackPoint]:
    """Add `point`, and drop what shows no stop and no start any more: old points, but for the newest of them,
    points that are far away, and of points that are near to each other the middle ones, but for that at which
    a trip began, `start`.
    """
    points, first, last = window.points, window.first, window.end - 1
    newest = points[last]
    if last > first and point.speed < FAST_KNOTS and newest.speed < FAST_KNOTS:
        before = points[last - 1]
        if before.speed < FAST_KNOTS and _is_between(before, newest, point, limits) and newest != start:
            newest, last = before, last - 1
    far = newest.fix_time - limits.far
    while first < last:
        after = points[first + 1]
        if after.fix_time > far or (
            start is not None
            and is_within(after, point, limits.distance)
            and after.fix_time > newest.fix_time - limits.kept
        ):
            break
        first += 1
    if last - first + 1 >= MAX_WINDOW_POINTS:
        return Window((*points[first:last:2], newest, point))
    return window.continued(point, first, last + 1)


def _is_between(before: TrackPoint, middle: TrackPoint, after: TrackPoint, limits: Limits) -> bool:
    """Whether `middle` can be left out, where none of them moves: it is near to both others, and in the slot
    of time of `before`.
    """
    gap = middle.fix_time - before.fix_time
    return (
        gap < limits.slot
        and gap <= (middle.fix_time - _EPOCH) % limits.slot
        and is_within(before, middle, limits.near)
        and is_within(middle, after, limits.near)
    )


def _has_just_moved(window: Window[TrackPoint], gap: float, limits: Limits) -> bool:
    """Whether the device reported within `duration` that it moves, and was not yet where it is now.

    `gap` is how many seconds ago the last report came.
    """
    points, first, last = window.points, window.first, window.end - 1
    newest = points[last]
    since = newest.fix_time - limits.span
    # The point before the newest was read just now, an older one has to come from memory.
    point = points[last - 1 if gap > LIKELY_GAP else max(first, last - LIKELY_STEPS)]
    if point.speed >= FAST_KNOTS and point.fix_time > since and not is_within(point, newest, limits.still):
        # As nearly always on a drive.
        return True
    for index in range(last - 1, first - 1, -1):
        point = points[index]
        if point.fix_time <= since:
            return False
        if point.speed >= FAST_KNOTS and not is_within(point, newest, limits.still):
            return True
    return False


def _has_come_far(window: Window[TrackPoint], limits: Limits) -> bool:
    """Whether the device was elsewhere `duration` ago, or just after, so that `_begin_of_stop` finds nothing.

    So it is if no place has both a point of then and one of the newest two, whichever a rest ends with.
    The newest two are less than `duration` apart.
    """
    points, last = window.points, window.end - 1
    newest = points[last]
    index = bisect_right(points, newest.fix_time - limits.span, window.first, last, key=_FIX_TIME) - 1
    if index < window.first:
        return True
    # A stop would contain both of these points, within a box whose diagonal is longer than its sides.
    metres = 1.5 * limits.distance
    return any(
        not is_within(point, newest, metres) and not is_within(point, points[last - 1], metres)
        for point in points[index : index + 2]
    )


def _begin_of_stop(window: Sequence[TrackPoint], start: TrackPoint, limits: Limits) -> TrackPoint | None:
    """Return where the stop began that the window shows, if it does; the trip began at `start`."""
    last, since = len(window) - 1, start.fix_time
    newest = window[last]
    end = newest.fix_time
    if last and (newest.speed >= FAST_KNOTS or _is_past(window[last - 1], newest, limits)):
        # It may have rested until shortly before.
        last -= 1
        end = _end_of_rest(window, last, limits, DETOUR)
    if window[last].fix_time < since:
        # What it started with was a wrong point, which the window no longer has.
        return None
    if (end - max(window[0].fix_time, since)).total_seconds() < limits.duration:
        return None
    first = _first_of_rest(window, last, end, since, limits)
    if first is None:
        return None
    place = _place_of(window[first : last + 1], limits)
    begin = next((index for index in range(first, last + 1) if place.holds(window[index])), first)
    if begin and window[begin - 1].fix_time > since:
        before, point = window[begin - 1], window[begin]
        gap = (point.fix_time - before.fix_time).total_seconds()
        is_near = is_within(before, point, limits.distance)
        if is_near and gap >= limits.duration / 2 and 2 * _seconds_of_way(before, point) < gap:
            begin -= 1
    if (end - window[begin].fix_time).total_seconds() < limits.duration:
        return None
    # Of points of one time some may come before the start.
    return start if window[begin].fix_time == since else window[begin]


def _is_past(before: TrackPoint, point: TrackPoint, limits: Limits) -> bool:
    """Whether a silence ends elsewhere, in most of which the device rested."""
    seconds = (point.fix_time - before.fix_time).total_seconds()
    if seconds < limits.duration:
        return False
    metres = _metres(before, point)
    return limits.rest <= metres and metres * limits.duration < 2 * limits.distance * seconds


def _first_of_rest(
    window: Sequence[TrackPoint], last: int, end: datetime, since: datetime, limits: Limits
) -> int | None:
    """Return the index of the first point of a rest that goes on from the point at `last` until `end`."""
    newest = window[last]
    latitude, longitude = newest.latitude, newest.longitude
    scale = cos(radians(latitude)) * DEGREE
    north = south = east = west = extent = 0.0
    way, way_up, way_right, way_time = 0.0, 0.0, 0.0, newest.fix_time
    is_still = newest.speed < FAST_KNOTS
    is_off = newest.ignition is False
    stays = False
    first = last if (end - newest.fix_time).total_seconds() >= limits.duration else None
    later_up = later_right = 0.0
    later_time = newest.fix_time
    for index in range(last - 1, -1, -1):
        point = window[index]
        if point.fix_time < since:
            break
        up = (point.latitude - latitude) * DEGREE
        right = point.longitude - longitude
        if not -180.0 < right < 180.0:
            right = (right + 180.0) % 360.0 - 180.0
        right *= scale
        if up > north:
            north = up
        elif up < south:
            south = up
        if right > east:
            east = right
        elif right < west:
            west = right
        later = extent, hypot(way_up, way_right), way
        extent = max(north - south, east - west)
        if extent >= limits.distance:
            break
        if way_time - point.fix_time >= limits.step:
            way += hypot(up - way_up, right - way_right)
            way_up, way_right, way_time = up, right, point.fix_time
        seconds = (end - point.fix_time).total_seconds()
        gap = (later_time - point.fix_time).total_seconds()
        if gap >= limits.duration:
            leg = hypot(up - later_up, right - later_right)
            if leg * limits.duration <= limits.rest * gap:
                # It was silent, and rested most of the time.
                first = index
        later_up, later_right, later_time = up, right, point.fix_time
        if point.ignition is not False:
            is_off = False
        is_moving = point.speed >= FAST_KNOTS
        rested = extent, hypot(way_up, way_right), way
        if is_moving and is_still:
            # It may have come to rest soon after it reported that, where the next point is.
            rested = later
            seconds -= _seconds_of_way(point, window[index + 1])
        if seconds >= limits.duration:
            if is_off or extent <= limits.still or (is_still and _is_rest(*rested, seconds, limits)):
                first = index
            elif seconds >= WINDOW_SPANS * limits.duration and (first is None or stays):
                first, stays = index, True
        if is_moving:
            is_still = False
            if first is not None and not stays and extent > limits.still:
                break
    return first


def _is_drive(window: Sequence[TrackPoint], index: int, limits: Limits) -> bool:
    """Whether the ignition tells that a silence before a point was a drive, as through a tunnel with a jam.

    It was on, and the device came further than one step on either side of a stay without a fix.
    """
    before, point = window[index - 1], window[index]
    if not (before.ignition and point.ignition):
        return False
    step = _metres(window[index - 2], before) if index > 1 else 0.0
    return not is_within(before, point, 2 * (limits.distance + max(limits.distance, step)))


def _reports_by_distance(window: Sequence[TrackPoint], index: int, limits: Limits) -> bool:
    """Whether the device reports each time it has moved some distance, so that a silence before a point shows
    that it was slow, not that it rested: the steps before were as long, and it was not seen at rest.
    """
    if index < 3:
        return False
    before = window[index - 1]
    step = _metres(before, window[index])
    if step < limits.rest * (1 - SAME_STEP) or window[index].fix_time - before.fix_time > 3 * limits.span:
        return False
    if before.speed < FAST_KNOTS and any(point.speed >= FAST_KNOTS for point in window[: index + 1]):
        return False
    for k in range(index - 1, 0, -1):
        metres = _metres(window[k - 1], window[k])
        if metres < SLOW * (window[k].fix_time - window[k - 1].fix_time).total_seconds():
            return False
        if k > index - 3 and abs(metres - step) > SAME_STEP * step:
            return False
    return True


def _is_rest(extent: float, net: float, way: float, seconds: float, limits: Limits) -> bool:
    """Whether a device rests that slowly moved `way` metres within `extent`, and came `net` metres along.

    A receiver that drifts leads back, a jam does not.
    """
    if extent <= limits.still:
        return True
    return seconds * limits.rest >= limits.duration * extent and net < STRAIGHT * way


class _Place(NamedTuple):
    """Where a device rests."""

    latitude: float
    longitude: float
    radius: float
    """Metres within which its receiver drifts."""

    def holds(self, point: TrackPoint) -> bool:
        """Whether the device rests there at `point`."""
        return point.speed < FAST_KNOTS and self._is_near(point)

    def _is_near(self, point: TrackPoint) -> bool:
        return great_circle(self.latitude, self.longitude, point.latitude, point.longitude) <= self.radius


def _place_of(points: Sequence[TrackPoint], limits: Limits) -> _Place:
    """Return where most of the time that points take was spent."""
    times = [(point.fix_time - points[0].fix_time).total_seconds() for point in points]
    ends = [times[0], *times, times[-1]]
    weights = [after - before + 1e-3 for before, after in zip(ends, ends[2:], strict=False)]
    latitude = _median([point.latitude for point in points], weights)
    longitude = _median([point.longitude for point in points], weights)
    away = [great_circle(latitude, longitude, point.latitude, point.longitude) for point in points]
    return _Place(latitude, longitude, max(limits.near, 3 * _median(away, weights)))


def _median(values: Sequence[float], weights: Sequence[float]) -> float:
    """Return the value below which half of the weight lies."""
    wanted = sum(weights) / 2
    for value, weight in sorted(zip(values, weights, strict=True)):
        wanted -= weight
        if wanted <= ROUNDING:
            return value
    return max(values)


def _has_left(anchor: TrackPoint, window: Sequence[TrackPoint], gap: float, limits: Limits) -> bool:
    """Whether a device that is `distance` away from where it stood has left, not only its receiver drifts."""
    point = window[-1]
    if point.speed >= FAST_KNOTS:
        return True
    if gap >= limits.duration and not _is_past(window[-2], point, limits):
        return True
    if not is_within(anchor, point, 2 * limits.distance) and not is_within(
        anchor, window[-2], limits.distance
    ):
        return True
    for other in reversed(window):
        if is_within(anchor, other, limits.distance):
            return False
        if 2 * (point.fix_time - other.fix_time).total_seconds() >= limits.duration:
            return True
    return False


def _start_of_trip(window: Sequence[TrackPoint], anchor: TrackPoint, limits: Limits) -> TrackPoint:
    """Return where the device left its last rest in the window, or the next point if nearer in time."""
    last = len(window) - 1
    rest, end = None, 0
    earliest = max(window[0].fix_time, anchor.fix_time)
    for end in range(last - 1, -1, -1):
        if window[end].fix_time <= anchor.fix_time:
            break
        if window[end + 1].fix_time - earliest < limits.span:
            # Nothing before it lasted as long as a rest.
            continue
        until = _end_of_rest(window, end, limits)
        rest = _first_of_rest(window, end, until, anchor.fix_time, limits)
        if rest is not None:
            break
    if rest is not None:
        place = _place_of(window[rest : end + 1], limits)
        while end > rest and not place.holds(window[end]):
            end -= 1
    elif window[end].fix_time < anchor.fix_time:
        end += 1
    # While it rested its receiver may have drifted, or it may have moved up in a queue, not as in a jam.
    place = _place_of([point for point in window[:last] if point.speed < FAST_KNOTS] or window, limits)
    if 2 * place.radius <= limits.distance:
        end = next((index for index in range(last - 1, end, -1) if place.holds(window[index])), end)
    leaving, moving = window[end], window[min(end + 1, last)]
    seconds = _seconds_of_way(moving, leaving)
    if seconds < limits.duration and 2 * seconds < (moving.fix_time - leaving.fix_time).total_seconds():
        end += 1
    elif not leaving.valid and not is_within(leaving, moving, HIDDEN * limits.distance):
        # Nobody knows when it left the place of its last fix.
        while end and not window[end].valid and window[end - 1].fix_time > anchor.fix_time:
            end -= 1
    while end < last and (window[end].fix_time - anchor.fix_time).total_seconds() < limits.duration:
        # The stop was longer.
        end += 1
    return window[end]


def _end_of_rest(window: Sequence[TrackPoint], last: int, limits: Limits, detour: float = 1.0) -> datetime:
    """Return when a device probably left its place at `last` to be at the next one in time."""
    resting, moving = window[last], window[last + 1]
    gap = (moving.fix_time - resting.fix_time).total_seconds()
    if gap >= limits.duration and (
        _is_drive(window, last + 1, limits) or _reports_by_distance(window, last + 1, limits)
    ):
        return resting.fix_time
    seconds = min(gap, detour * _seconds_of_way(moving, resting))
    return moving.fix_time - timedelta(seconds=seconds)


def _seconds_of_way(moving: TrackPoint, resting: TrackPoint) -> float:
    """Return how long the way takes between a point of a drive and the rest before or after it."""
    speed = moving.speed * KNOT if moving.speed >= FAST_KNOTS else USUAL_SPEED
    metres = _metres(moving, resting)
    if metres * 2 * ACCELERATION < speed * speed:
        return 2 * metres / speed
    return metres / speed + speed / (2 * ACCELERATION)


def is_within(start: TrackPoint, end: TrackPoint, metres: float) -> bool:
    """Whether two points are closer than `metres`."""
    # Most points are told by their coordinates: a way is not shorter than its part along the meridian, and
    # not longer than that and a part along the equator. The margins are far above errors of rounding.
    along = abs(end.latitude - start.latitude) * DEGREE
    if along > metres * 1.000001:
        return False
    if along + abs(end.longitude - start.longitude) * DEGREE < metres * 0.999999:
        return True
    return _metres(start, end) < metres


def _metres(start: TrackPoint, end: TrackPoint | Position) -> float:
    return great_circle(start.latitude, start.longitude, end.latitude, end.longitude)
