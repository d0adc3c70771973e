"""Business hours of priorities: their stored calendars as `BusinessTime`, kept while nothing changes."""

import logging
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, NamedTuple

import trio

from motorpool.actors.helpdesk.business_time import ALWAYS, HORIZON, BusinessTime, WindowSource
from motorpool.actors.work.stored_calendars import (
    HEAVY_COST,
    HEAVY_TEXT,
    TIME_ZONE,
    CalendarThreads,
    read_leniently,
    zone_of,
)
from motorpool.codecs.calendars.calendar import Calendar
from motorpool.codecs.calendars.content_lines import CalendarError
from motorpool.codecs.calendars.recurrence_sets import Window
from motorpool.storage import plain_tables
from motorpool.storage.database.queries import Queries
from motorpool.storage.database.tables import Versioned
from motorpool.storage.helpdesk.helpdesk_records import Company, TicketPriority
from motorpool.storage.records import Calendar as CalendarRow
from motorpool.storage.schedules.calendar_states import CalendarState, calendar_states

HOLIDAYS = "holidayCalendarId"
"""The attribute of a priority that names the calendar whose windows are not business hours."""
MAX_KEPT = 1_000_000
"""Windows that are kept, of all calendars together: 24 MB."""
WINDOWS_OF_EVENT = 40
"""As many windows as an event of a calendar takes memory; it is kept to compute further windows."""
PAST = timedelta(days=400)
"""Windows this long before the tickets that are asked for are computed with theirs: others need them."""
AHEAD = timedelta(days=92)
"""Windows this long beyond the horizon are computed, so that they are again only after as long."""

_log = logging.getLogger(__name__)


class _Hours(NamedTuple):
    """What the windows of one calendar are determined by."""

    calendar_id: int
    version: int
    zone: str


_Key = tuple[_Hours | None, _Hours | None]
"""The hours and the holidays."""


class _Kept(NamedTuple):
    business: BusinessTime
    size: int
    """In windows."""


class BusinessCalendars:
    """Computes windows in threads, and keeps those used last.

    All that tickets may ask for is computed at once, so that nothing is computed on the loop. Calendars that
    are much work wait for each other, and the others do not wait for them.

    The versions of the calendars are read each time, in the transaction of the caller, so that windows from
    before an edit are never used, whichever server it was made on.
    """

    def __init__(self, horizon: timedelta = HORIZON) -> None:
        """`horizon` is how far ahead due times are looked for."""
        self._horizon = horizon
        self._kept: OrderedDict[_Key, _Kept] = OrderedDict()
        self._locks: dict[_Key, trio.Lock] = {}
        """Of what is being computed."""
        self._threads = CalendarThreads()

    async def of_priority(
        self,
        q: Queries,
        priority: TicketPriority | None,
        company: Company,
        now: datetime,
        *,
        since: datetime | None = None,
    ) -> BusinessTime:
        """Return the business time of one priority; every minute counts without a priority."""
        if priority is None:
            return ALWAYS
        found = await self.of_priorities(q, [priority], {company.id: company}, now, since=since)
        return found[priority.id]

    async def of_priorities(
        self,
        q: Queries,
        priorities: Iterable[TicketPriority],
        companies: Mapping[int, Company],
        now: datetime,
        *,
        since: datetime | None = None,
        only_kept: bool = False,
    ) -> dict[int, BusinessTime]:
        """Return the business times of priorities by id, with one statement unless calendars are new.

        Their windows are known from `since`, when the oldest ticket that is asked for was created, by default
        from now, until the horizon.
        `companies` has the company of each, for its time zone. A calendar that cannot be read is never open.
        With `only_kept` priorities whose calendars are new are left out, so that nothing is computed.
        """
        asked = list(priorities)
        wanted = {each.calendar_id for each in asked} | {holiday_calendar_of(each) for each in asked}
        ids = wanted - {0}
        states = await calendar_states(q, ids) if ids else {}
        found: dict[int, BusinessTime] = {}
        for each in asked:
            key = _key(each, companies[each.company_id].attributes, states)
            start, end = min(since or now, now), now + self._horizon
            kept = self._get(key, start, end)
            if kept is not None:
                found[each.id] = kept
            elif not only_kept:
                found[each.id] = await self._compute_and_keep(q, key, start, end)
        return found

    async def _compute_and_keep(self, q: Queries, key: _Key, start: datetime, end: datetime) -> BusinessTime:
        lock = self._locks.setdefault(key, trio.Lock())
        try:
            async with lock:
                if (kept := self._get(key, start, end)) is not None:
                    return kept
                ids = [each.calendar_id for each in key if each is not None]
                rows = await plain_tables.CALENDARS.fetch_many_versioned(q, ids)
                new = await self._compute(key, rows, start - PAST, end + AHEAD)
                versions = {number: row.version for number, row in rows.items()}
                if all(each is None or versions.get(each.calendar_id) == each.version for each in key):
                    self._keep(key, new)
                return new.business
        finally:
            if not lock.statistics().tasks_waiting and not lock.locked():
                self._locks.pop(key, None)

    def _get(self, key: _Key, start: datetime, end: datetime) -> BusinessTime | None:
        if key == (None, None):
            return ALWAYS
        if key not in self._kept or not self._kept[key].business.is_expanded(start, end):
            return None
        self._kept.move_to_end(key)
        return self._kept[key].business

    def _keep(self, key: _Key, new: _Kept) -> None:
        self._kept[key] = new
        total = sum(each.size for each in self._kept.values())
        while total > MAX_KEPT and len(self._kept) > 1:
            total -= self._kept.popitem(last=False)[1].size

    async def _compute(
        self, key: _Key, rows: Mapping[int, Versioned[CalendarRow]], start: datetime, end: datetime
    ) -> _Kept:
        sources: list[WindowSource | None] = []
        events = cost = 0
        for each in key:
            row = None if each is None else rows.get(each.calendar_id)
            if each is None:
                sources.append(None)
                continue
            is_large = row is not None and len(row.record.data) > HEAVY_TEXT
            calendar = await self._threads.call(partial(_read, each, row), is_heavy=is_large)
            sources.append(_never if calendar is None else partial(_windows, each, calendar))
            if calendar is not None:
                events, cost = events + calendar.size, cost + calendar.cost
        opened, shut = sources
        computed = BusinessTime(opened, shut, self._horizon)
        await self._threads.call(partial(computed.expand, start, end), is_heavy=cost > HEAVY_COST)
        return _Kept(computed, computed.size + WINDOWS_OF_EVENT * (1 + events))


def holiday_calendar_of(priority: TicketPriority) -> int:
    """Return the id of the calendar with the holidays of a priority; 0 without one."""
    number = priority.attributes.get(HOLIDAYS)
    return number if isinstance(number, int) and not isinstance(number, bool) and number > 0 else 0


def _key(
    priority: TicketPriority, of_company: Mapping[str, Any], states: Mapping[int, CalendarState]
) -> _Key:
    hours, holidays = (
        _hours(number, states.get(number), of_company)
        for number in (priority.calendar_id, holiday_calendar_of(priority))
    )
    return hours, holidays


def _hours(number: int, state: CalendarState | None, of_company: Mapping[str, Any]) -> _Hours | None:
    """Return the hours of a calendar; None without one, or for holidays whose calendar was deleted."""
    if state is None:
        return None
    chain = {TIME_ZONE: state.timezone}, of_company, {TIME_ZONE: state.server_timezone}
    return _Hours(number, state.version, str(zone_of(*chain)))


def _read(hours: _Hours, row: Versioned[CalendarRow] | None) -> Calendar | None:
    """Return a calendar; None for one that was deleted or cannot be read."""
    if row is None:
        return None
    try:
        return read_leniently(row.record)
    except CalendarError as error:
        _log.warning("calendar %d is never open: %s", hours.calendar_id, error)
        return None


def _windows(hours: _Hours, calendar: Calendar, start: datetime, end: datetime) -> Sequence[Window]:
    try:
        return calendar.windows(start, end, zone=zone_of({TIME_ZONE: hours.zone}))
    except CalendarError as error:  # stored before such calendars were refused
        _log.warning("calendar %d is not open from %s to %s: %s", hours.calendar_id, start, end, error)
        return ()


def _never(start: datetime, end: datetime) -> tuple[()]:
    del start, end
    return ()
