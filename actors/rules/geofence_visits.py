"""Events of geofences (docs/events.md#geofences)."""

from collections.abc import Iterable, Mapping

from motorpool.actors.rules.device_rules import LocalCalendar, WindowsMissing
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
    left, entered = sorted(set(before) - set(now)), sorted(set(now) - set(before))
    active = _active([*left, *entered], position, geofences, calendars)
    return [
        position_event(kind, position, geofence_id=number)
        for kind, numbers in (("geofenceExit", left), ("geofenceEnter", entered))
        for number in numbers
        if number in active
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
    if not crossed:
        return []
    active = _active(crossed, position, geofences, calendars)
    return [
        position_event("geofenceCrossed", position, geofence_id=number)
        for number in crossed
        if number in active
    ]


def _active(
    numbers: Iterable[int],
    position: Position,
    geofences: GeofenceIndex,
    calendars: Mapping[int, LocalCalendar],
) -> set[int]:
    """Return those of the geofences that apply to the device and whose calendar, if any, is open.

    Raises:
        WindowsMissing: windows must be computed first, which it tells of all their calendars at once: the
            whole position is processed again afterwards.
    """
    found: set[int] = set()
    missing: list[LocalCalendar] = []
    block = 0
    for number in numbers:
        geofence = geofences.get(number)
        if geofence is None:
            continue
        calendar = calendars.get(geofence.calendar_id)
        try:
            if calendar is None or calendar.covers(position.fix_time, position.server_time):
                found.add(number)
        except WindowsMissing as error:
            missing += error.calendars
            block = error.block
    if missing:
        raise WindowsMissing(missing, block)
    return found
