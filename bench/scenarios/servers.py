"""Two servers on one database with faults: nothing acknowledged is lost, nothing is done twice."""

import time
from collections import Counter, defaultdict
from itertools import cycle, islice

import trio

from motorpool.bench.checks.server_history import Anomaly, find_anomalies
from motorpool.bench.cluster.drill import FAULTS, Fault, Noted, Plan, run_drill
from motorpool.bench.cluster.histories import run_history
from motorpool.bench.cluster.history_tables import open_histories
from motorpool.bench.cluster.pair import open_pair
from motorpool.bench.figures import Goal, Report
from motorpool.bench.load.output import percentile_ms
from motorpool.bench.load.program import LoadFailed
from motorpool.bench.options import BenchError, Options, Step

NAME = "servers"
TITLE = "two servers on one database for --minutes: killed, frozen, cut off; lost or repeated, take-over"
STEPS = 30
TERMINALS_PER_POSITION = 2.0
"""A terminal reports so many seconds apart."""
MOVES = 2.0
SHIFTS = 10
CALM_SECONDS = 15.0
SETTLE_SECONDS = 18.0
"""Longer than a device may be away from its home."""
TAKE_OVER_SECONDS = 12.0
SHOWN = 10
"""Anomalies that are described."""


def run(options: Options, report: Report, step: Step) -> None:
    """Run the drill, and report what is wrong and how long take-overs took; or histories in one process."""
    if options.histories:
        trio.run(_run_histories, options, report, step)
        return
    seconds = options.span(options.minutes * 60)
    # About what a fault takes on average, its recovery included.
    count = max(1, int((seconds - CALM_SECONDS) / (SETTLE_SECONDS + 12.0)))
    plan = Plan(
        phones=tuple(f"136{number:08d}" for number in range(1, options.terminals + 1)),
        rate=options.terminals / TERMINALS_PER_POSITION,
        moves=MOVES,
        shifts=min(SHIFTS, options.terminals),
        calm_seconds=CALM_SECONDS,
        settle_seconds=SETTLE_SECONDS,
        faults=tuple(islice(cycle(FAULTS), count)),
    )

    async def drill() -> Noted:
        step("two servers start")
        async with open_pair() as pair:
            return await run_drill(pair, plan, step)

    try:
        noted = trio.run(drill)
    except* (LoadFailed, BenchError) as errors:
        raise BenchError(f"{_first(errors)}") from None
    _report(report, noted)


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
            anomalies += found
            for anomaly in found[:SHOWN]:
                report.note(f"{NAME}: seed {seed}: {anomaly.rule}: {anomaly.text}")
        seconds = time.perf_counter() - began
    report.add(NAME, "histories", options.histories, "histories")
    report.add(NAME, "histories a second", options.histories / seconds, "histories/s")
    report.add(NAME, "edges in histories", edges, "edges")
    report.add(NAME, "versions in histories", versions, "versions")
    report.add(NAME, "anomalies in histories", len(anomalies), "anomalies", goals=(Goal(0),))


def _first(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    found: BaseException = errors
    while isinstance(found, BaseExceptionGroup):
        found = found.exceptions[0]
    return found


def _report(report: Report, noted: Noted) -> None:
    none = (Goal(0),)
    history = noted.history
    anomalies = find_anomalies(history)
    acknowledged = sum(len(each.acknowledged) for each in history.positions)
    report.add(NAME, "positions acknowledged", acknowledged, "positions")
    unanswered = sum(len(each.unanswered) for each in history.positions)
    report.add(NAME, "positions unanswered", unanswered, "positions")
    report.add(NAME, "positions p50", noted.result.p50_ms, "ms")
    report.add(NAME, "positions p99", noted.result.p99_ms, "ms")
    for result, count in sorted(Counter(each.result for each in noted.requested).items()):
        report.add(NAME, f"commands requested, {result}", count, "commands")
    report.add(NAME, "edges", len(history.edges), "edges")
    report.add(NAME, "reads of rights", len(history.reads), "reads")
    report.add(NAME, "versions of homes", len(history.versions), "versions")
    report.add(NAME, "anomalies", len(anomalies), "anomalies", goals=none)
    for rule, count in Counter(each.rule for each in anomalies).items():
        report.note(f"{NAME}: {rule}: {count}")
    for anomaly in anomalies[:SHOWN]:
        report.note(f"{NAME}: {anomaly.rule}: {anomaly.text}")
    _report_commands(report, noted)
    must = (Goal(TAKE_OVER_SECONDS),)
    for fault in noted.faults:
        if fault.name == "kill":
            name = f"kill {'AB'[fault.place]}"
            waits = _device_waits(noted, fault)
            report.add(NAME, f"take-over of a device, {name}, p50", percentile_ms(waits, 0.5) / 1000, "s")
            worst = percentile_ms(waits, 1.0) / 1000
            report.add(NAME, f"take-over of a device, {name}, worst", worst, "s", goals=must)
            late = _latest_edge(noted, fault)
            report.add(NAME, f"edges late by, {name}", late, "s", goals=must)


def _device_waits(noted: Noted, fault: Fault) -> list[float]:
    """Return how long after the fault each device of that server had its first position acknowledged."""
    sessions = defaultdict(list)
    for session in noted.result.sessions:
        sessions[session.terminal].append(session)
    waits = []
    for own in sessions.values():
        before = [each for each in own if each.began < fault.began]
        if before and before[-1].server == fault.place and before[-1].ended >= fault.began:
            after = [each.acknowledged for each in own if each.began > fault.began and each.acknowledged]
            waits.append((after[0] if after else time.time()) - fault.began)
    return sorted(waits)


def _latest_edge(noted: Noted, fault: Fault) -> float:
    """Return the most that the record of an edge was late, while the server was away and shortly after."""
    end = fault.ended + SETTLE_SECONDS
    return max((run.noted - run.due for run in noted.runs if fault.began <= run.due < end), default=0.0)


def _report_commands(report: Report, noted: Noted) -> None:
    """Report how long a command takes to a device at the server that was asked, and at the other one."""
    received = {each.text: each for each in noted.result.texts}
    began, ended = noted.calm
    waits: dict[str, list[float]] = {"here": [], "across": []}
    for each in noted.requested:
        at = received.get(each.text)
        if at is not None and began <= each.invoked < ended:
            waits["here" if at.server == each.place else "across"].append(at.instant - each.invoked)
    for way, found in waits.items():
        report.add(NAME, f"command {way}, p50", percentile_ms(sorted(found), 0.50), "ms")
        report.add(NAME, f"command {way}, p99", percentile_ms(sorted(found), 0.99), "ms")
