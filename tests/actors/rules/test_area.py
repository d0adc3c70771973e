import math

import pytest
import shapely
from hypothesis import assume, example, given
from hypothesis import strategies as st

from motorpool.actors.rules.area import MAX_POINTS, read_area
from motorpool.actors.rules.area_shapes import AreaError

METRES_A_DEGREE = 111_319.49  # of a sphere of 6,378,137 m: 2 * pi * r / 360


def apart(latitude, longitude, to_latitude, to_longitude):
    """By the law of cosines for vectors, not by the formula under test."""
    a, b, c, d = map(math.radians, (latitude, longitude, to_latitude, to_longitude))
    one = (math.cos(a) * math.cos(b), math.cos(a) * math.sin(b), math.sin(a))
    two = (math.cos(c) * math.cos(d), math.cos(c) * math.sin(d), math.sin(c))
    cross = math.dist((0, 0, 0), (
        one[1] * two[2] - one[2] * two[1],
        one[2] * two[0] - one[0] * two[2],
        one[0] * two[1] - one[1] * two[0],
    ))  # fmt: skip
    return 6_378_137 * math.atan2(cross, sum(x * y for x, y in zip(one, two, strict=True)))


@pytest.mark.parametrize(
    ("area", "inside", "outside"),
    [
        # 0.001 degrees of latitude are 111.3 m.
        ("CIRCLE (52.5 13.4, 112)", [(52.5, 13.4), (52.501, 13.4)], [(52.5011, 13.4), (52.5, 13.402)]),
        ("CIRCLE(52.5 13.4,112.0)", [(52.501, 13.4)], [(52.5011, 13.4)]),
        # One degree of longitude at 60 north is half of one of latitude.
        ("CIRCLE (60 20, 55700)", [(60, 21), (60.5, 20)], [(60.51, 20), (60, 21.02)]),
        ("CIRCLE (0 179.9, 30000)", [(0, -179.9), (0, 179.7)], [(0, -179.8)]),
        ("CIRCLE (89.9 0, 30000)", [(89.9, 180), (90, 50)], [(89.8, 180)]),
        ("CIRCLE (10 10, 0)", [(10, 10)], [(10, 10.00001)]),
        ("POLYGON ((10 10, 10 20, 20 20, 20 10))", [(15, 15), (10.1, 19.9)], [(15, 9), (15, 21), (9, 15)]),
        ("POLYGON((10 10, 10 20, 20 20, 20 10, 10 10))", [(15, 15)], [(15, 25)]),
        ("POLYGON ((10 10,10 20,20 10))", [(12, 12)], [(18, 18)]),
        # An L: the notch is outside.
        ("POLYGON ((0 0, 0 4, 2 4, 2 2, 4 2, 4 0))", [(1, 3), (3, 1)], [(3, 3)]),
        # Across the antimeridian, in all the ways maps write it.
        ("POLYGON ((-10 170, -10 -170, 10 -170, 10 170))", [(0, 179), (0, -179)], [(0, 0), (0, 169)]),
        ("POLYGON ((-10 170, -10 190, 10 190, 10 170))", [(0, 179), (0, -179), (0, 171)], [(0, -169)]),
        ("POLYGON ((-10 -190, -10 -170, 10 -170, 10 -190))", [(0, 179), (0, -179)], [(0, 169), (0, 0)]),
        ("POLYGON ((0 170, 0 180, 0 -180, 0 -170, 9 -170, 9 170))", [(5, 175), (5, -175)], [(5, 0)]),
        # More than half way round, with points between.
        ("POLYGON ((0 -100, 0 0, 0 100, 9 100, 9 0, 9 -100))", [(5, 0), (5, -99)], [(5, 150)]),
        # The whole world; the arctic; the antarctic.
        ("POLYGON ((-90 -180, -90 180, 90 180, 90 -180))", [(0, 0), (-80, 170), (80, -170)], []),
        ("POLYGON ((70 0, 70 90, 70 180, 70 -90))", [(80, 45), (71, -135), (89, -1)], [(69, 45), (-80, 45)]),
        ("POLYGON ((-70 0, -70 -90, -70 180, -70 90))", [(-80, 45), (-71, -135)], [(-69, 45), (80, 45)]),
        # Holes, an island in a hole, and a second area, which is a ring beside the first.
        (
            "POLYGON ((0 0, 0 9, 9 9, 9 0), (2 2, 2 7, 7 7, 7 2, 2 2),"
            "(4 4, 4 5, 5 5, 5 4) , (0 10, 0 11, 1 11))",
            [(1, 1), (8, 8), (4.5, 4.5), (0.2, 10.9)],
            [(3, 3), (6, 6), (4.5, 9.5), (1, 10.1), (4.5, 3.5)],
        ),
        # Rings that differ by whole turns; holes across the antimeridian in the world, and in the arctic.
        (
            "POLYGON ((0 170, 0 190, 9 190, 9 170), (2 -178, 2 -172, 7 -172, 7 -178))",
            [(1, 175), (1, -175), (5, -179)],
            [(5, -175), (5, 169)],
        ),
        (
            "POLYGON ((-90 -180, -90 180, 90 180, 90 -180), (-5 170, -5 190, 5 190, 5 170))",
            [(0, 0), (0, 169), (6, 180)],
            [(0, 175), (0, -175), (0, 180)],
        ),
        (
            "POLYGON ((70 0, 70 90, 70 180, 70 -90), (80 -10, 80 10, 85 10, 85 -10))",
            [(75, 0), (89, 0), (82, 20)],
            [(82, 5), (82, -5), (69, 0)],
        ),
        ("LINESTRING (52 13, 52 14)", [(52.0002, 13.5), (52, 12.9997)], [(52.0003, 13.5), (52, 12.999)]),
        ("LINESTRING(0 0, 0 1, 1 1)", [(0.5, 1.0002), (0, 0.5)], [(0.5, 0.5)]),
        ("LINESTRING (0 179, 0 -179)", [(0, 180), (0.0002, -179.5), (0, 179.5)], [(0, 0), (0, 178)]),
        ("LINESTRING (5 5, 5 5)", [(5, 5), (5.0002, 5)], [(5.0003, 5)]),
    ],
)  # fmt: skip
def test_areas_hold_what_lies_in_them(area, inside, outside):
    shape = read_area(area)
    assert [point for point in inside if not shape.contains(*point)] == []
    assert [point for point in outside if shape.contains(*point)] == []


def test_a_corridor_is_as_wide_as_the_geofence_says():
    def held(metres, *point):
        return read_area("LINESTRING (60 10, 60 11)", corridor_metres=metres).contains(*point)

    assert held(1114, 60.01, 10.5)
    assert not held(1112, 60.01, 10.5)
    # East of its end, where a degree is half as long.
    assert held(558, 60, 11.01)
    assert not held(555, 60, 11.01)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "not CIRCLE"),
        ("POINT (1 2)", "not CIRCLE"),
        ("circle (1 2, 3)", "not CIRCLE"),
        ("CIRCLE (1 2, 3", "not CIRCLE"),
        ("CIRCLE (1 2, 3) x", "not CIRCLE"),
        ("CIRCLE (1 2)", "a point and a radius"),
        ("CIRCLE (1 2, 3, 4)", "a point and a radius"),
        ("CIRCLE (1, 2, 3)", "a point and a radius"),
        ("CIRCLE (1 2, -3)", "below 0"),
        ("CIRCLE (1 2, nan)", "the radius: 'nan' is no number"),
        ("CIRCLE (1 2, 1e999)", "no number"),
        ("CIRCLE (inf 2, 5)", "point 1: 'inf'"),
        ("CIRCLE (91 2, 5)", "latitude comes first"),
        ("CIRCLE (1 361, 5)", "point 1: longitude 361"),
        ("CIRCLE (1_0 2, 5)", "no number"),
        ("CIRCLE (\u0661 2, 5)", "no number"),
        ("POLYGON (1 2, 3 4, 5 6)", "a list of rings"),
        ("POLYGON ((1 2, 3 4, 5 6) (1 2, 3 4, 5 6))", "a list of rings"),
        ("POLYGON ((1 2, 3 4, 5 6), 1 2, 3 4, 5 6)", "a list of rings"),
        ("POLYGON ((1 2, 3 4, 5 6),)", "a list of rings"),
        ("POLYGON (((1 2, 3 4, 5 6)))", "a list of rings"),
        ("POLYGON ((1 2, 3 4, 5 6), (1 2, 3 4))", "ring 2 of the POLYGON needs at least 3 points"),
        ("POLYGON (" + ",".join(["(1 2, 3 4, 5 6)"] * (MAX_POINTS // 3 + 1)) + ")", "than 10000 points"),
        ("POLYGON ((1 2, 3 4))", "at least 3 points"),
        ("POLYGON ((1 2, 3 4, 1 2))", "at least 3 points"),
        ("POLYGON ((1 2, 3 4 5, 1 2))", "point 2"),
        ("POLYGON ((1 2, 3 4, 5 95x))", "point 3: '95x'"),
        ("POLYGON (())", "point 1"),
        ("LINESTRING (1 2)", "at least 2 points"),
        ("LINESTRING ((1 2, 3 4))", "point 1"),
        ("LINESTRING (" + ",".join(["1 2"] * (MAX_POINTS + 1)) + ")", "more than 10000 points"),
        ("POLYGON ((0 0, 0 120, 0 240, 0 360, 0 120, 0 240, 0 360, 0 120, 0 240, 0 360))", "winds"),
        ("LINESTRING (" + " " * (1 << 20) + ")", "longer than"),
    ],
)  # fmt: skip
def test_what_is_no_area_is_refused_with_the_reason(text, why):
    with pytest.raises(AreaError) as refused:
        read_area(text)
    assert why in str(refused.value)
    assert "\n" not in str(refused.value)


def test_the_longest_polygon_is_read_and_asked_quickly_enough_to_be_of_use():
    ring = [
        (math.cos(turn / MAX_POINTS * math.tau), math.sin(turn / MAX_POINTS * math.tau))
        for turn in range(MAX_POINTS - 1)
    ]
    shape = read_area("POLYGON ((" + ", ".join(f"{y:.9f} {x:.9f}" for y, x in ring) + "))")
    assert shape.contains(0.7, 0.7)
    assert not shape.contains(0.71, 0.71)


latitudes = st.floats(-89, 89)
longitudes = st.floats(-180, 180)


@given(latitudes, longitudes, st.floats(1, 2e7), latitudes, longitudes)
def test_a_circle_holds_the_points_within_its_radius(latitude, longitude, radius, y, x):
    distance = apart(latitude, longitude, y, x)
    inside = read_area(f"CIRCLE ({latitude!r} {longitude!r}, {radius!r})").contains(y, x)
    if abs(distance - radius) > 0.5:
        assert inside == (distance < radius)


small = st.tuples(st.floats(-1, 1), st.floats(-1, 1))


@given(
    st.lists(small, min_size=3, max_size=30, unique=True),
    small,
    st.floats(-80, 80),
    st.floats(-180, 180),
)
def test_a_small_polygon_holds_what_it_holds_in_the_plane(ring, point, north, east):
    plane = [(x + east, y + north) for y, x in ring]
    # Points that were no further apart than a float can tell are one.
    assume(len(set(plane)) == len(ring))
    shape = read_area("POLYGON ((" + ", ".join(f"{y!r} {x!r}" for x, y in plane) + "))")
    x, y = point[1] + east, point[0] + north
    border = shapely.LinearRing(plane)
    if border.distance(shapely.Point(x, y)) < 1e-9:
        return
    # Rings that cross themselves are no polygons to shapely.
    if shapely.Polygon(plane).is_valid:
        assert shape.contains(y, x) == shapely.Polygon(plane).contains(shapely.Point(x, y))
    wrapped = math.remainder(x, 360)
    assert shape.contains(y, wrapped + 360) == shape.contains(y, wrapped)


@given(st.lists(small, min_size=2, max_size=30), small, st.floats(5, 20_000), st.floats(-60, 60))
# A line of the least height a float can have: a band of latitude is so narrow that dividing by it overflows.
@example(line=[(0.0, 0.0), (5e-324, 0.0)], point=(0.0, 0.0), metres=5.0, north=0.0)
def test_a_corridor_holds_the_points_near_it(line, point, metres, north):
    # Near the equator of the test a plane is near enough: 2 % of the distance is left undecided.
    shrink = math.cos(math.radians(north + point[0]))
    text = "LINESTRING (" + ", ".join(f"{y + north!r} {x!r}" for y, x in line) + ")"
    shape = read_area(text, corridor_metres=metres)
    plane = shapely.LineString([(x * shrink, y) for y, x in line])
    distance = plane.distance(shapely.Point(point[1] * shrink, point[0])) * METRES_A_DEGREE
    inside = shape.contains(point[0] + north, point[1])
    if abs(distance - metres) > 0.02 * max(metres, distance) + 0.5:
        assert inside == (distance < metres)
