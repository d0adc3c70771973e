"""The rules that make events of positions: their order, and what they remember of a device.

Pure. `fold` calls `events_of` once for each position, after everything else; the order is that of
docs/events.md#events-of-positions. The rules are functions in modules of their own; a rule for which nothing
is configured, or whose attribute the position lacks, is not called. What a rule remembers from one position
to the next is a field of `FoldState`, which `rebuild_state` makes again from stored rows after a restart
(docs/positions.md#state).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

import msgspec

from motorpool.actors.rules.alarms import alarm_events
from motorpool.actors.rules.computed import Failures
from motorpool.actors.rules.device_rules import DeviceRules
from motorpool.actors.rules.driver_change import driver_events
from motorpool.actors.rules.driving_behaviour import behaviour_events
from motorpool.actors.rules.fuel import fuel_events
from motorpool.actors.rules.geofence_index import EMPTY
from motorpool.actors.rules.geofence_visits import crossing_events, visit_events
from motorpool.actors.rules.ignition import ignition_events
from motorpool.actors.rules.maintenance_due import maintenance_events
from motorpool.actors.rules.media_events import MEDIA, media_events, result_events
from motorpool.actors.rules.motion import located_of, motion_events, rebuild_trip
from motorpool.actors.rules.overspeed import OverspeedState, check_speed, rebuild_overspeed
from motorpool.actors.rules.proximity import proximity_events, rebuild_near, unaccompanied_events
from motorpool.actors.rules.rule_settings import RuleSettings
from motorpool.actors.rules.sensor_events import (
    NOTHING_EVALUATED,
    SensorState,
    rebuild_sensors,
    sensor_events,
)
from motorpool.actors.rules.times import UNKNOWN_FIX_TIME
from motorpool.actors.rules.trip_detection import (
    WINDOW_SPANS,
    TrackPoint,
    TripState,
    follow,
    is_within,
    track_point,
)
from motorpool.storage.records import Event, Position
from motorpool.storage.rules.fold_rows import Motion

MAX_LOOK_BACK: Final = timedelta(hours=24)
"""Positions from before that are not read; what they would tell makes no event."""
_NO_ATTRIBUTES: Final[Mapping[str, Any]] = {}


class FoldState(msgspec.Struct, frozen=True, gc=False):
    """What the rules remember of a device; the default is that of a device without positions."""

    latest: Position | None = None
    """The latest position, to which the next report is compared."""
    trip: TripState = TripState()
    day: int = 0
    """The day of its fix time in UTC, as of `date.toordinal`."""
    stored_that_day: int = 0
    """Positions stored so far whose fix times have that day; those from the future do not count."""
    overspeed: OverspeedState = OverspeedState()
    near: Mapping[int, bool] = {}
    """By linked device: whether it was close; one of which that is not known is missing."""
    sensors: SensorState = NOTHING_EVALUATED

    def stored_on(self, instant: datetime) -> int:
        """Return how many positions have the day of `instant`, if it is that of the latest; else 0."""
        return self.stored_that_day if instant.toordinal() == self.day else 0


NOTHING_STORED: Final = FoldState()
"""The state of all devices without positions."""


class FoldResult(msgspec.Struct, frozen=True, gc=False):
    """What one report amounts to."""

    position: Position | None
    """To be stored, with id 0; None if it was dropped by a filter."""
    events: tuple[Event, ...]
    """To be stored in the same transaction, those first that the report itself stands for."""
    state: FoldState
    """What the next report is folded onto."""
    failures: Failures = ()
    """Computed attributes that failed; the position is without them."""
    point: TrackPoint | None = None
    """The position as the trip machine keeps it; None if it keeps nothing."""
    dated_back: tuple[tuple[Event, TrackPoint], ...] = ()
    """Events among `events` that refer to a track point, possibly an earlier one of the device, by its id."""


def late_events_of(position: Position, known: Sequence[Event]) -> tuple[Event, ...]:
    """Return the events of a position that does not become the latest: those that compare it with nothing.

    `known` are events that the report itself stands for; the rules do not repeat them.
    """
    attributes = position.attributes
    found: list[Event] = []
    if not attributes.keys().isdisjoint(MEDIA):
        found += media_events(position, known)
    if "result" in attributes:
        found += result_events(position, known)
    return tuple(found)


def events_of_implausible(
    position: Position, state: FoldState, rules: DeviceRules, known: tuple[Event, ...] = ()
) -> FoldResult:
    """Return what comes of a position where the device cannot be.

    It makes the events of a late position, and those of its alarms: the next position may not repeat these.
    `known` is as for `events_of`.
    """
    found = list(late_events_of(position, known))
    if "alarm" in position.attributes:
        ignore_duplicates = rules.settings.event_ignore_duplicate_alerts
        found += alarm_events(position, state.latest, ignore_duplicates=ignore_duplicates)
    trip = state.trip.doubting(track_point(position))
    return FoldResult(position, known + tuple(found), msgspec.structs.replace(state, trip=trip))


def events_of(
    position: Position,
    state: FoldState,
    rules: DeviceRules,
    known: tuple[Event, ...] = (),
    linked: Sequence[Position] | None = (),
) -> FoldResult:
    """Return what comes of a position that becomes the latest; `state` is that before it.

    `known` are events that the report itself stands for; the rules do not repeat them. `linked` are the
    latest positions of the devices linked to this one, as far as they have any; None if they are not known.
    """
    settings, attributes, last = rules.settings, position.attributes, state.latest
    last_attributes = _NO_ATTRIBUTES if last is None else last.attributes
    found: list[Event] = []
    # One by one: a test of sets takes twice as long.
    if "result" in attributes or "image" in attributes or "video" in attributes or "audio" in attributes:
        found += late_events_of(position, known)

    overspeed = state.overspeed
    if (
        settings.speed_limit
        or position.geofence_ids
        or "speedLimit" in attributes
        or overspeed.since is not None
    ):
        events, overspeed = check_speed(position, rules, overspeed)
        found += events
    acceleration = settings.event_behavior_acceleration_threshold
    braking = settings.event_behavior_braking_threshold
    if acceleration or braking:
        found += behaviour_events(position, last, acceleration=acceleration, braking=braking)
    if "fuel" in attributes:
        drop, increase = settings.fuel_drop_threshold, settings.fuel_increase_threshold
        if drop or increase:
            found += fuel_events(position, last, drop=drop, increase=increase)

    sensors = NOTHING_EVALUATED
    if rules.sensor_limits:
        events, sensors = sensor_events(position, rules.sensor_limits, state.sensors)
        found += events

    trip, point = state.trip, None
    dated_back: tuple[tuple[Event, TrackPoint], ...] = ()
    if not position.outdated:
        point = track_point(position)
        trip, transitions = follow(trip, point, settings.trips)
        if transitions:
            dated_back = motion_events(transitions, position.device_id)
            found += [event for event, _ in dated_back]

    if position.geofence_ids or (last is not None and last.geofence_ids):
        found += visit_events(position, last, rules.geofences, rules.calendars)
    if settings.event_geofence_segment_crossing and rules.geofences is not EMPTY:
        found += crossing_events(position, last, rules.geofences, rules.calendars)

    near = state.near
    if linked is not None:
        if linked:
            enter, leave = settings.proximity_enter_distance, settings.proximity_exit_distance
            if enter or leave:
                events, near = proximity_events(
                    position, near, linked, enter_distance=enter, exit_distance=leave
                )
                found += events
        if settings.unaccompanied_distance:
            distance = settings.unaccompanied_distance
            found += unaccompanied_events(position, last, linked, distance=distance)

    if "alarm" in attributes:
        found += alarm_events(position, last, ignore_duplicates=settings.event_ignore_duplicate_alerts)
    if "ignition" in attributes and attributes["ignition"] != last_attributes.get("ignition"):
        found += ignition_events(position, last)
    if rules.maintenances:
        found += maintenance_events(position, last, rules.maintenances)
    if "driverUniqueId" in attributes and (
        attributes["driverUniqueId"] != last_attributes.get("driverUniqueId")
    ):
        found += driver_events(position, last)
    day = position.fix_time.toordinal()
    stored_that_day = state.stored_that_day + 1 if day == state.day else 1
    state = FoldState(position, trip, day, stored_that_day, overspeed, near, sensors)
    return FoldResult(position, known + tuple(found), state, (), point, dated_back)


def window_start(latest: Position, settings: RuleSettings) -> datetime:
    """Return the fix time from which on positions are needed to rebuild the state of most devices."""
    seconds = max(3 * settings.report_trip_min_duration, settings.event_overspeed_minimal_duration)
    return _before(latest, seconds)


def earlier_start(
    points: Sequence[Position], motion: Motion | None, first: Position | None, settings: RuleSettings
) -> datetime | None:
    """Return the fix time from which on they are, if `points`, those from `window_start` on, are too few.

    So it is for a device on a trip that has not come far lately, for one that has lost its fix, and for one
    that stands elsewhere than it stopped, at `motion` or `first`: it was found there, after implausible
    positions.
    """
    known = [point for point in located_of(_inputs(points)) if "implausible" not in point.attributes]
    if not known:
        return None
    latest = known[-1]
    fixed = next((point for point in reversed(known) if point.valid), latest)
    since = usual = window_start(latest, settings)
    if fixed is not latest:
        since = _reach(fixed, settings)
    place, distance = track_point(latest), settings.report_trip_min_distance
    if motion is not None and motion.is_moving:
        lately = _before(latest, settings.report_trip_min_duration)
        if not any(
            point.fix_time >= lately and not is_within(track_point(point), place, 2 * distance)
            for point in known
        ):
            # Only who was further away lately keeps no older points that are near to where it is now.
            since = min(since, _reach(fixed, settings))
    else:
        stopped = motion.position if motion is not None else first
        if stopped is not None and not is_within(track_point(stopped), place, distance):
            since = min(since, max(stopped.fix_time, latest.fix_time - MAX_LOOK_BACK))
    return since if since < usual else None


def _reach(position: Position, settings: RuleSettings) -> datetime:
    """Return how far the window of the trip machine reaches back at a position, and a little more."""
    return _before(position, (WINDOW_SPANS + 1) * settings.report_trip_min_duration)


def _before(position: Position, seconds: float) -> datetime:
    return position.fix_time - min(MAX_LOOK_BACK, timedelta(seconds=min(seconds, 1e6)))


def rebuild_state(
    latest: Position | None,
    rules: DeviceRules,
    *,
    points: Iterable[Position] = (),
    first: Position | None = None,
    motion: Motion | None = None,
    stored_that_day: int = 0,
    near: Mapping[int, bool] | None = None,
    linked: Iterable[Position] = (),
) -> FoldState:
    """Return the state after the stored positions of a device.

    `points` are those since `window_start` and a few from before, in the order in which they were stored;
    `first` is the first of the last 24 hours, for a device without a `motion`; `stored_that_day` is how many
    positions have the day of the latest; `near` tells by the last events which linked devices were close, and
    `linked` are the latest positions of the others.
    """
    if latest is None:
        return NOTHING_STORED
    inputs = list(_inputs(points))
    return FoldState(
        latest=latest,
        trip=rebuild_trip(inputs, first, motion, rules.settings.trips),
        day=latest.fix_time.toordinal(),
        stored_that_day=stored_that_day,
        overspeed=rebuild_overspeed((each for each in inputs if "implausible" not in each.attributes), rules),
        near=rebuild_near(latest, near or {}, linked, rules.settings),
        sensors=rebuild_sensors(latest, rules.sensor_limits),
    )


def _inputs(points: Iterable[Position]) -> Iterator[Position]:
    """Yield the positions that became the latest, and implausible ones; the rules did not see late ones."""
    newest = UNKNOWN_FIX_TIME
    for point in points:
        if point.fix_time >= newest:
            if "implausible" not in point.attributes:
                newest = point.fix_time
            yield point
