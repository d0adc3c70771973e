"""Events of geofences that open and close by their calendars (docs/events.md#geofences)."""

from collections.abc import Mapping
from datetime import datetime, timedelta, tzinfo
from functools import partial

import msgspec

from motorpool.actors.messages.changes import (
    CalendarChanged,
    Change,
    EverythingChanged,
    GeofenceChanged,
    ServerChanged,
)
from motorpool.actors.messages.directory import DIRECTORY, GetLatestPositions
from motorpool.actors.timed_events.timed_rule import Batch, TimedRule
from motorpool.actors.work.stored_calendars import WINDOW_FIELDS, ZONE_FIELDS, StoredCalendars, zone_of
from motorpool.codecs.calendars.calendar import Calendar, Edge
from motorpool.codecs.calendars.content_lines import CalendarError
from motorpool.runtime import System
from motorpool.storage import plain_tables
from motorpool.storage.accounts import access, server
from motorpool.storage.accounts.links import DEVICE_GEOFENCE, GROUP_GEOFENCE
from motorpool.storage.database.database import Database
from motorpool.storage.records import Event
from motorpool.storage.rules import timed_events

DEVICES_PER_READ = 500
ASK_SECONDS = 30.0
MAX_AGE = timedelta(days=7)
"""Edges that passed longer ago, while no server ran, make no events."""


class _Scheduled(msgspec.Struct):
    calendar: Calendar
    zone: tzinfo
    settled: datetime
    """Edges up to this instant have had their events."""


class GeofenceCalendars(TimedRule):
    """Knows the geofences with the attribute `calendarEvents`."""

    kind = "geofenceCalendar"

    def __init__(self, database: Database, system: System) -> None:
        super().__init__()
        self._database = database
        self._system = system
        self._calendars = StoredCalendars()
        self._geofences: Mapping[int, _Scheduled] = {}

    def note(self, change: Change) -> bool:
        """Return whether it may give a geofence other edges."""
        match change:
            case GeofenceChanged() | EverythingChanged():
                return True
            case CalendarChanged():
                return change.created_or_deleted or not WINDOW_FIELDS.isdisjoint(change.fields)
            case ServerChanged():
                return not ZONE_FIELDS.isdisjoint(change.fields)
            case _:
                return False

    async def load(self, now: datetime) -> None:
        """Read the geofences and their calendars; a geofence that is new is watched from now on."""
        rows = await timed_events.geofences_with_calendar_events(self._database)
        marks = await timed_events.watch(self._database, self.kind, [row.id for row in rows], now)
        fallback = (await server.fetch(self._database)).attributes if rows else {}
        ids = {row.calendar_id for row in rows}
        calendars = {row.id: row for row in await plain_tables.CALENDARS.fetch_many(self._database, ids)}
        found: dict[int, _Scheduled] = {}
        for row in rows:
            stored = calendars.get(row.calendar_id)
            if stored is None:
                continue
            try:
                calendar = await self._calendars.read(stored)
            except CalendarError:
                continue  # stored before such text was refused
            zone = zone_of(stored.attributes, fallback)
            found[row.id] = _Scheduled(calendar, zone, marks.get(row.id, now))
        for number in self._geofences.keys() - found.keys():
            self.instants.discard(number)
        self._geofences = found
        for number, each in found.items():
            await self._find_edge(number, each)

    async def _find_edge(self, number: int, each: _Scheduled) -> None:
        calendar, zone, settled = each.calendar, each.zone, each.settled
        edge = await self._calendars.compute(partial(calendar.next_edge, settled, zone=zone))
        if edge is None:
            self.instants.discard(number)
        else:
            self.instants.put(number, edge.at)

    async def collect(self, now: datetime) -> Batch:
        """Return the events of the devices inside one geofence; of edges that were missed only the last."""
        for number in self.instants.due(now, 1):
            each = self._geofences[number]
            calendar, zone, settled = each.calendar, each.zone, each.settled
            edge = await self._calendars.compute(partial(_last_edge, calendar, zone, settled, now))
            if edge is None:
                each.settled = now
                await self._find_edge(number, each)
                continue
            was_open = await self._calendars.compute(partial(calendar.covers, settled, zone=zone))
            events = [] if edge.opens == was_open else await self._events(number, edge)
            return Batch({number: edge.at}, [(number, event) for event in events])
        return Batch({}, ())

    async def _events(self, number: int, edge: Edge) -> list[Event]:
        device_ids = await access.devices_linked_to(self._database, DEVICE_GEOFENCE, GROUP_GEOFENCE, number)
        directory = self._system.ref(DIRECTORY)
        found = []
        for first in range(0, len(device_ids), DEVICES_PER_READ):
            some = tuple(device_ids[first : first + DEVICES_PER_READ])
            for latest in await directory.ask(GetLatestPositions(some), ASK_SECONDS):
                if number in (latest.geofence_ids or ()):
                    event = Event(
                        type="geofenceEnter" if edge.opens else "geofenceExit",
                        event_time=edge.at,
                        device_id=latest.device_id,
                        position_id=latest.id,
                        geofence_id=number,
                    )
                    found.append(event)
        return found

    async def settle(self, batch: Batch, now: datetime) -> None:
        """Await the next edge."""
        del now
        for number, instant in batch.due.items():
            each = self._geofences.get(number)
            if each is not None:
                each.settled = instant
                await self._find_edge(number, each)


def _last_edge(calendar: Calendar, zone: tzinfo, after: datetime, now: datetime) -> Edge | None:
    """Return the last edge after `after` and not after `now`, at most MAX_AGE ago; None if there is none."""
    last, instant = None, max(after, now - MAX_AGE)
    while (edge := calendar.next_edge(instant, zone=zone)) is not None and edge.at <= now:
        last, instant = edge, edge.at
    return last
