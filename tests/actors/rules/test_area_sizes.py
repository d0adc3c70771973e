"""How large areas are."""

import math

import pytest
from geographiclib.geodesic import Geodesic

from motorpool.actors.rules.area import read_area
from motorpool.actors.rules.distance import EARTH_RADIUS, great_circle

SPHERE = Geodesic(EARTH_RADIUS, 0)


def size(text):
    return read_area(text).square_metres


def test_of_a_circle():
    assert size("CIRCLE (52 13, 100)") == pytest.approx(math.pi * 100**2)


@pytest.mark.parametrize(
    "points",
    [
        [(52.0, 13.0), (52.0, 13.02), (52.02, 13.02), (52.02, 13.0)],
        [(52.0, 13.0), (52.02, 13.0), (52.01, 13.04)],
        [(-17.0, 179.99), (-17.0, -179.99), (-17.02, -179.99), (-17.02, 179.99)],
    ],
)
def test_of_a_polygon(points):
    polygon = SPHERE.Polygon()
    for point in points:
        polygon.AddPoint(*point)
    _, _, true = polygon.Compute()
    text = ", ".join(f"{latitude} {longitude}" for latitude, longitude in points)
    # Edges are straight in degrees, and not great circles.
    assert size(f"POLYGON (({text}))") == pytest.approx(abs(true), rel=1e-3)


def test_holes_of_a_polygon_do_not_count():
    outer, hole = "0 0, 0 3, 3 3, 3 0", "1 1, 2 1, 2 2, 1 2"
    without = size(f"POLYGON (({outer}), ({hole}))")
    assert without == pytest.approx(size(f"POLYGON (({outer}))") - size(f"POLYGON (({hole}))"))


def test_of_a_polygon_around_a_pole():
    cap = 2 * math.pi * EARTH_RADIUS**2 * (1 - math.sin(math.radians(80)))
    assert size("POLYGON ((80 0, 80 90, 80 180, 80 -90))") == pytest.approx(cap)


def test_of_a_corridor():
    length = great_circle(52, 13, 53, 13)
    assert size("LINESTRING (52 13, 53 13)") == pytest.approx(length * 50 + math.pi * 25**2)
