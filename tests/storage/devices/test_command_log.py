"""Rows of the log of commands: what follows what, and who decides."""

from datetime import UTC, datetime, timedelta

import pytest
import trio

from motorpool.storage.accounts import users
from motorpool.storage.database import nodes
from motorpool.storage.devices import command_log, commands, devices
from motorpool.storage.devices.command_log import Answer, Handover, NewEntry
from motorpool.storage.records import Device, QueuedCommand, User

NOW = datetime(2026, 6, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


@pytest.fixture
async def device(database):
    return await devices.TABLE.insert(database, Device(unique_id="a"))


@pytest.fixture
def add(database, device):
    """`await add()`: a command that is about to be handed to the device."""

    async def added(**fields):
        entry = NewEntry(
            **{
                "device_id": device.id,
                "type": "engineStop",
                "description": "",
                "text_channel": False,
                "attributes": {},
                "origin": "USER",
                **fields,
            }
        )
        (row_id,) = await command_log.add(database, [entry], NOW)
        return row_id

    return added


async def fetch(database, row_id):
    (found,) = await command_log.fetch(database, [row_id])
    return found


async def state(database, row_id):
    found = await fetch(database, row_id)
    return found.state, found.reason


async def queue(database, device, row_id, **fields):
    command = QueuedCommand(device_id=device.id, type="engineStop")
    return await commands.enqueue(database, command, log_id=row_id, **fields)


async def test_a_command_is_followed_to_its_answer(database, device, add):
    ann = await users.TABLE.insert(database, User(name="Ann", email="ann@example.org"))
    row_id = await add(user_id=ann.id, description="Halt", attributes={"n": 1})
    made = await fetch(database, row_id)
    assert (made.state, made.time, made.sent_at) == ("UNKNOWN", NOW, None)
    assert (made.user_name, made.description, made.attributes) == ("Ann", "Halt", {"n": 1})
    await command_log.settle(database, [Handover(row_id, "SENT", answer_node=0)], NOW + MINUTE)
    sent = await fetch(database, row_id)
    assert (sent.state, sent.sent_at, sent.answer) == ("SENT", NOW + MINUTE, None)
    given = [Answer(row_id, True, "", NOW), Answer(row_id, False, "no", NOW + 2 * MINUTE)]
    await command_log.answer(database, given)
    answered = await fetch(database, row_id)
    assert (answered.state, answered.answer, answered.answer_ok) == ("ANSWERED", "no", False)
    assert answered.answer_time == NOW + 2 * MINUTE
    # Neither its end nor another outcome comes after it.
    assert await command_log.note_disconnected(database, [row_id]) == []
    await command_log.settle(database, [Handover(row_id, "REFUSED", "late")], NOW)
    assert await fetch(database, row_id) == answered


async def test_an_answer_may_come_before_it_is_known_that_the_command_was_sent(database, add):
    row_id = await add()
    await command_log.answer(database, [Answer(row_id, True, "ok", NOW)])
    await command_log.settle(database, [Handover(row_id, "SENT", answer_node=0)], NOW)
    assert await state(database, row_id) == ("ANSWERED", None)


async def test_what_leaves_the_queue_says_how(database, device, add):
    rows = {name: await add() for name in ("claimed", "expired", "late", "cancelled", "gone", "waits")}
    queued = {
        name: await queue(database, device, row_id, expires=NOW if name in ("expired", "late") else None)
        for name, row_id in rows.items()
    }
    assert {await state(database, row_id) for row_id in rows.values()} == {("QUEUED", None)}
    claimed = await commands.claim(database, queued["claimed"].id, NOW)
    assert claimed.log_id == rows["claimed"]
    assert await commands.claim(database, queued["expired"].id, NOW) is None
    assert await commands.cancel(database, queued["cancelled"].id, NOW) == (rows["cancelled"],)
    await commands.expire(database, NOW)
    await database.execute("delete from queued_commands where id = $1", queued["gone"].id)
    changed = await command_log.note_lost(database, NOW, 0, began=NOW)
    assert sorted(changed) == sorted((rows["late"], rows["gone"]))
    found = {name: (await state(database, row_id))[0] for name, row_id in rows.items()}
    assert found == {
        "claimed": "UNKNOWN",
        "expired": "EXPIRED",
        "late": "EXPIRED",
        "cancelled": "CANCELLED",
        "gone": "CANCELLED",
        "waits": "QUEUED",
    }
    assert await command_log.note_lost(database, NOW, 0, began=NOW) == []


async def test_an_answer_that_can_no_longer_come_is_unknown(database, add):
    async with database.session() as session:
        dead, living = [await nodes.join(session, "north", "a server of tests", "0") for _ in range(2)]
    sent = {
        "dead": (dead, NOW),
        "living": (living, NOW),
        "former life": (0, NOW - MINUTE),
        "now": (0, NOW + MINUTE),
        "an hour ago": (living, NOW - timedelta(hours=2)),
        "no answers": (None, NOW - timedelta(hours=2)),
        "disconnected": (living, NOW),
    }
    rows = {}
    for name, (node, at) in sent.items():
        rows[name] = await add()
        await command_log.settle(database, [Handover(rows[name], "SENT", answer_node=node)], at)
    await nodes.leave(database, dead)
    assert await command_log.note_disconnected(database, [rows["disconnected"]]) == [rows["disconnected"]]
    await command_log.note_lost(database, NOW, 0, began=NOW)
    found = {name: await state(database, row_id) for name, row_id in rows.items()}
    assert found == {
        "dead": ("UNKNOWN", command_log.ENDED),
        "living": ("SENT", None),
        "former life": ("UNKNOWN", command_log.ENDED),
        "now": ("SENT", None),
        "an hour ago": ("UNKNOWN", command_log.NO_ANSWER),
        "no answers": ("SENT", None),
        "disconnected": ("UNKNOWN", command_log.DISCONNECTED),
    }
    # One that comes all the same is believed.
    await command_log.answer(database, [Answer(rows["an hour ago"], True, "ok", NOW)])
    assert await state(database, rows["an hour ago"]) == ("ANSWERED", None)


async def test_of_two_servers_one_decides(database, add):
    rows = [await add() for _ in range(20)]
    results = [
        [Handover(row_id, "REFUSED", server) for row_id in order]
        for server, order in (("one", rows), ("two", rows[::-1]))
    ]
    async with trio.open_nursery() as nursery:
        for each in results:
            nursery.start_soon(command_log.settle, database, each, NOW)
        nursery.start_soon(command_log.answer, database, [Answer(row, True, "ok", NOW) for row in rows[::2]])
    found = {each.id: each for each in await command_log.fetch(database, rows)}
    assert {found[row_id].state for row_id in rows[::2]} == {"ANSWERED"}
    assert len({found[row_id].reason for row_id in rows[1::2]}) == 1


async def test_long_values_are_cut_and_deleted_devices_have_no_row(database, device, add):
    row_id = await add(description="d" * 2000, attributes={"data": "x" * 20_000})
    found = await fetch(database, row_id)
    assert (len(found.description), found.attributes) == (1000, {})
    fields = {"type": "custom", "description": "", "text_channel": False, "attributes": {}, "origin": "USER"}
    entries = [NewEntry(device_id=number, **fields) for number in (999, device.id, 998)]
    before, row_id, after = await command_log.add(database, entries, NOW)
    assert (before, after) == (0, 0)
    assert (await fetch(database, row_id)).type == "custom"


async def test_the_newest_rows_of_a_device_stay(database, device, add):
    other = await devices.TABLE.insert(database, Device(unique_id="b"))
    rows = [await add() for _ in range(5)]
    alone = await add(device_id=other.id)
    assert await command_log.trim(database, 3) == 2
    left = await command_log.fetch(database, [*rows, alone])
    assert sorted(each.id for each in left) == [*rows[2:], alone]
    await devices.TABLE.delete(database, device.id)
    assert [each.id for each in await command_log.fetch(database, rows)] == []


async def test_many_commands_at_once_do_not_wait_for_upkeep(database, device, add, monkeypatch):
    monkeypatch.setattr(command_log, "LOGGED_OF_A_DEVICE", 5)
    monkeypatch.setattr(command_log, "TRIM_EVERY", 1)
    other = await devices.TABLE.insert(database, Device(unique_id="b"))
    first = [await add(device_id=other.id) for _ in range(3)]
    rows = [await add() for _ in range(20)]
    left = [each.id for each in await command_log.fetch(database, [*first, *rows])]
    assert sorted(left) == [*first, *rows[-5:]]


async def test_rows_are_filtered_and_come_newest_first(database, device, add):
    other = await devices.TABLE.insert(database, Device(unique_id="b"))
    first, second, third = (
        await add(user_id=1),
        await add(user_id=2),
        await add(device_id=other.id, user_id=1),
    )
    await command_log.settle(database, [Handover(second, "SENT")], NOW)

    async def found(**changes):
        wanted = {
            "device_ids": [device.id, other.id],
            "user_id": None,
            "states": (),
            "start": None,
            "end": None,
            "before_id": 2**63 - 1,
            "limit": 10,
        }
        return [each.id for each in await command_log.newest(database, **(wanted | changes))]

    assert await found() == [third, second, first]
    assert await found(device_ids=[device.id]) == [second, first]
    assert await found(user_id=1) == [third, first]
    assert await found(states=("SENT",)) == [second]
    assert await found(states=("UNKNOWN", "QUEUED")) == [third, first]
    assert await found(start=NOW, end=NOW) == [third, second, first]
    assert await found(start=NOW + MINUTE) == await found(end=NOW - MINUTE) == []
    assert await found(before_id=third, limit=1) == [second]
