"""A comparison of a day that was reported well."""

from motorpool.bench.roads.comparison import Comparison
from motorpool.bench.roads.stop_comparison import Miss, StopComparison
from motorpool.bench.roads.trip_comparison import TripComparison

GOOD = Comparison(
    kind="van",
    interval=30.0,
    stops=StopComparison(
        judged=10,
        begins=(Miss(10.0, 30.0), Miss(-20.0, 30.0), Miss(40.0, 30.0)),
        ends=(Miss(5.0, 30.0),) * 3,
        unobserved=1,
        missed=0,
        extra=0,
        merged=(),
        ignored=(),
    ),
    trips=TripComparison(
        trips=11,
        missed=0,
        extra=0,
        distances=(0.001, -0.004, 0.02),
        durations=(12.0, -30.0),
        reported_metres=99_500.0,
        true_metres=100_000.0,
        added_metres=200.0,
        standing_hours=20.0,
    ),
    short_stops=0,
    differing_events=0,
    is_in_order=True,
)
