"""Figures, goals, and the JSON of the contract."""

import json
import math
from pathlib import Path

import pytest

from motorpool.bench.baseline import read_run
from motorpool.bench.figures import Figure, Goal, Summary
from motorpool.bench.latencies import Latencies


def figure(metric: str, value: float, ratio: float | None = None) -> Figure:
    return Figure(
        scenario="ingest",
        metric=metric,
        value=value,
        unit="messages/s",
        reference="echo" if ratio else None,
        ratio=ratio,
    )


def test_the_json_is_what_the_contract_fixes(tmp_path: Path) -> None:
    summary = Summary({"cores": 2})
    summary.add("ingest", "echo", 40_000, "messages/s")
    goals = (Goal(0.4, at_least=True, of_ratio=True),)
    summary.add("ingest", "throughput", 20_000, "messages/s", reference="echo", beside=40_000, goals=goals)
    summary.note("of a test")
    summary.write(tmp_path / "run.json")
    assert json.loads((tmp_path / "run.json").read_text(encoding="utf-8")) == {
        "machine": {"cores": 2},
        "results": [
            {
                "scenario": "ingest",
                "metric": "echo",
                "value": 40_000,
                "unit": "messages/s",
                "reference": None,
                "ratio": None,
                "absent": None,
                "must": None,
            },
            {
                "scenario": "ingest",
                "metric": "throughput",
                "value": 20_000,
                "unit": "messages/s",
                "reference": "echo",
                "ratio": 0.5,
                "absent": None,
                "must": "≥ 0.4 x",
            },
        ],
        "notes": ["of a test"],
    }
    assert read_run(tmp_path / "run.json").results == summary.figures


def test_more_than_four_digits_are_noise() -> None:
    assert Summary({}).add("mailbox", "tell", 0.123456, "µs").value == 0.1235


@pytest.mark.parametrize(
    ("goal", "met"),
    [
        (Goal(20_000), True),
        (Goal(19_999), False),
        (Goal(20_000, at_least=True), True),
        (Goal(20_001, at_least=True), False),
        (Goal(0.5, at_least=True, of_ratio=True), True),
        (Goal(0.6, at_least=True, of_ratio=True), False),
    ],
)
def test_a_goal_is_met_at_its_limit_and_not_beyond(goal: Goal, met: bool) -> None:
    assert goal.is_met(figure("throughput", 20_000, 0.5)) is met


def test_a_ratio_that_was_not_measured_meets_no_goal() -> None:
    assert not Goal(3.0, of_ratio=True).is_met(figure("throughput", 1))


def test_a_figure_may_have_a_goal_for_its_value_and_one_for_its_ratio() -> None:
    summary = Summary({})
    goals = (Goal(12_000, at_least=True), Goal(0.5, at_least=True, of_ratio=True))
    added = summary.add("ingest", "throughput", 20_000, "/s", reference="echo", beside=30_000, goals=goals)
    assert summary.goals_of(added) == list(goals)


def test_what_cannot_be_known_is_absent_and_never_zero() -> None:
    summary = Summary({})
    unknown = summary.add("ingest", "server CPU", math.nan, "µs", goals=(Goal(150),))
    lacking = summary.add_absent("api", "GET /server", "requests/s", "the server answers 404")
    assert (unknown.value, unknown.absent) == (None, "the server is not on this machine, or did nothing")
    database = summary.add("ingest", "database CPU", math.nan, "µs")
    assert database.absent == "--database-pid does not say which it is, or nothing was done"
    assert (lacking.value, lacking.absent) == (None, "the server answers 404")
    assert not summary.goals
    beside = summary.add("ingest", "CPU", 3.0, "µs", reference="echo", beside=math.nan)
    assert (beside.value, beside.ratio) == (3.0, None)


def test_latencies_are_percentiles_and_a_line_of_the_plot_of_their_scenario() -> None:
    summary = Summary({})
    for what in ("throughput", "paced"):
        summary.add_latencies("ingest", what, Latencies.of([0.001] * 99 + [0.002]), goals=(Goal(1.5),))
    assert [(each.metric, each.value) for each in summary.figures[:3]] == [
        ("throughput p50", 1.0),
        ("throughput p99", 1.0),
        ("throughput p99.9", 2.0),
    ]
    (plot,) = summary.plots
    assert [line.name for line in plot.lines] == ["throughput", "paced"]
    assert plot.lines[0].points[-1] == (100.0, 2.0)


def test_a_client_without_cpu_or_behind_its_schedule_is_named() -> None:
    summary = Summary({})
    summary.note_client("quiet", 0.5, lag_ms=1.0, p99_ms=10.0)
    summary.note_client("saturated", 0.95)
    summary.note_client("paced", 0.5, lag_ms=6.0, p99_ms=10.0)
    assert summary.notes == [
        "saturated: the client was at 95% of a core; the server could do more",
        "paced: the client sent up to 6 ms late (p99), which is most of the latency that was measured",
    ]
