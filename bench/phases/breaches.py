"""Tickets whose due times pass: all while the server is down, or one after the other within a minute."""

import time
from datetime import UTC, datetime, timedelta

import httpx
import msgspec

from motorpool.bench.figures import Goal, Summary
from motorpool.bench.load.plan import Mark, RequestLoad, RequestResult, TerminalLoad, TerminalResult
from motorpool.bench.load.program import run_program
from motorpool.bench.options import BenchError, Options
from motorpool.bench.server import Server
from motorpool.bench.usage import read_usage, usage_between

TARGET_MINUTES = 60
OVERDUE_SECONDS = 5.0
"""From when tickets get their due time until it passes: the server must be down by then."""
NOTICE_SECONDS = 40.0
"""From when tickets get their due times until the first one passes: the clock polls within 30 s."""
MINUTE = 60.0
POSITIONS_RATE = 1000.0
LISTS_RATE = 10.0
"""Lists of tickets that are asked for in a second, beside."""
TIMEOUT_SECONDS = 120.0
STORM_SECONDS = 400.0
POLL_SECONDS = 0.2
FIRST_RESPONSES = "ticket_breaches where target = 'firstResponse'"


class TicketCompany(msgspec.Struct, frozen=True):
    """A company that the bench has made."""

    id: int
    priority_id: int
    """Of a first response within `TARGET_MINUTES`."""
    status_id: int


def settle_overdue(
    summary: Summary, name: str, server: Server, companies: list[TicketCompany], n: int
) -> None:
    """Make tickets overdue while the server is down, and measure how long settling them takes."""
    _insert(server, companies, n, "overdue")
    before = count_rows(server, FIRST_RESPONSES)
    _set_due(server, "overdue", "0", OVERDUE_SECONDS)
    server.restart(OVERDUE_SECONDS)
    await_rows(server, FIRST_RESPONSES, before + n, TIMEOUT_SECONDS)
    ended = time.time()
    begun = server.fetch_sql(f"select extract(epoch from min(detected_at)) from {FIRST_RESPONSES}")[0][0]  # noqa: S608
    summary.add(name, "overdue tickets", float(n), "tickets")
    summary.add(name, "overdue tickets settled in", ended - float(begun), "s", goals=(Goal(10),))
    _report_twice(summary, name, server, "overdue tickets breached twice")


def breach_within_a_minute(
    summary: Summary, name: str, server: Server, token: str, companies: list[TicketCompany], options: Options
) -> None:
    """Make tickets breach one after the other within a minute, beside positions and ticket lists."""
    n = options.breaches
    _insert(server, companies, n, "storm")
    before = count_rows(server, FIRST_RESPONSES)
    _set_due(server, "storm", f"(row_number() over ()) * {MINUTE / n}", NOTICE_SECONDS)
    due = datetime.now(UTC) + timedelta(seconds=NOTICE_SECONDS)
    terminals = TerminalLoad(
        host=server.host,
        port=server.jt808_port,
        phones=tuple(f"137{number:08d}" for number in range(1, options.terminals + 1)),
        mode="paced",
        rate=min(POSITIONS_RATE, float(options.terminals)),
        seconds=MINUTE,
        warm_seconds=NOTICE_SECONDS / 2,
        first_epoch=(due - timedelta(days=1)).timestamp(),
    )
    requests = RequestLoad(
        host=server.host,
        port=httpx.URL(server.url).port or 80,
        messages=tuple(_list_of(company, token) for company in companies),
        rate=LISTS_RATE,
        seconds=MINUTE,
        warm_seconds=NOTICE_SECONDS / 4,
    )
    with run_program("terminals", terminals) as ingest, run_program("requests", requests) as lists:
        lists.wait_for(Mark, TIMEOUT_SECONDS, lambda mark: mark.name == "begin")
        usage = read_usage(server)
        lists.wait_for(Mark, MINUTE + TIMEOUT_SECONDS, lambda mark: mark.name == "end")
        used = usage_between(usage, read_usage(server))
        listed = lists.wait_for(RequestResult, TIMEOUT_SECONDS)
        stored = ingest.wait_for(TerminalResult, MINUTE + TIMEOUT_SECONDS)
    await_rows(server, FIRST_RESPONSES, before + n, STORM_SECONDS)
    late = server.fetch_sql(
        "select extract(epoch from max(b.detected_at - b.due)),"
        "  extract(epoch from max(b.detected_at) - max(b.due))"
        " from ticket_breaches b join tickets t on t.id = b.ticket_id where t.attributes ? 'storm'"
        "  and b.target = 'firstResponse'"
    )[0]
    summary.add(name, "tickets that breach within a minute", float(n), "tickets")
    summary.add(name, "longest from a due time to its breach", float(late[0]), "s")
    summary.add(name, "all settled after the last due time", float(late[1]), "s")
    summary.add(name, "acknowledgements beside breaches p50", stored.p50_ms, "ms")
    summary.add(name, "acknowledgements beside breaches p99", stored.p99_ms, "ms")
    summary.add(
        name, "positions refused beside breaches", float(stored.rejected), "messages", goals=(Goal(0),)
    )
    summary.add(name, "GET /tickets beside breaches p50", listed.p50_ms, "ms")
    summary.add(name, "GET /tickets beside breaches p99", listed.p99_ms, "ms")
    summary.add(name, "lists refused beside breaches", float(listed.failures), "lists", goals=(Goal(0),))
    summary.add(name, "server at work beside breaches", used.server_share, "cores")
    summary.add(name, "database at work beside breaches", used.database_share, "cores")
    _report_twice(summary, name, server, "tickets breached twice")


def _list_of(company: TicketCompany, token: str) -> str:
    lines = (
        f"GET /api/tickets?companyId={company.id}&breached=true&limit=20 HTTP/1.1",
        "Host: localhost",
        f"Authorization: Bearer {token}",
        "Accept: application/json",
    )
    return "\r\n".join(lines) + "\r\n\r\n"


def _insert(server: Server, companies: list[TicketCompany], count: int, key: str) -> None:
    """Store tickets that have no due time; the clock has never looked at them.

    All values are numbers of the bench's own.
    """
    for place, company in enumerate(companies):
        share = count // len(companies) + (place < count % len(companies))
        server.run_sql(
            "with numbers as (update companies"  # noqa: S608
            f"  set last_ticket_number = last_ticket_number + {share} where id = {company.id}"
            f"  returning last_ticket_number - {share} as last)"
            " insert into tickets (company_id, number, priority_id, status_id, status_kind, subject,"
            "  created_at, updated_at, status_changed_at, first_response_target, attributes)"
            f" select {company.id}, last + each, {company.priority_id}, {company.status_id}, 'new', 'Late',"
            f"  now(), now(), now(), {TARGET_MINUTES}, '{{\"{key}\": true}}'"
            f" from numbers, generate_series(1, {share}) each"
        )


def _set_due(server: Server, key: str, offset: str, after: float) -> None:
    """Set the due time of tickets: `after` seconds from now plus `offset`, an SQL expression in seconds."""
    server.run_sql(
        "update tickets set first_response_due = due, next_clock_at = due + interval '1 ms',"  # noqa: S608
        f" created_at = due - interval '{TARGET_MINUTES} min'"
        f" from (select id as ticket_id, now() + ({after} + {offset}) * interval '1 s' as due from tickets"
        f"  where attributes ? '{key}') as instants where id = ticket_id"
    )


def _report_twice(summary: Summary, name: str, server: Server, metric: str) -> None:
    twice = server.fetch_sql(
        "select count(*) from (select ticket_id from ticket_events where type = 'slaBreached'"
        " group by ticket_id having count(*) > 1) twice"
    )
    summary.add(name, metric, float(twice[0][0]), "tickets", goals=(Goal(0),))


def count_rows(server: Server, rows: str) -> int:
    """Return how many rows there are; `rows` is what follows `from`."""
    return int(server.fetch_sql(f"select count(*) from {rows}")[0][0])  # noqa: S608 - constant text


def await_rows(server: Server, rows: str, count: int, seconds: float) -> None:
    """Wait until there are `count` rows. Raises BenchError."""
    deadline = time.monotonic() + seconds
    while (found := count_rows(server, rows)) != count:
        if time.monotonic() > deadline:
            raise BenchError(f"after {seconds:g} s there are {found:,} and not {count:,} {rows}")
        time.sleep(POLL_SECONDS)
