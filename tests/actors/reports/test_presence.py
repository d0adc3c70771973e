"""Stays of a track within a circle, against points taken from it one by one."""

import math
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from motorpool.actors.reports.presence import Circle, IntervalFinder
from motorpool.storage.reports.report_places import Step, StepEnd

BEGIN = datetime(2026, 5, 1, tzinfo=UTC)
METRES = 6_371_000 * math.pi / 180
RADIUS = 200.0
CIRCLE = Circle(60.0, 0.0, RADIUS)
SAMPLES = 40

fixes = st.lists(
    st.tuples(
        st.sampled_from([10, 60, 299, 300, 301, 3600]),
        st.integers(-600, 600),
        st.integers(-600, 600),
    ),
    min_size=1,
    max_size=8,
)


def distance(x, y):
    return math.hypot(x, y)


def sampled(track):
    """Seconds at which the vehicle is known to be inside, and those at which it is close to the edge."""
    inside, edge = set(), set()

    def see(second, x, y):
        (inside if distance(x, y) < RADIUS else set()).add(second)
        if abs(distance(x, y) - RADIUS) < 1:
            edge.add(second)

    for time, x, y in track:
        see(time, x, y)
    for (time0, x0, y0), (time, x, y) in pairwise(track):
        for index in range(1, SAMPLES):
            part = index / SAMPLES
            second = time0 + part * (time - time0)
            if time - time0 <= 300:
                see(second, x0 + part * (x - x0), y0 + part * (y - y0))
            elif max(distance(x0, y0), distance(x, y)) < RADIUS:
                inside.add(second)
    return inside, edge


@given(fixes)
def test_stays_hold_what_is_inside_and_nothing_else(found):
    track, second = [], 0
    for lasts, x, y in found:
        second += lasts
        track.append((second, x, y))
    ends = [
        StepEnd(
            BEGIN + timedelta(seconds=time),
            60 + y / METRES,
            x / (METRES * math.cos(math.radians(60))),
        )
        for time, x, y in track
    ]
    finder = IntervalFinder(CIRCLE)
    stays = [finder.add(Step(before, *end)) for before, end in zip([None, *ends], ends, strict=False)]
    stays = [each for each in (*stays, finder.end()) if each is not None]
    spans = [((each.start - BEGIN).total_seconds(), (each.end - BEGIN).total_seconds()) for each in stays]
    assert all(end < start for (_, end), (start, _) in pairwise(spans))
    assert all(each.distance <= RADIUS for each in stays)

    inside, edge = sampled(track)
    times = {time for time, _, _ in track}
    for time0, time in pairwise(sorted(times)):
        times |= {time0 + index / SAMPLES * (time - time0) for index in range(1, SAMPLES)}
    covered = {time for time in times if any(start - 1e-4 <= time <= end + 1e-4 for start, end in spans)}
    assert (covered ^ inside) - edge == set()


def test_a_way_through_the_circle_between_two_fixes_counts():
    finder = IntervalFinder(CIRCLE)
    way = 1000 / METRES
    first = StepEnd(BEGIN, 60 - way, 0.0)
    last = StepEnd(BEGIN + timedelta(seconds=100), 60 + way, 0.0)
    assert finder.add(Step(None, *first)) is None
    assert finder.add(Step(first, *last)) is None
    stay = finder.end()
    assert stay is not None
    assert abs(stay.start - BEGIN - timedelta(seconds=40)) < timedelta(seconds=0.1)
    assert abs(stay.end - BEGIN - timedelta(seconds=60)) < timedelta(seconds=0.1)
    assert stay.distance < 0.1
