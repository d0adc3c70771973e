"""Business hours of priorities: their stored calendars as `BusinessTime`, kept while nothing changes."""

import logging
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Any, NamedTuple

import trio

from motorpool.actors.helpdesk.business_time import ALWAYS, HORIZON, BusinessTime, WindowSource
from motorpool.actors.work.stored_calendars import TIME_ZONE, read_leniently, zone_of
from motorpool.codecs.calendars.content_lines import CalendarError
from motorpool.storage import plain_tables
from motorpool.storage.database.queries import Queries
from motorpool.storage.database.tables import Versioned
from motorpool.storage.helpdesk import business_calendars
from motorpool.storage.helpdesk.business_calendars import CalendarState
from motorpool.storage.helpdesk.helpdesk_records import Company, TicketPriority
from motorpool.storage.records import Calendar as CalendarRow

HOLIDAYS = "holidayCalendarId"
"""The attribute of a priority that names the calendar whose windows are not business hours."""
MAX_KEPT = 1_000_000
"""Windows that are kept, of all calendars together: 24 MB."""
WINDOWS_OF_EVENT = 40
"""As many windows as an event of a calendar takes memory; it is kept to compute further windows."""
PAST = timedelta(days=400)
"""Windows this long ago are computed at once: tickets that are open are seldom older."""

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
    """Computes windows in a thread, one calendar at a time, and keeps those used last.

    The versions of the calendars are read each time, in the transaction of the caller, so that windows from
    before an edit are never used, whichever server it was made on.
    """

    def __init__(self, horizon: timedelta = HORIZON) -> None:
        """`horizon` is how far ahead due times are looked for."""
        self._horizon = horizon
        self._kept: OrderedDict[_Key, _Kept] = OrderedDict()
        self._lock = trio.Lock()

    async def of_priority(
        self, q: Queries, priority: TicketPriority | None, company: Company, now: datetime
    ) -> BusinessTime:
        """Return the business time of one priority; every minute counts without a priority."""
        if priority is None:
            return ALWAYS
        return (await self.of_priorities(q, [priority], {company.id: company}, now))[priority.id]

    async def of_priorities(
        self,
        q: Queries,
        priorities: Iterable[TicketPriority],
        companies: Mapping[int, Company],
        now: datetime,
        *,
        only_kept: bool = False,
    ) -> dict[int, BusinessTime]:
        """Return the business times of priorities by id, with one statement unless calendars are new.

        `companies` has the company of each, for its time zone. A calendar that cannot be read is never open.
        With `only_kept` priorities whose calendars are new are left out, so that nothing is computed.
        """
        asked = list(priorities)
        wanted = {each.calendar_id for each in asked} | {holiday_calendar_of(each) for each in asked}
        ids = wanted - {0}
        states = await business_calendars.calendar_states(q, ids) if ids else {}
        found: dict[int, BusinessTime] = {}
        for each in asked:
            key = _key(each, companies[each.company_id].attributes, states)
            kept = self._get(key)
            if kept is not None:
                found[each.id] = kept
            elif not only_kept:
                found[each.id] = await self._compute_and_keep(q, key, now)
        return found

    async def _compute_and_keep(self, q: Queries, key: _Key, now: datetime) -> BusinessTime:
        async with self._lock:
            if (kept := self._get(key)) is not None:
                return kept
            hours, holidays = key
            ids = [each.calendar_id for each in key if each is not None]
            rows = await plain_tables.CALENDARS.fetch_many_versioned(q, ids)
            new = await trio.to_thread.run_sync(partial(self._compute, hours, holidays, rows, now))
            versions = {number: row.version for number, row in rows.items()}
            if all(each is None or versions.get(each.calendar_id) == each.version for each in key):
                self._keep(key, new)
            return new.business

    def _get(self, key: _Key) -> BusinessTime | None:
        if key == (None, None):
            return ALWAYS
        if key not in self._kept:
            return None
        self._kept.move_to_end(key)
        return self._kept[key].business

    def _keep(self, key: _Key, new: _Kept) -> None:
        self._kept[key] = new
        total = sum(each.size for each in self._kept.values())
        while total > MAX_KEPT and len(self._kept) > 1:
            total -= self._kept.popitem(last=False)[1].size

    def _compute(
        self,
        hours: _Hours | None,
        holidays: _Hours | None,
        rows: Mapping[int, Versioned[CalendarRow]],
        now: datetime,
    ) -> _Kept:
        (opened, events), (shut, others) = (
            (None, 0) if each is None else _source(each, rows) for each in (hours, holidays)
        )
        computed = BusinessTime(opened, shut, self._horizon)
        computed.expand(now - PAST, now + self._horizon)
        return _Kept(computed, computed.size + WINDOWS_OF_EVENT * (1 + events + others))


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


def _source(hours: _Hours, rows: Mapping[int, Versioned[CalendarRow]]) -> tuple[WindowSource, int]:
    """Return the windows of a calendar, and the number of its events."""
    row = rows.get(hours.calendar_id)
    if row is None:
        return _never, 0
    try:
        calendar = read_leniently(row.record)
    except CalendarError as error:
        _log.warning("calendar %d is never open: %s", hours.calendar_id, error)
        return _never, 0
    return calendar.uncached(zone_of({TIME_ZONE: hours.zone})), calendar.size


def _never(start: datetime, end: datetime) -> tuple[()]:
    del start, end
    return ()
