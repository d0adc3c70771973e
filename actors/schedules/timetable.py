"""The next edge of every calendar that a scheduled command follows; for scheduled reports, the next end of an
event (actors/schedules/timetable_kinds.py).

An edge is computed once for each calendar, however many follow it, and kept in one heap behind one timer.
Nothing is fired here: the edge is reported to the dispatcher with the scheduled commands that follow the
calendar, and their rows decide whether it is new to them.
"""

import heapq
from collections import deque
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta, tzinfo
from typing import assert_never

import trio

from motorpool.actors.messages.changes import (
    ApplyChanges,
    CalendarChanged,
    Change,
    EverythingChanged,
    RowChanged,
    ServerChanged,
)
from motorpool.actors.messages.scheduling import CheckDue, EdgesDue, TimetableMessage
from motorpool.actors.schedules.timetable_kinds import SCHEDULED_COMMANDS, Occasion, TimetableKind
from motorpool.actors.work.storage_retry import StorageRetry
from motorpool.actors.work.stored_calendars import WINDOW_FIELDS, ZONE_FIELDS, StoredCalendars, zone_of
from motorpool.codecs.calendars.calendar import Calendar
from motorpool.codecs.calendars.content_lines import CalendarError
from motorpool.runtime import Actor, Signal, Timer
from motorpool.storage import plain_tables
from motorpool.storage.accounts import server
from motorpool.storage.database.database import Database
from motorpool.storage.errors import StorageError
from motorpool.storage.records import Calendar as CalendarRow
from motorpool.storage.schedules.watched_rows import WatchedRow

CHECK_SECONDS = 60.0
CALENDARS_PER_READ = 100
"""Rows of calendars."""
MAX_COMPUTING = 1000
"""Most calendars whose edges are being computed."""
MAX_PASSED_EDGES = 50
"""Most edges reported that passed while the server was down: the last ones."""
SCHEDULES_PER_MESSAGE = 500
"""Scheduled commands of one message to the dispatcher."""
FIRE_SECONDS = 30.0
"""Within this after an edge was reported, a scheduled command has fired, or the report was lost."""
CLOCK_TOLERANCE_SECONDS = 5.0
"""The wall clock may be put back by less than this without effect."""
MAX_AHEAD = timedelta(days=1)
"""A `watched_from` further in the future was written while the wall clock was wrong."""


class _FollowedCalendar:
    """A calendar that active scheduled commands follow."""

    __slots__ = ("edge", "reported", "schedules")

    def __init__(self) -> None:
        self.schedules: set[int] = set()
        self.reported = datetime.max.replace(tzinfo=UTC)
        """Edges up to this instant have been reported."""
        self.edge: Occasion | None = None


class Timetable(Actor[TimetableMessage]):
    """The handler notes what has changed; a task of its own reads, computes and reports."""

    def __init__(self, database: Database, kind: TimetableKind = SCHEDULED_COMMANDS) -> None:
        self._database = database
        self._kind = kind
        self._rows = kind.rows
        self._calendars = StoredCalendars()
        self._followed: dict[int, _FollowedCalendar] = {}
        self._calendar_of: dict[int, int] = {}
        self._heap: list[tuple[datetime, int]] = []
        """(instant, calendar) of edges; one that is not the next edge of its calendar is ignored."""
        self._reload = True
        self._check_due = False
        self._edited_schedules: set[int] = set()
        """Scheduled commands whose rows must be read again."""
        self._changed_calendars: set[int] = set()
        """Calendars that must be read again, with all that follow them."""
        self._to_compute: set[int] = set()
        """Calendars whose next edge must be computed."""
        self._computing: set[int] = set()
        """Calendars whose next edge a task computes now."""
        self._checked_at: datetime | None = None
        self._work_arrived = Signal()
        self._nursery: trio.Nursery
        """Of the tasks that compute edges."""
        self._timer: Timer | None = None

    async def start(self) -> None:
        """Check for lost reports periodically."""
        self.context.every(CHECK_SECONDS, CheckDue())

    def handle(self, message: TimetableMessage) -> None:
        """Note the change; edges that it makes uncertain are forgotten at once."""
        match message:
            case ApplyChanges():
                self._apply(message.changes)
            case EdgesDue():
                pass
            case CheckDue():
                self._check_due = True
            case _:
                assert_never(message)
        self._work_arrived.set()

    def _apply(self, changes: Iterable[Change]) -> None:
        for change in changes:
            match change:
                case RowChanged() if isinstance(change, self._kind.change):
                    self._edited_schedules.add(change.id)
                case CalendarChanged() if change.operation == "deleted" or not WINDOW_FIELDS.isdisjoint(
                    change.fields
                ):
                    self._changed_calendars.add(change.id)
                    followed = self._followed.get(change.id)
                    if followed is not None:
                        followed.edge = None
                case EverythingChanged():
                    self._reload_all()
                case ServerChanged() if not ZONE_FIELDS.isdisjoint(change.fields):
                    self._reload_all()
                case _:
                    pass

    def _reload_all(self) -> None:
        self._reload = True
        self._heap.clear()

    async def run(self) -> None:
        """Work while there is any work, then sleep until the next edge."""
        retry = StorageRetry(on_retry=self._warn)
        async with trio.open_nursery() as self._nursery:
            while True:
                self._work_arrived.clear()
                while await retry.call(self._work):
                    pass
                self._arm()
                await self._work_arrived.wait()

    def _warn(self, error: StorageError) -> None:
        self.context.log.warning("the calendars cannot be read, another attempt follows: %s", error)

    async def _work(self) -> bool:
        """Do the most urgent work; return whether there was any."""
        if self._reload:
            await self._load()
        elif self._check_due:
            await self._check()
        elif self._changed_calendars:
            await self._follow_anew()
        elif self._edited_schedules:
            await self._read_schedules()
        elif due := self._next_due():
            await self._report(*due)
        elif len(self._computing) < MAX_COMPUTING and not self._to_compute <= self._computing:
            await self._compute()
        else:
            return False
        return True

    # Who follows what

    async def _load(self) -> None:
        self._reload = False
        now = self.context.clock.now()
        try:
            wrong = await self._rows.restart_ahead_of_clock(self._database, now, MAX_AHEAD)
            rows = await self._rows.active(self._database)
        except StorageError:
            self._reload = True
            raise
        if wrong:
            noun = self._kind.noun
            self.context.log.warning("%d %s are watched afresh: the clock was wrong", wrong, noun)
        self._checked_at = now
        self._heap.clear()
        self._followed.clear()
        self._calendar_of.clear()
        self._follow(rows)

    async def _read_schedules(self) -> None:
        ids, self._edited_schedules = self._edited_schedules, set()
        try:
            rows = await self._rows.active(self._database, list(ids))
        except StorageError:
            self._edited_schedules |= ids
            raise
        for schedule_id in ids & self._calendar_of.keys():
            self._followed[self._calendar_of.pop(schedule_id)].schedules.discard(schedule_id)
        self._follow(rows)

    async def _follow_anew(self) -> None:
        ids, self._changed_calendars = self._changed_calendars, set()
        try:
            rows = await self._rows.active_of_calendars(self._database, ids)
        except StorageError:
            self._changed_calendars |= ids
            raise
        for followed in (self._followed.pop(calendar_id, None) for calendar_id in ids):
            for schedule_id in followed.schedules if followed else ():
                del self._calendar_of[schedule_id]
        self._follow(rows)

    def _follow(self, rows: Iterable[WatchedRow]) -> None:
        for row in rows:
            followed = self._followed.setdefault(row.calendar_id, _FollowedCalendar())
            followed.schedules.add(row.id)
            self._calendar_of[row.id] = row.calendar_id
            if row.since < followed.reported:
                # Edges since then are reported again for all; they are new to this schedule alone.
                followed.reported = row.since
                followed.edge = None
                self._to_compute.add(row.calendar_id)

    async def _check(self) -> None:
        """Find out whether the wall clock was put back, or the report of an edge was lost."""
        self._check_due = False
        now = self.context.clock.now()
        before, self._checked_at = self._checked_at, now
        if before is not None and (before - now).total_seconds() > CLOCK_TOLERANCE_SECONDS:
            self.context.log.warning("the wall clock was put back by %s", before - now)
            self._reload = True
            return
        known = now - timedelta(seconds=FIRE_SECONDS)
        reported = [
            (number, each.reported) for number, each in self._followed.items() if each.reported < known
        ]
        rows = await self._rows.missing_edge(self._database, reported) if reported else []
        if rows:
            self.context.log.warning(
                "%d %s have not fired an edge: it is reported again", len(rows), self._kind.noun
            )
            self._follow(rows)

    # Edges

    def _next_due(self) -> tuple[int, _FollowedCalendar, Occasion] | None:
        edge = self._next()
        if edge is None or edge[2].at > self.context.clock.now():
            return None
        return edge

    def _next(self) -> tuple[int, _FollowedCalendar, Occasion] | None:
        while self._heap:
            at, calendar_id = self._heap[0]
            followed = self._followed.get(calendar_id)
            if followed is not None and followed.edge is not None and followed.edge.at == at:
                return calendar_id, followed, followed.edge
            heapq.heappop(self._heap)
        return None

    def _arm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        following = self._next()
        if following is not None:
            self._timer = self.context.at(following[2].at, EdgesDue())

    async def _report(self, calendar_id: int, followed: _FollowedCalendar, edge: Occasion) -> None:
        followed.edge = None
        followed.reported = edge.at
        self._to_compute.add(calendar_id)
        receiver = self.context.system.ref(self._kind.receiver)
        schedule_ids = sorted(followed.schedules)
        for first in range(0, len(schedule_ids), SCHEDULES_PER_MESSAGE):
            some = tuple(schedule_ids[first : first + SCHEDULES_PER_MESSAGE])
            # Waits while the receiver has too much to do.
            await receiver.tell(self._kind.message(calendar_id, edge.at, edge.detail, some))
            await trio.lowlevel.checkpoint()

    async def _compute(self) -> None:
        """Start tasks that compute edges: a large calendar takes seconds, while those of others are due."""
        ids = sorted(self._to_compute - self._computing)[:CALENDARS_PER_READ]
        rows = {row.id: row for row in await plain_tables.CALENDARS.fetch_many(self._database, ids)}
        fallback = (await server.fetch(self._database)).attributes
        for calendar_id in ids:
            if self._reload or calendar_id in self._changed_calendars:
                return  # what was read is not to be relied on
            self._to_compute.discard(calendar_id)
            row, followed = rows.get(calendar_id), self._followed.get(calendar_id)
            if row is None or followed is None:
                continue
            if followed.schedules:
                self._computing.add(calendar_id)
                zone = zone_of(row.attributes, fallback)
                self._nursery.start_soon(self._find_edges_of, row, zone, followed)
            else:
                del self._followed[calendar_id]

    async def _find_edges_of(self, row: CalendarRow, zone: tzinfo, followed: _FollowedCalendar) -> None:
        await self._find_edges(row, zone, followed)
        self._computing.discard(row.id)
        self._work_arrived.set()

    async def _find_edges(self, row: CalendarRow, zone: tzinfo, followed: _FollowedCalendar) -> None:
        reported = followed.reported
        now = self.context.clock.now()
        try:
            passed, following = await self._calendars.compute(
                row, lambda calendar: self._occasions(calendar, zone, reported, now)
            )
        except CalendarError as error:
            self.context.log.warning("calendar %d cannot be read: %s", row.id, error)
            return
        for edge in passed:
            if self._is_current(row.id, followed) and followed.reported == reported:
                await self._report(row.id, followed, edge)
                reported = edge.at
        if self._is_current(row.id, followed) and followed.reported == reported:
            self._to_compute.discard(row.id)
            followed.edge = following
            if following is not None:
                heapq.heappush(self._heap, (following.at, row.id))

    def _is_current(self, calendar_id: int, followed: _FollowedCalendar) -> bool:
        """Return whether nothing has changed meanwhile that makes its edges uncertain."""
        unsure = self._reload or calendar_id in self._changed_calendars
        return not unsure and self._followed.get(calendar_id) is followed

    def _occasions(
        self, calendar: Calendar, zone: tzinfo, reported: datetime, now: datetime
    ) -> tuple[Iterable[Occasion], Occasion | None]:
        """Return the edges since `reported`, the last MAX_PASSED_EDGES of them, and the next one."""
        passed: deque[Occasion] = deque(maxlen=MAX_PASSED_EDGES)
        while (edge := self._kind.find(calendar, reported, zone)) is not None and edge.at <= now:
            passed.append(edge)
            reported = edge.at
        return passed, edge
