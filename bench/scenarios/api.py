"""Requests: CPU beside a bare route that returns the same bytes, and latency under load."""

import time
from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from functools import partial

import httpx
import msgspec

from motorpool.bench.figures import Goal, Summary
from motorpool.bench.load.clients import measure_requests
from motorpool.bench.load.http_answers import authority
from motorpool.bench.load.plan import Mark, RequestLoad, RequestResult, TerminalLoad, TerminalResult
from motorpool.bench.load.program import LoadFailed, run_program
from motorpool.bench.measured_server import MeasuredServer, known_devices, open_server
from motorpool.bench.options import BenchError, Options, Step
from motorpool.bench.references import run_bare
from motorpool.bench.server import Server, run_server
from motorpool.bench.usage import Reading, read_process, read_usage

NAME = "api"
TITLE = "HTTP calls: server CPU beside a bare Quart-Trio route, latency while positions come in, long lists"
SERVER = "any"
STEPS = 7
CONNECTIONS = 16
"""That ask in a closed loop."""
ROUNDS = 2
"""Ours and the bare route in turn, so that a change of the machine's speed affects both."""
DEVICES = 100_000
"""Devices in the list whose memory is measured."""
POSITIONS_RATE = 2000.0
BESIDE_RATE = 50.0
WARM_SECONDS = 1.0
"""Warm-up of each load, unless the measured span is shorter."""
AHEAD_SECONDS = 4.0
"""How much longer terminals report than the requests beside them take, which start later."""
TIMEOUT_SECONDS = 120.0


class Case(msgspec.Struct, frozen=True):
    """A call to compare."""

    title: str
    method: str
    path: str
    rate: float
    most: float
    """Largest allowed ratio to the CPU of the bare route."""
    body: bytes = b""


def run(options: Options, summary: Summary, step: Step) -> None:
    """Compare three calls, measure one of them beside ingest, then list a hundred thousand devices.

    Of a foreign server only the throughput of calls is measured: nothing bare stands beside it.
    """
    seconds = options.span(5.0)
    with ExitStack() as stack:
        server = stack.enter_context(open_server(options, run_server))
        stack.enter_context(known_devices(server, server.phones("135", options.terminals)))
        client = stack.enter_context(server.client())
        step(f"{options.terminals} devices report")
        _report_positions(server, options.terminals)
        step(f"{CONNECTIONS} connections that ask as soon as they were answered")
        _saturate(summary, server, client, options, seconds)
        if not isinstance(server, Server):
            return
        token = client.post("/session/token").raise_for_status().text
        for case in _cases(client):
            step(case.title)
            _compare(summary, server, token, case, seconds)
        step(f"GET /devices/{{id}} while {POSITIONS_RATE:,.0f} positions a second come in")
        _beside_ingest(summary, server, token, client, options.terminals, options.span(10.0))
    step(f"a list of {DEVICES:,} devices")
    with run_server() as server:
        _long_list(summary, server, options.span(10.0))


def _saturate(
    summary: Summary, server: MeasuredServer, client: httpx.Client, options: Options, seconds: float
) -> None:
    """Measure the throughput of calls in a closed loop; one that there is not is told so."""
    device = client.get("/devices").raise_for_status().json()[0]["id"]
    cookie = server.session_cookie()
    calls = {
        "GET /server": "/server",
        "GET /devices/{id}": f"/devices/{device}",
        "GET /devices": "/devices",
        "GET /positions": "/positions",
    }
    for title, path in calls.items():
        probe = client.get(path)
        if probe.status_code != 200:
            reason = f"the server answers {probe.status_code}"
            summary.add_absent(NAME, f"{title}, {CONNECTIONS} connections", "requests/s", reason)
            continue
        lines = (
            f"GET /api{path} HTTP/1.1",
            f"Host: {authority(server.host, server.http_port)}",
            f"Cookie: {cookie}",
            "Accept: application/json",
        )
        load = RequestLoad(
            host=server.host,
            port=server.http_port,
            messages=("\r\n".join(lines) + "\r\n\r\n",),
            connections=CONNECTIONS,
            seconds=seconds / 2,
            warm_seconds=min(WARM_SECONDS, seconds / 2),
        )
        try:
            result, used = measure_requests(load, partial(read_usage, server), options.clients)
        except LoadFailed as error:
            raise BenchError(f"{title}: {error}") from error
        summary.add(
            NAME, f"{title}, {CONNECTIONS} connections", result.answers / result.seconds, "requests/s"
        )
        summary.add(NAME, f"{title} saturated server CPU", used.server_us(result.answers), "µs")
        summary.add(NAME, f"{title} saturated database CPU", used.database_us(result.answers), "µs")
        summary.add_latencies(NAME, f"{title} saturated", result.latencies)
        summary.note_client(title, result.cpu_share)
        if result.failures:
            summary.note(f"{title}: {result.failures} requests failed: {', '.join(result.reasons)}")


def _cases(client: httpx.Client) -> tuple[Case, ...]:
    device = client.get("/devices").raise_for_status().json()[0]
    body = msgspec.json.encode(device)
    path = f"/api/devices/{device['id']}"
    return (
        Case("GET /devices/{id}", "GET", path, 200.0, 1.6),
        Case("GET /positions", "GET", "/api/positions", 25.0, 4.0),
        Case("PUT /devices/{id}", "PUT", path, 100.0, 3.0, body),
    )


def _report_positions(server: MeasuredServer, terminals: int) -> None:
    """Log in every terminal and report once, so that devices have a latest position."""
    load = _terminals(server, terminals, "saturate", WARM_SECONDS)
    try:
        with run_program("terminals", load) as program:
            program.wait_for(TerminalResult, TIMEOUT_SECONDS)
    except LoadFailed as error:
        raise BenchError(f"the terminals: {error}") from error


def _terminals(server: MeasuredServer, count: int, mode: str, seconds: float) -> TerminalLoad:
    first = (datetime.now(UTC) - timedelta(days=1)).replace(microsecond=0)
    return TerminalLoad(
        host=server.host,
        port=server.jt808_port,
        phones=server.phones("135", count),
        mode=mode,
        seconds=seconds,
        warm_seconds=min(WARM_SECONDS, seconds),
        rate=POSITIONS_RATE,
        first_epoch=first.timestamp(),
    )


def _compare(summary: Summary, server: Server, token: str, case: Case, seconds: float) -> None:
    message = _message(case, token)
    ours_cpu, bare_cpu, ours_count, bare_count = 0.0, 0.0, 0, 0
    body = httpx.request(
        case.method,
        f"{server.url}{case.path}",
        headers={"Authorization": f"Bearer {token}"},
        content=case.body or None,
        timeout=60.0,
    ).raise_for_status()
    result = None
    with run_bare(body.content) as (port, pid):
        for _ in range(ROUNDS):
            bare, used = _measure(port, message, case.rate, seconds, partial(read_process, pid))
            bare_cpu, bare_count = bare_cpu + used, bare_count + bare.answers
            own = partial(read_usage, server)
            result, used = _measure(server.http_port, message, case.rate, seconds, own)
            ours_cpu, ours_count = ours_cpu + used, ours_count + result.answers
    assert result is not None
    summary.add(
        NAME,
        f"{case.title} server CPU",
        ours_cpu / max(1, ours_count) * 1e6,
        "µs",
        reference="bare route",
        beside=bare_cpu / max(1, bare_count) * 1e6,
        goals=(Goal(case.most, of_ratio=True),),
    )
    summary.add(NAME, f"{case.title} p99", result.p99_ms, "ms")
    if result.failures:
        summary.note(f"{case.title}: {result.failures} requests failed")


def _message(case: Case, token: str) -> str:
    lines = [
        f"{case.method} {case.path} HTTP/1.1",
        "Host: localhost",
        f"Authorization: Bearer {token}",
        "Accept: application/json",
    ]
    if case.body:
        lines += ["Content-Type: application/json", f"Content-Length: {len(case.body)}"]
    return "\r\n".join(lines) + "\r\n\r\n" + case.body.decode()


def _measure(
    port: int, message: str, rate: float, seconds: float, read: Callable[[], Reading]
) -> tuple[RequestResult, float]:
    load = RequestLoad(
        host="127.0.0.1",
        port=port,
        messages=(message,),
        rate=rate,
        seconds=seconds,
        warm_seconds=min(WARM_SECONDS, seconds),
    )
    try:
        result, used = measure_requests(load, read)
    except LoadFailed as error:
        raise BenchError(f"the requests: {error}") from error
    return result, used.server_share * used.seconds


def _beside_ingest(
    summary: Summary, server: Server, token: str, client: httpx.Client, terminals: int, seconds: float
) -> None:
    devices = client.get("/devices").raise_for_status().json()
    messages = tuple(
        _message(Case("", "GET", f"/api/devices/{device['id']}", BESIDE_RATE, 0), token) for device in devices
    )
    requests = RequestLoad(
        host=server.host,
        port=httpx.URL(server.url).port or 80,
        messages=messages,
        rate=BESIDE_RATE,
        seconds=seconds,
        warm_seconds=min(WARM_SECONDS, seconds),
    )
    # The terminals run longer than the requests, whichever start first.
    load = _terminals(server, terminals, "paced", seconds + AHEAD_SECONDS)
    try:
        with run_program("terminals", load) as ingest:
            ingest.wait_for(Mark, TIMEOUT_SECONDS, lambda mark: mark.name == "begin")
            with run_program("requests", requests) as program:
                result = program.wait_for(RequestResult, seconds + TIMEOUT_SECONDS)
            stored = ingest.wait_for(TerminalResult, seconds + TIMEOUT_SECONDS)
    except LoadFailed as error:
        raise BenchError(f"beside ingest: {error}") from error
    name = "GET /devices/{id} beside ingest"
    summary.add(NAME, f"{name}, positions", stored.answers / stored.seconds, "messages/s")
    summary.add(NAME, f"{name}, p50", result.p50_ms, "ms")
    summary.add(NAME, f"{name}, p99", result.p99_ms, "ms", goals=(Goal(100),))
    if result.failures:
        summary.note(f"{name}: {result.failures} requests failed")


def _long_list(summary: Summary, server: Server, seconds: float) -> None:
    """List many devices while another client requests one of them."""
    server.run_sql(
        f"with made as (insert into devices (name, unique_id, attributes)"  # noqa: S608 - a number of our own
        f" select 'Vehicle ' || n, 'long-' || n, '{{\"speedLimit\": 43.2}}'"
        f" from generate_series(1, {DEVICES}) n returning id)"
        f" insert into user_device select (select id from users order by id limit 1), id from made"
    )
    with server.client() as client:
        token = client.post("/session/token").raise_for_status().text
        first = client.get("/devices", params={"limit": 1}).raise_for_status().json()[0]["id"]
        # The first call loads what later ones reuse; that is not the list's memory.
        client.get(f"/devices/{first}").raise_for_status()
        address = httpx.URL(server.url)
        message = _message(Case("", "GET", f"/api/devices/{first}", 10.0, 0), token)
        load = RequestLoad(
            host="127.0.0.1",
            port=address.port or 80,
            messages=(message,),
            rate=10.0,
            seconds=seconds,
            warm_seconds=min(WARM_SECONDS, seconds),
        )
        before = most = server.resident_bytes()
        try:
            with run_program("requests", load) as program:
                program.wait_for(Mark, TIMEOUT_SECONDS, lambda mark: mark.name == "begin")
                end = time.monotonic() + seconds
                while time.monotonic() < end:
                    listed = 0
                    with client.stream("GET", "/devices") as answer:
                        for piece in answer.iter_bytes():
                            listed += piece.count(b'"uniqueId"')
                            most = max(most, server.resident_bytes())
                result = program.wait_for(RequestResult, TIMEOUT_SECONDS)
        except LoadFailed as error:
            raise BenchError(f"beside the list: {error}") from error
    summary.add(NAME, "long list, devices", float(listed), "devices")
    summary.add(NAME, "long list, memory grown by", (most - before) / 1e6, "MB", goals=(Goal(50),))
    summary.add(NAME, "GET beside the long list, p99", result.p99_ms, "ms", goals=(Goal(100),))
