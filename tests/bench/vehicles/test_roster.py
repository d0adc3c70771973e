"""Shifts that could have been driven."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motorpool.bench.demo.tours import EAST, SOUTH, WEST
from motorpool.bench.demo.vehicles import WORKSHOP, plan_demo_fleet
from motorpool.bench.vehicles.city import ROUND_TRIPS
from motorpool.bench.vehicles.roster import DAY_SECONDS, Roster, Shift
from motorpool.bench.vehicles.route import Drive
from motorpool.bench.vehicles.vehicle import Vehicle

shifts = st.builds(
    Shift,
    start_hour=st.one_of(st.integers(0, 23), st.floats(0, 23)),
    hours=st.one_of(st.integers(2, 22), st.floats(2, 22)),
    driving_share=st.floats(0.2, 0.9),
    alarms=st.integers(0, 5),
)
instants = st.one_of(
    st.floats(0, 400 * DAY_SECONDS),
    # Near the begin and end of shifts of whole hours.
    st.builds(lambda hour, by: max(0.0, hour * 3600 + by), st.integers(0, 9600), st.floats(-120, 120)),
)


@st.composite
def rosters(draw: st.DrawFn) -> Roster:
    drive = Drive(draw(st.sampled_from([*ROUND_TRIPS, EAST, SOUTH, WEST])), draw(st.integers(0, 100)))
    return Roster(drive, draw(shifts), draw(st.integers(0, 100)))


@settings(max_examples=60, deadline=None)
@given(rosters(), instants)
def test_a_vehicle_moves_as_its_drive_does_and_only_with_its_engine_on(
    roster: Roster, instant: float
) -> None:
    before, after = roster.state_at(instant), roster.state_at(instant + 1)
    north = (after.latitude - before.latitude) * 111_195
    east = (after.longitude - before.longitude) * 111_195 * math.cos(math.radians(before.latitude))
    # Where a break begins or ends the vehicle stands or crawls.
    assert math.hypot(north, east) <= max(before.speed, after.speed) + 2.0
    assert after.odometer >= before.odometer - 0.01
    if after.speed:
        assert roster.is_running(instant + 1)
    if roster.is_running(instant):
        assert roster.is_at_work(instant)


@settings(max_examples=30, deadline=None)
@given(rosters(), instants)
def test_the_engine_starts_when_it_was_said_to(roster: Roster, instant: float) -> None:
    rest = roster.starts_in(instant)
    assert 0 <= rest <= DAY_SECONDS
    assert roster.is_running(instant + rest + 0.5)
    # Of less than that the half may be rounded up to all of it.
    assert rest < 1e-6 or not roster.is_running(instant + rest / 2)


@settings(max_examples=30, deadline=None)
@given(rosters(), instants)
def test_alarms_come_while_the_vehicle_drives_and_once_however_they_are_asked_for(
    roster: Roster, instant: float
) -> None:
    end = instant + 1.5 * DAY_SECONDS
    whole = roster.alarms_between(instant, end)
    middle = instant + DAY_SECONDS / 3
    assert whole == roster.alarms_between(instant, middle) + roster.alarms_between(middle, end)
    assert all(roster.is_running(each) for each in whole)


def test_a_day_ends_where_it_began() -> None:
    roster = Roster(Drive(WEST, 1), Shift(start_hour=5, hours=10), 1)
    nights = [roster.state_at(day * DAY_SECONDS + 3600) for day in range(100, 104)]
    assert len({(round(night.latitude, 6), round(night.longitude, 6)) for night in nights}) == 1
    assert [night.speed for night in nights] == [0, 0, 0, 0]
    # Fifteen rounds of 18 km.
    assert 200_000 < nights[1].odometer - nights[0].odometer < 300_000


@pytest.mark.parametrize("hour", range(0, 24, 3))
def test_some_vehicle_of_the_demonstration_is_at_work_at_any_hour(hour: int) -> None:
    vehicles = [Vehicle(plan) for plan in plan_demo_fleet().vehicles if plan.name != WORKSHOP]
    rosters = [vehicle.roster for vehicle in vehicles if vehicle.roster is not None]
    assert sum(roster.is_at_work(100 * DAY_SECONDS + hour * 3600) for roster in rosters) >= 2
