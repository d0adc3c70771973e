"""Tickets of many companies: created while positions come in and webhooks go out, and overdue ones settled.

One server. Tickets are created through the API at a steady rate, each with its history and the message to
its company's webhook, which a receiver on this machine takes. Then the server is stopped until thousands of
tickets are overdue, and started again. With `--breaches N`, N more breach within a minute.
"""

import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import httpx
import msgspec

from motorpool.bench.figures import Goal, Summary
from motorpool.bench.free_ports import free_port
from motorpool.bench.load.plan import (
    Mark,
    RequestLoad,
    RequestResult,
    TerminalLoad,
    TerminalResult,
    WebhookLoad,
    WebhookResult,
)
from motorpool.bench.load.program import LoadFailed, LoadProgram, run_program
from motorpool.bench.options import BenchError, Options, Step
from motorpool.bench.phases.breaches import (
    TARGET_MINUTES,
    TicketCompany,
    await_rows,
    breach_within_a_minute,
    count_rows,
    settle_overdue,
)
from motorpool.bench.server import Server, run_server
from motorpool.bench.usage import Usage, read_usage, usage_between

NAME = "tickets"
TITLE = "200 tickets a second in 20 companies beside ingest, webhooks, 10,000 overdue tickets after a restart"
SERVER = "own"
STEPS = 4
COMPANIES = 20
POSITIONS_RATE = 1000.0
WARM_SECONDS = 2.0
AHEAD_SECONDS = 6.0
"""How much longer terminals report than tickets are created, which starts later."""
TIMEOUT_SECONDS = 120.0
WEBHOOK_SECONDS = 600.0
"""Time for the webhooks of all overdue tickets, two for each."""


def run(options: Options, summary: Summary, step: Step) -> None:
    """Create tickets beside ingest, wait for the webhooks, and settle overdue tickets after a restart."""
    receiver_port = free_port()
    settings = {"MOTORPOOL_WEBHOOK_ALLOW": "127.0.0.0/8"}
    receiver_load = WebhookLoad(host="127.0.0.1", port=receiver_port)
    try:
        with run_server(settings) as server, run_program("webhook_receiver", receiver_load) as receiver:
            receiver.wait_for(Mark, TIMEOUT_SECONDS)
            step(f"{COMPANIES} companies")
            with server.client() as client:
                companies = _make_companies(client, f"http://127.0.0.1:{receiver_port}/tickets")
                token = client.post("/session/token").raise_for_status().text
            step(f"{options.tickets:,} tickets a second, {POSITIONS_RATE:,.0f} positions a second")
            _create(summary, server, token, companies, options)
            step("webhooks that wait are sent")
            _await_webhooks(summary, server)
            step(f"{options.overdue:,} tickets are overdue at a restart")
            settle_overdue(summary, NAME, server, companies, options.overdue)
            if options.breaches:
                step(f"{options.breaches:,} tickets breach within a minute")
                breach_within_a_minute(summary, NAME, server, token, companies, options)
            _await_no_messages(server)
            _report_webhooks(summary, receiver, count_rows(server, "deliveries where company_id is not null"))
    except LoadFailed as error:
        raise BenchError(str(error)) from error


def _make_companies(client: httpx.Client, url: str) -> list[TicketCompany]:
    companies = []
    for number in range(1, COMPANIES + 1):
        webhook = {"url": url, "secret": f"a-secret-of-the-bench-{number}"}
        body = {"name": f"C{number}", "attributes": {"ticketWebhook": webhook}}
        company = _post(client, "/companies", body)
        company_id = company["id"]
        made = _post(client, "/tickets/defaults", {"companyId": company_id})
        priority = {
            "companyId": company_id,
            "name": "Bench",
            "level": 1,
            "firstResponseMinutes": TARGET_MINUTES,
            "resolutionMinutes": 0,
            "calendarId": 0,
            "attributes": {},
        }
        statuses = made["statuses"]
        assert isinstance(statuses, list)
        companies.append(
            TicketCompany(
                id=int(str(company_id)),
                priority_id=int(str(_post(client, "/ticketpriorities", priority)["id"])),
                status_id=next(status["id"] for status in statuses if status["kind"] == "new"),
            )
        )
    return companies


def _post(client: httpx.Client, path: str, body: Mapping[str, object]) -> Mapping[str, object]:
    answer = client.post(path, json=body)
    if answer.status_code != 200:
        raise BenchError(f"POST {path} answered {answer.status_code}: {answer.text[:200]}")
    record: Mapping[str, object] = answer.json()
    return record


def _create(
    summary: Summary, server: Server, token: str, companies: list[TicketCompany], options: Options
) -> None:
    """Create tickets while terminals report."""
    seconds = options.span(20.0)
    requests = RequestLoad(
        host=server.host,
        port=httpx.URL(server.url).port or 80,
        messages=tuple(_creation(company, token) for company in companies),
        rate=float(options.tickets),
        seconds=seconds,
        warm_seconds=min(WARM_SECONDS, seconds),
    )
    day_ago = (datetime.now(UTC) - timedelta(days=1)).replace(microsecond=0)
    terminals = TerminalLoad(
        host=server.host,
        port=server.jt808_port,
        phones=tuple(f"136{number:08d}" for number in range(1, options.terminals + 1)),
        mode="paced",
        rate=min(POSITIONS_RATE, float(options.terminals)),
        seconds=seconds + AHEAD_SECONDS,
        warm_seconds=min(WARM_SECONDS, seconds),
        first_epoch=day_ago.timestamp(),
    )
    with run_program("terminals", terminals) as ingest:
        ingest.wait_for(Mark, TIMEOUT_SECONDS, lambda mark: mark.name == "begin")
        with run_program("requests", requests) as program:
            program.wait_for(Mark, TIMEOUT_SECONDS, lambda mark: mark.name == "begin")
            before, count = read_usage(server), count_rows(server, "tickets")
            program.wait_for(Mark, seconds + TIMEOUT_SECONDS, lambda mark: mark.name == "end")
            used, count = usage_between(before, read_usage(server)), count_rows(server, "tickets") - count
            result = program.wait_for(RequestResult, TIMEOUT_SECONDS)
        stored = ingest.wait_for(TerminalResult, seconds + TIMEOUT_SECONDS)
    summary.add(NAME, "tickets asked for", float(options.tickets), "tickets/s")
    goal = Goal(options.tickets * 0.95, at_least=True)
    summary.add(NAME, "tickets created", count / seconds, "tickets/s", goals=(goal,))
    _report_creation(summary, result, stored, used)


def _creation(company: TicketCompany, token: str) -> str:
    body = msgspec.json.encode(
        {
            "companyId": company.id,
            "priorityId": company.priority_id,
            "subject": "The terminal sends no positions",
            "description": "It has been silent since the vehicle left the workshop. " * 4,
        }
    ).decode()
    lines = (
        "POST /api/tickets HTTP/1.1",
        "Host: localhost",
        f"Authorization: Bearer {token}",
        "Accept: application/json",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
    )
    return "\r\n".join(lines) + "\r\n\r\n" + body


def _report_creation(summary: Summary, result: RequestResult, stored: TerminalResult, used: Usage) -> None:
    summary.add(NAME, "tickets refused or unanswered", float(result.failures), "tickets", goals=(Goal(0),))
    summary.add(NAME, "POST /tickets p50", result.p50_ms, "ms")
    summary.add(NAME, "POST /tickets p99", result.p99_ms, "ms")
    summary.add(NAME, "positions beside", stored.answers / stored.seconds, "messages/s")
    summary.add(NAME, "acknowledgements of positions p50", stored.p50_ms, "ms")
    summary.add(NAME, "acknowledgements of positions p99", stored.p99_ms, "ms")
    summary.add(NAME, "positions refused", float(stored.rejected), "messages", goals=(Goal(0),))
    summary.add(NAME, "server at work", used.server_share, "cores")
    summary.add(NAME, "database at work", used.database_share, "cores")
    for reason in result.reasons:
        summary.note(f"{NAME}: {reason}")


def _await_webhooks(summary: Summary, server: Server) -> None:
    waiting = count_rows(server, "deliveries where company_id is not null and state = 'waiting'")
    summary.add(NAME, "webhooks that wait at the end", float(waiting), "messages")
    begun = time.monotonic()
    _await_no_messages(server)
    summary.add(NAME, "webhooks sent after the end in", time.monotonic() - begun, "s")


def _await_no_messages(server: Server) -> None:
    await_rows(server, "deliveries where company_id is not null and state = 'waiting'", 0, WEBHOOK_SECONDS)


def _report_webhooks(summary: Summary, receiver: LoadProgram, expected: int) -> None:
    receiver.stop()
    result = receiver.wait_for(WebhookResult, TIMEOUT_SECONDS)
    summary.add(NAME, "webhooks received", float(result.messages), "messages")
    missing = float(expected - result.messages)
    summary.add(NAME, "webhooks missing", missing, "messages", goals=(Goal(0),))
    summary.add(NAME, "webhooks out of order", float(result.out_of_order), "messages", goals=(Goal(0),))
    summary.add(NAME, "webhooks received twice", float(result.repeated), "messages")
