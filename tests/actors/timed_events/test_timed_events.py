"""Events that come at an instant: inactivity, overdue maintenance, calendars of geofences."""

from datetime import timedelta

import msgspec
import pytest
from tests.actors.schedules.icalendar import NOW, encode_calendar, minutes

from motorpool.actors.change_feed import publish_changes
from motorpool.actors.devices.directory import Directory
from motorpool.actors.devices.rule_cache import RuleCache, RuleCacheActor
from motorpool.actors.messages.changes import DeviceChanged, MaintenanceChanged, ServerChanged
from motorpool.actors.messages.directory import DIRECTORY, DeviceStatusChanged
from motorpool.actors.messages.rule_cache import RULE_CACHE
from motorpool.actors.messages.timed_events import TIMED_EVENTS
from motorpool.actors.messages.topics import DEVICES, EVENTS, DeviceStatus
from motorpool.actors.rules.rule_settings import RuleSettings
from motorpool.actors.timed_events.timed_events import TimedEvents
from motorpool.runtime import ChildSpec
from motorpool.storage import plain_tables
from motorpool.storage.accounts import links, server
from motorpool.storage.devices import device_states, devices, groups, position_rows, positions
from motorpool.storage.events import events
from motorpool.storage.records import Calendar, Event, Geofence, Group, Maintenance, Position, Review

MINUTE = timedelta(minutes=1)
MS = 60_000


@pytest.fixture
def running(database, tree):
    """`async with running() as system:` a server's part that makes timed events."""

    def opened(*, clustered=False, **settings):
        configuration = RuleSettings(**settings)
        rule_cache = RuleCache(database, configuration)
        return tree(
            ChildSpec(kind=DIRECTORY, factory=lambda: Directory(database, {}, None)),
            ChildSpec(kind=RULE_CACHE, factory=lambda: RuleCacheActor(rule_cache, database)),
            ChildSpec(
                kind=TIMED_EVENTS, factory=lambda: TimedEvents(database, configuration, clustered=clustered)
            ),
        )

    return opened


@pytest.fixture
def stored(database):
    """`await stored()`: type, device, and minutes from NOW of all events, in their order."""

    async def find(*device_ids):
        rows = await events.between(database, device_ids, NOW - 1000 * MINUTE, NOW + 9000 * MINUTE)
        return [(row.type, row.device_id, (row.event_time - NOW) / MINUTE) for row in rows]

    return find


async def seen(system, device_id, minute):
    status = DeviceStatus(device_id, "online", minutes(minute), 0)
    await system.ref(DIRECTORY).tell(DeviceStatusChanged(status))


INACTIVE = {"deviceInactivityStart": 10 * MS}


async def test_a_device_is_inactive_at_its_instant_and_again_when_it_returned(
    database, running, stored, time, make_device
):
    row = await make_device("1", attributes={**INACTIVE, "event.severity.deviceInactive": "CRITICAL"})
    async with running() as system, system.topic(EVENTS).subscribe() as published:
        await time.settle()
        await seen(system, row.id, 0)
        await time.passes(60 * 9)
        await seen(system, row.id, 9)
        await time.passes(60 * 9, step=60)
        assert await stored(row.id) == []
        await time.passes(60 * 30, step=60)
        assert await stored(row.id) == [("deviceInactive", row.id, 19)]
        ((event,),) = await published.receive_batch()
        assert event.attributes == {"lastUpdate": round(minutes(9).timestamp() * 1000)}
        assert event.id
        assert (event.severity, event.review) == ("CRITICAL", Review())
        await seen(system, row.id, 48)
        await time.passes(60 * 20, step=60)
        assert [minute for *_, minute in await stored(row.id)] == [19, 58]


async def test_inactivity_is_repeated_with_its_period(database, running, stored, time, make_device):
    row = await make_device("1", attributes={**INACTIVE, "deviceInactivityPeriod": 5 * MS})
    async with running() as system:
        await time.settle()
        await seen(system, row.id, 0)
        await time.passes(60 * 21, step=60)
    assert [minute for *_, minute in await stored(row.id)] == [10, 15, 20]


async def test_inactivity_is_stored_once_over_restarts_and_by_two_servers(
    database, running, stored, time, make_device
):
    row = await make_device("1", attributes={**INACTIVE, "deviceInactivityPeriod": 5 * MS})
    await device_states.save(database, {row.id: minutes(-17)})
    for _ in range(2):
        async with running(), running():
            await time.settle()
    # The newest of the instants that passed before the start: 7, 2 minutes ago.
    assert [minute for *_, minute in await stored(row.id)] == [-2]


@pytest.mark.parametrize("first_seen", [0, None])
async def test_a_device_that_returns_at_another_server_is_inactive_again(
    database, running, stored, time, make_device, first_seen
):
    row = await make_device("1", attributes=INACTIVE)
    if first_seen is not None:
        await device_states.save(database, {row.id: minutes(first_seen)})
    async with running(clustered=True):
        await time.passes(60 * 33, step=60)
        # Its messages reach another server, which stores when it was seen.
        await device_states.save(database, {row.id: minutes(33)})
        await time.passes(60 * 30, step=60)
        expected = [10, 43] if first_seen == 0 else [43]
        assert [minute for *_, minute in await stored(row.id)] == expected


async def test_a_device_that_never_reported_is_not_inactive_until_it_did(
    database, running, stored, time, make_device
):
    row = await make_device("1")
    async with running(device_inactivity_start=10.0 * MS) as system:
        await time.passes(60 * 60, step=60)
        assert await stored(row.id) == []
        await seen(system, row.id, 60)
        await time.passes(60 * 11, step=60)
    assert [minute for *_, minute in await stored(row.id)] == [70]


async def test_devices_are_followed_once_the_next_message_of_one_is_awaited(
    database, running, stored, time, make_device
):
    row = await make_device("1")
    async with running() as system:
        topic = system.topic(DEVICES)
        await seen(system, row.id, 0)
        await time.passes(60 * 30, step=60)
        # Nothing is to be made for devices that cannot become inactive.
        assert not topic.is_followed
    await devices.TABLE.update(database, msgspec.structs.replace(row, attributes=INACTIVE))
    async with running() as system:
        topic = system.topic(DEVICES)
        await seen(system, row.id, 30)
        await time.passes(60 * 9, step=60)
        assert not topic.is_followed
        await time.passes(60 * 2, step=60)
        assert topic.is_followed


async def test_settings_of_inactivity_hold_at_once(database, running, stored, time, make_device):
    one, two = await make_device("1"), await make_device("2")
    async with running() as system:
        await time.settle()
        await seen(system, one.id, 0)
        await seen(system, two.id, 0)
        await time.passes(60 * 20, step=60)
        await devices.TABLE.update(database, _with(one, {"deviceInactivityStart": 25 * MS}))
        fields = ("attributes.deviceInactivityStart",)
        await publish_changes(system, DeviceChanged(one.id, "updated", fields))
        await time.passes(60 * 10, step=60)
        assert await stored(one.id, two.id) == [("deviceInactive", one.id, 25)]
        row = await server.fetch(database)
        await server.save(database, _with(row, {"deviceInactivityStart": 5 * MS}))
        await publish_changes(system, ServerChanged(fields))
        await devices.TABLE.delete(database, one.id)
        await publish_changes(system, DeviceChanged(one.id, "deleted"))
        await time.passes(60 * 2, step=60)
    assert ("deviceInactive", two.id, 5) in await stored(two.id)


def _with(row, attributes):
    return msgspec.structs.replace(row, attributes=attributes)


async def test_maintenance_by_time_is_due_at_its_instant_for_all_its_devices(
    database, running, stored, time, make_device
):
    group = await groups.TABLE.insert(database, Group(name="g"))
    one, two, other = (
        await make_device("1"),
        await make_device("2", group_id=group.id),
        await make_device("3"),
    )
    start = minutes(10).timestamp() * 1000
    row = Maintenance(name="m", type="serverTime", start=start, period=30.0 * MS)
    row = await plain_tables.MAINTENANCE.insert(database, row)
    await links.add(database, links.DEVICE_MAINTENANCE, one.id, row.id)
    await links.add(database, links.GROUP_MAINTENANCE, group.id, row.id)
    async with running(), running():
        await time.passes(60 * 45, step=60)
    async with running() as system:
        await time.settle()
        found = await stored(one.id, two.id, other.id)
        assert sorted(found) == [
            ("maintenance", one.id, 10),
            ("maintenance", one.id, 40),
            ("maintenance", two.id, 10),
            ("maintenance", two.id, 40),
        ]
        (event, *_) = await events.between(database, [one.id], NOW, minutes(60))
        assert event.maintenance_id == row.id
        assert event.attributes == {"serverTime": start}
        await plain_tables.MAINTENANCE.delete(database, row.id)
        await publish_changes(system, MaintenanceChanged(row.id, "deleted"))
        await time.passes(60 * 60, step=60)
        assert len(await stored(one.id, two.id)) == 4


async def test_a_maintenance_that_began_long_ago_waits_for_its_next_period(
    database, running, stored, time, make_device
):
    device = await make_device("1")
    start = minutes(-100).timestamp() * 1000
    rows = [
        Maintenance(name="a", type="fixTime", start=start, period=30.0 * MS),
        Maintenance(name="b", type="deviceTime", start=1e30, period=1e30),
        Maintenance(name="c", type="serverTime", start=start),
        Maintenance(name="d", type="hours", start=start, period=30.0 * MS),
    ]
    for row in rows:
        made = await plain_tables.MAINTENANCE.insert(database, row)
        await links.add(database, links.DEVICE_MAINTENANCE, device.id, made.id)
    async with running():
        await time.passes(60 * 60, step=60)
    assert [minute for *_, minute in await stored(device.id)] == [20, 50]


async def inside(database, device_id, geofence_ids, number):
    position = Position(
        id=number,
        device_id=device_id,
        protocol="jt808",
        server_time=NOW,
        device_time=NOW,
        fix_time=NOW,
        geofence_ids=geofence_ids,
    )
    await positions.store(database, [position_rows.pack_row(position)], [number])


async def test_a_geofence_whose_calendar_opens_and_closes_makes_events_of_those_inside(
    database, running, stored, time, make_device
):
    one, two = await make_device("1"), await make_device("2")
    data = encode_calendar((10, 30), (60, 90))
    calendar = await plain_tables.CALENDARS.insert(database, Calendar(name="c", data=data))
    made = []
    for attributes in ({"calendarEvents": True}, {"calendarEvents": False}):
        row = Geofence(name="g", area="CIRCLE (1 1, 50)", calendar_id=calendar.id, attributes=attributes)
        made.append((await plain_tables.GEOFENCES.insert(database, row)).id)
    for geofence_id in made:
        for device in (one, two):
            await links.add(database, links.DEVICE_GEOFENCE, device.id, geofence_id)
    await inside(database, one.id, made, 5)
    await inside(database, two.id, [made[1]], 6)
    async with running():
        await time.passes(60 * 20, step=60)
    # What passed meanwhile cancels out: it closed and opened and closed.
    time_away = 60 * 75
    await time.passes(time_away)
    async with running(), running():
        await time.passes(60 * 20, step=60)
    found = await events.between(database, [one.id, two.id], NOW, minutes(300))
    assert [(row.type, row.device_id, row.position_id, row.geofence_id) for row in found] == [
        ("geofenceEnter", one.id, 5, made[0]),
        ("geofenceExit", one.id, 5, made[0]),
    ]
    assert [(row.event_time - NOW) / MINUTE for row in found] == [10, 90]
    assert all(isinstance(row, Event) for row in found)
