"""The jobs of an operator: they are done, and shown beside their budgets."""

import pytest

from motorpool.bench.figures import Summary
from motorpool.bench.jobs.budgets import JOBS, Done
from motorpool.bench.phases.console_jobs import add_figures, do_jobs
from motorpool.bench.server import run_demonstration


def test_what_was_counted_and_timed_stands_beside_its_budget() -> None:
    summary = Summary({})
    done = [Done(1, "mouse", 1, 0.4), Done(6, "keys", 4, 1.6), Done(8, "touch", 3, 0, "no map")]
    add_figures("console", done, summary)
    assert [
        (figure.metric, figure.value, figure.unit, [str(goal) for goal in summary.goals_of(figure)])
        for figure in summary.figures
    ] == [
        ("job 1, where it is, mouse: acts", 1, "clicks", ["≤ 1"]),
        ("job 1, where it is, mouse: time", 0.4, "s", ["≤ 1"]),
        ("job 6, yesterday as a file, keys: acts", 4, "keys", ["≤ 3"]),
        ("job 6, yesterday as a file, keys: time", 1.6, "s", ["≤ 1.5"]),
    ]
    assert summary.notes == ["console: job 8, a zone with a notice, touch: no map"]


@pytest.mark.long
def test_the_jobs_take_as_few_acts_as_they_may() -> None:
    # All but the one that fetches minutes of film.
    numbers = tuple(job.number for job in JOBS if job.number != 3)
    with run_demonstration() as shown:
        done = do_jobs(shown, numbers)
    budgets = {job.number: job for job in JOBS}
    assert [each.problem for each in done if each.problem] == []
    assert {each.way for each in done} == {"mouse", "keys", "touch"}
    for each in done:
        job = budgets[each.number]
        assert each.acts == (job.keys if each.way == "keys" else job.clicks)
        assert each.seconds > 0
