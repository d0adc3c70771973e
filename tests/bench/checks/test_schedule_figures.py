"""Windows that opened or ended together: what figures and goals become of arrivals and records."""

import pytest
from tests.bench.scenarios.staging import latencies

from motorpool.bench.checks import schedule_figures
from motorpool.bench.figures import Figure, Summary
from motorpool.bench.load.plan import CommandedResult, ReporterResult, ReportSpan
from motorpool.bench.scheduled import Run

EDGE = 1_770_000_000.0


def run(schedule: int, after: float, status: str = "sent", reason: str = "") -> Run:
    return Run(schedule, schedule + 100, status, reason, EDGE + after)


def figures(summary: Summary) -> dict[str, Figure]:
    return {figure.metric: figure for figure in summary.figures}


def failed(summary: Summary) -> set[str]:
    """Metrics that miss what they must reach."""
    return {
        figure.metric
        for figure in summary.figures
        if not all(goal.is_met(figure) for goal in summary.goals_of(figure))
    }


def test_arrivals_are_counted_from_the_edge() -> None:
    summary = Summary({})
    arrivals = tuple(EDGE + number / 100 for number in range(1, 101))
    schedule_figures.report_received(
        summary, "schedules", EDGE, CommandedResult(arrivals=arrivals, repeated=0)
    )
    found = figures(summary)
    assert found["first steps received, p50"].value == 0.51
    assert found["first steps received, p99"].value == 1.0
    assert found["first steps received, last"].value == 1.0
    assert not failed(summary)


def test_commands_that_are_late_early_missing_or_there_twice_miss_their_goals() -> None:
    summary = Summary({})
    arrivals = (EDGE - 0.5, EDGE + 5.5, 0.0)
    schedule_figures.report_received(
        summary, "schedules", EDGE, CommandedResult(arrivals=arrivals, repeated=4)
    )
    found = figures(summary)
    assert found["first steps never received"].value == 1
    assert found["steps received early"].value == 1
    assert found["steps received twice"].value == 4
    assert failed(summary) == {
        "first steps received, last",
        "first steps never received",
        "steps received early",
        "steps received twice",
    }


def test_a_history_in_which_all_was_sent_in_time_reaches_its_goals() -> None:
    summary = Summary({})
    schedule_figures.report_sent(summary, "schedules", EDGE, [run(1, 0.25), run(2, 4.75)], 2)
    assert figures(summary)["first steps handed over, last"].value == 4.75
    assert not failed(summary)
    assert summary.notes == []


def test_a_history_tells_what_was_not_sent_and_what_was_recorded_twice() -> None:
    summary = Summary({})
    runs = [
        run(1, 6.0),
        run(1, 6.5),
        run(2, 1.0, "skipped", "offline"),
        run(3, 1.0, "skipped", "offline"),
        run(4, 0.0, "pending"),
    ]
    schedule_figures.report_sent(summary, "schedules", EDGE, runs, 4)
    found = figures(summary)
    assert found["steps sent"].value == 2
    assert found["steps recorded twice"].value == 1
    assert failed(summary) == {"first steps handed over, last", "steps sent", "steps recorded twice"}
    assert summary.notes == ["schedules: unexpected outcomes: 2 skipped offline, 1 pending"]


def test_steps_for_absent_terminals_end_as_offline_and_in_time() -> None:
    summary = Summary({})
    runs = [run(number, 0.1, "skipped", "offline") for number in (1, 2)]
    schedule_figures.report_offline(summary, "schedules", EDGE, EDGE + 12.5, runs, 2)
    assert figures(summary)["skipped offline, last"].value == 12.5
    assert not failed(summary)
    wrong = Summary({})
    schedule_figures.report_offline(
        wrong, "schedules", EDGE, EDGE + 60, [runs[0], runs[0], run(3, 1, "skipped", "missed")], 2
    )
    assert figures(wrong)["skipped offline"].value == 2
    assert failed(wrong) == {"skipped offline, last", "skipped twice"}
    assert wrong.notes == ["schedules: unexpected outcomes: 1 skipped missed"]


def test_ingest_during_the_edge_stands_beside_ingest_before_it() -> None:
    summary = Summary({})
    result = ReporterResult(
        before=ReportSpan(answers=100, latencies=latencies(4.0, 10.0)),
        during=ReportSpan(answers=50, latencies=latencies(6.0, 30.0)),
        sent=200,
        rejected=0,
        lost=1,
        late=7,
    )
    schedule_figures.report_ingest(summary, "schedules", result)
    found = figures(summary)
    assert found["ingest p99 before"].value == pytest.approx(10, rel=0.001)
    assert found["ingest p99 during"].reference == "before"
    assert found["ingest p99 during"].ratio == pytest.approx(3, rel=0.001)
    assert (found["ingest p50 during"].reference, found["ingest p50 during"].ratio) == ("before", 1.5)
    assert found["positions held back during"].value == 7
    assert failed(summary) == {"positions lost"}
