"""The jobs of an operator in the console, before the fleet of the demonstration, each beside its budget."""

import msgspec

from motorpool.bench.chromium import run_in_chromium
from motorpool.bench.figures import Goal, Summary
from motorpool.bench.jobs.budgets import JOBS, Done, Job
from motorpool.bench.server import Demonstration

_SECONDS = 1800.0
"""All jobs in all ways, of which two fetch two minutes of film, on a machine that is busy."""


def do_jobs(shown: Demonstration, numbers: tuple[int, ...]) -> list[Done]:
    """Have the browser do the jobs of these numbers.

    Raises:
        BenchError: Chromium or Playwright is missing, or no vehicle of the demonstration drives.
    """
    reports = f"http://{shown.server.host}:{shown.server.osmand_port}/"
    line = run_in_chromium(
        "jobs.program",
        shown.server.url,
        shown.email,
        reports,
        "--jobs",
        *map(str, numbers),
        password=shown.password,
        seconds=_SECONDS,
    )
    return msgspec.json.decode(line, type=list[Done])


def add_figures(name: str, done: list[Done], summary: Summary) -> None:
    """Add what was counted and timed, with the budgets as goals; what was not done is a note."""
    jobs = {job.number: job for job in JOBS}
    for each in done:
        job = jobs[each.number]
        of = f"job {job.number}, {job.name}, {each.way}"
        if each.problem:
            summary.note(f"{name}: {of}: {each.problem}")
            continue
        unit = {"mouse": "clicks", "keys": "keys", "touch": "taps"}[each.way]
        summary.add(name, f"{of}: acts", each.acts, unit, goals=(Goal(_acts(job, each.way)),))
        summary.add(name, f"{of}: time", each.seconds, "s", goals=(Goal(job.seconds),))


def _acts(job: Job, way: str) -> int:
    return job.clicks if way != "keys" else job.keys or 0
