"""Events of geofences that open and close by their calendars (docs/events.md#geofences)."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta, tzinfo
from functools import partial

import msgspec
import trio

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
from motorpool.runtime import Signal, System
from motorpool.storage import plain_tables
from motorpool.storage.accounts import access, server
from motorpool.storage.accounts.links import DEVICE_GEOFENCE, GROUP_GEOFENCE
from motorpool.storage.database.database import Database
from motorpool.storage.records import Calendar as CalendarRow
from motorpool.storage.records import Event
from motorpool.storage.rules import timed_events

DEVICES_PER_READ = 500
ASK_SECONDS = 30.0
MAX_AGE = timedelta(days=7)
"""Edges that passed longer ago, while no server ran, make no events."""


class _Scheduled(msgspec.Struct, eq=False):
    row: CalendarRow
    zone: tzinfo
    settled: datetime
    """Edges up to this instant have had their events."""
    needs_edge: bool = True
    """Whether the next edge is to be found."""


class GeofenceCalendars(TimedRule):
    """Knows the geofences with the attribute `calendarEvents`."""

    kind = "geofenceCalendar"

    def __init__(self, database: Database, system: System, edge_found: Callable[[], None]) -> None:
        """`edge_found` is called when `find_edges` has set an instant."""
        super().__init__()
        self._database = database
        self._system = system
        self._edge_found = edge_found
        self._calendars = StoredCalendars()
        self._geofences: Mapping[int, _Scheduled] = {}
        self._edge_needed = Signal()
        self._searched: set[int] = set()
        """Geofences whose next edge is being found."""

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
            if stored is not None:
                zone = zone_of(stored.attributes, fallback)
                found[row.id] = _Scheduled(stored, zone, marks.get(row.id, now))
        for number in self._geofences:
            self.instants.discard(number)
        self._geofences = found
        self._edge_needed.set()

    async def find_edges(self) -> None:
        """Find the next edges of calendars, until cancelled: the due ones do not wait for large calendars."""
        async with trio.open_nursery() as nursery:
            while True:
                for number, each in self._geofences.items():
                    if each.needs_edge and number not in self._searched:
                        self._searched.add(number)
                        nursery.start_soon(self._find_edge, number)
                await self._edge_needed.wait()

    async def _find_edge(self, number: int) -> None:
        while (each := self._geofences.get(number)) is not None and each.needs_edge:
            each.needs_edge = False
            search = partial(Calendar.next_edge, after=each.settled, zone=each.zone)
            try:
                edge = await self._calendars.compute(each.row, search)
            except CalendarError:
                edge = None  # stored before such text was refused
            if self._geofences.get(number) is each and not each.needs_edge and edge is not None:
                self.instants.put(number, edge.at)
                self._edge_found()
        self._searched.discard(number)

    def _settle(self, number: int, until: datetime) -> None:
        each = self._geofences.get(number)
        if each is not None:
            each.settled, each.needs_edge = until, True
            self.instants.discard(number)
            self._edge_needed.set()

    async def collect(self, now: datetime) -> Batch:
        """Return the events of the devices inside one geofence; of edges that were missed only the last."""
        for number in self.instants.due(now, 1):
            each = self._geofences[number]
            settled, zone = each.settled, each.zone
            search = partial(_last_edge, zone=zone, after=settled, now=now)
            try:
                edge = await self._calendars.compute(each.row, search)
                was_open = edge is not None and await self._calendars.covers(each.row, settled, zone)
            except CalendarError:
                edge, was_open = None, False
            if edge is None:
                self._settle(number, now)
                continue
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
            self._settle(number, instant)


def _last_edge(calendar: Calendar, *, zone: tzinfo, after: datetime, now: datetime) -> Edge | None:
    """Return the last edge after `after` and not after `now`, at most MAX_AGE ago; None if there is none."""
    last, instant = None, max(after, now - MAX_AGE)
    while (edge := calendar.next_edge(instant, zone=zone)) is not None and edge.at <= now:
        last, instant = edge, edge.at
    return last
