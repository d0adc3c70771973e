"""When calendars open and shut: the next edge of each that a scheduled command follows.

An edge is computed once for each calendar, however many follow it, and kept in one heap behind one timer.
Nothing is fired here: the edge is reported to the dispatcher with the scheduled commands that follow the
calendar, and their rows decide whether it is new to them.
"""

import heapq
from collections import deque
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Literal, assert_never

import trio

from motorpool.actors.messages.scheduling import (
    DISPATCHER,
    TIMETABLE,
    CalendarsChanged,
    CheckDue,
    EdgeReached,
    EdgesDue,
    SchedulesChanged,
    TimetableMessage,
)
from motorpool.actors.schedules.stored_calendars import StoredCalendars, zone_of
from motorpool.actors.storage_retry import StorageRetry
from motorpool.codecs.calendars.calendar import Calendar, CalendarError, Edge
from motorpool.runtime import Actor, ChildSpec, Timer
from motorpool.storage import plain_tables, scheduled_commands, server
from motorpool.storage.database import Database
from motorpool.storage.errors import StorageError
from motorpool.storage.records import Calendar as CalendarRow
from motorpool.storage.scheduled_commands import WatchedSchedule

__all__ = ["Timetable", "timetable_spec"]

LOOK_SECONDS = 60.0
READ_AT_ONCE = 100
"""Rows of calendars."""
MISSED = 50
"""Edges of a calendar that are told at most where they all passed unseen: the last ones."""
SCHEDULES_PER_MESSAGE = 500
"""Scheduled commands of one message to the dispatcher."""
NEWS_SECONDS = 30.0
"""After it was told of an edge, a scheduled command has fired it, or lost the news."""
WALL_SECONDS = 5.0
"""Less than this the wall clock may be put back without anybody minding."""
WRONG_BY = timedelta(days=1)
"""Edges that were fired so far in the future were fired by a clock that was wrong."""


class _Followed:
    """A calendar that scheduled commands follow."""

    __slots__ = ("edge", "schedules", "told")

    def __init__(self) -> None:
        self.schedules: set[int] = set()
        self.told = datetime.max.replace(tzinfo=UTC)
        """Edges up to here have been told."""
        self.edge: Edge | None = None


class Timetable(Actor[TimetableMessage]):
    """Notes what has changed; its own task reads, computes and tells."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._calendars = StoredCalendars()
        self._followed: dict[int, _Followed] = {}
        self._calendar_of: dict[int, int] = {}
        self._heap: list[tuple[datetime, int]] = []
        """Edges to come; one whose calendar knows another one now counts for nothing."""
        self._reload = True
        self._look_due = False
        self._edited: set[int] = set()
        """Scheduled commands whose rows are to be read again."""
        self._changed: set[int] = set()
        """Calendars that are to be followed from scratch."""
        self._unknown: set[int] = set()
        """Calendars whose next edge is to be computed."""
        self._looked_at: datetime | None = None
        self._came = trio.Event()
        self._timer: Timer | None = None

    async def start(self) -> None:
        """Look around now and then."""
        self.context.every(LOOK_SECONDS, CheckDue())

    def handle(self, message: TimetableMessage) -> None:
        """Note it; edges that are no longer sure are forgotten at once."""
        match message:
            case SchedulesChanged():
                self._edited.update(message.ids)
            case CalendarsChanged(ids=()):
                self._reload = True
                self._heap.clear()
            case CalendarsChanged():
                self._changed.update(message.ids)
                for followed in filter(None, map(self._followed.get, message.ids)):
                    followed.edge = None
            case EdgesDue():
                pass
            case CheckDue():
                self._look_due = True
            case _:
                assert_never(message)
        self._came.set()

    async def run(self) -> None:
        """Work while there is any, then sleep until the next edge."""
        retry = StorageRetry(on_retry=self._warn)
        while True:
            self._came = trio.Event()
            while await retry.call(self._work):
                pass
            self._arm()
            await self._came.wait()

    def _warn(self, error: StorageError) -> None:
        self.context.log.warning("the calendars cannot be read, another attempt follows: %s", error)

    async def _work(self) -> bool:
        """Do what is most urgent; whether there was anything."""
        if self._reload:
            await self._load()
        elif self._look_due:
            await self._look()
        elif self._changed:
            await self._follow_anew()
        elif self._edited:
            await self._read_schedules()
        elif due := self._next_due():
            await self._tell(*due)
        elif self._unknown:
            await self._compute()
        else:
            return False
        return True

    # Who follows what

    async def _load(self) -> None:
        self._reload = False
        now = self.context.clock.now()
        try:
            wrong = await scheduled_commands.restart_ahead_of_clock(self._database, now, WRONG_BY)
            rows = await scheduled_commands.active(self._database)
        except StorageError:
            self._reload = True
            raise
        if wrong:
            self.context.log.warning("%d scheduled commands start afresh: the clock was wrong", wrong)
        self._looked_at = now
        self._heap.clear()
        self._followed.clear()
        self._calendar_of.clear()
        self._follow(rows)

    async def _read_schedules(self) -> None:
        ids, self._edited = self._edited, set()
        try:
            rows = await scheduled_commands.active(self._database, list(ids))
        except StorageError:
            self._edited |= ids
            raise
        for schedule_id in ids & self._calendar_of.keys():
            self._followed[self._calendar_of.pop(schedule_id)].schedules.discard(schedule_id)
        self._follow(rows)

    async def _follow_anew(self) -> None:
        ids, self._changed = self._changed, set()
        try:
            rows = await scheduled_commands.active_of_calendars(self._database, ids)
        except StorageError:
            self._changed |= ids
            raise
        for followed in (self._followed.pop(calendar_id, None) for calendar_id in ids):
            for schedule_id in followed.schedules if followed else ():
                del self._calendar_of[schedule_id]
        self._follow(rows)

    def _follow(self, rows: Iterable[WatchedSchedule]) -> None:
        for row in rows:
            followed = self._followed.setdefault(row.calendar_id, _Followed())
            followed.schedules.add(row.id)
            self._calendar_of[row.id] = row.calendar_id
            if row.since < followed.told:
                # Edges since then are told again to all: whoever has them behind him takes no notice.
                followed.told = row.since
                followed.edge = None
                self._unknown.add(row.calendar_id)

    async def _look(self) -> None:
        """See whether the wall clock was put back, or anybody has lost the news of an edge."""
        self._look_due = False
        now = self.context.clock.now()
        before, self._looked_at = self._looked_at, now
        if before is not None and (before - now).total_seconds() > WALL_SECONDS:
            self.context.log.warning("the wall clock was put back by %s", before - now)
            self._reload = True
            return
        known = now - timedelta(seconds=NEWS_SECONDS)
        told = [(number, each.told) for number, each in self._followed.items() if each.told < known]
        rows = await scheduled_commands.missing_edge(self._database, told) if told else []
        if rows:
            self.context.log.warning("%d scheduled commands are told again of an edge", len(rows))
            self._follow(rows)

    # Edges

    def _next_due(self) -> tuple[int, _Followed, Edge] | None:
        edge = self._next()
        if edge is None or edge[2].at > self.context.clock.now():
            return None
        return edge

    def _next(self) -> tuple[int, _Followed, Edge] | None:
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

    async def _tell(self, calendar_id: int, followed: _Followed, edge: Edge) -> None:
        followed.edge = None
        followed.told = edge.at
        self._unknown.add(calendar_id)
        phase: Literal["start", "end"] = "start" if edge.opens else "end"
        dispatcher = self.context.system.ref(DISPATCHER)
        schedule_ids = sorted(followed.schedules)
        for first in range(0, len(schedule_ids), SCHEDULES_PER_MESSAGE):
            some = tuple(schedule_ids[first : first + SCHEDULES_PER_MESSAGE])
            # Waits while the dispatcher has too much to do.
            await dispatcher.tell(EdgeReached(calendar_id, edge.at, phase, some))
            await trio.lowlevel.checkpoint()

    async def _compute(self) -> None:
        ids = sorted(self._unknown)[:READ_AT_ONCE]
        rows = {row.id: row for row in await plain_tables.CALENDARS.fetch_many(self._database, ids)}
        fallback = (await server.fetch(self._database)).attributes
        for calendar_id in ids:
            if self._reload or self._changed or self._next_due():
                # A large calendar takes a second or two: no edge waits for many of them.
                return
            self._unknown.discard(calendar_id)
            row = rows.get(calendar_id)
            if row is not None:
                await self._find_edges(row, zone_of(row.attributes, fallback))

    async def _find_edges(self, row: CalendarRow, zone: tzinfo) -> None:
        followed = self._followed.get(row.id)
        if followed is None or not followed.schedules:
            self._followed.pop(row.id, None)
            return
        try:
            calendar = await self._calendars.read(row)
        except CalendarError as error:
            self.context.log.warning("calendar %d has no windows: %s", row.id, error)
            return
        told = followed.told
        now = self.context.clock.now()
        passed, following = await self._calendars.compute(lambda: _edges(calendar, zone, told, now))
        for edge in passed:
            if self._is_current(row.id, followed) and followed.told == told:
                await self._tell(row.id, followed, edge)
                told = edge.at
        if self._is_current(row.id, followed) and followed.told == told:
            self._unknown.discard(row.id)
            followed.edge = following
            if following is not None:
                heapq.heappush(self._heap, (following.at, row.id))

    def _is_current(self, calendar_id: int, followed: _Followed) -> bool:
        """Whether nothing has come meanwhile that makes its edges uncertain."""
        unsure = self._reload or calendar_id in self._changed
        return not unsure and self._followed.get(calendar_id) is followed


def _edges(
    calendar: Calendar, zone: tzinfo, told: datetime, now: datetime
) -> tuple[Iterable[Edge], Edge | None]:
    """The edges that have passed since `told`, the last MISSED of them, and the one to come."""
    passed: deque[Edge] = deque(maxlen=MISSED)
    while (edge := calendar.next_edge(told, zone=zone)) is not None and edge.at <= now:
        passed.append(edge)
        told = edge.at
    return passed, edge


def timetable_spec(database: Database) -> ChildSpec[TimetableMessage]:
    """Its place in the tree."""
    return ChildSpec(kind=TIMETABLE, factory=lambda: Timetable(database), resident=False, mailbox_size=1_000)
