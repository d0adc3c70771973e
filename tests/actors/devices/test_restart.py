"""A server that is killed at any point of a day goes on as if it had not been (docs/positions.md#state)."""

import itertools
import random
from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from motorpool.actors.devices.device_loader import DEVICE_LOADER, DeviceLoader, LoadDevice
from motorpool.actors.devices.position_writer import Append, assign_id
from motorpool.actors.devices.rule_cache import RuleCache
from motorpool.actors.rules.event_rules import FoldState
from motorpool.actors.rules.fold import FoldContext, fold
from motorpool.codecs.reports import PositionReport
from motorpool.runtime import ChildSpec
from motorpool.storage import plain_tables
from motorpool.storage.accounts import links
from motorpool.storage.devices import position_rows, positions
from motorpool.storage.records import Geofence, Maintenance

MORNING = datetime(2026, 6, 15, 6, 0, tzinfo=UTC)
KNOTS = 1852 / 3600
METRES_PER_DEGREE = 111_319.49
RULES = {
    "speedLimit": 40,
    "event.overspeed.minimalDuration": 45,
    "fuelDropThreshold": 5,
    "sensorLimit.temp1.max": 6,
    "sensorLimit.temp1.hysteresis": 1,
    "sensorLimit.temp1.minimalDuration": 120,
    "filter.duplicate": True,
    "filter.maxSpeed": 200,
    "processing.copyAttributes": "driverUniqueId",
}


def recorded_day(seed):
    """What a vehicle reports, with the instant at which it arrives: drives, stops, gaps, late reports."""
    source, cold = random.Random(seed), random.Random(seed)
    now, latitude, fuel = MORNING, 52.0, 60.0
    heading = 1
    for _ in range(14):
        is_driving = source.random() < 0.6
        speed = source.choice([15.0, 35.0, 55.0, 70.0]) if is_driving else 0.0
        heading = source.choice([-1, 1])
        for _ in range(source.randint(3, 18)):
            seconds = source.choice([5, 10, 30, 30, 60])
            if source.random() < 0.03:
                seconds = source.choice([1800, 4000])
            now += timedelta(seconds=seconds)
            latitude += heading * speed * KNOTS * seconds / METRES_PER_DEGREE
            fuel = fuel - 6 if source.random() < 0.03 else fuel
            attributes = {"ignition": is_driving or source.random() < 0.1, "fuel": fuel}
            if cold.random() < 0.7:
                attributes["temp1"] = cold.choice([3, 5.5, 7, 7, 7, 7])
            if source.random() < 0.05:
                attributes["alarm"] = source.choice(["sos", "sos,tow", "vibration"])
            if source.random() < 0.05:
                attributes["driverUniqueId"] = source.choice(["ann", "bob"])
            chance = source.random()
            if chance < 0.05:
                yield now, PositionReport(attributes, device_time=now, located=False)
                continue
            fix_time = now - timedelta(seconds=400) if chance < 0.1 else now
            fix_time = now + timedelta(days=3) if chance > 0.99 else fix_time
            yield (
                now,
                PositionReport(
                    attributes,
                    device_time=fix_time,
                    fix_time=fix_time,
                    valid=True,
                    latitude=latitude + source.uniform(-1, 1) * 5 / METRES_PER_DEGREE,
                    longitude=13.0,
                    speed=speed + (source.uniform(-4, 4) if is_driving else 0),
                ),
            )


def said(event):
    """Everything of an event but the ids that storing it gives."""
    return msgspec.structs.replace(event, id=0, position_id=0)


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_events_after_a_restart_are_those_of_an_unbroken_run(database, make_device, tree, seed):
    row = await make_device("1", attributes=RULES)
    for number, radius in enumerate((300, 2000, 5000)):
        attributes = {"speedLimit": 60} if number == 1 else {}
        area = f"CIRCLE ({52 + number / 50} 13.0, {radius})"
        fence = Geofence(name=str(number), area=area, attributes=attributes)
        fence = await plain_tables.GEOFENCES.insert(database, fence)
        await links.add(database, links.DEVICE_GEOFENCE, row.id, fence.id)
    oil = Maintenance(name="oil", type="totalDistance", start=1000, period=4000)
    oil = await plain_tables.MAINTENANCE.insert(database, oil)
    await links.add(database, links.DEVICE_MAINTENANCE, row.id, oil.id)
    rule_cache = RuleCache(database)
    await rule_cache.require((row,))
    rules = rule_cache.rules_of(row)
    day = list(recorded_day(seed))

    def run(state, reports):
        for moment, report in reports:
            result = fold(report, state, FoldContext(row.id, "osmand", moment, (), rules))
            state = result.state
            yield result

    unbroken = list(run(FoldState(), day))
    made = [[said(event) for event in result.events] for result in unbroken]
    types = {event.type for events in made for event in events}
    assert {"deviceMoving", "deviceStopped", "deviceOverspeed", "geofenceEnter", "ignitionOn"} <= types
    assert {"sensorOutOfRange", "sensorInRange"} <= types
    numbers = itertools.count(1)
    async with tree(
        ChildSpec(kind=DEVICE_LOADER, factory=lambda: DeviceLoader(database, rule_cache))
    ) as system:
        for place, result in enumerate(unbroken, 1):
            if result.position is not None:
                append = Append(
                    result.position,
                    result.events,
                    point=result.point,
                    dated_back=result.dated_back,
                )
                assign_id(append, next(numbers))
                packed = position_rows.pack_row(result.position)
                await positions.store(database, [packed], [result.position.id], events=result.events)
            if place % 5:
                continue
            loaded = (await system.ref(DEVICE_LOADER).ask(LoadDevice(row.id))).state
            assert loaded.latest == result.state.latest
            assert loaded.trip.is_moving == result.state.trip.is_moving
            if types & {each.type for events in made[:place] for each in events} & {"deviceMoving"}:
                assert loaded.trip == result.state.trip
            again = [[said(event) for event in each.events] for each in run(loaded, day[place:])]
            assert again == made[place:], place
