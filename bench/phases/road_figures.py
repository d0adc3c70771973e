"""Figures of days of vehicles whose true motion is known, with what they must reach."""

from collections.abc import Sequence

from motorpool.bench.figures import Goal, Summary
from motorpool.bench.roads.comparison import Comparison
from motorpool.bench.roads.stop_comparison import Miss
from motorpool.bench.roads.tally import Tally, intervals_off, percentile, seconds_off, share_of

JUDGED_INTERVAL = 60.0
"""Seconds; days of trackers that report more rarely have figures of their own, without goals."""
NEAR, TOLERABLE = Goal(50, at_least=True), Goal(95, at_least=True)
ONE_PER_CENT = Goal(1)
ADDED = Goal(50)
NONE = Goal(0)


def add_figures(summary: Summary, scenario: str, comparisons: Sequence[Comparison]) -> None:
    """Add the figures of all judged days, then those of each kind, and of the days with long intervals."""
    judged = [each for each in comparisons if each.interval <= JUDGED_INTERVAL]
    _add_judged(summary, scenario, Tally(judged))
    for kind in sorted({each.kind for each in judged}):
        _add_group(summary, scenario, kind, Tally([each for each in judged if each.kind == kind]))
    rare = [each for each in comparisons if each.interval > JUDGED_INTERVAL]
    if rare:
        _add_group(summary, scenario, f"intervals above {JUDGED_INTERVAL:g} s", Tally(rare))


def _add_judged(summary: Summary, scenario: str, tally: Tally) -> None:
    def add(metric: str, value: float, unit: str, *goals: Goal) -> None:
        summary.add(scenario, metric, value, unit, goals=goals)

    add("days", tally.days, "days")
    add("stops", tally.stops, "stops")
    add("trips", tally.trips, "trips")
    for name, misses in (("begin", tally.begins), ("end", tally.ends)):
        add(f"{name} of stops within an interval or 15 s", _near(misses), "%", NEAR)
        add(f"{name} of stops within two or 45 s", _tolerable(misses), "%", TOLERABLE)
        seconds, intervals = seconds_off(misses), intervals_off(misses)
        for label, part in (("median", 0.5), ("p95", 0.95)):
            add(f"{name} of stops, {label}", percentile(seconds, part), "s")
            add(f"{name} of stops in intervals, {label}", percentile(intervals, part), "intervals")
    add("begins and ends without a report nearby", tally.unobserved, "")
    add("stops shorter than the least duration", tally.short_stops, "stops", NONE)
    add("missed or extra", 100 * tally.missed_or_extra, "%", ONE_PER_CENT)
    add("missed stops", tally.missed_stops, "stops")
    add("extra stops", tally.extra_stops, "stops")
    add("missed trips", tally.missed_trips, "trips")
    add("extra trips", tally.extra_trips, "trips")
    add("distance of a trip, median error", 100 * percentile(tally.distances, 0.5), "%", ONE_PER_CENT)
    add("distance of a trip, p95 error", 100 * percentile(tally.distances, 0.95), "%")
    add("distance of all trips, error", 100 * abs(tally.distance_error), "%", ONE_PER_CENT)
    add("distance added while standing", tally.added_metres_an_hour, "m/h", ADDED)
    add("duration of a trip, median error", percentile(tally.durations, 0.5), "s")
    add("duration of a trip, p95 error", percentile(tally.durations, 0.95), "s")
    add("events that differ from reports", tally.differing_events, "events", NONE)


def _add_group(summary: Summary, scenario: str, group: str, tally: Tally) -> None:
    def add(metric: str, value: float, unit: str) -> None:
        summary.add(scenario, f"{group}: {metric}", value, unit)

    add("days", tally.days, "days")
    add("begin of stops, median", percentile(seconds_off(tally.begins), 0.5), "s")
    add("begin of stops within two or 45 s", _tolerable(tally.begins), "%")
    add("end of stops, median", percentile(seconds_off(tally.ends), 0.5), "s")
    add("end of stops within two or 45 s", _tolerable(tally.ends), "%")
    add("missed or extra", 100 * tally.missed_or_extra, "%")
    add("distance of all trips, error", 100 * abs(tally.distance_error), "%")
    add("distance added while standing", tally.added_metres_an_hour, "m/h")


def _near(misses: Sequence[Miss]) -> float:
    return 100 * share_of(miss.is_near for miss in misses)


def _tolerable(misses: Sequence[Miss]) -> float:
    return 100 * share_of(miss.is_tolerable for miss in misses)
