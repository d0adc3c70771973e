"""Drives that could have happened."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motorpool.bench.vehicles.city import ROUND_TRIPS
from motorpool.bench.vehicles.route import ACCELERATION, BRAKING, Drive, VehicleState

drives = st.builds(Drive, st.sampled_from(ROUND_TRIPS), st.integers(0, 10_000), backwards=st.booleans())
instants = st.floats(0, 100_000)


def metres_between(a: VehicleState, b: VehicleState) -> float:
    north = (b.latitude - a.latitude) * 111_195
    east = (b.longitude - a.longitude) * 111_195 * math.cos(math.radians(a.latitude))
    return math.hypot(north, east)


def bearing(a: VehicleState, b: VehicleState) -> float:
    north = b.latitude - a.latitude
    east = (b.longitude - a.longitude) * math.cos(math.radians(a.latitude))
    return math.degrees(math.atan2(east, north)) % 360


def angle_between(a: float, b: float) -> float:
    return abs((a - b + 180) % 360 - 180)


@settings(max_examples=60, deadline=None)
@given(drives, instants)
def test_a_vehicle_moves_as_far_as_its_speed_says(drive: Drive, start: float) -> None:
    a, b = drive.at(start), drive.at(start + 1)
    # Speeds change by at most the acceleration within the second; the straight line cuts corners a little.
    slowest = max(0.0, max(a.speed, b.speed) - BRAKING - 0.2) * 0.8
    fastest = min(a.speed, b.speed) + ACCELERATION + 2.0
    travelled = metres_between(a, b)
    assert travelled <= fastest
    if slowest > 2.0 and angle_between(a.course, b.course) < 30:
        assert travelled >= slowest - 1.0


@settings(max_examples=60, deadline=None)
@given(drives, instants)
def test_the_course_points_where_the_vehicle_goes(drive: Drive, start: float) -> None:
    a, b = drive.at(start), drive.at(start + 0.5)
    if metres_between(a, b) > 1.0:
        halfway = bearing(a, b)
        assert min(angle_between(halfway, a.course), angle_between(halfway, b.course)) < 25


@settings(max_examples=60, deadline=None)
@given(drives, instants, st.floats(0, 600))
def test_the_odometer_counts_what_was_driven_and_never_goes_back(
    drive: Drive, start: float, later: float
) -> None:
    a, b = drive.at(start), drive.at(start + later)
    assert b.odometer >= a.odometer - 1e-6
    assert metres_between(a, b) <= (b.odometer - a.odometer) * 1.001 + 0.05


@settings(max_examples=20, deadline=None)
@given(drives, instants)
def test_no_vehicle_drives_faster_than_its_streets_allow(drive: Drive, start: float) -> None:
    assert 0 <= drive.at(start).speed <= 80 * 1.06 / 3.6


@pytest.mark.parametrize("trip", ROUND_TRIPS, ids=lambda trip: trip.name)
def test_each_round_trip_has_stops_and_free_stretches_and_a_believable_mean_speed(trip) -> None:
    drive = Drive(trip, seed=1)
    speeds = [drive.at(second).speed for second in range(int(drive.seconds))]
    assert 3_000 < drive.metres < 20_000
    assert 10 < drive.metres / drive.seconds * 3.6 < trip.limit_kmh
    assert speeds.count(0.0) > 5
    assert max(speeds) > 0.8 * trip.limit_kmh / 3.6


def test_the_same_seed_gives_the_same_drive_and_another_seed_another() -> None:
    trip = ROUND_TRIPS[0]
    assert Drive(trip, seed=4).at(77.7) == Drive(trip, seed=4).at(77.7)
    assert Drive(trip, seed=4).at(77.7) != Drive(trip, seed=5).at(77.7)
