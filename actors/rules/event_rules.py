"""All events of a position, in the order of docs/events.md#events-of-positions.

Pure. `fold` calls it once for each position, after everything else. The rules are functions in modules of
their own; a rule for which nothing is configured, or whose attribute the position lacks, is not called.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from motorpool.actors.rules.alarms import alarm_events
from motorpool.actors.rules.device_rules import DeviceRules
from motorpool.actors.rules.driver_change import driver_events
from motorpool.actors.rules.driving_behaviour import behaviour_events
from motorpool.actors.rules.fold_state import FoldState
from motorpool.actors.rules.fuel import fuel_events
from motorpool.actors.rules.geofence_visits import crossing_events, visit_events
from motorpool.actors.rules.ignition import ignition_events
from motorpool.actors.rules.maintenance_due import maintenance_events
from motorpool.actors.rules.media_events import MEDIA, media_events, result_events
from motorpool.actors.rules.motion import motion_events
from motorpool.actors.rules.overspeed import Limit, OverspeedState, check_speed, speed_limit
from motorpool.actors.rules.proximity import proximity_events, unaccompanied_events
from motorpool.actors.rules.trip_detection import TrackPoint, TripState, track_point
from motorpool.storage.records import Event, Position

_NO_ATTRIBUTES: Final[Mapping[str, Any]] = {}
_NO_LIMIT: Final = Limit(0.0)
_COMPARED_WITH_NOTHING: Final = frozenset({*MEDIA, "result"})
"""Attributes that make events of late positions too."""


class PositionEvents(msgspec.Struct, frozen=True, gc=False):
    """What the rules made of a position, and what they remember of it."""

    events: tuple[Event, ...]
    trip: TripState
    overspeed: OverspeedState
    near: Mapping[int, bool]
    point: TrackPoint | None
    """The position as the trip machine keeps it; None for a position without a known location."""
    dated_back: tuple[tuple[Event, TrackPoint], ...] = ()
    """Those of `events` that belong to an earlier position, or to this one, with the point of that."""


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


def events_of(
    position: Position,
    state: FoldState,
    rules: DeviceRules,
    *,
    known: Sequence[Event] = (),
    linked: Sequence[Position] | None = (),
) -> PositionEvents:
    """Return the events of a position that becomes the latest; `state` is that before it.

    `known` are events that the report itself stands for; the rules do not repeat them. `linked` are the
    latest positions of the devices linked to this one, as far as they have any; None if they are not known.
    """
    settings, attributes, last = rules.settings, position.attributes, state.latest
    last_attributes = _NO_ATTRIBUTES if last is None else last.attributes
    found: list[Event] = []
    if not attributes.keys().isdisjoint(_COMPARED_WITH_NOTHING):
        found += late_events_of(position, known)

    overspeed = state.overspeed
    if (
        settings.speed_limit
        or position.geofence_ids
        or "speedLimit" in attributes
        or overspeed.since is not None
    ):
        events, overspeed = check_speed(
            position,
            limit_of(position, rules),
            overspeed,
            minimal_duration=settings.event_overspeed_minimal_duration,
            multiplier=settings.event_overspeed_threshold_multiplier,
        )
        found += events
    acceleration = settings.event_behavior_acceleration_threshold
    braking = settings.event_behavior_braking_threshold
    if acceleration or braking:
        found += behaviour_events(position, last, acceleration=acceleration, braking=braking)
    if "fuel" in attributes:
        drop, increase = settings.fuel_drop_threshold, settings.fuel_increase_threshold
        if drop or increase:
            found += fuel_events(position, last, drop=drop, increase=increase)

    trip, point = state.trip, None
    dated_back: tuple[tuple[Event, TrackPoint], ...] = ()
    if not position.outdated or trip.anchor is not None:
        point = track_point(position)
        moves, trip = motion_events(position, point, trip, settings.trips)
        if moves:
            dated_back = tuple(moves)
            found += [event for event, _ in moves]

    if position.geofence_ids or (last is not None and last.geofence_ids):
        found += visit_events(position, last, rules.geofences, rules.calendars)
    if settings.event_geofence_segment_crossing and rules.geofences:
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
    return PositionEvents(tuple(found), trip, overspeed, near, point, dated_back)


def limit_of(position: Position, rules: DeviceRules) -> Limit:
    """Return the speed limit that counts at a position."""
    settings = rules.settings
    inside: list[Limit] = []
    for number in position.geofence_ids or ():
        geofence = rules.geofences.get(number)
        if geofence is not None and geofence.speed_limit:
            inside.append(Limit(geofence.speed_limit, number))
    if not inside and not settings.speed_limit and "speedLimit" not in position.attributes:
        return _NO_LIMIT
    return speed_limit(
        position, inside, settings.speed_limit, prefer_lowest=settings.event_overspeed_prefer_lowest
    )
