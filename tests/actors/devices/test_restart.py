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
    "processing.copyAttributes": "driverUniqueId",
}


def recorded_day(seed):
    """What a vehicle reports, with the instant at which it arrives.

    It drives, stops and stands in jams; there are gaps, late reports, lost fixes, jumps and a clock that is
    wrong for a while.
    """
    source, cold = random.Random(seed), random.Random(seed)
    now, latitude, fuel = MORNING, 52.0, 60.0
    for _ in range(16):
        mood = source.choice(["drives", "drives", "drives", "stands", "stands", "jam"])
        trouble = source.choice(["", "", "", "no fix", "nowhere", "elsewhere", "wrong clock"])
        cruise = source.choice([15.0, 35.0, 55.0, 70.0])
        heading = source.choice([-1, 1])
        for count in range(source.randint(3, 18)):
            is_driving = mood == "drives" or (mood == "jam" and count % 3 == 0)
            speed = (cruise if mood == "drives" else 4.0) if is_driving else 0.0
            seconds = source.choice([5, 10, 30, 30, 60])
            if source.random() < 0.03:
                seconds = source.choice([1800, 4000])
            now += timedelta(seconds=seconds)
            latitude += heading * speed * KNOTS * seconds / METRES_PER_DEGREE
            fuel = fuel - 6 if source.random() < 0.03 else fuel
            attributes = {"ignition": mood != "stands" or source.random() < 0.1, "fuel": fuel}
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
            is_in_trouble = 2 <= count < 8
            if is_in_trouble and trouble == "wrong clock":
                fix_time = now + timedelta(hours=1)
            place = latitude + source.uniform(-1, 1) * 5 / METRES_PER_DEGREE
            longitude = 13.0
            if is_in_trouble and trouble == "elsewhere" and source.random() < 0.6:
                place += 0.5
            elif is_in_trouble and trouble == "nowhere":
                place = longitude = 0.0
            yield (
                now,
                PositionReport(
                    attributes,
                    device_time=fix_time,
                    fix_time=fix_time,
                    valid=not (is_in_trouble and trouble in {"no fix", "nowhere"}),
                    latitude=place,
                    longitude=longitude,
                    speed=speed + (source.uniform(-4, 4) if mood == "drives" else 0),
                ),
            )


def described(result):
    """What is stored of a report: all but the ids that storing it gives."""
    events = [msgspec.structs.replace(event, id=0, position_id=0) for event in result.events]
    return events, result.position and dict(result.position.attributes)


def test_the_days_hold_what_may_happen():
    """Across some of them, that is; each of them is drawn."""
    kinds = set()
    for seed in range(8):
        state = FoldState()
        for moment, report in recorded_day(seed):
            result = fold(report, state, FoldContext(1, "osmand", moment))
            state = result.state
            kinds |= {event.type for event in result.events}
            kinds |= result.position.attributes.keys() & {"implausible", "future"}
    assert {"deviceMoving", "deviceStopped", "ignitionOn", "alarm", "implausible", "future"} <= kinds


@pytest.mark.parametrize("more", [{}, {"filter.maxSpeed": 200}], ids=["plain", "filtered"])
async def test_events_after_a_restart_are_those_of_an_unbroken_run(database, make_device, tree, seed, more):
    row = await make_device("1", attributes=RULES | more)
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
    made = [described(result) for result in unbroken]
    types = {event.type for result in unbroken for event in result.events}
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
            assert [described(each) for each in run(loaded, day[place:])] == made[place:], place
