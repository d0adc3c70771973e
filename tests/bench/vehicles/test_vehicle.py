"""What a vehicle says of itself, read by the server's codec."""

from datetime import UTC, datetime, timedelta

import pytest

from motorpool.bench.vehicles.fleet import plan_fleet
from motorpool.bench.vehicles.jt808.terminal import Terminal
from motorpool.bench.vehicles.vehicle import Vehicle
from motorpool.codecs.devices.jt808.codec import Jt808
from motorpool.codecs.reports import PositionReport

NOON = datetime(2026, 6, 1, 12, 0, tzinfo=UTC)


def report(vehicle: Vehicle, instant: datetime) -> PositionReport:
    terminal = Terminal(vehicle.plan.phone, vehicle.plan.version)
    found = [
        report
        for report in Jt808().receive(terminal.location(vehicle.location(instant)))
        if isinstance(report, PositionReport)
    ]
    assert len(found) == 1
    return found[0]


@pytest.mark.parametrize("index", [0, 1], ids=["2013", "2019"])
def test_a_location_says_what_the_drive_is(index: int) -> None:
    vehicle = Vehicle(plan_fleet(vehicles=2).vehicles[index])
    said, true = report(vehicle, NOON), vehicle.state_at(NOON)
    assert said.device_time == NOON
    assert said.valid
    assert said.latitude == pytest.approx(true.latitude, abs=1e-6)
    assert said.longitude == pytest.approx(true.longitude, abs=1e-6)
    assert said.speed == pytest.approx(true.speed * 1.943844, abs=0.06)
    assert said.course == pytest.approx(true.course, abs=0.6)
    assert said.attributes["ignition"] is True
    assert said.attributes["odometer"] == pytest.approx(true.odometer, abs=51)
    assert 6 <= said.attributes["fuel"] <= 60


def test_a_stopped_vehicle_keeps_its_place_and_continues_from_there() -> None:
    vehicle = Vehicle(plan_fleet(vehicles=1).vehicles[0])
    before = vehicle.state_at(NOON)
    vehicle.stop_engine(NOON)
    hour = timedelta(hours=1)
    standing = report(vehicle, NOON + hour)
    assert standing.speed == 0
    assert standing.attributes["ignition"] is False
    assert standing.attributes["blocked"] is True
    assert standing.latitude == pytest.approx(before.latitude, abs=1e-6)
    vehicle.resume_engine(NOON + hour)
    assert vehicle.state_at(NOON + hour) == before
    assert vehicle.state_at(NOON + hour + timedelta(minutes=5)).odometer > before.odometer


def test_two_starts_of_the_same_simulation_find_the_vehicle_at_the_same_place() -> None:
    plan = plan_fleet(vehicles=1, seed=9).vehicles[0]
    assert Vehicle(plan).location(NOON) == Vehicle(plan).location(NOON)
