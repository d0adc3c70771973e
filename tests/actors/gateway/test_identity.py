"""Which device a peer is."""

from datetime import UTC, datetime, timedelta

import pytest
import trio

from motorpool.actors.devices.eligibility import may_report
from motorpool.actors.gateway.identity import find_device, register_device
from motorpool.storage import devices, links, users
from motorpool.storage.records import Device, User

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)


async def make_user(database, name, **fields):
    return await users.TABLE.insert(database, User(name=name, email=f"{name}@example.org", **fields))


async def test_the_exact_name_counts_before_the_others(database, make_device):
    other = await make_device("cab-7")
    assert await find_device(database, ("0cab-7", "cab-7")) == other
    exact = await make_device("0cab-7")
    assert await find_device(database, ("0cab-7", "cab-7")) == exact
    assert await find_device(database, ("cab-7", "0cab-7")) == other
    assert await find_device(database, ("999",)) is None


@pytest.mark.parametrize(
    ("device", "expected"),
    [
        (Device(), True),
        (Device(disabled=True), False),
        (Device(expiration_time=NOW + timedelta(seconds=1)), True),
        (Device(expiration_time=NOW), False),
        (Device(expiration_time=NOW - timedelta(days=1)), False),
    ],
)
def test_disabled_and_expired_devices_are_not_served(device, expected):
    assert may_report(device, NOW) is expected


async def test_a_new_device_gets_its_number_as_name_and_belongs_to_the_oldest_administrator(database):
    await make_user(database, "ordinary")
    oldest = await make_user(database, "oldest", administrator=True)
    await make_user(database, "younger", administrator=True)
    made = await register_device(database, ("013912345678", "13912345678"))
    assert made == Device(id=made.id, name="13912345678", unique_id="13912345678")
    assert await devices.TABLE.fetch(database, made.id) == made
    assert await links.owners(database, links.USER_DEVICE, made.id) == [oldest.id]


async def test_nobody_is_registered_before_there_is_an_administrator(database):
    await make_user(database, "ordinary")
    assert await register_device(database, ("1",)) is None
    assert await devices.TABLE.count(database) == 0


async def test_connections_that_bring_the_same_number_at_once_get_the_same_device(database):
    await make_user(database, "admin", administrator=True)
    made = []

    async def register():
        made.append(await register_device(database, ("0777", "777")))

    async with trio.open_nursery() as nursery:
        for _ in range(6):
            nursery.start_soon(register)
    assert len({device.id for device in made}) == 1
    assert await devices.TABLE.count(database) == 1
