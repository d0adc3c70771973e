"""Statistics of tickets (docs/tickets.md#statistics)."""

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

import trio
from quart import Response

from motorpool.actors.helpdesk.statistics import Counted, Period, assemble, cut_periods, names_wanted
from motorpool.actors.helpdesk.statistics_records import TicketStatistics
from motorpool.api.engine.call import Call
from motorpool.api.engine.operations import Operations
from motorpool.api.engine.spans import Instant
from motorpool.api.http.errors import BadRequest
from motorpool.api.http.responses import as_json
from motorpool.api.resources.helpdesk.caller_membership import membership_of, require_linked
from motorpool.api.resources.helpdesk.ticket_lists import TicketFilters, name_in_url, references
from motorpool.codecs.calendars.time_zones import find_zone
from motorpool.storage.database.conditions import all_of
from motorpool.storage.database.database import Database
from motorpool.storage.errors import StorageError
from motorpool.storage.helpdesk import ticket_backlog, ticket_devices, ticket_lists, ticket_statistics
from motorpool.storage.helpdesk.ticket_statistics import Span

OPERATIONS = Operations("tickets")

USUAL_SPAN = timedelta(days=30)


class StatisticsQuery(TicketFilters, frozen=True, kw_only=True, rename=name_in_url):
    """The parameters of statistics of tickets."""

    start: Instant | None = None
    """Where the span begins; 30 days ago by default."""
    end: Instant | None = None
    """Where it ends; this instant does not belong to it. By default now."""
    period: Period = "none"
    """Figures of each day, week from Monday, or month too; 400 at most."""
    timezone: str = "UTC"
    """Name of the zone whose midnights part the periods."""
    include_cancelled: bool = False
    """Count cancelled tickets as well."""


@OPERATIONS.operation("GET", "/tickets/stats", query=StatisticsQuery, answer=TicketStatistics)
async def get_ticket_statistics(call: Call) -> Response:
    """Count the tickets of a company, and what became of its service levels.

    For agents and managers of the company; administrators may leave out the company.
    """
    sent = call.query(StatisticsQuery)
    await _require_agent(call, sent)
    database, now = call.context.database, call.now
    start = now - USUAL_SPAN if sent.start is None else sent.start
    end = now if sent.end is None else sent.end
    if end < start:
        raise BadRequest("to: lies before from")
    zone = find_zone(sent.timezone)
    if zone is None:
        raise BadRequest("timezone: not a known time zone, see GET /server/timezones")
    try:
        starts = cut_periods(start, end, sent.period, zone)
    except ValueError as error:
        raise BadRequest(f"period: {error}") from None
    companies = ticket_lists.is_any_of("company_id", sent.company_id)
    condition = all_of(companies, references(sent))
    span = Span(
        condition=condition,
        companies=companies,
        starts=starts,
        end=end,
        with_cancelled=sent.include_cancelled,
        by_period=sent.period != "none",
    )
    async with call.context.limits.searches.enter(call.caller.id):
        counted = await _count(database, span, now)
    names = await ticket_statistics.names(database, names_wanted(counted))
    company_id = sent.company_id[0] if sent.company_id else 0
    return as_json(assemble(counted, names, company_id=company_id, starts=starts, end=end, now=now))


async def _count(database: Database, span: Span, now: datetime) -> Counted:
    """Count on two connections, which takes half the time: either half is about as much work.

    Raises:
        StorageError: of the statement that failed first.
    """
    found = Counted()
    failures = list[StorageError]()

    async def count_happened() -> None:
        counted = await ticket_statistics.counts(database, span)
        found.happened = counted + await ticket_statistics.count_moves(database, span)
        if span.by_period:
            ends = [*span.starts[1:], span.end]
            found.at_ends = await ticket_backlog.backlog_at(database, span, ends)

    async def count_times() -> None:
        found.times = await ticket_statistics.business_times(database, span)
        found.backlog = await ticket_backlog.backlog(database, span.condition, now)
        found.devices = await ticket_devices.device_counts(database, span)
        found.breaches = await ticket_statistics.breaches(database, span)

    async def run(count: Callable[[], Awaitable[None]]) -> None:
        try:
            await count()
        except StorageError as error:
            failures.append(error)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(run, count_happened)
        nursery.start_soon(run, count_times)
    if failures:
        raise failures[0]
    return found


async def _require_agent(call: Call, sent: StatisticsQuery) -> None:
    if len(sent.company_id) > 1:
        raise BadRequest("companyId: only one")
    if not sent.company_id:
        if call.caller.administrator:
            return
        raise BadRequest("companyId: needed")
    membership = await membership_of(call, sent.company_id[0])
    require_linked(membership)
    if not membership.handles_tickets:
        raise BadRequest("only agents and managers of the company may see its statistics", is_refusal=True)
