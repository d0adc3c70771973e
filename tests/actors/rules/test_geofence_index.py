"""The index of geofences, against testing them one by one."""

import contextlib
import itertools
import math
import re
from unittest.mock import patch

import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from motorpool.actors.rules import edge_columns, geofence_index
from motorpool.actors.rules.area import read_area
from motorpool.actors.rules.area_shapes import METRES_PER_DEGREE, Circle, Corridor, Polygon
from motorpool.actors.rules.geofence_index import (
    EMPTY,
    MAX_TILES,
    TILES_A_DEGREE,
    GeofenceIndex,
    IndexedGeofence,
    index_geofence,
)
from motorpool.storage.records import Geofence


def index_of(*areas, **fields):
    return GeofenceIndex(
        index_geofence(Geofence(id=number, area=area, **fields)) for number, area in enumerate(areas, 1)
    )


def test_nothing_contains_anything_where_there_are_no_geofences():
    assert EMPTY.containing(1.0, 2.0, 3.0) == []
    assert EMPTY.crossed((1.0, 2.0, 0.0), (3.0, 2.0, 0.0)) == []
    assert len(EMPTY) == 0
    assert EMPTY.get(1) is None


def test_ids_are_returned_in_ascending_order():
    index = GeofenceIndex(
        IndexedGeofence(id=number, area=read_area("CIRCLE (1 2, 100)")) for number in (7, 3, 5)
    )
    assert index.containing(1.0, 2.0) == [3, 5, 7]
    assert index.get(5).id == 5


def test_an_invalid_area_is_not_indexed():
    assert index_geofence(Geofence(id=1, area="CIRCLE (1 2)")) is None


@pytest.mark.parametrize(
    ("attributes", "wanted"),
    [
        ({}, (25.0, None, None, 0.0)),
        ({"polylineDistance": 40, "floor": -5, "ceiling": 80.5, "speedLimit": 30}, (40.0, -5.0, 80.5, 30.0)),
        ({"polylineDistance": -4, "speedLimit": -1}, (0.0, None, None, 0.0)),
        ({"polylineDistance": "40", "floor": True, "speedLimit": []}, (25.0, None, None, 0.0)),
        ({"polylineDistance": 10**400, "floor": 10**400}, (25.0, None, None, 0.0)),
    ],
)  # fmt: skip
def test_attributes_of_a_geofence_are_read_leniently(attributes, wanted):
    area = "LINESTRING (1 2, 1 3)"
    found = index_geofence(Geofence(id=1, area=area, calendar_id=9, attributes=attributes))
    width, *others = wanted
    assert [found.floor, found.ceiling, found.speed_limit] == others
    for metres in (width - 0.1, width + 0.1):
        assert found.area.contains(1 + metres / METRES_PER_DEGREE, 2.5) == (0 <= metres <= width)
    assert found.calendar_id == 9


def test_a_geofence_that_is_known_to_contain_an_end_is_not_crossed():
    index = index_of("CIRCLE (1 2, 100)", "CIRCLE (1 2, 50)")
    assert index.crossed((0.5, 2.0, 0.0), (1.5, 2.0, 0.0)) == [1, 2]
    assert index.crossed((0.5, 2.0, 0.0), (1.5, 2.0, 0.0), (1, 7)) == [2]


def test_floor_and_ceiling_are_inside():
    index = index_of("CIRCLE (1 2, 100)", attributes={"floor": 10, "ceiling": 20})
    assert [index.containing(1.0, 2.0, height) for height in (9.9, 10.0, 20.0, 20.1)] == [[], [1], [1], []]


def test_a_corridor_is_found_within_its_own_width():
    index = index_of("LINESTRING (60 10, 60 11)", attributes={"polylineDistance": 1114})
    assert index.containing(60.01, 10.5) == [1]
    assert index_of("LINESTRING (60 10, 60 11)").containing(60.01, 10.5) == []


@pytest.mark.parametrize("longitude", [180.0, -180.0, 540.0, 179.99, -180.01])
def test_areas_across_the_antimeridian_are_found_from_both_sides(longitude):
    index = index_of(
        "CIRCLE (0 179.99, 5000)",
        "POLYGON ((-1 179, -1 -179, 1 -179, 1 179))",
        "LINESTRING (0 178, 0 -178)",
        "POLYGON ((-1 0, -1 1, 1 1, 1 0))",
    )
    assert index.containing(0.0, longitude) == [1, 2, 3]


@pytest.mark.parametrize("many", [False, True])
def test_a_point_that_is_not_on_earth_is_in_no_geofence(many):
    world = "POLYGON ((-90 -180, -90 180, 90 180, 90 -180))"
    index = index_of(*[world] * 100) if many else index_of(world)
    for latitude, longitude in [(math.nan, 0.0), (0.0, math.nan), (91.0, 0.0), (0.0, math.inf)]:
        assert index.containing(latitude, longitude) == []
        assert index.crossed((0.0, 0.0, 0.0), (latitude, longitude, math.nan)) == []
    assert len(index.containing(0.0, 0.0)) == len(index)


def test_crowded_cells_and_many_cells_are_found_as_well():
    places = [(n % 90 - 45 + n / 1000, n * 0.07 - 170) for n in range(5000)]
    index = index_of(*(f"CIRCLE (10.005 20.005, {n + 1})" for n in range(200)), "CIRCLE (-30 40, 9)")
    assert index.containing(10.005, 20.005) == [*range(1, 201)]
    assert all(index.containing(*place) == [] for place in places)
    assert index.containing(-30.0, 40.0) == [201]
    assert index.containing(10.005, 20.005 + 0.0009) == [*range(99, 201)]  # 98.7 m away


SQUARE = "POLYGON ((0 0, 0 1, 1 1, 1 0))"


@pytest.mark.parametrize(
    ("area", "start", "end", "crossed"),
    [
        (SQUARE, (0.5, -1), (0.5, 2), True),
        (SQUARE, (0.5, 0.5), (0.5, 2), False),
        (SQUARE, (0.5, -1), (0.5, 0.5), False),
        (SQUARE, (2, -1), (2, 2), False),
        (SQUARE, (0.5, -1), (0.5, -1), False),
        ("POLYGON ((0 0, 0 9, 9 9, 9 0), (1 1, 1 8, 8 8, 8 1))", (4, 4), (4, 10), True),
        ("POLYGON ((0 0, 0 9, 9 9, 9 0), (1 1, 1 8, 8 8, 8 1))", (4, 4), (5, 5), False),
        ("CIRCLE (52 13, 500)", (52, 12.9), (52, 13.1), True),
        ("CIRCLE (52 13, 500)", (52.01, 12.9), (52.01, 13.1), False),
        ("CIRCLE (0 180, 500)", (0, 179.9), (0, -179.9), True),
        ("LINESTRING (52 13, 52 14)", (51.9, 13.5), (52.1, 13.5), True),
        ("LINESTRING (52 13, 52 14)", (52.001, 13.2), (52.001, 13.5), False),
        ("LINESTRING (52 13, 52 14)", (52.1, 12.9999), (51.9, 12.9999), True),
        ("LINESTRING (0 179, 0 -179)", (-1, 179.9), (1, -179.9), True),
        ("POLYGON ((-1 179, -1 181, 1 181, 1 179))", (0, 178), (0, -178), True),
        # The shorter way round, and so not through the square.
        ("POLYGON ((-1 -1, -1 1, 1 1, 1 -1))", (0, -100), (0, 100), False),
    ],
)
def test_a_segment_crosses_what_it_meets_between_its_ends(area, start, end, crossed):
    found = index_of(area).crossed((*map(float, start), 0.0), (*map(float, end), 0.0))
    assert found == ([1] if crossed else [])


def test_a_segment_that_is_wholly_above_the_ceiling_crosses_nothing():
    index = index_of(SQUARE, attributes={"floor": 10, "ceiling": 20})
    assert index.crossed((0.5, -1.0, 21.0), (0.5, 2.0, 30.0)) == []
    assert index.crossed((0.5, -1.0, 0.0), (0.5, 2.0, 9.0)) == []
    assert index.crossed((0.5, -1.0, 0.0), (0.5, 2.0, 30.0)) == [1]


points = st.tuples(st.floats(-90, 90), st.floats(-360, 360))


def near(point, spread):
    return st.tuples(st.floats(-spread, spread), st.floats(-spread, spread)).map(
        lambda by: (max(-90.0, min(90.0, point[0] + by[0])), max(-360.0, min(360.0, point[1] + by[1])))
    )


def written(ring):
    return ", ".join(f"{y!r} {x!r}" for y, x in ring)


@st.composite
def areas(draw, centres, spreads):
    centre, spread = draw(centres), draw(st.sampled_from(spreads))
    kind = draw(st.sampled_from(["CIRCLE", "POLYGON", "LINESTRING"]))
    if kind == "CIRCLE":
        return f"CIRCLE ({written([centre])}, {draw(st.floats(0, spread * 111_000))!r})"
    if kind == "LINESTRING":
        return f"LINESTRING ({written(draw(st.lists(near(centre, spread), min_size=2, max_size=80)))})"
    ring = st.lists(near(centre, spread), min_size=4, max_size=9, unique=True)
    return f"POLYGON ({', '.join(f'({written(r)})' for r in draw(st.lists(ring, min_size=1, max_size=3)))})"


@st.composite
def fleets(draw, centres=points, spreads=(0.001, 0.1, 5.0, 80.0), widths=(0.0, 25.0, 5e4, 1e7)):
    """Geofences, a point among them, and another."""
    texts = draw(st.lists(areas(centres, spreads), min_size=1, max_size=6))
    width = {"polylineDistance": draw(st.sampled_from(widths))}
    rows = [Geofence(id=i, area=text, attributes=width) for i, text in enumerate(texts, 1)]
    numbers = [
        float(word) for word in texts[0].replace(",", " ").replace("(", " ").replace(")", " ").split()[1:]
    ]
    around = near((numbers[0], numbers[1]), draw(st.sampled_from([0.0, 0.001, 0.1, 5.0])))
    return rows, draw(around), draw(around)


# More boxes than are tested one by one, away from those that are drawn.
CROWD = [Geofence(id=1000 + i, area=f"CIRCLE ({i % 10 - 80} {i}.5, 10)") for i in range(100)]


AS_MANY = patch.object(geofence_index, "FEW_STEPS", -1)
"""Tests few edges as if they were many."""
ways = pytest.mark.parametrize("way", [contextlib.nullcontext(), AS_MANY], ids=["one by one", "columns"])


@ways
@pytest.mark.parametrize("crowd", [[], CROWD], ids=["few", "many"])
@given(fleet=fleets())
@settings(max_examples=80)
def test_the_index_contains_what_testing_each_area_finds(crowd, way, fleet):
    rows, (latitude, longitude), _ = fleet
    geofences = [g for g in map(index_geofence, [*rows, *crowd]) if g is not None]
    wrapped = longitude if -180 <= longitude <= 180 else math.remainder(longitude, 360)
    one_by_one = [g.id for g in geofences if g.area.contains(latitude, wrapped)]
    with way:
        assert GeofenceIndex(geofences).containing(latitude, longitude) == one_by_one


@given(
    fleet=fleets(
        st.one_of(
            st.tuples(st.floats(-90, 90), st.floats(-180, 180)),
            st.tuples(st.floats(-80, 80), st.sampled_from([-180.0, 179.9995, 180.0])),
            st.tuples(st.sampled_from([-90.0, 89.999]), st.floats(-180, 180)),
        ),
        (0.0005, 0.003, 0.1, 80.0),
    ),
    limits=st.sampled_from([{}, {"floor": 10}, {"ceiling": 20}]),
    places=st.lists(
        st.tuples(st.floats(0, 3), st.floats(0, 3)) | st.tuples(st.integers(0, 3), st.integers(0, 3)),
        min_size=6,
        max_size=12,
    ),
)
@settings(max_examples=200)
def test_positions_in_known_tiles_have_the_geofences_that_testing_each_finds(fleet, limits, places):
    rows, (latitude, longitude), _ = fleet
    for row in rows[::2]:
        row.attributes.update(limits)
    geofences = [g for g in map(index_geofence, [*rows, *CROWD]) if g is not None]
    index = GeofenceIndex(geofences)
    south, west = (math.floor(degrees * TILES_A_DEGREE) for degrees in (latitude, longitude))
    track = [((south + y) / TILES_A_DEGREE, (west + x) / TILES_A_DEGREE, 15.0) for y, x in places]
    on_earth = [place for place in track if -90 <= place[0] <= 90 and -180 <= place[1] <= 180]
    for place in (*on_earth, *on_earth):  # the tiles are known from the second time on
        assert index.containing(*place) == [g.id for g in geofences if g.contains(*place)]
    for start, end in itertools.product(on_earth, on_earth):
        assert index.crossed(start, end) == [g.id for g in geofences if g.is_crossed(start, end)]


@given(areas(points, (0.0005, 0.003, 0.1)), st.data())
@settings(max_examples=300)
def test_a_box_that_an_area_holds_lies_in_it_and_one_that_it_does_not_hold_beside_it(text, data):
    area = read_area(text)
    numbers = [float(word) for word in re.sub("[(),]", " ", text).split()[1:]]
    south, west = data.draw(near((numbers[0], numbers[1]), data.draw(st.sampled_from([0.0, 0.002, 0.05]))))
    box = south, west, south + 0.00125, west + 0.00125
    # What is on its border is a matter of rounding.
    among = st.tuples(st.floats(south + 1e-5, south + 0.00124), st.floats(west + 1e-5, west + 0.00124))
    start, end = data.draw(among), data.draw(among)
    holds = area.holds(box)
    if holds is not None and max(start[0], end[0]) <= 90:
        held = [area.contains(y, math.remainder(x, 360)) for y, x in (start, end)]
        assert held == [holds, holds]
        if not holds or area.__class__ is Polygon:
            assert not area.is_crossed(start, end)


def test_areas_hold_boxes_within_and_beside_them():
    within, beside, across = (0, 0, 0.001, 0.001), (0.01, 0, 0.011, 0.001), (0, 0.005, 0.001, 0.006)
    boxes = within, beside, across
    for text, wanted in [
        ("CIRCLE (0 0, 612)", [True, False, None]),
        ("POLYGON ((-0.005 -0.0055, -0.005 0.0055, 0.005 0.0055, 0.005 -0.0055))", [True, False, None]),
        ("LINESTRING (0 -0.1, 0 0.1)", [None, False, None]),
    ]:
        assert [read_area(text).holds(tuple(map(float, box))) for box in boxes] == wanted


def test_what_lies_in_a_known_tile_is_not_tested_again():
    index = index_of("POLYGON ((0 0, 0 1, 1 1, 1 0))", *(f"CIRCLE (-60 {n}, 10)" for n in range(100)))
    assert [index.containing(0.5, 0.5) for _ in range(2)] == [[1], [1]]
    with patch.object(Polygon, "contains", side_effect=AssertionError):
        assert index.containing(0.5001, 0.5001) == [1]
        assert index.crossed((0.5, 0.5, 0.0), (0.5001, 0.5001, 0.0)) == []


def test_no_more_tiles_are_remembered_than_the_limit():
    index = index_of(*(f"CIRCLE (-60 {n}, 10)" for n in range(100)))
    for n in range(2 * MAX_TILES + 10):
        index.containing(0.0, n / TILES_A_DEGREE)
        assert len(index._tiles) <= MAX_TILES


NO_EXTENT = re.compile(r"^CIRCLE .*, 0(\.0)?\)$")


@given(fleets(widths=(25.0, 5e4, 1e7)))
@settings(max_examples=200)
def test_a_segment_meets_in_columns_what_it_meets_edge_by_edge(fleet):
    rows, start, end = fleet
    areas = [index_geofence(row).area for row in rows if not NO_EXTENT.search(row.area)]
    # Whether a segment meets what has no extent is a matter of rounding, and edge by edge its nearest point
    # is found on a plane, which circles of a continent are not.
    areas = [area for area in areas if not (isinstance(area, Circle) and area.radius > 1e6)]
    one_by_one = [area.is_crossed(start, end) for area in areas]
    assert edge_columns.which_are_crossed(areas, start, end) == one_by_one


@ways
@pytest.mark.parametrize("crowd", [[], CROWD], ids=["few", "many"])
@given(fleet=fleets(st.tuples(st.floats(-60, 60), st.floats(-360, 360)), (0.001, 0.1), (25.0, 5e3)))
@settings(max_examples=60)
def test_a_segment_crosses_what_a_point_of_it_lies_in(crowd, way, fleet):
    rows, start, end = fleet
    step = end[1] - start[1]
    places = [(start[0] + (end[0] - start[0]) * i / 50, start[1] + step * i / 50) for i in range(51)]
    geofences = [g for g in map(index_geofence, [*rows, *crowd]) if g is not None]
    index = GeofenceIndex(geofences)
    with way:
        found = index.crossed((*start, 0.0), (*end, 0.0))
    held = [set(index.containing(*place)) for place in places]
    # What a segment touches in passing is a matter of rounding: so the neighbour lies in it as well.
    through = {number for one, other in itertools.pairwise(held) for number in one & other}
    ends = {*index.containing(*start), *index.containing(*end)}
    assert through - ends <= set(found)
    assert not ends & set(found)


@st.composite
def small_corridors(draw):
    """The line of a corridor within two tenths of a degree, its half width, and a segment among it."""
    latitude, longitude = draw(st.floats(-85, 85)), draw(st.floats(-180, 180))
    spread = draw(st.sampled_from([0.001, 0.02, 0.09]))
    point = st.tuples(st.floats(-spread, spread), st.floats(-spread, spread))
    line, segment = draw(st.lists(point, min_size=2, max_size=4)), draw(st.tuples(point, point))
    placed = [(latitude + north, longitude + east) for north, east in (*line, *segment)]
    return placed[:-2], draw(st.floats(1, 10_000)), placed[-2], placed[-1]


@given(small_corridors())
@settings(max_examples=200)
def test_a_segment_meets_a_small_corridor_that_a_point_of_it_lies_in(drawn):
    line, metres, start, end = drawn
    narrow = Corridor(line, metres * 0.99)
    north, east = end[0] - start[0], end[1] - start[1]
    held = [narrow.contains(start[0] + north * i / 40, start[1] + east * i / 40) for i in range(41)]
    assert Corridor(line, metres).is_crossed(start, end) or not any(held)


thousandths = st.integers(-1000, 1000).map(lambda number: number / 1000)
small = st.tuples(thousandths, thousandths)


@given(st.lists(small, min_size=3, max_size=12, unique=True), small, small, st.floats(-180, 180))
def test_a_segment_meets_a_small_polygon_as_in_the_plane(ring, start, end, east):
    plane = shapely.Polygon([(x, y) for y, x in ring])
    line = shapely.LineString([start[::-1], end[::-1]])
    # What only touches is undefined.
    inner, outer = plane.buffer(-1e-7), plane.buffer(1e-7)
    if not plane.is_valid or inner.intersects(line) != outer.intersects(line):
        return
    area = read_area(f"POLYGON (({written([(y, x + east) for y, x in ring])}))")
    ends = (start[0], start[1] + east), (end[0], end[1] + east)
    assert (area.is_crossed(*ends) or area.contains(*ends[0])) == plane.intersects(line)


def zigzag(south, north, *longitudes):
    places = [((north if number % 2 else south), east) for number, east in enumerate(longitudes)]
    return f"LINESTRING ({written(places)})"


def steps_from(west):
    return (west + number * 0.001 for number in range(2000))


@contextlib.contextmanager
def counted_distances():
    """Count the distances between a point and an edge that are computed in columns."""
    counted = []

    def metres_to(edges, y, x, measured=edge_columns._metres_to):
        found = measured(edges, y, x)
        counted.append(found.size)
        return found

    with patch.object(edge_columns, "_metres_to", metres_to):
        yield counted


@pytest.mark.parametrize(
    ("area", "start", "end", "most"),
    [
        # Beside all its edges, though within the box around most of them.
        (zigzag(-90, 90, *steps_from(13.0)), (52.0, 13.0011, 0.0), (52.0, 13.0019, 0.0), 200),
        (zigzag(40, 60, *steps_from(-10.0)), (50.0, -20.0, 0.0), (50.0, -11.0, 0.0), 200),
        # Through the middle of them all.
        (zigzag(-90, 90, *steps_from(13.0)), (52.0, 10.0, 0.0), (52.0, 17.0, 0.0), 10 * 2000 * 5),
        # A line that goes round the earth hundreds of times.
        (zigzag(-80, 80, *[-180, -60, 60] * 600), (10.0, 20.0, 0.0), (10.0, 20.001, 0.0), 200),
    ],
)
def test_few_distances_are_computed_for_a_segment_among_many_edges(area, start, end, most):
    index = index_of(*[area] * 10)
    with counted_distances() as counted:
        index.containing(*start)
        index.containing(*end)
        index.crossed(start, end)
    assert sum(counted) <= most
