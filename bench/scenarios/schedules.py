"""Ten thousand scheduled commands whose windows open in the same second, while other terminals report.

One server: what they cost while they sleep, how soon every terminal has its first step and what that is to
those that report meanwhile, and windows that close when no terminal is connected.
"""

import math
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import httpx
import msgspec

from motorpool.bench.checks import schedule_figures
from motorpool.bench.figures import Goal, Summary
from motorpool.bench.load.plan import (
    CommandedLoad,
    CommandedResult,
    Mark,
    ReporterLoad,
    ReporterResult,
    TerminalLoad,
)
from motorpool.bench.load.program import LoadFailed, run_program
from motorpool.bench.options import BenchError, Options, Step
from motorpool.bench.scheduled import COMMAND_MESSAGE, Schedules, Window
from motorpool.bench.server import Server, run_server
from motorpool.bench.usage import Usage, read_usage, usage_between

NAME = "schedules"
TITLE = "10,000 scheduled commands: asleep, all windows opening in one second beside ingest, ending offline"
SERVER = "own"
STEPS = 6
CALENDARS = 100
REPORTS_PER_SECOND = 1.0
"""Rate of each reporting terminal."""
COMMANDED, REPORTING = "137", "138"
"""Prefixes of phone numbers."""
LOGIN_SECONDS = 180.0
"""Time for connecting and registering all terminals."""
LOGIN_SECONDS_EACH = 0.02
"""Time planned for the login of a terminal, so that all report before the windows open."""
SETTLE_SECONDS = 3.0
"""Idle time before a measurement."""
SETTINGS = {"MOTORPOOL_SCHEDULES_RECONNECT_GRACE_SECONDS": "0"}
"""Grace period of reconnections: terminals do not reconnect here."""
CROWDED = 0.1
"""Share of the time waiting for a core above which the measurement is not the server's alone."""
TIMEOUT_SECONDS = 60.0
"""Time-out for what should be complete already."""


class Opening(msgspec.Struct, frozen=True):
    """Windows that open together."""

    edge: float
    """Seconds since 1970."""
    reporters: ReporterResult
    before: Usage
    during: Usage


def run(options: Options, summary: Summary, step: Step) -> None:
    """Measure idle schedules, open all windows, and close them with all terminals offline."""
    count, settle_seconds = options.schedules, _settle_seconds(options)
    phones = _phones(COMMANDED, count)
    try:
        with run_server(SETTINGS) as server, server.client() as client:
            schedules = Schedules(server, client, min(CALENDARS, count))
            set_seconds = _measure_sleep(summary, step, server, schedules, phones, options)
            step(f"{count:,} terminals log in")
            load = CommandedLoad(
                host=server.host, port=server.jt808_port, phones=phones, message_id=COMMAND_MESSAGE
            )
            with run_program("commanded", load) as commanded:
                commanded.wait_for(Mark, LOGIN_SECONDS)
                step(f"{count:,} windows open while {options.terminals:,} others report")
                opening = _open_windows(server, schedules, options, set_seconds)
                schedules.await_history("start", count, TIMEOUT_SECONDS)
                # Wait for possible duplicates.
                time.sleep(settle_seconds)
                commanded.stop()
                received = commanded.wait_for(CommandedResult, TIMEOUT_SECONDS)
            schedule_figures.report_received(summary, NAME, opening.edge, received)
            schedule_figures.report_sent(summary, NAME, opening.edge, schedules.history("start"), count)
            schedule_figures.report_ingest(summary, NAME, opening.reporters)
            _report_work(summary, opening, received)
            step("all terminals leave")
            _await_offline(client)
            time.sleep(settle_seconds)
            step(f"{count:,} windows close with all terminals offline")
            _end_windows(summary, schedules, count, 3 * set_seconds + settle_seconds)
    except LoadFailed as error:
        raise BenchError(str(error)) from error


def _measure_sleep(
    summary: Summary,
    step: Step,
    server: Server,
    schedules: Schedules,
    phones: Sequence[str],
    options: Options,
) -> float:
    """Measure idle schedules; return the seconds in which all calendars were changed.

    No terminal is connected: its own cost would hide the cost of schedules.
    """
    step("a server without schedules")
    without, bytes_without = _watch(server, options)
    step(f"{len(phones):,} schedules sleep")
    schedules.make(phones)
    far = datetime.now(UTC).replace(microsecond=0) + timedelta(hours=8)
    set_seconds = schedules.set_window(Window(far, far + timedelta(hours=1)))
    asleep, bytes_asleep = _watch(server, options)
    unit, most = "% of a core", (Goal(1),)
    summary.add(NAME, "CPU without schedules", without.server_share * 100, unit)
    summary.add(NAME, "CPU with schedules asleep", asleep.server_share * 100, unit)
    own = asleep.server_share - without.server_share
    summary.add(NAME, "CPU of the sleeping alone", own * 100, unit, goals=most)
    database = asleep.database_share - without.database_share
    summary.add(NAME, "CPU of the sleeping alone, database", database * 100, unit, goals=most)
    memory = (bytes_asleep - bytes_without) / len(phones)
    summary.add(NAME, "memory of a sleeping schedule", memory / 1000, "KB", goals=(Goal(4),))
    summary.add(NAME, "all calendars changed in", set_seconds, "s")
    return set_seconds


def _watch(server: Server, options: Options) -> tuple[Usage, float]:
    """Return the usage of the idle server, and its memory after that."""
    time.sleep(_settle_seconds(options))
    begun = read_usage(server)
    time.sleep(options.span(10.0))
    ended = read_usage(server)
    return usage_between(begun, ended), ended.resident_bytes


def _open_windows(server: Server, schedules: Schedules, options: Options, set_seconds: float) -> Opening:
    """Open all windows in one second while other terminals report, and return the latencies of those."""
    before_seconds, during_seconds = options.span(10.0), options.span(schedule_figures.GOAL_SECONDS)
    # The calendars are changed while positions come in, which is slower.
    preparation = LOGIN_SECONDS_EACH * options.terminals + 3 * set_seconds
    preparation += _settle_seconds(options)
    edge = math.ceil(time.time() + preparation + before_seconds)
    load = ReporterLoad(
        terminals=TerminalLoad(
            host=server.host,
            port=server.jt808_port,
            phones=_phones(REPORTING, options.terminals),
            mode="paced",
            rate=REPORTS_PER_SECOND * options.terminals,
            seconds=before_seconds + during_seconds,
            # A day ago, so that no message is in the future.
            first_epoch=float(edge - 86_400),
        ),
        edge_epoch=float(edge),
        before_seconds=before_seconds,
        during_seconds=during_seconds,
    )
    start = datetime.fromtimestamp(edge, UTC)
    with run_program("reporters", load) as program:
        program.wait_for(Mark, LOGIN_SECONDS)
        schedules.set_window(Window(start, start + timedelta(hours=1)))
        if (late := time.time() - (edge - before_seconds)) > 0:
            raise BenchError(f"terminals and calendars were ready {late:.1f} s after the measurement began")
        readings = []
        for _ in ("begin", "edge", "end"):
            program.wait_for(Mark, TIMEOUT_SECONDS + before_seconds)
            readings.append(read_usage(server))
        result = program.wait_for(ReporterResult, TIMEOUT_SECONDS)
    return Opening(
        edge=float(edge),
        reporters=result,
        before=usage_between(readings[0], readings[1]),
        during=usage_between(readings[1], readings[2]),
    )


def _report_work(summary: Summary, opening: Opening, received: CommandedResult) -> None:
    """Report the CPU of a step, beside the positions that came in meanwhile."""
    before, during = opening.before, opening.during
    summary.add(NAME, "server at work before", before.server_share, "cores")
    summary.add(NAME, "server at work during", during.server_share, "cores")
    summary.add(NAME, "database at work during", during.database_share, "cores")
    ended = opening.edge + during.seconds
    steps = max(1, sum(0 < arrival < ended for arrival in received.arrivals))
    more = (during.server_share - before.server_share) * during.seconds
    summary.add(NAME, "server CPU of a step", more / steps * 1e6, "µs")
    more = (during.database_share - before.database_share) * during.seconds
    summary.add(NAME, "database CPU of a step", more / steps * 1e6, "µs")
    if during.waiting_share > CROWDED:
        share = during.waiting_share
        summary.note(f"{NAME}: for {share:.0%} of the burst the server waited for a core that others had")


def _await_offline(client: httpx.Client) -> None:
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while time.monotonic() < deadline:
        listed = client.get("/devices", params={"all": "true"}).raise_for_status().json()
        if not any(device["status"] == "online" for device in listed):
            return
        time.sleep(0.5)
    raise BenchError(f"terminals that left are still online after {TIMEOUT_SECONDS:g} s")


def _end_windows(summary: Summary, schedules: Schedules, count: int, ahead_seconds: float) -> None:
    """Close all windows in one second, and report their last steps."""
    edge = math.ceil(time.time() + ahead_seconds)
    end = datetime.fromtimestamp(edge, UTC)
    schedules.set_window(Window(end - timedelta(hours=1), end))
    if time.time() > edge:
        raise BenchError("the calendars were changed too late for their windows' end")
    time.sleep(max(0.0, edge - time.time()))
    complete = schedules.await_history("end", count, TIMEOUT_SECONDS)
    schedule_figures.report_offline(summary, NAME, edge, complete, schedules.history("end"), count)


def _settle_seconds(options: Options) -> float:
    return min(SETTLE_SECONDS, options.span(SETTLE_SECONDS))


def _phones(prefix: str, count: int) -> tuple[str, ...]:
    return tuple(f"{prefix}{number:08d}" for number in range(1, count + 1))
