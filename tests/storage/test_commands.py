from datetime import UTC, datetime, timedelta

import pytest

from motorpool.storage import commands, devices, links, users
from motorpool.storage.errors import Rejected
from motorpool.storage.records import Command, Device, QueuedCommand, User
from motorpool.storage.tables import ListQuery

NOW = datetime(2026, 6, 1, tzinfo=UTC)


@pytest.fixture
async def device(database):
    return await devices.TABLE.insert(database, Device(unique_id="a"))


async def test_commands_wait_in_the_order_they_came(database, device):
    put = [
        await commands.put(
            database,
            QueuedCommand(device_id=device.id, type=kind, text_channel=kind == "b", attributes={"n": kind}),
        )
        for kind in "cab"
    ]
    assert [command.type for command in put] == ["c", "a", "b"]
    assert await commands.queued_for(database, device.id) == put
    assert await commands.queued_for(database, 999) == []


async def test_a_command_is_taken_once(database, device):
    put = await commands.put(
        database, QueuedCommand(device_id=device.id, type="custom", attributes={"x": [1]})
    )
    assert await commands.take(database, put.id) == put
    assert await commands.take(database, put.id) is None


async def test_a_command_for_no_device_is_rejected(database):
    with pytest.raises(Rejected, match="deviceId 9"):
        await commands.put(database, QueuedCommand(device_id=9, type="custom"))


async def test_a_queue_has_an_end(database, device, monkeypatch):
    await database.execute(
        "insert into queued_commands (device_id, type) select $1, 'custom' from generate_series(1, $2)",
        device.id,
        commands.QUEUE_LENGTH,
    )
    with pytest.raises(Rejected, match="1000 commands wait"):
        await commands.put(database, QueuedCommand(device_id=device.id, type="custom"))
    assert len(await commands.queued_for(database, device.id)) == commands.QUEUE_LENGTH


async def test_what_waited_too_long_is_taken_out_and_told(database, device):
    old = await commands.put(database, QueuedCommand(device_id=device.id, type="a"), expires=NOW)
    young = await commands.put(
        database, QueuedCommand(device_id=device.id, type="b"), expires=NOW + timedelta(1)
    )
    ever = await commands.put(database, QueuedCommand(device_id=device.id, type="c"))
    assert await commands.queued_for(database, device.id, now=NOW) == [young, ever]
    assert await commands.expire(database, NOW) == [old]
    assert await commands.queued_for(database, device.id) == [young, ever]


async def test_an_owner_takes_back_what_is_his(database, device):
    his = await commands.put(database, QueuedCommand(device_id=device.id, type="a"), owner=("run", 5))
    other = await commands.put(database, QueuedCommand(device_id=device.id, type="b"), owner=("run", 6))
    assert await commands.cancel(database, ("run", 5)) == [his]
    assert await commands.queued_for(database, device.id) == [other]


async def test_commands_go_with_their_device(database, device):
    put = await commands.put(database, QueuedCommand(device_id=device.id, type="a"))
    await devices.TABLE.delete(database, device.id)
    assert await commands.take(database, put.id) is None


async def test_a_saved_command_is_seen_by_its_users(database):
    user = await users.TABLE.insert(database, User(email="a@example.com"))
    saved = await commands.TABLE.insert(
        database, Command(description="Stop", type="engineStop", text_channel=True, attributes={"a": 1})
    )
    query = ListQuery(accessible_to=user.id, keyword="stop")
    assert await commands.TABLE.list(database, query) == []
    await links.add(database, links.USER_COMMAND, user.id, saved.id)
    assert await commands.TABLE.list(database, query) == [saved]
