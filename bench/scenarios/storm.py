"""Everybody comes back after an outage: a fleet connects in one moment, with positions it has recorded."""

import time
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta

from motorpool.bench.figures import Goal, Summary
from motorpool.bench.load.http_answers import authority
from motorpool.bench.load.plan import Mark, RequestLoad, RequestResult, StormLoad, StormResult
from motorpool.bench.load.program import LoadFailed, run_program
from motorpool.bench.measured_server import known_devices, open_server
from motorpool.bench.options import BenchError, Options, Step
from motorpool.bench.phases.stored import missing_positions
from motorpool.bench.server import Server, run_server
from motorpool.bench.usage import read_usage, usage_between

NAME = "storm"
TITLE = (
    "a fleet that reconnects after an outage, each vehicle with ten positions; requests of others meanwhile"
)
SERVER = "any"
STEPS = 4
RECORDED = 10
"""Positions of each vehicle."""
LOGIN_SECONDS = 180.0
LIMIT_SECONDS = 120.0
"""For all of it."""
REQUESTS_RATE = 10.0
ANSWER_SECONDS = 60.0


def run(options: Options, summary: Summary, step: Step) -> None:
    """Log a fleet in, have an outage, and time its return.

    A server of our own is stopped in order and started again meanwhile; of another one the connections end.
    """
    with ExitStack() as stack:
        server = stack.enter_context(open_server(options, run_server))
        phones = server.phones("132", options.vehicles)
        stack.enter_context(known_devices(server, phones))
        load = StormLoad(
            host=server.host,
            port=server.jt808_port,
            phones=phones,
            recorded=RECORDED,
            first_epoch=(datetime.now(UTC) - timedelta(hours=1)).replace(microsecond=0).timestamp(),
            seconds=LIMIT_SECONDS,
        )
        requests = RequestLoad(
            host=server.host,
            port=server.http_port,
            messages=(
                f"GET /api/server HTTP/1.1\r\nHost: {authority(server.host, server.http_port)}\r\n"
                "Accept: application/json\r\n\r\n",
            ),
            rate=REQUESTS_RATE,
            seconds=options.span(5.0),
            warm_seconds=0.0,
        )
        try:
            step(f"{len(phones):,} vehicles log in")
            program = stack.enter_context(run_program("storm", load))
            program.wait_for(Mark, LOGIN_SECONDS)
            step("an outage")
            if isinstance(server, Server):
                begun = time.monotonic()
                server.restart()
                summary.add(NAME, "outage", time.monotonic() - begun, "s")
            step("all come back")
            others = stack.enter_context(run_program("requests", requests))
            others.wait_for(Mark, ANSWER_SECONDS)
            before = read_usage(server)
            program.stop()
            result = program.wait_for(StormResult, LIMIT_SECONDS + ANSWER_SECONDS)
            used = usage_between(before, read_usage(server))
            answered = others.wait_for(RequestResult, requests.seconds + ANSWER_SECONDS)
        except LoadFailed as error:
            raise BenchError(str(error)) from error
        step("looking for every acknowledged position")
        missing = missing_positions(server, phones, load.first_epoch, result.acknowledged)
    positions = sum(result.acknowledged)
    summary.add(NAME, "vehicles", len(phones), "vehicles")
    summary.add_latencies(NAME, "logged in after", result.latencies)
    summary.add(NAME, "last one logged in after", result.worst_ms / 1000, "s", goals=(Goal(30),))
    summary.add_latencies(NAME, "recorded positions acknowledged after", result.backlogs)
    summary.add(NAME, "all acknowledged after", result.seconds, "s")
    late = len(phones) * RECORDED - positions
    summary.add(NAME, "positions never acknowledged", late, "positions", goals=(Goal(0),))
    summary.add(NAME, "acknowledged but not stored", missing, "positions", goals=(Goal(0),))
    summary.add(NAME, "rejected", result.rejected, "messages", goals=(Goal(0),))
    summary.add(NAME, "connections tried", result.attempts, "connections")
    summary.add(NAME, "server CPU of a vehicle", used.server_us(len(phones)), "µs")
    summary.add(NAME, "database CPU of a vehicle", used.database_us(len(phones)), "µs")
    summary.add(NAME, "client at work", result.cpu_share, "cores")
    summary.add_latencies(NAME, "requests meanwhile", answered.latencies)
    summary.add(NAME, "requests failed", answered.failures, "requests", goals=(Goal(0),))
    summary.note_client(NAME, result.cpu_share)
