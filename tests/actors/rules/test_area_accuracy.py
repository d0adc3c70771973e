"""The error of areas that docs/geofences.md#accuracy states, against geodesics of the WGS 84 ellipsoid."""

import math

import pytest
from geographiclib.geodesic import Geodesic
from hypothesis import given
from hypothesis import strategies as st

from motorpool.actors.rules.area import read_area

WGS84 = Geodesic.WGS84
INNER, OUTER = (
    0.9932,
    1.0034,
)  # a sphere of 6,378,137 m is this much too large at the equator, too small at a pole


def metres(start, end):
    return WGS84.Inverse(*start, *end, Geodesic.DISTANCE)["s12"]


def reached(start, azimuth, distance):
    found = WGS84.Direct(*start, azimuth, distance)
    return found["lat2"], found["lon2"]


azimuths = st.floats(0, 360)


@given(st.tuples(st.floats(-89.9, 89.9), st.floats(-180, 180)), azimuths, st.floats(10, 1_000_000))
def test_the_radius_of_a_circle_is_within_one_per_cent(centre, azimuth, radius):
    area = read_area(f"CIRCLE ({centre[0]!r} {centre[1]!r}, {radius!r})")
    assert area.contains(*reached(centre, azimuth, INNER * radius))
    assert not area.contains(*reached(centre, azimuth, OUTER * radius))


@pytest.mark.parametrize(("latitude", "azimuth", "ratio"), [(0, 0, 1.00674), (90, 0, 0.99665), (0, 90, 1)])
def test_the_extremes_are_at_the_equator_and_the_poles(latitude, azimuth, ratio):
    end = reached((latitude, 0.0), azimuth, 1000)
    radius = 1000 * ratio
    assert read_area(f"CIRCLE ({latitude} 0, {radius + 0.1})").contains(*end)
    assert not read_area(f"CIRCLE ({latitude} 0, {radius - 0.1})").contains(*end)


def nearest(start, end, point):
    """Metres to a line that is straight in degrees, by ever closer samples."""
    low, high = 0.0, 1.0
    best = math.inf
    for _ in range(9):
        shares = [low + (high - low) * i / 8 for i in range(9)]
        found = [
            metres((start[0] + (end[0] - start[0]) * t, start[1] + (end[1] - start[1]) * t), point)
            for t in shares
        ]
        place = found.index(min(found))
        best = min(best, found[place])
        low, high = shares[max(0, place - 1)], shares[min(8, place + 1)]
    return best


@given(
    st.tuples(st.floats(-70, 70), st.floats(-170, 170)),
    azimuths,
    st.floats(10, 100_000),
    st.floats(0, 1),
    azimuths,
    st.floats(5, 5000),
)
def test_the_width_of_a_corridor_is_within_one_per_cent(start, azimuth, length, share, aside, away):
    end = reached(start, azimuth, length)
    on_line = (start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share)
    point = reached(on_line, aside, away)
    distance = nearest(start, end, point)
    if distance < 1:
        return
    line = f"LINESTRING ({start[0]!r} {start[1]!r}, {end[0]!r} {end[1]!r})"
    assert read_area(line, corridor_metres=1.01 * distance + 0.01).contains(*point)
    assert not read_area(line, corridor_metres=0.99 * distance - 0.01).contains(*point)


@pytest.mark.parametrize(("length", "aside"), [(1_000, 0.035), (10_000, 3.5), (100_000, 345)])
def test_an_edge_differs_from_the_geodesic_between_its_ends(length, aside):
    """At 60 degrees, where the edge runs east, and the geodesic north of it."""
    start = (60.0, 10.0)
    end = (60.0, 10.0 + length / metres(start, (60.0, 11.0)))
    line = WGS84.InverseLine(*start, *end)
    middle = line.Position(line.s13 / 2)
    away = metres((middle["lat2"], middle["lon2"]), (60.0, middle["lon2"]))
    assert 0.9 * aside < away < aside
    area = read_area(f"POLYGON ((59 {start[1]}, {start[0]} {start[1]}, {end[0]} {end[1]}, 59 {end[1]}))")
    assert area.contains(60.0 - 1e-9, middle["lon2"])
    assert not area.contains(60.0 + 1e-9, middle["lon2"])


def mercator(latitude):
    return math.log(math.tan(math.pi / 4 + math.radians(latitude) / 2))


@pytest.mark.parametrize(("length", "aside"), [(10_000, 1.3), (100_000, 130)])
def test_an_edge_differs_from_the_line_on_a_mercator_map(length, aside):
    """At 60 degrees, of an edge to the north-east; one that runs north or east has no such difference."""
    start = (60.0, 10.0)
    end = reached(start, 45, length)
    low, high = mercator(start[0]), mercator(end[0])
    middle = math.degrees(2 * math.atan(math.exp((low + high) / 2)) - math.pi / 2)
    point = (middle, (start[1] + end[1]) / 2)
    away = nearest(start, end, point)
    assert 0.8 * aside < away < aside
