"""The way along positions of which some are wrong (docs/reports.md#distance)."""

from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from motorpool.actors.reports.path import Path, PathState
from motorpool.actors.rules.distance import DEGREE
from motorpool.actors.rules.trip_detection import TrackPoint

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
METRE = 1 / DEGREE


def way(*points):
    """Return the metres that each (seconds, metres to the north, knots) adds; the state is stored before."""
    state, found = PathState(), []
    for number, (seconds, north, knots) in enumerate(points):
        path = Path(state, 162.0)
        when = NOON + timedelta(seconds=seconds)
        late, step = path.add(TrackPoint(number, when, north * METRE, 0.0, knots))
        if late:
            found[-1] += late / 100
        found.append(step / 100)
        state = msgspec.json.decode(msgspec.json.encode(path.state), type=PathState)
    return pytest.approx(found, abs=0.1)


def test_a_wrong_position_adds_nothing():
    wrong = (200, 3000, 10)
    assert way((0, 0, 10), wrong, (210, 50, 10), (220, 101, 10)) == [0, 0, 50, 51]
    assert way((0, 0, 0), (120, 900, 0), (140, 10, 0), (200, 80, 0)) == [0, 0, 0, 80]


def test_a_device_that_tells_no_speed_comes_along_all_the_same():
    assert way((0, 0, 0), (60, 1800, 0), (120, 3600, 0), (180, 3600, 0)) == [0, 1800, 1800, 0]


def test_what_the_next_position_agrees_with_counts():
    assert way((0, 0, 0), (300, 2000, 0), (360, 2000, 0)) == [0, 2000, 0]


def test_after_a_silence_a_position_needs_no_other():
    assert way((0, 0, 0), (1801, 20_000, 0)) == [0, 20_000]
    assert way((0, 0, 0), (1801, 20_000, 0), (1831, 20_200, 10)) == [0, 20_000, 200]


def test_after_a_silence_a_position_that_the_next_one_shows_to_be_wrong_adds_nothing():
    assert way((0, 0, 0), (1801, 20_000, 0), (1831, 500, 10), (1861, 700, 10)) == [0, 0, 500, 200]


def test_after_a_wrong_beginning_the_way_goes_on():
    assert way((0, 1500, 10), (20, 0, 10), (40, 100, 10), (60, 200, 10)) == [0, 262.9, 100, 100]


@pytest.mark.parametrize("knots", [1e308, -1e308])
def test_speeds_that_no_vehicle_has_leave_a_state_that_can_be_stored(knots):
    standing = [(second, 0.0, knots) for second in range(0, 100, 10)]
    assert way(*standing, (100, 50, 10), (110, 100, 10)) == [0.0] * 10 + [50, 50]
