"""Servers on one database with faults: nothing acknowledged is lost, nothing is done twice."""

import sys
import time
from collections.abc import Sequence
from pathlib import Path

import trio

from motorpool.bench.cluster.cluster import Start, bench_folder, open_cluster, places_of
from motorpool.bench.cluster.drill import DrillOutcome, Plan, run_drill
from motorpool.bench.cluster.faults import Episode, drawn, kinds, usual
from motorpool.bench.cluster.outcome import report_drill
from motorpool.bench.figures import Summary
from motorpool.bench.load.program import LoadFailed
from motorpool.bench.options import BenchError, Options, Step
from motorpool.bench.server import start_process
from motorpool.bench.vehicles import media_loop
from motorpool.runtime import first_error

NAME = "servers"
TITLE = "--servers on one database for --minutes: killed, frozen, cut off; lost or repeated, take-over"
SERVER = "own"
STEPS = 30
TERMINAL_SECONDS = 5.0
"""Interval of a terminal's reports."""
MOVES = 2.0
FREQUENT_SCHEDULES = 10
CALM_SECONDS = 15.0
SETTLE_SECONDS = 18.0
"""Longer than a device may be away from its home."""
EPISODE_SECONDS = 30.0
"""Average duration of an episode, including its recovery."""


def run(options: Options, summary: Summary, step: Step) -> None:
    """Run servers with faults; report anomalies and figures."""
    seconds = options.span(options.minutes * 60)
    counts = places_of(options.servers)
    names = kinds(linked=options.nats, replaced=max(counts) > 1)
    episodes: tuple[Episode, ...]
    if options.drills:
        episodes = tuple(drawn(options.seed + number, names) for number in range(options.drills))
    else:
        episodes = usual(max(1, int((seconds - CALM_SECONDS) / EPISODE_SECONDS)), names)
    with bench_folder() as folder:
        loop_file = folder / "loop"
        if options.cameras:
            media_loop.write_loop(media_loop.make_loop(), loop_file)
        plan = plan_of(options.terminals, options.cameras, loop_file, episodes)
        outcome = run_plan(plan, step, counts=counts, linked=options.nats)
        report_drill(summary, NAME, outcome)


def plan_of(terminals: int, cameras: int, loop_file: Path, episodes: tuple[Episode, ...]) -> Plan:
    """Return the plan for these numbers of terminals and cameras."""
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


def run_plan(
    plan: Plan,
    step: Step,
    start: Start = start_process,
    *,
    counts: Sequence[int] = (1, 1),
    linked: bool = False,
) -> DrillOutcome:
    """Start servers, run the drill, and end them; the arguments are those of `open_cluster`.

    Raises:
        BenchError: a server does not start, or terminals cannot log in.
        KeyboardInterrupt: the bench is to end.
    """

    async def drill() -> DrillOutcome:
        step(f"{sum(counts)} servers start")
        async with open_cluster(counts, linked=linked, start=start) as cluster:
            return await run_drill(cluster, plan, step, _tell)

    # What ends it, a BenchError or a KeyboardInterrupt, is in no group.
    try:
        return trio.run(drill)
    except BaseExceptionGroup as group:
        if group.subgroup(KeyboardInterrupt) is not None:
            raise KeyboardInterrupt from None
        if group.split((LoadFailed, BenchError))[1] is None:
            raise BenchError(f"{first_error(group)}") from None
        raise


def _tell(text: str) -> None:
    """Show at once what is wrong."""
    sys.stderr.write(f"{time.strftime('%H:%M:%S')} {text}\n")
