"""Places on the globe."""

from math import pi

import pytest

from motorpool.bench.roads.globe import DEGREE, Place, course_of, heading_of


def test_a_step_and_the_way_back() -> None:
    for place in (Place(52.5, 13.4), Place(-33.9, 151.2), Place(-16.8, 179.999)):
        other = place.moved(300.0, -400.0)
        assert place.metres_to(other) == pytest.approx(500.0, rel=1e-4)
        assert place.offset_to(other) == (pytest.approx(300.0), pytest.approx(-400.0))
        assert -180.0 <= other.longitude < 180.0


def test_a_degree_on_a_meridian() -> None:
    assert Place(0.0, 0.0).metres_to(Place(1.0, 0.0)) == pytest.approx(DEGREE)
    assert pytest.approx(111_319.49, abs=0.01) == DEGREE


def test_headings_are_clockwise_from_north() -> None:
    headings = [
        heading_of(*offset) for offset in ((0.0, 1.0), (1.0, 0.0), (0.0, -1.0), (-1.0, 0.0), (0.0, 0.0))
    ]
    assert [course_of(heading) for heading in headings] == [0.0, 90.0, 180.0, 270.0, 0.0]
    assert heading_of(1.0, -1.0) == pytest.approx(0.75 * pi)
