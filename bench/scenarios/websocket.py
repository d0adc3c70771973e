"""Positions that many WebSockets are told of: how long from when each was due, at the last of them, too."""

from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from functools import partial

from motorpool.bench.figures import Goal, Summary
from motorpool.bench.load.clients import Measured, reporting_clients
from motorpool.bench.load.plan import TerminalLoad, WatcherResult
from motorpool.bench.load.program import LoadFailed
from motorpool.bench.measured_server import await_devices, known_devices, open_server
from motorpool.bench.options import BenchError, Options, Step
from motorpool.bench.phases.watching import open_watchers, watched
from motorpool.bench.server import run_server
from motorpool.bench.usage import read_usage

NAME = "websocket"
TITLE = "fan-out: every position of a fleet to each of N WebSockets, 20,000 deliveries a second"
SERVER = "any"
STEPS = 3
DELIVERIES = 20_000.0
"""Positions a second, counted at each WebSocket."""
MAX_RATE = 1000.0
"""Of positions a second, however few WebSockets there are."""


def run(options: Options, summary: Summary, step: Step) -> None:
    """Open the WebSockets, send positions, and time each at each WebSocket."""
    seconds = options.span(10.0)
    rate = min(MAX_RATE, DELIVERIES / options.sockets)
    with ExitStack() as stack:
        # All WebSockets are those of one user.
        settings = {"MOTORPOOL_HTTP_SOCKETS_PER_USER": str(max(100, options.sockets))}
        settings["MOTORPOOL_HTTP_SOCKETS_PER_ADDRESS"] = str(max(1000, options.sockets))
        server = stack.enter_context(open_server(options, partial(run_server, settings)))
        phones = server.phones("134", max(1, min(options.terminals, int(rate))))
        stack.enter_context(known_devices(server, phones))
        first = (datetime.now(UTC) - timedelta(days=1)).replace(microsecond=0)
        load = TerminalLoad(
            host=server.host, port=server.jt808_port, phones=phones, first_epoch=first.timestamp()
        )
        try:
            step(f"{len(phones):,} terminals log in")
            clients = stack.enter_context(reporting_clients(load, partial(read_usage, server)))
            clients.measure(min(1.0, seconds), rate)
            with server.client() as client:
                ids = await_devices(client, phones)
            step(f"{options.sockets:,} WebSockets open")
            before = server.resident_bytes()
            watchers = open_watchers(stack, server, server.session_cookie(), options.sockets, options.clients)
            opened = server.resident_bytes() - before
            step(f"{rate:,.0f} positions a second to each of them")
            sent = clients.measure(seconds, rate)
            devices = tuple(ids[phone] for phone in phones)
            result = watched(watchers, sent, rate, devices, load.first_epoch)
        except LoadFailed as error:
            raise BenchError(str(error)) from error
    _report(summary, options, sent, result)
    summary.add(NAME, "memory of an open WebSocket", opened / options.sockets / 1000, "KB")


def _report(summary: Summary, options: Options, sent: Measured, result: WatcherResult) -> None:
    deliveries = len(result.latencies)
    summary.add(NAME, "WebSockets", options.sockets, "sockets")
    summary.add(NAME, "positions", sent.rate, "messages/s")
    summary.add(NAME, "deliveries", deliveries / sent.result.seconds, "positions/s")
    summary.add_latencies(NAME, "delivery", result.latencies, goals=(Goal(250),))
    summary.add_latencies(NAME, "acknowledgement", sent.result.latencies)
    summary.add(NAME, "deliveries in whose place a later one came", result.passed_over, "positions")
    summary.add(NAME, "deliveries that did not come", result.missing, "positions", goals=(Goal(0),))
    summary.add(NAME, "WebSockets that the server ended", result.lost, "sockets", goals=(Goal(0),))
    summary.add(NAME, "server CPU of a delivery", sent.usage.server_us(deliveries), "µs")
    summary.add(NAME, "database CPU of a position", sent.database_cpu_us, "µs")
    summary.add(NAME, "client at work", result.cpu_share, "cores")
    summary.note_client(NAME, result.cpu_share)
