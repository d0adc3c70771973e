"""The day of a fleet in a minute: positions as it drives by the hour, dispatchers who look and ask."""

from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from functools import partial
from operator import attrgetter

from motorpool.bench.figures import Goal, Line, Plot, Summary
from motorpool.bench.latencies import Latencies
from motorpool.bench.load.clients import Measured, reporting_clients
from motorpool.bench.load.http_answers import authority
from motorpool.bench.load.plan import RequestLoad, RequestResult, TerminalLoad
from motorpool.bench.load.program import LoadFailed, run_program
from motorpool.bench.measured_server import MeasuredServer, await_devices, known_devices, open_server
from motorpool.bench.options import BenchError, Options, Step
from motorpool.bench.phases.stored import missing_positions
from motorpool.bench.phases.watching import open_watchers, watched
from motorpool.bench.server import run_server
from motorpool.bench.usage import read_usage, usage_between

NAME = "mixed"
TITLE = "the day of a fleet of N in a minute: positions by the hour, dispatchers with WebSockets, requests"
SERVER = "any"
STEPS = 3
DRIVING = (
    *(0.03, 0.02, 0.02, 0.02, 0.05, 0.15, 0.35, 0.55, 0.60, 0.55, 0.50, 0.45),
    *(0.35, 0.50, 0.55, 0.60, 0.60, 0.50, 0.35, 0.20, 0.12, 0.08, 0.05, 0.04),
)
"""Share of the fleet that drives in each hour of the day."""
DRIVING_SECONDS, PARKED_SECONDS = 5.0, 60.0
"""Between two positions of a vehicle."""
VEHICLES_OF_A_DISPATCHER = 100
"""Each has a WebSocket and asks once a second."""
ANSWER_SECONDS = 60.0


def rate_of(vehicles: int, driving: float) -> float:
    """Return the positions a second of a fleet of which this share drives."""
    return vehicles * (driving / DRIVING_SECONDS + (1 - driving) / PARKED_SECONDS)


def run(options: Options, summary: Summary, step: Step) -> None:
    """Run the day, hour by hour."""
    hour_seconds = options.span(48.0) / len(DRIVING)
    dispatchers = max(1, options.vehicles // VEHICLES_OF_A_DISPATCHER)
    with ExitStack() as stack:
        server = stack.enter_context(open_server(options, run_server))
        phones = server.phones("137", options.vehicles)
        stack.enter_context(known_devices(server, phones))
        first = (datetime.now(UTC) - timedelta(days=1)).replace(microsecond=0)
        load = TerminalLoad(
            host=server.host, port=server.jt808_port, phones=phones, first_epoch=first.timestamp()
        )
        try:
            step(f"{len(phones):,} vehicles log in")
            clients = stack.enter_context(reporting_clients(load, partial(read_usage, server)))
            with server.client() as client:
                ids = await_devices(client, phones)
            cookie = server.session_cookie()
            watchers = open_watchers(stack, server, cookie, dispatchers)
            messages, lacking = _requests(server, cookie, [ids[phone] for phone in phones[:20]], first)
            requests = RequestLoad(
                host=server.host,
                port=server.http_port,
                messages=messages,
                rate=float(dispatchers),
                seconds=hour_seconds * len(DRIVING),
                warm_seconds=0.0,
            )
            step(f"a day of {requests.seconds:g} s, {dispatchers} dispatchers")
            asking = stack.enter_context(run_program("requests", requests))
            begun = read_usage(server)
            hours = [clients.measure(hour_seconds, rate_of(len(phones), share)) for share in DRIVING]
            used = usage_between(begun, read_usage(server))
            memory = server.resident_bytes(), server.database_bytes()
            answered = asking.wait_for(RequestResult, requests.seconds + ANSWER_SECONDS)
            busiest = max(hours, key=attrgetter("rate"))
            rate = rate_of(len(phones), DRIVING[hours.index(busiest)])
            devices = tuple(ids[phone] for phone in phones)
            seen = watched(watchers, busiest, rate, devices, load.first_epoch)
        except LoadFailed as error:
            raise BenchError(str(error)) from error
        step("looking for every acknowledged position")
        missing = missing_positions(server, phones, load.first_epoch, hours[-1].result.answered)
    _report_positions(summary, hours, busiest, missing)
    summary.add_latencies(NAME, "position on a WebSocket, busiest hour", seen.latencies, goals=(Goal(250),))
    summary.add(NAME, "positions not on a WebSocket", seen.missing, "positions", goals=(Goal(0),))
    summary.add(NAME, "requests", answered.answers / answered.seconds, "requests/s")
    summary.add_latencies(NAME, "requests", answered.latencies, goals=(Goal(250),))
    summary.add(NAME, "requests failed", answered.failures, "requests", goals=(Goal(0),))
    summary.add(NAME, "server at work", used.server_share, "cores")
    summary.add(NAME, "database at work", used.database_share, "cores")
    reporting = sum(each.result.cpu_seconds for each in hours) / used.seconds
    summary.add(NAME, "client at work", reporting + seen.cpu_share + answered.cpu_share, "cores")
    summary.add(NAME, "memory of the server", memory[0] / 1e6, "MB")
    summary.add(NAME, "memory of the database", memory[1] / 1e6, "MB")
    for call in lacking:
        summary.add_absent(NAME, f"GET {call}", "requests", "the server does not answer it")
    for reason in answered.reasons:
        summary.note(f"{NAME}: {reason}")
    summary.note_client(NAME, max(seen.cpu_share, answered.cpu_share))


def _requests(
    server: MeasuredServer, cookie: str, ids: list[int], day: datetime
) -> tuple[tuple[str, ...], list[str]]:
    """Return what dispatchers ask, and which of it the server does not have.

    They look at a device and where all are, sometimes at what one has done.
    """
    span = f"from={day:%Y-%m-%dT%H:%M:%SZ}&to={day + timedelta(days=1):%Y-%m-%dT%H:%M:%SZ}"
    forms = (
        "/devices?id={}",
        "/positions",
        "/devices/{}",
        f"/positions?deviceId={{}}&{span}",
        "/devices",
        f"/reports/trips?deviceId={{}}&{span}",
    )
    with server.client() as client:
        lacking = [form for form in forms if client.get(form.format(ids[0])).status_code != 200]
    host = authority(server.host, server.http_port)
    head = f"Host: {host}\r\nCookie: {cookie}\r\nAccept: application/json\r\n\r\n"
    asked = [form.format(device) for device in ids for form in forms if form not in lacking]
    messages = tuple(f"GET /api{path} HTTP/1.1\r\n{head}" for path in asked)
    return messages, [form.partition("?")[0].format("{id}") for form in lacking]


def _report_positions(summary: Summary, hours: list[Measured], busiest: Measured, missing: int) -> None:
    result = hours[-1].result
    day = Latencies.total(each.result.latencies for each in hours)
    summary.add(NAME, "positions", sum(each.result.answers for each in hours), "positions")
    summary.add(NAME, "positions in the busiest hour", busiest.rate, "messages/s")
    summary.add_latencies(NAME, "acknowledgement", day)
    summary.add_latencies(NAME, "acknowledgement, busiest hour", busiest.result.latencies, goals=(Goal(100),))
    summary.add(NAME, "server CPU, busiest hour", busiest.server_cpu_us, "µs/message")
    summary.add(NAME, "rejected", result.rejected, "positions", goals=(Goal(0),))
    summary.add(NAME, "never acknowledged", result.unanswered, "positions", goals=(Goal(0),))
    summary.add(NAME, "acknowledged but not stored", missing, "positions", goals=(Goal(0),))
    rates = Line("positions", [(float(hour), each.rate) for hour, each in enumerate(hours)])
    waits = Line("p99", [(float(hour), each.result.p99_ms) for hour, each in enumerate(hours)])
    axis = "hour of the day"
    summary.plots += [
        Plot(title=f"{NAME}: positions", x=axis, y="messages/s", lines=[rates]),
        Plot(title=f"{NAME}: acknowledgements", x=axis, y="ms", lines=[waits]),
    ]
    for each in hours:
        summary.note_client(NAME, each.result.cpu_share, each.result.lag_ms, each.result.p99_ms)
