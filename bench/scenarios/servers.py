"""Two servers on one database with faults: nothing acknowledged is lost, nothing is done twice."""

import sys
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

import trio
from trio.abc import Clock
from trio.testing import MockClock

from motorpool.bench.checks.server_history import Anomaly, find_anomalies
from motorpool.bench.cluster.drill import Noted, Plan, run_drill
from motorpool.bench.cluster.faults import Episode, drawn, usual
from motorpool.bench.cluster.histories import run_history
from motorpool.bench.cluster.history_tables import open_histories
from motorpool.bench.cluster.outcome import SHOWN, report_drill
from motorpool.bench.cluster.pair import Start, bench_folder, open_pair
from motorpool.bench.figures import Goal, Report
from motorpool.bench.load.program import LoadFailed
from motorpool.bench.options import BenchError, Options, Step
from motorpool.bench.server import start_process
from motorpool.bench.vehicles import media_loop
from motorpool.runtime import first_error

NAME = "servers"
TITLE = "two servers on one database for --minutes: killed, frozen, cut off; lost or repeated, take-over"
STEPS = 30
TERMINAL_SECONDS = 5.0
"""A terminal reports so many seconds apart."""
MOVES = 2.0
FREQUENT_SCHEDULES = 10
CALM_SECONDS = 15.0
SETTLE_SECONDS = 18.0
"""Longer than a device may be away from its home."""
EPISODE_SECONDS = 30.0
"""What an episode takes on average, its recovery included."""

T = TypeVar("T")


def run(options: Options, report: Report, step: Step) -> None:
    """Run real servers with faults, or histories in one process; report anomalies and figures."""
    if options.histories:
        _run(partial(_run_histories, options, report, step), clock=MockClock(rate=1.0))
        return
    seconds = options.span(options.minutes * 60)
    episodes: tuple[Episode, ...]
    if options.drills:
        episodes = tuple(drawn(options.seed + number) for number in range(options.drills))
    else:
        episodes = usual(max(1, int((seconds - CALM_SECONDS) / EPISODE_SECONDS)))
    with bench_folder() as folder:
        loop_file = folder / "loop"
        if options.cameras:
            media_loop.write_loop(media_loop.make_loop(), loop_file)
        plan = plan_of(options.terminals, options.cameras, loop_file, episodes)
        report_drill(report, NAME, run_plan(plan, step))


def plan_of(terminals: int, cameras: int, loop_file: Path, episodes: tuple[Episode, ...]) -> Plan:
    """Return what is done with so many terminals and cameras."""
    return Plan(
        phones=tuple(f"136{number:08d}" for number in range(1, terminals + 1)),
        cameras=tuple(f"137{number:08d}" for number in range(1, cameras + 1)),
        loop_file=str(loop_file),
        rate=terminals / TERMINAL_SECONDS,
        moves=MOVES,
        schedules=min(FREQUENT_SCHEDULES, terminals),
        calm_seconds=CALM_SECONDS,
        settle_seconds=SETTLE_SECONDS,
        episodes=episodes,
    )


def run_plan(plan: Plan, step: Step, start: Start = start_process) -> Noted:
    """Start two servers, run the drill, and end them; `start` as in `run_server`.

    Raises:
        BenchError: a server does not start, or terminals cannot log in.
        KeyboardInterrupt: the bench is to end.
    """

    async def drill() -> Noted:
        step("two servers start")
        async with open_pair(start) as pair:
            return await run_drill(pair, plan, step, _tell)

    return _run(drill)


def _run(call: Callable[[], Awaitable[T]], *, clock: Clock | None = None) -> T:
    """Run it in Trio. What ends it, a BenchError or a KeyboardInterrupt, is in no group."""
    try:
        return trio.run(call, clock=clock)
    except BaseExceptionGroup as group:
        if group.subgroup(KeyboardInterrupt) is not None:
            raise KeyboardInterrupt from None
        if group.split((LoadFailed, BenchError))[1] is None:
            raise BenchError(f"{first_error(group)}") from None
        raise


async def _run_histories(options: Options, report: Report, step: Step) -> None:
    """Run random histories on a PostgreSQL of their own, and report what is wrong."""
    step("PostgreSQL starts")
    anomalies: list[Anomaly] = []
    versions = edges = 0
    async with open_histories() as (database, devices):
        began = time.perf_counter()
        for number in range(options.histories):
            if number * (STEPS - 1) // options.histories != (number - 1) * (STEPS - 1) // options.histories:
                step(f"history {number + 1} of {options.histories}")
            seed = options.seed + number
            history = await run_history(database, seed, devices)
            versions += len(history.versions)
            edges += len(history.edges)
            found = find_anomalies(history)
            for anomaly in found:
                _tell(f"seed {seed}: {anomaly.rule}: {anomaly.text}")
                if len(anomalies) < SHOWN:
                    report.note(f"{NAME}: seed {seed}: {anomaly.rule}: {anomaly.text}")
                anomalies.append(anomaly)
        seconds = time.perf_counter() - began
    report.add(NAME, "histories", options.histories, "histories")
    report.add(NAME, "histories a second", options.histories / seconds, "histories/s")
    report.add(NAME, "edges in histories", edges, "edges")
    report.add(NAME, "versions in histories", versions, "versions")
    report.add(NAME, "anomalies in histories", len(anomalies), "anomalies", goals=(Goal(0),))


def _tell(text: str) -> None:
    """Show at once what is wrong."""
    sys.stderr.write(f"{time.strftime('%H:%M:%S')} {text}\n")
