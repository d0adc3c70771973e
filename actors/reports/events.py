"""Events and visits to geofences in a span of time (docs/reports.md#events)."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from itertools import groupby
from typing import Final

import msgspec

from motorpool.actors.reports.items import GeofenceVisit
from motorpool.actors.reports.names import Visible, in_words, names_by_id, visible_ids, with_addresses
from motorpool.actors.reports.sources import ReportQuery, Sources, Viewer, devices_of
from motorpool.storage.devices import positions
from motorpool.storage.plain_tables import GEOFENCES, MAINTENANCE
from motorpool.storage.records import Device, Event, Position
from motorpool.storage.reports import report_rows

ALL_EVENTS: Final = "allEvents"
"""Stands for all types in the clients' requests."""


async def events(
    sources: Sources, viewer: Viewer, query: ReportQuery
) -> AsyncGenerator[tuple[Device, list[Event]], None]:
    """Yield the events of each device in order, some at a time."""
    visible = await visible_ids(sources.database, viewer)
    async with aclosing(devices_of(sources, viewer, query)) as batches:
        async for devices in batches:
            by_id = {device.id: device for device in devices}
            async with aclosing(events_of(sources, visible, sorted(by_id), query)) as parts:
                async for found in parts:
                    for device_id, part in groupby(found, key=lambda event: event.device_id):
                        yield by_id[device_id], list(part)


async def events_of(
    sources: Sources, visible: Visible, device_ids: Sequence[int], query: ReportQuery
) -> AsyncGenerator[list[Event], None]:
    """Yield what the query wants of the events of devices and the viewer may see, by device and time."""
    types = () if ALL_EVENTS in query.types else query.types
    alarms = frozenset(query.alarms)
    batches = report_rows.stream_events(sources.database, device_ids, query.start, query.end, types=types)
    async with aclosing(batches):
        async for found in batches:
            yield [event for event in found if _is_wanted(event, alarms) and _may_see(event, visible)]


def _is_wanted(event: Event, alarms: frozenset[str]) -> bool:
    return not alarms or event.type != "alarm" or event.attributes.get("alarm") in alarms


def _may_see(event: Event, visible: Visible) -> bool:
    if visible is None:
        return True
    geofences, maintenance = visible
    return (not event.geofence_id or event.geofence_id in geofences) and (
        not event.maintenance_id or event.maintenance_id in maintenance
    )


class EventRow(msgspec.Struct, frozen=True):
    """An event as a workbook shows it."""

    event: Event
    geofence: str
    maintenance: str
    """Names; empty where there is none."""
    position: Position | None
    """Where it happened."""
    place: str | None = None
    """The same in words."""


async def event_rows(sources: Sources, viewer: Viewer, found: Sequence[Event]) -> list[EventRow]:
    """Add names and places to events of one batch."""
    database = sources.database
    geofences = await names_by_id(database, GEOFENCES, (event.geofence_id for event in found))
    maintenance = await names_by_id(database, MAINTENANCE, (event.maintenance_id for event in found))
    ids = sorted({event.position_id for event in found} - {0})
    found_at = {position.id: position for position in await positions.TABLE.fetch_many(database, ids)}
    points = list(found_at.values())
    words = await in_words(sources, viewer, points, await with_addresses(sources, points))
    places = dict(zip(found_at, words, strict=True))
    return [
        EventRow(
            event,
            geofences.get(event.geofence_id, ""),
            maintenance.get(event.maintenance_id, ""),
            found_at.get(event.position_id),
            places.get(event.position_id),
        )
        for event in found
    ]


async def geofence_visits(
    sources: Sources, viewer: Viewer, query: ReportQuery
) -> AsyncGenerator[tuple[Device, list[GeofenceVisit]], None]:
    """Yield the visits of each device to the geofences of the query, by the time of their start.

    A visit that has not begun or not ended in the span is left out.
    """
    wanted = frozenset(query.geofence_ids)
    if not wanted:
        return
    only = msgspec.structs.replace(query, types=("geofenceEnter", "geofenceExit"), alarms=())
    device: Device | None = None
    entered: dict[int, Event] = {}
    visits: list[GeofenceVisit] = []
    async with aclosing(events(sources, viewer, only)) as parts:
        async for other, found in parts:
            if device is None or other.id != device.id:
                if device is not None and visits:
                    yield device, _by_start(visits)
                device, entered, visits = other, {}, []
            for event in found:
                if event.geofence_id not in wanted:
                    continue
                if event.type == "geofenceEnter":
                    entered[event.geofence_id] = event
                elif (begin := entered.pop(event.geofence_id, None)) is not None:
                    visits.append(
                        GeofenceVisit(
                            device_id=other.id,
                            device_name=other.name,
                            geofence_id=event.geofence_id,
                            start_time=begin.event_time,
                            end_time=event.event_time,
                        )
                    )
    if device is not None and visits:
        yield device, _by_start(visits)


def _by_start(visits: list[GeofenceVisit]) -> list[GeofenceVisit]:
    return sorted(visits, key=lambda visit: (visit.start_time, visit.geofence_id))
