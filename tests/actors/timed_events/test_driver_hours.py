"""Events of drivers who near or exceed a limit of driving time (docs/drivers.md#events)."""

from contextlib import AsyncExitStack
from datetime import timedelta

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.actors.schedules.icalendar import NOW

from motorpool.actors.change_feed import publish_changes
from motorpool.actors.devices.directory import Directory
from motorpool.actors.devices.rule_cache import RuleCache, RuleCacheActor
from motorpool.actors.messages.changes import DriverChanged
from motorpool.actors.messages.directory import DIRECTORY, PositionsStored
from motorpool.actors.messages.rule_cache import RULE_CACHE
from motorpool.actors.messages.timed_events import TIMED_EVENTS
from motorpool.actors.messages.topics import EVENTS
from motorpool.actors.rules.rule_settings import RuleSettings
from motorpool.actors.timed_events import driver_hours
from motorpool.actors.timed_events.drives import continued, pack, since, unpack
from motorpool.actors.timed_events.timed_events import TimedEvents
from motorpool.runtime import ChildSpec
from motorpool.storage.devices import driver_assignments, position_rows, positions
from motorpool.storage.devices.driver_assignments import DriverAssignment
from motorpool.storage.events import events
from motorpool.storage.plain_tables import DRIVERS
from motorpool.storage.records import Driver, Event, Position
from motorpool.storage.rules.driver_hours import Motion

MINUTE = timedelta(minutes=1)


turns = st.lists(st.tuples(st.integers(1, 200), st.booleans()), max_size=40)


@given(turns, st.lists(st.integers(1, 300), max_size=30))
def test_what_is_read_piece_by_piece_is_what_is_read_at_once(steps, looks):
    """Pieces overlap, as a stop is known later than it was, and each has all that is new."""
    motions, minute = [], 0
    for wait, is_moving in steps:
        minute += wait
        motions.append(Motion(1, is_moving, NOW + minute * MINUTE, "ann" if is_moving else None))
    packed, seen, now = b"", 0, NOW
    for look in [*looks, 10_000]:
        now += look * MINUTE
        known = [motion for motion in motions if motion.time <= now]
        begin = min([now - 120 * MINUTE, *(motion.time for motion in known[seen:])])
        newest = since(packed, begin)
        drives = continued(list(unpack(newest)), [each for each in known if each.time >= begin], begin)
        packed = packed[: len(packed) - len(newest)] + pack(drives)
        seen = len(known)
    found = list(unpack(packed))
    assert found == continued([], motions, NOW)
    assert len(packed) == 32 * len(found)


class Fleet:
    """Devices that drive, as their events and positions say."""

    def __init__(self, database):
        self.database = database
        self.numbers = 0

    async def position(self, device_id, minute, card="ann"):
        self.numbers += 1
        when = NOW + minute * MINUTE
        position = Position(
            id=self.numbers,
            device_id=device_id,
            protocol="jt808",
            server_time=when,
            device_time=when,
            fix_time=when,
            attributes={"driverUniqueId": card} if card else {},
        )
        await positions.store(self.database, [position_rows.pack_row(position)], [position.id])
        return position

    async def turn(self, device_id, minute, *, moves, card="ann"):
        """Start or stop at a minute from NOW."""
        position = await self.position(device_id, minute, card)
        kind = "deviceMoving" if moves else "deviceStopped"
        event = Event(type=kind, event_time=position.fix_time, device_id=device_id, position_id=position.id)
        await events.assign_ids(self.database, [event])
        await events.insert_many(self.database, [event], now=position.fix_time)

    async def drive(self, device_id, start, end, card="ann"):
        await self.turn(device_id, start, moves=True, card=card)
        await self.turn(device_id, end, moves=False, card=card)

    async def hear(self, system, device_id, minute, card="ann"):
        """Report a position while driving."""
        position = await self.position(device_id, minute, card)
        await system.ref(DIRECTORY).tell(PositionsStored((position,)))

    async def made(self):
        """Type, rule, device, and minutes from NOW of the events of hours, by time."""
        rows = await self.database.fetch(
            "select type, attributes ->> 'rule', device_id, event_time from events"
            " where type like 'driverHours%' order by event_time, id"
        )
        return [(row[0].removeprefix("driverHours"), row[1], row[2], (row[3] - NOW) / MINUTE) for row in rows]


@pytest.fixture
def fleet(database):
    return Fleet(database)


@pytest.fixture
def running(database, tree):
    """`async with running() as system:` a server's part that makes timed events, by default with EU 561."""

    def opened(**settings):
        configuration = RuleSettings(**{"driver_hours_limits": "eu561", **settings})
        rule_cache = RuleCache(database, configuration)
        return tree(
            ChildSpec(kind=DIRECTORY, factory=lambda: Directory(database, {}, None)),
            ChildSpec(kind=RULE_CACHE, factory=lambda: RuleCacheActor(rule_cache, database)),
            ChildSpec(kind=TIMED_EVENTS, factory=lambda: TimedEvents(database, configuration)),
        )

    return opened


@pytest.fixture
async def ann(database):
    return await DRIVERS.insert(database, Driver(name="Ann", unique_id="ann"))


async def drives_on(fleet, system, time, device_id, minutes, *, since=0):
    """Let time pass while a device reports each five minutes."""
    for minute in range(since, since + minutes, 5):
        await fleet.hear(system, device_id, minute)
        await time.passes(300, step=60)


async def test_a_driver_is_warned_half_an_hour_before_and_told_when_a_limit_is_exceeded(
    database, fleet, running, time, make_device, ann
):
    van = (await make_device("1")).id
    async with running() as system, system.topic(EVENTS).subscribe() as published:
        await time.settle()
        await fleet.turn(van, 0, moves=True)
        await drives_on(fleet, system, time, van, 300)
        assert await fleet.made() == [("Warning", "driving", van, 240), ("Exceeded", "driving", van, 270)]
        found = [event for batch in await published.receive_batch() for event in batch]
        assert [(event.attributes, event.device_id) for event in found] == [
            ({"rule": "driving", "driverId": ann.id, "driverUniqueId": "ann", "left": 30 * 60_000}, van),
            ({"rule": "driving", "driverId": ann.id, "driverUniqueId": "ann"}, van),
        ]
        # After a break of 45 minutes all begins anew.
        await fleet.turn(van, 300, moves=False)
        await time.passes(45 * 60, step=300)
        await fleet.turn(van, 345, moves=True)
        await drives_on(fleet, system, time, van, 280, since=345)
    # 300 minutes of the day are driven already, and 600 are the limit.
    assert (await fleet.made())[2:] == [
        ("Warning", "driving", van, 345 + 240),
        ("Warning", "daily", van, 345 + 270),
        ("Exceeded", "driving", van, 345 + 270),
    ]


async def test_the_time_in_all_devices_counts_and_the_present_one_has_the_event(
    database, fleet, running, time, make_device, ann
):
    one, two = (await make_device("1")).id, (await make_device("2")).id
    async with running() as system:
        await time.settle()
        await fleet.turn(one, 0, moves=True)
        await drives_on(fleet, system, time, one, 150)
        await fleet.turn(one, 150, moves=False)
        await time.passes(600, step=60)
        await fleet.turn(two, 160, moves=True)
        await drives_on(fleet, system, time, two, 130, since=160)
    # Two hours and a half, ten minutes of rest, and two hours: the warning comes in the second vehicle.
    assert await fleet.made() == [("Warning", "driving", two, 250), ("Exceeded", "driving", two, 280)]


async def test_nobody_is_warned_who_has_stopped_or_fallen_silent(
    database, fleet, running, time, make_device, ann
):
    one, two = (await make_device("1")).id, (await make_device("2")).id
    await DRIVERS.insert(database, Driver(name="Bob", unique_id="bob"))
    async with running() as system:
        await time.settle()
        await fleet.turn(one, 0, moves=True)
        await fleet.turn(two, 0, moves=True, card="bob")
        await fleet.hear(system, two, 220, card="bob")
        await drives_on(fleet, system, time, one, 235)
        await fleet.turn(one, 235, moves=False)
        await time.passes(3600, step=300)
    assert await fleet.made() == []


async def test_each_is_stored_once_over_restarts_and_by_two_servers(
    database, fleet, running, time, make_device, ann
):
    van = (await make_device("1")).id
    async with running(driver_hours_warning=0.0):
        await time.settle()
    await fleet.drive(van, 1, 290)
    # The limit passes while no server runs.
    await time.passes(300 * 60)
    for _ in range(2):
        async with AsyncExitStack() as stack:
            for _ in range(2):
                await stack.enter_async_context(running(driver_hours_warning=0.0))
            await time.settle()
            await time.passes(180, step=60)
    assert await fleet.made() == [("Exceeded", "driving", van, 271)]


async def test_what_was_before_limits_were_set_makes_no_event(
    database, fleet, running, time, make_device, ann
):
    van = (await make_device("1")).id
    await fleet.drive(van, -400, -60)
    async with running(driver_hours_limits=None) as system:
        await time.settle()
        limited = msgspec.structs.replace(ann, attributes={"driverHours.limits": "eu561"})
        await DRIVERS.update(database, limited)
        await publish_changes(system, DriverChanged(ann.id, "updated", ("attributes.driverHours.limits",)))
        await time.passes(180, step=60)
        assert await fleet.made() == []
        # What they drove before counts: 340 minutes, and 200 until the daily limit is near.
        await fleet.turn(van, 3, moves=True)
        await drives_on(fleet, system, time, van, 250, since=3)
    assert [each[:2] for each in await fleet.made()] == [("Warning", "daily"), ("Warning", "driving")]


async def test_whoever_drove_by_hand_has_the_event_and_not_the_card(
    database, fleet, running, time, make_device, ann
):
    van = (await make_device("1")).id
    bob = await DRIVERS.insert(database, Driver(name="Bob", unique_id="bob"))
    span = {"start_time": NOW - 10 * MINUTE, "end_time": NOW + 600 * MINUTE}
    assigned = DriverAssignment(device_id=van, driver_id=bob.id, **span)
    await driver_assignments.TABLE.insert(database, assigned)
    async with running() as system, system.topic(EVENTS).subscribe() as published:
        await time.settle()
        await fleet.turn(van, 0, moves=True)
        await drives_on(fleet, system, time, van, 250)
        ((event,),) = await published.receive_batch()
    assert event.attributes["driverId"] == bob.id
    # The card is not theirs.
    assert "driverUniqueId" not in event.attributes


async def test_what_was_stored_late_counts_at_once_here_and_in_turn_at_another_server(
    database, fleet, running, time, make_device, ann, monkeypatch
):
    monkeypatch.setattr(driver_hours, "REREAD", 240 * MINUTE)
    one, two = (await make_device("1")).id, (await make_device("2")).id
    await DRIVERS.insert(database, Driver(name="Bob", unique_id="bob"))
    async with running(driver_hours_warning=0.0):
        await time.settle()
    await time.passes(600 * 60)
    # Turns are of devices that have driven.
    await fleet.drive(one, 90, 95)
    await fleet.drive(two, 90, 95, card="bob")
    async with running(driver_hours_warning=0.0) as system:
        await time.settle()
        await time.passes(120, step=60)
        # There had been no reception: what was driven until hours ago is stored now.
        await fleet.drive(one, 100, 380)
        await fleet.drive(two, 100, 380, card="bob")
        stopped = Event(type="deviceStopped", event_time=NOW + 380 * MINUTE, device_id=one)
        system.topic(EVENTS).publish((stopped,))
        await time.passes(180, step=60)
        assert await fleet.made() == [("Exceeded", "driving", one, 365)]
        await time.passes(240 * 60, step=600)
    assert await fleet.made() == [("Exceeded", "driving", one, 365), ("Exceeded", "driving", two, 365)]


async def test_what_was_entered_by_hand_later_counts_within_an_hour(
    database, fleet, running, time, make_device, ann
):
    van = (await make_device("1")).id
    bob = await DRIVERS.insert(database, Driver(name="Bob", unique_id="bob"))
    async with running(driver_hours_warning=0.0):
        await time.settle()
    await time.passes(900 * 60)
    await fleet.drive(van, 100, 380, card="")
    async with running(driver_hours_warning=0.0):
        await time.settle()
        await time.passes(120, step=60)
        span = {"start_time": NOW, "end_time": NOW + 400 * MINUTE}
        assigned = DriverAssignment(device_id=van, driver_id=bob.id, **span)
        await driver_assignments.TABLE.insert(database, assigned)
        await time.passes(3660, step=60)
    assert await fleet.made() == [("Exceeded", "driving", van, 370)]


async def test_without_limits_nothing_is_read_and_nothing_made(
    database, fleet, running, time, make_device, ann
):
    van = (await make_device("1")).id
    await fleet.drive(van, -600, -1)
    async with running(driver_hours_limits=None):
        await time.passes(600, step=60)
    assert await fleet.made() == []
    assert await database.fetch_value("select count(*) from timed_event_marks") == 0
