"""Figures of days whose truth is known."""

import msgspec
from tests.bench.roads.samples import GOOD

from motorpool.bench.figures import Summary
from motorpool.bench.phases.road_figures import add_figures
from motorpool.bench.roads.comparison import Comparison
from motorpool.bench.roads.stop_comparison import Miss


def figures_of(*comparisons: Comparison) -> tuple[dict[str, float], set[str]]:
    summary = Summary({})
    add_figures(summary, "trips", comparisons)
    missed = {
        figure.metric
        for figure in summary.figures
        if not all(goal.is_met(figure) for goal in summary.goals_of(figure))
    }
    return {figure.metric: figure.value for figure in summary.figures}, missed


def test_good_reports_reach_all_goals() -> None:
    figures, missed = figures_of(GOOD)
    assert not missed
    assert figures["begin of stops within an interval or 15 s"] == 66.67
    assert figures["begin of stops within two or 45 s"] == 100
    assert figures["begin of stops, median"] == 20
    assert figures["begin of stops, p95"] == 40
    assert figures["begin of stops in intervals, p95"] == 1.333
    assert figures["distance of a trip, median error"] == 0.4
    assert figures["distance of a trip, p95 error"] == 2
    assert figures["distance of all trips, error"] == 0.5
    assert figures["distance added while standing"] == 10
    assert figures["duration of a trip, p95 error"] == 30
    assert figures["begins and ends without a report nearby"] == 1


def test_each_failure_misses_its_goal() -> None:
    late = (Miss(61.0, 30.0),) * 3
    bad = msgspec.structs.replace(
        GOOD,
        stops=msgspec.structs.replace(GOOD.stops, begins=late, ends=late, extra=1),
        trips=msgspec.structs.replace(
            GOOD.trips, distances=(0.02,), reported_metres=102_000.0, added_metres=1020.0
        ),
        short_stops=1,
        differing_events=1,
    )
    figures, missed = figures_of(bad)
    assert missed == {
        *(
            f"{name} of stops within {span}"
            for name in ("begin", "end")
            for span in ("an interval or 15 s", "two or 45 s")
        ),
        "stops shorter than the least duration",
        "missed or extra",
        "distance of a trip, median error",
        "distance of all trips, error",
        "distance added while standing",
        "events that differ from reports",
    }
    assert figures["missed or extra"] == round(100 / 21, 3)


def test_kinds_and_long_intervals_have_figures_of_their_own_without_goals() -> None:
    hourly = msgspec.structs.replace(
        GOOD, kind="hourly car", interval=3600.0, stops=msgspec.structs.replace(GOOD.stops, missed=5)
    )
    bus = msgspec.structs.replace(GOOD, kind="bus")
    figures, missed = figures_of(GOOD, bus, hourly)
    assert not missed
    assert (figures["days"], figures["van: days"], figures["bus: days"]) == (2, 1, 1)
    assert figures["intervals above 60 s: days"] == 1
    assert figures["intervals above 60 s: missed or extra"] > 20
    assert figures["van: missed or extra"] == 0
    assert "hourly car: days" not in figures
