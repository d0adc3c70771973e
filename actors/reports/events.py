"""Events and visits to geofences in a span of time (docs/reports.md#events)."""

from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import aclosing
from itertools import groupby
from typing import Final, NamedTuple, TypeVar

import msgspec

from motorpool.actors.deliveries.notice import EventFacts
from motorpool.actors.reports.items import GeofenceVisit
from motorpool.actors.reports.names import (
    Visible,
    driver_names,
    in_words,
    may_see,
    visible_ids,
    with_addresses,
)
from motorpool.actors.reports.sources import ReportQuery, Sources, Viewer, devices_of
from motorpool.actors.words.cameras import cameras_of
from motorpool.storage.database.database import Database
from motorpool.storage.database.tables import Table
from motorpool.storage.devices import camera_names, positions
from motorpool.storage.plain_tables import GEOFENCES, MAINTENANCE
from motorpool.storage.records import Device, Event, Geofence, Maintenance, Position
from motorpool.storage.reports import report_rows

R = TypeVar("R", Geofence, Maintenance, Position)

ALL_EVENTS: Final = "allEvents"
"""Stands for all types in the clients' requests."""


async def events(
    sources: Sources, viewer: Viewer, query: ReportQuery
) -> AsyncGenerator[tuple[Device, list[Event]], None]:
    """Yield the events of each device in order, some at a time."""
    visible = await visible_ids(sources.database, viewer.user)
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
            yield [event for event in found if _is_wanted(event, alarms) and may_see(event, visible)]


def _is_wanted(event: Event, alarms: frozenset[str]) -> bool:
    return not alarms or event.type != "alarm" or event.attributes.get("alarm") in alarms


class EventRow(msgspec.Struct, frozen=True):
    """An event as a workbook shows it."""

    facts: EventFacts
    """With the rows that it names, and the position where it happened."""
    place: str | None
    """Where that is, in words."""


async def event_rows(sources: Sources, viewer: Viewer, found: Sequence[Event]) -> list[EventRow]:
    """Add to events of one batch what a workbook says of them: rows that they name, and places."""
    database = sources.database
    drivers = await driver_names(database, viewer, filter(None, map(_driver_of, found)))
    geofences = await _rows(database, GEOFENCES, (event.geofence_id for event in found))
    maintenance = await _rows(database, MAINTENANCE, (event.maintenance_id for event in found))
    found_at = await _rows(database, positions.TABLE, (event.position_id for event in found))
    filmed = {event.device_id for event in found if cameras_of(event, found_at.get(event.position_id))}
    cameras = await camera_names.names_of(database, filmed)
    points = list(found_at.values())
    words = await in_words(sources, viewer, points, await with_addresses(sources, points))
    places = dict(zip(found_at, words, strict=True))
    return [
        EventRow(
            EventFacts(
                event=event,
                geofence=geofences.get(event.geofence_id),
                maintenance=maintenance.get(event.maintenance_id),
                position=found_at.get(event.position_id),
                driver=drivers.get(_driver_of(event), ""),
                camera_names=cameras[event.device_id],
            ),
            places.get(event.position_id),
        )
        for event in found
    ]


def _driver_of(event: Event) -> str:
    unique_id = event.attributes.get("driverUniqueId")
    return unique_id if isinstance(unique_id, str) else ""


async def _rows(database: Database, table: Table[R], ids: Iterable[int]) -> dict[int, R]:
    return {row.id: row for row in await table.fetch_many(database, sorted(set(ids) - {0}))}


class VisitRow(NamedTuple):
    """A visit as a workbook shows it."""

    visit: GeofenceVisit
    geofence: str | None
    """Its name; None if it was deleted meanwhile."""


async def visit_rows(sources: Sources, viewer: Viewer, visits: Sequence[GeofenceVisit]) -> list[VisitRow]:
    """Add the names of their geofences, all of which the viewer may see."""
    del viewer
    geofences = await _rows(sources.database, GEOFENCES, (visit.geofence_id for visit in visits))
    return [
        VisitRow(visit, found.name if (found := geofences.get(visit.geofence_id)) else None)
        for visit in visits
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
