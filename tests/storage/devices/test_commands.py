from datetime import UTC, datetime, timedelta

import pytest

from motorpool.storage.accounts import links, users
from motorpool.storage.cluster import homes
from motorpool.storage.database import nodes
from motorpool.storage.database.tables import ListQuery
from motorpool.storage.devices import commands, devices
from motorpool.storage.devices.commands import ClaimedCommand
from motorpool.storage.errors import StatementRejected
from motorpool.storage.records import Command, Device, QueuedCommand, User
from motorpool.storage.schedules import runs

NOW = datetime(2026, 6, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.fixture
async def device(database):
    return await devices.TABLE.insert(database, Device(unique_id="a"))


async def test_commands_wait_in_the_order_they_came(database, device):
    put = [
        await commands.enqueue(
            database,
            QueuedCommand(device_id=device.id, type=kind, text_channel=kind == "b", attributes={"n": kind}),
        )
        for kind in "cab"
    ]
    assert [command.type for command in put] == ["c", "a", "b"]
    assert await commands.queued_for(database, device.id) == put
    assert await commands.queued_for(database, 999) == []


async def test_a_command_is_taken_once(database, device):
    put = await commands.enqueue(
        database, QueuedCommand(device_id=device.id, type="custom", attributes={"x": [1]})
    )
    assert await commands.claim(database, put.id, NOW) == ClaimedCommand(put)
    assert await commands.claim(database, put.id, NOW) is None


async def test_a_server_that_was_declared_dead_takes_no_command(database, device):
    put = await commands.enqueue(database, QueuedCommand(device_id=device.id, type="custom"))
    async with database.session() as session:
        dead, living = [await nodes.join(session, "north", "a server of tests", "0") for _ in range(2)]
    await nodes.leave(database, dead)
    # It was frozen, and wakes with a connection that the device has given up.
    assert await commands.claim(database, put.id, NOW, dead) is None
    assert await commands.claim(database, put.id, NOW, living) == ClaimedCommand(put)


async def test_the_server_that_a_device_has_left_takes_no_command(database, device):
    put = await commands.enqueue(database, QueuedCommand(device_id=device.id, type="custom"))
    async with database.session() as session:
        former, latter = [await nodes.join(session, "north", "a server of tests", "0") for _ in range(2)]
    await homes.claim(database, former, [device.id])
    await homes.claim(database, latter, [device.id])
    # It was frozen for less than the time after which it is declared dead.
    assert await commands.claim(database, put.id, NOW, former) is None
    assert await commands.queued_for(database, device.id) == [put]
    await nodes.leave(database, latter)
    assert await commands.claim(database, put.id, NOW, former) == ClaimedCommand(put)


async def test_one_that_has_waited_too_long_leaves_and_is_not_sent(database, device):
    for expires, is_sent in ((NOW, False), (NOW + timedelta(microseconds=1), True)):
        put = await commands.enqueue(
            database, QueuedCommand(device_id=device.id, type="a"), created=NOW - HOUR, expires=expires
        )
        assert await commands.claim(database, put.id, NOW) == (ClaimedCommand(put) if is_sent else None)
        assert await commands.queued_for(database, device.id) == []


async def test_what_waits_is_walked_in_order(database, device):
    other = await devices.TABLE.insert(database, Device(unique_id="b"))
    put = [await commands.enqueue(database, QueuedCommand(device_id=device.id, type=kind)) for kind in "abc"]
    last, walked = 0, []
    while (last := await commands.next_queued(database, device.id, last)) is not None:
        walked.append(last)
    assert walked == [command.id for command in put]
    assert await commands.next_queued(database, other.id, 0) is None
    assert await commands.devices_with_queue(database, [device.id, other.id, 999]) == {device.id}


@pytest.mark.parametrize(
    ("fields", "is_linked", "is_forbidden"),
    [
        ({}, True, False),
        ({}, False, True),
        ({"administrator": True}, False, False),
        ({"administrator": True, "disabled": True}, True, True),
        ({"expiration_time": NOW}, True, True),
        ({"expiration_time": NOW + HOUR}, True, False),
    ],
)
async def test_a_command_whose_sender_has_lost_the_right_is_not_sent(
    database, device, fields, is_linked, is_forbidden
):
    user = await users.TABLE.insert(database, User(email="a@example.com", **fields))
    if is_linked:
        await links.add(database, links.USER_DEVICE, user.id, device.id)
    queued = QueuedCommand(device_id=device.id, type="custom")
    put = await commands.enqueue(database, queued, user_id=user.id)
    claimed = await commands.claim(database, put.id, NOW)
    assert claimed == ClaimedCommand(put, 0, user.id, is_forbidden)
    assert await commands.queued_for(database, device.id) == []


async def test_what_waits_is_shown_with_who_sent_it(database, device):
    put = await commands.enqueue(
        database,
        QueuedCommand(device_id=device.id, type="custom", attributes={"data": "x"}),
        created=NOW,
        expires=NOW + HOUR,
        user_id=7,
    )
    (shown,) = await commands.waiting_for(database, device.id)
    assert shown == await commands.waiting(database, put.id)
    assert (shown.id, shown.device_id, shown.type, shown.attributes) == (
        put.id,
        device.id,
        "custom",
        {"data": "x"},
    )
    assert (shown.created, shown.expires, shown.user_id, shown.scheduled_command_id) == (
        NOW,
        NOW + HOUR,
        7,
        0,
    )
    assert await commands.claim(database, put.id, NOW) == ClaimedCommand(put, user_id=7, is_forbidden=True)
    assert await commands.waiting(database, put.id) is None
    assert await commands.waiting_for(database, device.id) == []


async def test_a_command_that_is_cancelled_leaves_the_queue(database, device):
    put = await commands.enqueue(database, QueuedCommand(device_id=device.id, type="a"))
    kept = await commands.enqueue(database, QueuedCommand(device_id=device.id, type="b"))
    assert await commands.cancel(database, put.id, NOW) == ()
    assert await commands.cancel(database, put.id, NOW) is None
    assert await commands.queued_for(database, device.id) == [kept]


async def test_a_command_for_no_device_is_rejected(database):
    with pytest.raises(StatementRejected, match="deviceId 9"):
        await commands.enqueue(database, QueuedCommand(device_id=9, type="custom"))


async def test_a_queue_has_an_end(database, device):
    await database.execute(
        "insert into queued_commands (device_id, type) select $1, 'custom' from generate_series(1, $2)",
        device.id,
        commands.MAX_QUEUED,
    )
    with pytest.raises(StatementRejected, match="1000 commands wait"):
        await commands.enqueue(database, QueuedCommand(device_id=device.id, type="custom"))
    assert len(await commands.queued_for(database, device.id)) == commands.MAX_QUEUED


async def test_what_waited_too_long_is_taken_out_and_counted(database, device):
    order = QueuedCommand(device_id=device.id, type="a")
    for age in (2, 1):
        await commands.enqueue(database, order, expires=NOW - age * HOUR)
    await commands.enqueue(database, order, expires=NOW)
    young = await commands.enqueue(database, order, expires=NOW + HOUR)
    ever = await commands.enqueue(database, order)
    assert await commands.expire(database, NOW) == 3
    assert await commands.queued_for(database, device.id) == [young, ever]
    assert await commands.expire(database, NOW) == 0


async def test_commands_go_with_their_device(database, device):
    put = await commands.enqueue(database, QueuedCommand(device_id=device.id, type="a"))
    await devices.TABLE.delete(database, device.id)
    assert await commands.claim(database, put.id, NOW) is None


async def test_a_saved_command_is_seen_by_its_users(database):
    user = await users.TABLE.insert(database, User(email="a@example.com"))
    saved = await commands.TABLE.insert(
        database, Command(description="Stop", type="engineStop", text_channel=True, attributes={"a": 1})
    )
    query = ListQuery(accessible_to=user.id, keyword="stop")
    assert await commands.TABLE.list(database, query) == []
    await links.add(database, links.USER_COMMAND, user.id, saved.id)
    assert await commands.TABLE.list(database, query) == [saved]


class TestSteps:
    """Commands in the queue that are steps of scheduled commands: their run records go along."""

    @pytest.fixture
    async def run(self, world, device):
        schedule = await world.schedule(device, start=[(await world.command(), 0)], watched_from=NOW - HOUR)
        await world.fire(schedule, NOW - HOUR / 2)
        (made,) = await world.runs()
        return made

    async def test_one_that_is_taken_is_being_delivered(self, world, database, run):
        waiting = await world.queue(run, expires=NOW + HOUR)
        assert await commands.claim(database, waiting.id, NOW) == ClaimedCommand(waiting, run.id)
        (taken,) = await world.runs()
        assert (taken.status, taken.reason, taken.time) == ("delivering", None, NOW)
        await runs.store_outcomes(database, [runs.Outcome(run.id, "delivered")], NOW)
        (told,) = await runs.fetch(database, [run.id])
        assert (told.status, told.time) == ("delivered", NOW)

    async def test_one_that_comes_too_late_is_told_so(self, world, database, device, run):
        waiting = await world.queue(run, expires=NOW)
        assert await commands.claim(database, waiting.id, NOW) is None
        (told,) = await world.runs()
        assert (told.status, told.reason, told.time) == ("skipped", "queue_expired", NOW)
        assert await commands.queued_for(database, device.id) == []

    async def test_one_whose_owner_has_lost_the_right_is_skipped(self, world, database, device, run):
        waiting = await world.queue(run)
        await database.execute("update users set administrator = false")
        claimed = await commands.claim(database, waiting.id, NOW)
        assert claimed == ClaimedCommand(waiting, run.id, is_forbidden=True)
        (told,) = await world.runs()
        assert (told.status, told.reason, told.time) == ("skipped", "no_permission", NOW)
        assert await commands.queued_for(database, device.id) == []

    async def test_one_that_a_user_removes_is_skipped(self, world, database, device, run):
        waiting = await world.queue(run)
        shown = await commands.waiting(database, waiting.id)
        assert (shown.user_id, shown.scheduled_command_id) == (0, run.schedule_id)
        assert await commands.cancel(database, waiting.id, NOW) == ()
        (told,) = await world.runs()
        assert (told.status, told.reason, told.detail, told.time) == (
            "skipped",
            "not_sent",
            "a user has removed it from the queue",
            NOW,
        )
        assert await commands.queued_for(database, device.id) == []
        assert await commands.claim(database, waiting.id, NOW) is None

    async def test_one_that_is_being_delivered_cannot_be_removed(self, world, database, run):
        waiting = await world.queue(run)
        await commands.claim(database, waiting.id, NOW)
        assert await commands.cancel(database, waiting.id, NOW) is None
        assert (await world.runs())[0].status == "delivering"

    async def test_one_that_was_cancelled_is_not_taken(self, world, database, run):
        waiting = await world.queue(run)
        await world.put([run.id], "skipped", reason="superseded")
        assert await commands.claim(database, waiting.id, NOW) is None
        assert (await world.runs())[0].reason == "superseded"

    @pytest.mark.parametrize("named", [True, False])
    async def test_one_that_waited_too_long_or_whose_time_is_up_all_the_same_is_told_so(
        self, world, database, device, run, named
    ):
        """Named is what a timer of ours said: wall clocks are set, spans are not."""
        await world.queue(run, expires=NOW + HOUR if named else NOW)
        by_hand = await commands.enqueue(database, QueuedCommand(device_id=device.id, type="a"))
        assert await commands.expire(database, NOW, [run.id, run.id + 1] if named else []) == 1
        (told,) = await world.runs()
        assert (told.status, told.reason, told.time) == ("skipped", "queue_expired", NOW)
        assert await commands.queued_for(database, device.id) == [by_hand]

    async def test_one_that_has_its_time_yet_waits_on(self, world, database, device, run):
        waiting = await world.queue(run, expires=NOW + HOUR)
        assert await commands.expire(database, NOW) == 0
        assert (await world.runs())[0].status == "queued"
        assert await commands.queued_for(database, device.id) == [waiting]
