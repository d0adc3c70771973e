"""Calendars: iCalendar text that is validated before it is stored (docs/calendars.md)."""

import math
from bisect import bisect_right
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from itertools import pairwise
from typing import Any, TypeVar
from weakref import WeakValueDictionary

import msgspec
import trio
from quart import Response

from motorpool.actors.messages.changes import CalendarChanged, changed_fields
from motorpool.actors.work.stored_calendars import TIME_ZONE, WINDOW_FIELDS, read_stored, zone_of
from motorpool.api.engine.audit import record_action
from motorpool.api.engine.call import Call
from motorpool.api.engine.operations import BodyRules, Operations
from motorpool.api.engine.resource import Resource
from motorpool.api.engine.resource_operations import add_resource_operations
from motorpool.api.engine.spans import Span
from motorpool.api.engine.time_zones import require_time_zone
from motorpool.api.http.errors import BadRequest, Unavailable
from motorpool.api.http.responses import as_json
from motorpool.api.json import extended
from motorpool.api.resources import quotas
from motorpool.api.resources.linked_policy import LinkedPolicy
from motorpool.codecs.calendars.content_lines import CalendarError
from motorpool.codecs.calendars.recurrence_sets import Window
from motorpool.storage import plain_tables
from motorpool.storage.accounts import links
from motorpool.storage.database.queries import Queries
from motorpool.storage.helpdesk import configuration_uses
from motorpool.storage.records import Calendar
from motorpool.storage.reports import scheduled_reports
from motorpool.storage.schedules import calendar_states, scheduled_commands

T = TypeVar("T")
OPERATIONS = Operations("calendars")

THREADS = 2
"""Calendars that are read at the same time."""
WAIT_SECONDS = 10.0
"""Most seconds that a calendar waits for others, among them those of the same user."""
SHORT_GAP = timedelta(seconds=60)
"""A gap between two windows that is this short gives a warning."""
GAP_SEARCH = timedelta(days=400)
"""How far ahead short gaps are searched."""
MAX_SPAN = timedelta(days=366)
"""Windows are listed for at most a year."""
MAX_WINDOWS = 10_000
"""In one answer; a year of hours has 8,784."""


class ReadCalendar(Calendar, frozen=True):
    """A calendar as sent, once its text was read."""

    cost: int = 0
    """Steps of reading and evaluating it."""


class CalendarPolicy(LinkedPolicy[Calendar]):
    """Stores the text unchanged, to the byte: clients edit it by line number."""

    def __init__(self) -> None:
        super().__init__(
            plain_tables.CALENDARS,
            links.USER_CALENDAR,
            user_id_expands=True,
            required=("name", "data"),
            verbatim=("data",),
        )
        self._threads = trio.CapacityLimiter(THREADS)
        self._of_users: WeakValueDictionary[int, trio.Lock] = WeakValueDictionary()

    async def read(self, call: Call, shape: type[Calendar]) -> Calendar:
        """Refuse text that is not valid iCalendar or costs too much, with the place in it.

        The answer warns of short gaps, such as a day from 00:00 to 23:59 leaves (docs/calendars.md#windows).
        """
        sent = await super().read(call, shape)
        require_time_zone(TIME_ZONE, sent.attributes, {})
        cost, gap = await self._compute(call, partial(_examine, sent.data, call.now))
        if gap is not None:
            seconds = (gap[1] - gap[0]).total_seconds()
            since = f"{gap[0]:%Y-%m-%dT%H:%M:%SZ}"
            call.warning = f"it is shut for {seconds:g} s at {since}, which is seldom meant"
        return extended(ReadCalendar, sent, cost=cost)

    async def windows(self, call: Call, sent: Calendar, span: Span) -> list[Window]:
        """Return the windows of a calendar, in the zones in which schedules read it."""
        zone = zone_of(sent.attributes, call.context.server.attributes)
        return await self._compute(
            call, lambda: read_stored(sent.data).windows(span.start, span.end, zone=zone)
        )

    async def _compute(self, call: Call, work: Callable[[], T]) -> T:
        """Return the result of `work()`, called in a thread; each user has one at a time.

        It takes some seconds at most, which the limits of steps see to.
        """
        lock = self._of_users.setdefault(call.caller.user.id, trio.Lock())
        try:
            with call.until_disconnected(), trio.fail_after(WAIT_SECONDS) as waiting:
                async with lock, self._threads:
                    waiting.deadline = math.inf
                    return await trio.to_thread.run_sync(work)
        except trio.TooSlowError:
            raise Unavailable("other calendars are being read; try again") from None
        except CalendarError as error:
            raise BadRequest(f"data: {error}") from None

    def new_columns(self, call: Call, new: Calendar) -> dict[str, Any]:
        """Add what it costs."""
        return super().new_columns(call, new) | {"cost": _cost_of(new)}

    async def insert(self, call: Call, transaction: Queries, new: Calendar) -> Calendar:
        """Store with what it costs, which is not shown."""
        stored = await super().insert(call, transaction, new)
        return Calendar(*(getattr(stored, name) for name in Calendar.__struct_fields__))

    async def update(self, call: Call, transaction: Queries, new: Calendar, old: Calendar) -> Calendar | None:
        """Store; changed windows reset the schedules that follow the calendar."""
        cost = await calendar_states.cost_of(transaction, old.id)
        known = extended(ReadCalendar, old, cost=cost or _cost_of(new))
        async with quotas.counted_change(call, transaction, new, known, self.table.name):
            stored = await self.table.update(transaction, new)
            await calendar_states.set_cost(transaction, old.id, _cost_of(new))
        if stored is not None and not WINDOW_FIELDS.isdisjoint(changed_fields(old, stored)):
            await scheduled_commands.WATCHED.restart_calendar(transaction, stored.id, call.now)
            await scheduled_reports.WATCHED.restart_calendar(transaction, stored.id, call.now)
        return stored

    async def delete(self, call: Call, transaction: Queries, old: Calendar) -> None:
        """Delete, with its scheduled reports; unless a scheduled command or a priority of tickets uses it
        (docs/decisions/0018).
        """
        if await scheduled_commands.count_using_calendar(transaction, old.id):
            raise BadRequest("a scheduled command uses the calendar")
        priorities = await configuration_uses.count_priorities_of_calendar(transaction, old.id)
        if priorities:
            number = f"{priorities} ticket {'priority' if priorities == 1 else 'priorities'}"
            raise BadRequest(f"calendar {old.id} is used by {number}")
        for report_id in await scheduled_reports.delete_of_calendar(transaction, old.id):
            await record_action(call, transaction, "remove", "report", report_id)
        await super().delete(call, transaction, old)


def _examine(data: str, now: datetime) -> tuple[int, tuple[datetime, datetime] | None]:
    """Return what a calendar costs, and the first short gap between two windows of the next year."""
    calendar = read_stored(data)
    windows = calendar.windows(now, now + GAP_SEARCH)
    gaps = ((before[1], after[0]) for before, after in pairwise(windows))
    return calendar.cost, next((gap for gap in gaps if gap[1] - gap[0] <= SHORT_GAP), None)


def _cost_of(calendar: Calendar) -> int:
    return calendar.cost if isinstance(calendar, ReadCalendar) else 0


POLICY = CalendarPolicy()
CALENDARS = Resource(
    name="calendar",
    path="calendars",
    change=CalendarChanged,
    policy=POLICY,
)
add_resource_operations(CALENDARS, OPERATIONS)


class CalendarWindow(msgspec.Struct, frozen=True, rename="camel"):
    """A span of time in which a calendar is open."""

    start_time: datetime
    """The calendar opens, or the span begins."""
    end_time: datetime
    """The calendar closes, or the span ends; excluded."""


@OPERATIONS.operation(
    "POST",
    "/calendars/windows",
    query=Span,
    body=Calendar,
    body_rules=BodyRules(required=("data",)),
    answer=list[CalendarWindow],
)
async def list_windows(call: Call) -> Response:
    """The windows of a calendar, saved or not, between two instants; stores nothing.

    As scheduled commands follow them: merged, in order, clipped to the span. A span of at most a year, and
    at most 10,000 windows.
    """
    span = call.query(Span)
    if not timedelta(0) < span.end - span.start <= MAX_SPAN:
        raise BadRequest("from, to: a span of at most 366 days, and its end after its start")
    sent = await call.body(Calendar)
    require_time_zone(TIME_ZONE, sent.attributes, {})
    windows = await POLICY.windows(call, sent, span)
    if len(windows) > MAX_WINDOWS:
        raise BadRequest(f"from, to: {len(windows)} windows; ask for a shorter span")
    return as_json([CalendarWindow(*window) for window in windows])


async def opening(call: Call, calendar_id: int, start: datetime, end: datetime) -> Callable[[datetime], bool]:
    """Return whether a stored calendar is open at an instant of a span; without one it always is.

    Raises:
        BadRequest: its windows take too many steps.
    """
    calendar = await plain_tables.CALENDARS.fetch(call.context.database, calendar_id) if calendar_id else None
    if calendar is None:
        return lambda _: True
    windows = await POLICY.windows(call, calendar, Span(start=start, end=end + timedelta(seconds=1)))
    begins = [opens for opens, _ in windows]

    def is_open(at: datetime) -> bool:
        place = bisect_right(begins, at)
        return place > 0 and at < windows[place - 1][1]

    return is_open
