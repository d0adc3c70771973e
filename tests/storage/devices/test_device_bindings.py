"""What devices are bound to."""

from datetime import UTC, datetime, timedelta

import pytest
import trio

from motorpool.storage.devices import device_bindings, devices
from motorpool.storage.devices.device_bindings import Binding, DifferingLogin
from motorpool.storage.records import Device

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)


@pytest.fixture
async def van(database):
    row = await devices.TABLE.insert(database, Device(name="van", unique_id="van"))
    return row.id


async def binding_of(database, device_id):
    return (await device_bindings.of_devices(database, (device_id,))).get(device_id)


async def test_of_servers_that_bind_at_once_one_succeeds_and_all_learn_of_it(database, van):
    """Each server has a session of its own, and hears the device by another protocol."""
    found = []

    async def bind(protocol):
        found.append(await device_bindings.bind(database, van, protocol, NOW))

    async with trio.open_nursery() as nursery:
        for protocol in ("jt808", "osmand", "gt06", "h02"):
            nursery.start_soon(bind, protocol)
    assert len({each.protocol for each in found}) == 1
    assert found[0] == await binding_of(database, van)
    assert await device_bindings.bind(database, van + 1, "jt808", NOW) is None


async def test_registration_and_code_are_kept_once_and_forgotten_with_the_binding(database, van):
    assert await device_bindings.keep_code(database, van, b"x") is None
    await device_bindings.bind(database, van, "jt808", NOW)
    first, other = {"manufacturer": "A", "terminalId": "1"}, {"manufacturer": "B"}
    assert (await device_bindings.keep_registration(database, van, first)).registration == first
    assert (await device_bindings.keep_registration(database, van, other)).registration == first
    assert (await device_bindings.keep_code(database, van, b"one")).code == b"one"
    assert (await device_bindings.keep_code(database, van, b"two")).code == b"one"
    await device_bindings.forget_code(database, van)
    assert (await device_bindings.keep_code(database, van, b"two")).code == b"two"
    later = NOW + timedelta(hours=1)
    await device_bindings.replace(database, van, "osmand", later)
    assert await binding_of(database, van) == Binding("osmand", later)
    await device_bindings.replace(database, van, None, later)
    assert await binding_of(database, van) is None


async def test_of_registrations_that_bind_at_once_that_of_the_binding_is_noted(database, van):
    found = []

    async def bind(maker):
        found.append(
            await device_bindings.bind(database, van, f"protocol of {maker}", NOW, {"manufacturer": maker})
        )

    async with trio.open_nursery() as nursery:
        for maker in "ABCD":
            nursery.start_soon(bind, maker)
    assert all(each == found[0] for each in found)
    assert found[0] == await binding_of(database, van)
    assert found[0].protocol == f"protocol of {found[0].registration['manufacturer']}"
    again = await device_bindings.bind(database, van, "jt808", NOW, {"manufacturer": "E"})
    assert again == found[0]


async def test_of_many_logins_that_differ_few_are_written_and_one_an_hour_is_told(database, van):
    async def note(minutes, protocol="osmand", reason="protocol", refused=True):
        login = DifferingLogin(
            protocol, reason, refused, f"host {minutes}", None, NOW + timedelta(minutes=minutes)
        )
        return await device_bindings.note_differing(database, van, login)

    told = [minutes for minutes in range(0, 130, 7) if await note(minutes)]
    assert told == [0, 63, 126]
    assert not await note(126.5)
    assert [each.host for each in await device_bindings.differing(database, van)] == ["host 126"]
    assert await note(127, "gt06")
    assert await note(127, "osmand", "network")
    assert not await note(127, "jt808", "registration", refused=False)
    found = await device_bindings.differing(database, van)
    assert [(each.protocol, each.reason, each.refused) for each in found] == [
        ("gt06", "protocol", True),
        ("jt808", "registration", False),
        ("osmand", "network", True),
        ("osmand", "protocol", True),
    ]
    await device_bindings.replace(database, van, "gt06", NOW)
    assert await device_bindings.differing(database, van) == []
    # Of a device that is gone nothing is written.
    await devices.TABLE.delete(database, van)
    assert not await note(200)
