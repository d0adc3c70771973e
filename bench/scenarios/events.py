"""Terminals drive through geofences; how long from the bytes of a position to its event on a WebSocket."""

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx

from motorpool.bench.figures import Goal, Summary
from motorpool.bench.load.crossings import RADIUS, gates
from motorpool.bench.load.plan import CrossingLoad, CrossingResult, Mark, TerminalLoad
from motorpool.bench.load.program import LoadFailed, run_program
from motorpool.bench.measured_server import MeasuredServer, open_server
from motorpool.bench.options import BenchError, NotThereError, Options, Step
from motorpool.bench.server import run_server

NAME = "events"
TITLE = "2,000 positions a second, two in ten of which enter or leave a geofence: events on a WebSocket"
SERVER = "any"
STEPS = 2
RATE = 2000.0
WARM_SECONDS = 2.0
AT_ONCE = 4
"""Requests at a time that create devices."""
LOGIN_SECONDS = 120.0
ANSWER_SECONDS = 90.0


def run(options: Options, summary: Summary, step: Step) -> None:
    """Configure geofences and a notification, then drive."""
    seconds = options.span(10.0)
    messages = math.ceil(RATE * (seconds + WARM_SECONDS) / options.terminals) + 1
    with open_server(options, run_server) as server:
        phones = server.phones("139", options.terminals)
        step(f"configuring {len(gates(messages))} geofences")
        with configured(server, phones, messages) as device_ids:
            step(f"{RATE:,.0f} positions a second")
            result = _drive(server, phones, device_ids, seconds)
    _report(summary, result)


@contextmanager
def configured(server: MeasuredServer, phones: Sequence[str], messages: int) -> Iterator[tuple[int, ...]]:
    """Create devices with geofences on their way and notifications by the web; yield the devices' ids.

    A server that goes on afterwards is left as it was.

    Raises:
        BenchError: the server refuses something.
    """
    made: list[str] = []
    with server.client() as client, ThreadPoolExecutor(AT_ONCE) as pool:

        def create(path: str, body: dict[str, Any]) -> int:
            answer = client.post(path, json=body)
            if not answer.is_success:
                raise NotThereError(f"POST {path} answered {answer.status_code}: {answer.text[:200]}")
            created = int(answer.json()["id"])
            made.append(f"{path}/{created}")
            return created

        try:
            group = create("/groups", {"name": "Bench"})
            for latitude, longitude in gates(messages):
                area = f"CIRCLE ({latitude:.6f} {longitude:.6f}, {RADIUS})"
                fence = create("/geofences", {"name": "gate", "area": area})
                client.post("/permissions", json={"groupId": group, "geofenceId": fence}).raise_for_status()
            for kind in ("geofenceEnter", "geofenceExit"):
                create("/notifications", {"type": kind, "always": True, "notificators": "web"})
            bodies = [{"name": phone, "uniqueId": phone, "groupId": group} for phone in phones]
            yield tuple(pool.map(lambda body: create("/devices", body), bodies))
        finally:
            if not server.is_own:
                with suppress(httpx.HTTPError):
                    list(pool.map(client.delete, reversed(made)))


def _drive(
    server: MeasuredServer, phones: tuple[str, ...], device_ids: tuple[int, ...], seconds: float
) -> CrossingResult:
    # Of present interest: nobody is notified of what happened long ago.
    first = (datetime.now(UTC) - timedelta(minutes=1)).replace(microsecond=0)
    load = CrossingLoad(
        terminals=TerminalLoad(
            host=server.host,
            port=server.jt808_port,
            phones=phones,
            mode="paced",
            seconds=seconds,
            warm_seconds=min(WARM_SECONDS, seconds),
            rate=RATE,
            first_epoch=first.timestamp(),
        ),
        device_ids=device_ids,
        http_port=server.http_port,
        cookie=server.session_cookie(),
    )
    try:
        with run_program("crossings", load) as program:
            program.wait_for(Mark, LOGIN_SECONDS + 2 * seconds, lambda mark: mark.name == "end")
            return program.wait_for(CrossingResult, ANSWER_SECONDS)
    except LoadFailed as error:
        raise BenchError(str(error)) from error


def _report(summary: Summary, result: CrossingResult) -> None:
    positions = result.terminals
    summary.add(NAME, "positions", positions.answers / positions.seconds, "messages/s")
    summary.add(NAME, "positions acknowledged p99", positions.p99_ms, "ms")
    summary.add(NAME, "events", result.events / positions.seconds, "events/s")
    summary.add_latencies(NAME, "event on the WebSocket", result.latencies, goals=(Goal(200),))
    summary.add(NAME, "event on the WebSocket, longest", result.worst_ms, "ms")
    summary.add(NAME, "events that did not come", result.missing, "events", goals=(Goal(0),))
    summary.add(NAME, "events of nothing", result.unexpected, "events", goals=(Goal(0),))
    summary.note_client(NAME, positions.cpu_share, positions.lag_ms, positions.p99_ms)
