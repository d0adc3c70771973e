"""Events of geofences (docs/events.md#geofences)."""

from collections.abc import Mapping

from motorpool.actors.rules.device_rules import LocalCalendar
from motorpool.actors.rules.geofence_index import GeofenceIndex
from motorpool.actors.rules.position_event import position_event
from motorpool.storage.records import Event, Position


def visit_events(
    position: Position,
    last: Position | None,
    geofences: GeofenceIndex,
    calendars: Mapping[int, LocalCalendar],
) -> list[Event]:
    """Return an event for each geofence entered or left since `last`: exits first, by ascending id.

    A geofence whose calendar is closed at the fix time makes none, nor does one that no longer applies to
    the device.
    """
    now = position.geofence_ids or []
    before = (last.geofence_ids if last is not None else None) or []
    if now == before:
        return []
    changes = [("geofenceExit", number) for number in sorted(set(before) - set(now))]
    changes += [("geofenceEnter", number) for number in sorted(set(now) - set(before))]
    return [
        position_event(kind, position, geofence_id=number)
        for kind, number in changes
        if _is_active(number, position, geofences, calendars)
    ]


def crossing_events(
    position: Position,
    last: Position | None,
    geofences: GeofenceIndex,
    calendars: Mapping[int, LocalCalendar],
) -> list[Event]:
    """Return an event for each geofence that the way from `last` leads through, from outside to outside."""
    if last is None or position.outdated or (last.latitude == 0 and last.longitude == 0):
        return []
    if position.latitude == last.latitude and position.longitude == last.longitude:
        return []
    crossed = geofences.crossed(
        (last.latitude, last.longitude, last.altitude),
        (position.latitude, position.longitude, position.altitude),
        position.geofence_ids or (),
    )
    return [
        position_event("geofenceCrossed", position, geofence_id=number)
        for number in crossed
        if _is_active(number, position, geofences, calendars)
    ]


def _is_active(
    number: int, position: Position, geofences: GeofenceIndex, calendars: Mapping[int, LocalCalendar]
) -> bool:
    geofence = geofences.get(number)
    if geofence is None:
        return False
    calendar = calendars.get(geofence.calendar_id)
    return calendar is None or calendar.covers(position.fix_time, position.server_time)
