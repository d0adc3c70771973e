"""Tracks of a device at random: it stands, drifts, walks, drives, is silent or without a fix, and there are
jumps and wrong clocks.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from math import sin

from hypothesis import strategies as st
from tests.actors.reports.brute_force import Point

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
DEGREE = 111_319.49
"""Metres of a degree of latitude."""

Run = tuple[int, int, bool, int, bool, bool | None, float, int]

RUNS = st.lists(
    st.tuples(
        # Seconds since the position before. Of positions that follow each other within 15 s at one place the
        # machine keeps the first and the last, which the brute force does not.
        st.sampled_from([0, 15, 20, 30, 60, 100, 179, 180, 181, 600, 1799, 1800, 3600, 3601, 9000]),
        # Metres along the way, and whether each second position leads back.
        st.sampled_from([0, 0, 0, 11, -11, 16, -16, 30, 60, 150, 199, 201, 500, -400, 900, 20_000, 60_000]),
        st.booleans(),
        st.sampled_from([0, 0, 0, 1, 5, 20, 50]),
        st.sampled_from([True, True, True, True, True, True, False]),
        st.sampled_from([None, None, True, False]),
        st.sampled_from([0.0] * 9 + [3600.0]),
        st.integers(1, 25),
    ),
    min_size=1,
    max_size=10,
)
"""Runs of alike positions: seconds, metres, whether it goes to and fro, knots, whether there is a fix, the
ignition, how far the clock is ahead, and how many positions there are.
"""


def track(runs: Sequence[Run], *, is_eastward: bool = False, begin: datetime = NOON) -> list[Point]:
    """Return the positions of runs along a meridian, or along a parallel."""
    points: list[Point] = []
    time, metres = begin, 0.0
    for seconds, step, leads_back, knots, valid, ignition, ahead, times in runs:
        # To and fro further than receivers drift, positions would count by one rule and not by another.
        leads_back = leads_back and abs(step) <= 60  # noqa: PLW2901
        is_known = ignition is not None and not (ignition is False and knots >= 2)
        for count in range(times if seconds else 1):
            time += timedelta(seconds=seconds)
            metres += max(step, 30) if seconds < 15 else -step if leads_back and count % 2 else step
            number = len(points)
            # No two positions are as far from each other as two others: that would leave much to rounding.
            along = (metres + 0.4 * sin(number)) / DEGREE
            points.append(
                Point(
                    time,
                    52.0 if is_eastward else 52.0 + along,
                    13.0 + along / 0.615 if is_eastward else 13.0,
                    float(knots),
                    number,
                    {"ignition": ignition} if is_known else {},
                    valid,
                    ahead,
                )
            )
    return points


def with_lost_places(points: Sequence[Point], numbers: Sequence[int]) -> list[Point]:
    """Return them with some at 0, 0 without a fix."""
    lost = {number % len(points) for number in numbers}
    return [
        Point(p.time, 0.0, 0.0, p.speed, p.number, p.attributes, valid=False, ahead=p.ahead)
        if p.number in lost
        else p
        for p in points
    ]


def with_wrong_fixes(points: Sequence[Point], wrong: Sequence[tuple[int, int]]) -> list[Point]:
    """Return them with positions that are so many metres off, two seconds before the one of a number."""
    metres = {number % len(points): away for number, away in wrong}
    found = [*points[:1]]
    for before, point in pairwise(points):
        if point.number in metres and point.time - before.time > timedelta(seconds=17):
            north = point.latitude + metres[point.number] / DEGREE
            found.append(replace(point, time=point.time - timedelta(seconds=2), latitude=north, valid=True))
        found.append(point)
    return [replace(point, number=number) for number, point in enumerate(found)]
