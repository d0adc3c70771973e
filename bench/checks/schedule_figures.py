"""Figures of windows that opened or closed together, from the terminals and from run records."""

from collections import Counter
from collections.abc import Sequence

from motorpool.bench.figures import Goal, Summary
from motorpool.bench.load.output import percentile_ms
from motorpool.bench.load.plan import CommandedResult, ReporterResult
from motorpool.bench.scheduled import Run

GOAL_SECONDS = 5.0
"""For the first step of every window, counted from the second that opens them all."""
OFFLINE_GOAL_SECONDS = 30.0
"""For the records of all that was not sent."""


def report_received(summary: Summary, scenario: str, edge: float, received: CommandedResult) -> None:
    """Report how long after the edge (seconds since 1970) terminals received their first command."""
    waits = sorted(arrival - edge for arrival in received.arrivals if arrival)
    missing = len(received.arrivals) - len(waits)
    summary.add(scenario, "first steps received, p50", percentile_ms(waits, 0.50) / 1000, "s")
    summary.add(scenario, "first steps received, p99", percentile_ms(waits, 0.99) / 1000, "s")
    last = percentile_ms(waits, 1.0) / 1000
    summary.add(scenario, "first steps received, last", last, "s", goals=(Goal(GOAL_SECONDS),))
    none = (Goal(0),)
    summary.add(scenario, "first steps never received", missing, "steps", goals=none)
    summary.add(scenario, "steps received twice", received.repeated, "steps", goals=none)
    summary.add(scenario, "steps received early", sum(wait < 0 for wait in waits), "steps", goals=none)


def report_sent(summary: Summary, scenario: str, edge: float, runs: Sequence[Run], count: int) -> None:
    """Report the run records of `count` steps that were due at the edge."""
    waits = sorted(run.epoch - edge for run in runs if run.status == "sent")
    last = percentile_ms(waits, 1.0) / 1000
    summary.add(scenario, "first steps handed over, last", last, "s", goals=(Goal(GOAL_SECONDS),))
    summary.add(scenario, "steps sent", len(waits), "steps", goals=(Goal(count, at_least=True),))
    summary.add(scenario, "steps recorded twice", _repeated(runs), "steps", goals=(Goal(0),))
    _note_others(summary, scenario, [run for run in runs if run.status != "sent"])


def report_offline(
    summary: Summary, scenario: str, edge: float, complete: float, runs: Sequence[Run], count: int
) -> None:
    """Report the run records of `count` steps for offline terminals; all were recorded at `complete`."""
    skipped = sum(_is_offline(run) for run in runs)
    summary.add(scenario, "skipped offline", skipped, "steps", goals=(Goal(count, at_least=True),))
    summary.add(scenario, "skipped offline, last", complete - edge, "s", goals=(Goal(OFFLINE_GOAL_SECONDS),))
    summary.add(scenario, "skipped twice", _repeated(runs), "steps", goals=(Goal(0),))
    _note_others(summary, scenario, [run for run in runs if not _is_offline(run)])


def report_ingest(summary: Summary, scenario: str, result: ReporterResult) -> None:
    """Report latencies of terminals that reported before the edge and after it."""
    before, during = result.before, result.during
    summary.add(scenario, "ingest p50 before", before.p50_ms, "ms")
    summary.add(scenario, "ingest p50 during", during.p50_ms, "ms", reference="before", beside=before.p50_ms)
    summary.add(scenario, "ingest p99 before", before.p99_ms, "ms")
    summary.add(scenario, "ingest p99 during", during.p99_ms, "ms", reference="before", beside=before.p99_ms)
    summary.add(scenario, "ingest worst during", during.worst_ms, "ms")
    summary.add(scenario, "positions held back during", result.late, "positions")
    none = (Goal(0),)
    summary.add(scenario, "positions refused", result.rejected, "positions", goals=none)
    summary.add(scenario, "positions lost", result.lost, "positions", goals=none)


def _is_offline(run: Run) -> bool:
    return run.status == "skipped" and run.reason == "offline"


def _repeated(runs: Sequence[Run]) -> int:
    """Count records beyond the first of each device and schedule."""
    return len(runs) - len({(run.schedule, run.device) for run in runs})


def _note_others(summary: Summary, scenario: str, others: Sequence[Run]) -> None:
    counts = Counter(f"{run.status} {run.reason}".strip() for run in others)
    if counts:
        outcomes = ", ".join(f"{count} {what}" for what, count in counts.most_common())
        summary.note(f"{scenario}: unexpected outcomes: {outcomes}")
