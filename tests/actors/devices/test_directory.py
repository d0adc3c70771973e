"""Who is online and where each was last, in memory."""

import random
from datetime import UTC, datetime, timedelta

import pytest
import trio

from motorpool.actors.change_feed import publish_changes
from motorpool.actors.devices.directory import Directory
from motorpool.actors.devices.position_writer import POSITION_WRITER, Append, PositionWriter
from motorpool.actors.messages.changes import ApplyChanges, DeviceChanged, PositionsDeleted
from motorpool.actors.messages.directory import (
    DIRECTORY,
    DeviceStatusChanged,
    GetDeviceStatuses,
    GetLatestPositions,
)
from motorpool.actors.messages.topics import DEVICES, POSITIONS, DeviceStatus
from motorpool.actors.messages.uplink import DEVICE, GetCommandTypes
from motorpool.runtime import ChildSpec
from motorpool.storage.devices import device_states, devices, position_rows, positions
from motorpool.storage.errors import StorageUnavailable
from motorpool.storage.records import Position

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)


def position(number, device_id, *, fix=NOW, server=NOW, **attributes):
    return Position(
        id=number,
        device_id=device_id,
        protocol="jt808",
        server_time=server,
        device_time=fix,
        fix_time=fix,
        attributes=attributes,
    )


async def store(database, *stored):
    rows = [position_rows.pack_row(each) for each in stored]
    await positions.store(database, rows, [each.id for each in stored])


def seen(device_id, status="online", moment=NOW):
    return DeviceStatusChanged(DeviceStatus(device_id, status, moment, 99))


@pytest.fixture
def directory_harness(database, neighbours, tree):
    return lambda *above: tree(
        *above,
        ChildSpec(kind=DIRECTORY, factory=lambda: Directory(database, {}, None)),
        neighbours.devices_spec,
    )


async def test_latest_positions_come_from_the_table_once_and_in_the_order_asked(
    database, make_device, directory_harness
):
    one, two, none = [(await make_device(str(number))).id for number in (1, 2, 3)]
    early, late = position(1, one, fix=NOW - timedelta(hours=1)), position(2, one)
    other = position(3, two)
    await store(database, early, late, other)
    async with directory_harness() as system:
        directory = system.ref(DIRECTORY)
        assert await directory.ask(GetLatestPositions((two, none, one))) == [other, late]
        await database.execute("delete from positions")
        assert await directory.ask(GetLatestPositions((one, two, none))) == [late, other]
        live = await directory.ask(GetDeviceStatuses((one, none)))
        assert (live[one].position_id, live[none].position_id) == (2, 0)


async def test_after_any_batches_memory_says_what_the_table_says(
    database, make_device, directory_harness, neighbours
):
    """Late, repeated, future, implausible and equal fixes of three devices, some known beforehand."""
    ids = tuple([(await make_device(str(number))).id for number in range(3)])
    chance = random.Random(20)
    async with directory_harness(
        ChildSpec(
            kind=POSITION_WRITER,
            factory=lambda: PositionWriter(database.urgent() if False else database),
        ),
        neighbours.connections_spec,
    ) as system:
        directory, writer = system.ref(DIRECTORY), system.ref(POSITION_WRITER)
        connection, probe = await neighbours.connect(system, 1)
        await directory.ask(GetLatestPositions(ids[:1]))
        for number in range(300):
            hours = chance.choice([-48, -2, -1, 0, 0, 1, 23, 24, 25, 400])
            fix = NOW + timedelta(hours=hours, seconds=chance.randrange(3))
            doubt = {"implausible": True} if chance.random() < 0.2 else {}
            stored = position(0, chance.choice(ids), fix=fix, **doubt)
            writer.tell_nowait(Append(stored, (), connection, number))
        received = 0
        while received < 300:
            received += len((await probe.receive()).receipts)
        in_memory = await directory.ask(GetLatestPositions(ids))
        assert in_memory == await positions.latest(database, ids)
        assert len(in_memory) == 3


async def test_what_is_stored_while_the_table_is_read_is_not_missed(database, make_device, directory_harness):
    device_id = (await make_device()).id
    await store(database, position(1, device_id, fix=NOW - timedelta(hours=1)))
    answers = []
    async with directory_harness() as system, trio.open_nursery() as nursery:
        directory = system.ref(DIRECTORY)

        async def ask():
            answers.append(await directory.ask(GetLatestPositions((device_id,))))

        async with database.transaction() as transaction:
            await transaction.execute("lock table positions in access exclusive mode")
            nursery.start_soon(ask)
            await trio.testing.wait_all_tasks_blocked(0.02)
            system.topic(POSITIONS).publish((position(2, device_id),))
            assert answers == []
        while not answers:
            await trio.testing.wait_all_tasks_blocked(0.01)
        (latest,) = await directory.ask(GetLatestPositions((device_id,)))
        assert latest.id == 2


async def test_statuses_that_nobody_follows_are_kept_and_not_published(
    database, make_device, directory_harness, time
):
    device_id = (await make_device("1")).id
    async with directory_harness() as system:
        directory, topic = system.ref(DIRECTORY), system.topic(DEVICES)
        directory.tell_nowait(seen(device_id))
        system.topic(POSITIONS).publish((position(5, device_id, server=NOW + timedelta(seconds=9)),))
        await time.settle()
        assert topic.statistics().published == 0
        received = []
        topic.listen(received.append)
        system.topic(POSITIONS).publish((position(6, device_id, server=NOW + timedelta(seconds=8)),))
        await time.settle()
        assert received == [(DeviceStatus(device_id, "online", NOW + timedelta(seconds=9), 0),)]


async def test_status_and_last_update_are_returned_and_published(
    database, make_device, directory_harness, time
):
    one, two = [(await make_device(str(number))).id for number in (1, 2)]
    later = NOW + timedelta(seconds=9)
    async with directory_harness() as system:
        directory, published = system.ref(DIRECTORY), system.topic(DEVICES).subscribe()
        directory.tell_nowait(seen(one))
        assert await directory.ask(GetDeviceStatuses((one, two))) == {
            one: DeviceStatus(one, "online", NOW, 0),
            two: DeviceStatus(two, "offline", None, 0),
        }
        system.topic(POSITIONS).publish((position(5, one, server=later), position(6, two, server=later)))
        directory.tell_nowait(seen(one, "unknown", None))
        await time.settle()
        assert await published.receive_batch() == [
            (DeviceStatus(one, "online", NOW, 0),),
            (DeviceStatus(one, "online", later, 5), DeviceStatus(two, "offline", later, 6)),
            (DeviceStatus(one, "unknown", later, 5),),
        ]


async def test_last_updates_are_saved_now_and_then_and_at_the_end(
    database, make_device, directory_harness, time
):
    one, two = [(await make_device(str(number))).id for number in (1, 2)]
    async with directory_harness() as system:
        system.ref(DIRECTORY).tell_nowait(seen(one))
        await time.passes(29)
        assert await device_states.all_last_updates(database) == {}
        await time.passes(1.5)
        assert await device_states.all_last_updates(database) == {one: NOW}
        system.topic(POSITIONS).publish((position(5, two, server=NOW + timedelta(seconds=1)),))
    assert await device_states.all_last_updates(database) == {one: NOW, two: NOW + timedelta(seconds=1)}
    async with directory_harness() as system:
        live = await system.ref(DIRECTORY).ask(GetDeviceStatuses((one, two)))
        assert [live[number].last_update for number in (one, two)] == [NOW, NOW + timedelta(seconds=1)]
        assert {each.status for each in live.values()} == {"offline"}


async def test_an_outage_fails_the_question_and_saves_later(
    database, make_device, directory_harness, outage, time
):
    device_id = (await make_device()).id
    async with directory_harness() as system:
        directory = system.ref(DIRECTORY)
        directory.tell_nowait(seen(device_id))
        with outage():
            for question in (GetDeviceStatuses((device_id,)), GetLatestPositions((device_id,))):
                with pytest.raises(StorageUnavailable):
                    await directory.ask(question)
            directory.tell_nowait(ApplyChanges((DeviceChanged(device_id, "updated"),)))
            await time.passes(31)
        live = await directory.ask(GetDeviceStatuses((device_id,)))
        assert live[device_id].status == "online"
        await time.passes(31)
        assert await device_states.all_last_updates(database) == {device_id: NOW}


async def test_a_deleted_device_is_forgotten_and_others_are_not(
    database, make_device, directory_harness, time
):
    gone, kept = [(await make_device(str(number))).id for number in (1, 2)]
    async with directory_harness() as system:
        directory = system.ref(DIRECTORY)
        await directory.ask(GetLatestPositions((gone, kept)))
        system.topic(POSITIONS).publish((position(1, gone), position(2, kept)))
        for device_id in (gone, kept):
            directory.tell_nowait(seen(device_id))
        await devices.TABLE.delete(database, gone)
        directory.tell_nowait(
            ApplyChanges((DeviceChanged(gone, "deleted"), DeviceChanged(kept, "updated", ("name",))))
        )
        await time.settle()
        assert await directory.ask(GetDeviceStatuses((gone, kept))) == {
            gone: DeviceStatus(gone, "offline", None, 0),
            kept: DeviceStatus(kept, "online", NOW, 2),
        }
        await time.passes(31)
        assert await device_states.all_last_updates(database) == {kept: NOW}


async def test_edits_are_passed_to_devices_that_are_there_and_start_none(
    database, make_device, directory_harness, neighbours, time
):
    awake, asleep = [(await make_device(str(number))).id for number in (1, 2)]
    neighbours.device(awake, {GetCommandTypes: ()})
    async with directory_harness() as system:
        await system.ref(DEVICE, awake).ask(GetCommandTypes())
        edits = DeviceChanged(awake, "updated", ("name",)), DeviceChanged(asleep, "deleted")
        await publish_changes(system, *edits)
        await time.settle()
        assert neighbours.devices[awake].messages[1:] == [edits[0]]
        assert asleep not in neighbours.devices


async def test_after_positions_were_deleted_the_newest_that_remains_is_the_latest(
    database, make_device, directory_harness
):
    device_id = (await make_device()).id
    early, late = position(1, device_id, fix=NOW - timedelta(hours=1)), position(2, device_id)
    doubted = position(3, device_id, fix=NOW - timedelta(minutes=1), implausible=True)
    await store(database, early, late, doubted)
    async with directory_harness() as system:
        directory = system.ref(DIRECTORY)
        assert await directory.ask(GetLatestPositions((device_id,))) == [late]
        await positions.delete(database, 2)
        await directory.ask(ApplyChanges((PositionsDeleted(device_id),)))
        assert await directory.ask(GetLatestPositions((device_id,))) == [early]
        await positions.delete(database, 1)
        await directory.ask(ApplyChanges((PositionsDeleted(device_id),)))
        assert await directory.ask(GetLatestPositions((device_id,))) == []
