"""The fixes by which tickets pause."""

from datetime import UTC, datetime, timedelta

from motorpool.storage.devices import position_rows, positions
from motorpool.storage.helpdesk import zone_pauses
from motorpool.storage.records import Position

NOON = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)


async def store(database, number, minutes, **fields):
    moment = NOON + timedelta(minutes=minutes)
    stored = Position(
        id=number,
        device_id=1,
        protocol="x",
        server_time=NOON,
        device_time=moment,
        fix_time=moment,
        latitude=float(number),
        **({"valid": True} | fields),
    )
    await positions.store(database, [position_rows.pack_row(stored)], [number])


async def test_they_are_the_latest_two_at_which_the_vehicle_was(database):
    await store(database, 1, -9)
    await store(database, 2, -8)
    await store(database, 3, -7, valid=False)
    await store(database, 4, -6, attributes={"implausible": True})
    await store(database, 5, 2_000)
    since = NOON - timedelta(hours=1)
    found = await zone_pauses.latest_fixes(database, {1: since, 2: since})
    assert {device_id: [fix.latitude for fix in fixes] for device_id, fixes in found.items()} == {
        1: [2.0, 1.0],
        2: [],
    }
