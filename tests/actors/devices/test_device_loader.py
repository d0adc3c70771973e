"""What devices start with, read for many at once."""

from datetime import UTC, datetime, timedelta

import trio

from motorpool.actors.devices.device_loader import DEVICE_LOADER, DeviceLoader, LoadDevice, StoredDevice
from motorpool.actors.devices.rule_cache import RuleCache
from motorpool.actors.rules.event_rules import FoldState
from motorpool.actors.rules.overspeed import OverspeedState
from motorpool.actors.rules.trip_detection import TrackPoint, TripState
from motorpool.actors.rules.window import Window
from motorpool.runtime import ChildSpec
from motorpool.storage.devices import commands, device_states, position_rows, positions
from motorpool.storage.records import Position, QueuedCommand

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)


async def test_each_device_gets_its_own_rows(database, make_device, tree):
    plain, busy = await make_device("1"), await make_device("2")
    position = Position(
        id=7,
        device_id=busy.id,
        protocol="osmand",
        server_time=NOW,
        device_time=NOW,
        fix_time=NOW,
        valid=True,
    )
    await positions.store(database, [position_rows.pack_row(position)], [7])
    for kind in ("engineStop", "engineResume"):
        await commands.enqueue(database, QueuedCommand(device_id=busy.id, type=kind))
    await device_states.save(database, {busy.id: NOW})
    point = TrackPoint(7, NOW, 0.0, 0.0, 0.0)
    state = FoldState(position, TripState(False, point, Window((point,))), NOW.toordinal())
    found = {}
    async with tree(
        ChildSpec(kind=DEVICE_LOADER, factory=lambda: DeviceLoader(database, RuleCache(database)))
    ) as system:

        async def load(device_id):
            found[device_id] = await system.ref(DEVICE_LOADER).ask(LoadDevice(device_id))

        async with trio.open_nursery() as nursery:
            for device_id in (999, plain.id, busy.id):
                nursery.start_soon(load, device_id)
    assert found == {
        999: StoredDevice(),
        plain.id: StoredDevice(plain, FoldState(), False, None),
        busy.id: StoredDevice(busy, state, True, NOW),
    }


async def test_an_episode_of_speeding_goes_on(database, make_device, tree):
    row = await make_device("1", attributes={"speedLimit": 50})
    speeds = [60.0, 40.0, 70.0, 80.0]
    stored = [
        Position(
            id=number,
            device_id=row.id,
            protocol="osmand",
            server_time=NOW,
            device_time=NOW,
            fix_time=NOW - timedelta(minutes=9 - number),
            speed=speed,
        )
        for number, speed in enumerate(speeds, 1)
    ]
    await positions.store(database, [position_rows.pack_row(each) for each in stored], [1, 2, 3, 4])
    async with tree(
        ChildSpec(kind=DEVICE_LOADER, factory=lambda: DeviceLoader(database, RuleCache(database)))
    ) as system:
        found = await system.ref(DEVICE_LOADER).ask(LoadDevice(row.id))
    assert found.state.overspeed == OverspeedState(stored[2].fix_time, is_reported=True)
