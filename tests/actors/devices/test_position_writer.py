"""The group-commit writer on the real database."""

from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import pytest
import trio

from motorpool.actors.devices import position_writer
from motorpool.actors.devices.position_writer import POSITION_WRITER, Append, AppendEvents, PositionWriter
from motorpool.actors.messages.conditions import DATABASE, POSITIONS_WAIT
from motorpool.actors.messages.downlink import AcknowledgeStored, Settled
from motorpool.actors.messages.topics import EVENTS, POSITIONS
from motorpool.runtime import ChildSpec, Deferred
from motorpool.storage.devices import positions
from motorpool.storage.events import events
from motorpool.storage.records import Event, Position

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)


def at(seconds, device_id=1, **fields):
    """A position that long after NOW."""
    moment = NOW + timedelta(seconds=seconds)
    return Position(
        device_id=device_id,
        protocol="jt808",
        server_time=moment,
        device_time=moment,
        fix_time=moment,
        **fields,
    )


@pytest.fixture
def writing(database, neighbours, tree):
    """`async with writing() as (system, writer, built):` the writer, and a place for connections."""

    @asynccontextmanager
    async def running(*, mailbox_size=1000):
        built = []

        def build():
            built.append(PositionWriter(database))
            return built[-1]

        spec = ChildSpec(kind=POSITION_WRITER, factory=build, mailbox_size=mailbox_size)
        async with tree(spec, neighbours.connections_spec) as system:
            yield system, system.ref(POSITION_WRITER), built

    return running


@asynccontextmanager
async def locked_table(database):
    """Nothing can be stored meanwhile, and nothing fails."""
    async with database.transaction() as transaction:
        await transaction.execute("lock table positions in access exclusive mode")
        yield


async def stored(database):
    """The seconds after NOW of all stored rows, in the order of their ids."""
    rows = await database.fetch("select fix_time from positions order by id")
    return [(row[0] - NOW).total_seconds() for row in rows]


async def acknowledged_receipts(probe, count):
    """That many receipts, as they came."""
    receipts = []
    while len(receipts) < count:
        receipts += (await probe.receive()).receipts
    return receipts


def warnings(caplog):
    return [record for record in caplog.records if record.levelname == "WARNING"]


async def test_nothing_is_acknowledged_or_published_before_the_commit(database, writing, neighbours):
    async with writing() as (system, writer, _):
        connection, probe = await neighbours.connect(system, 1)
        published = system.topic(POSITIONS).subscribe()
        async with locked_table(database):
            writer.tell_nowait(Append(at(0), (), connection, 7))
            await trio.testing.wait_all_tasks_blocked(0.05)
            assert probe.messages == []
            assert published.lag == 0
        assert await probe.receive() == AcknowledgeStored((7,))
        assert await stored(database) == [0]
        ((position,),) = await published.receive_batch()
        assert position == (await positions.TABLE.fetch_many(database, [position.id]))[0]


async def test_rows_are_stored_in_order_with_at_most_250_in_a_flush(database, writing, neighbours):
    async with writing() as (system, writer, _):
        connection, probe = await neighbours.connect(system, 1)
        published = system.topic(POSITIONS).subscribe()
        for number in range(1200):
            writer.tell_nowait(Append(at(number), (), connection, number))
        assert await acknowledged_receipts(probe, 1200) == list(range(1200))
        batches = await published.receive_batch()
        assert [len(batch) for batch in batches] == [250, 250, 250, 250, 200]
        # More than one block of ids: each is given once, in the order of arrival.
        ids = [position.id for batch in batches for position in batch]
        assert ids == sorted(set(ids))
        assert len(ids) == 1200
    assert await stored(database) == list(range(1200))


async def test_each_connection_gets_its_own_receipts_in_one_message(database, writing, neighbours):
    async with writing() as (system, writer, _):
        one, probe_of_one = await neighbours.connect(system, 1)
        two, probe_of_two = await neighbours.connect(system, 2)
        gone, _ = await neighbours.connect(system, 3)
        await gone.stop()
        for number in range(6):
            writer.tell_nowait(Append(at(number), (), (one, two)[number % 2], number))
        writer.tell_nowait(Append(at(6), (), gone, 6))
        writer.tell_nowait(Append(at(7), (), one, None))
        writer.tell_nowait(Append(at(8)))
        await probe_of_two.receive()
        assert probe_of_one.messages == [AcknowledgeStored((0, 2, 4))]
        assert probe_of_two.messages == [AcknowledgeStored((1, 3, 5))]
        assert await stored(database) == list(range(9))


async def test_a_report_without_a_position_is_acknowledged_after_those_before_it(
    database, writing, neighbours
):
    async with writing() as (system, writer, _):
        connection, probe = await neighbours.connect(system, 1)
        event = Event(type="commandResult", event_time=NOW, device_id=7)
        async with locked_table(database):
            writer.tell_nowait(Append(at(0), (), connection, 1))
            writer.tell_nowait(AppendEvents((), connection, 2))
            writer.tell_nowait(AppendEvents((event,), connection, 3))
            await trio.testing.wait_all_tasks_blocked(0.05)
            assert probe.messages == []
        assert await acknowledged_receipts(probe, 3) == [1, 2, 3]
    assert await stored(database) == [0]
    assert [row.type for row in await events.TABLE.list(database)] == ["commandResult"]


async def test_a_connection_is_told_that_all_is_stored_after_the_acknowledgements(
    database, writing, neighbours
):
    async with writing() as (system, writer, _):
        connection, probe = await neighbours.connect(system, 1)
        async with locked_table(database):
            writer.tell_nowait(Append(at(0), (), connection, 1))
            writer.tell_nowait(AppendEvents((), connection, settled=Settled(7)))
            writer.tell_nowait(Append(at(1), (), connection, 2))
            await trio.testing.wait_all_tasks_blocked(0.05)
            assert probe.messages == []
        await probe.receive()
        await probe.receive()
        assert probe.messages[-1] == Settled(7)
        assert 1 in probe.messages[0].receipts


async def test_a_reply_is_the_stored_position_after_it_is_published(database, writing):
    await database.execute("alter table positions add constraint northern check (latitude >= 0)")
    async with writing() as (system, writer, _):
        published = system.topic(POSITIONS).subscribe()
        replies = []

        class Reply(Deferred):
            def answer(self, value):
                replies.append((value, published.lag))

        async with locked_table(database):
            writer.tell_nowait(Append(at(0), reply=Reply()))
            await trio.testing.wait_all_tasks_blocked(0.05)
            assert replies == []
        ((position,),) = await published.receive_batch()
        assert replies == [(position, 1)]
        assert position == (await positions.TABLE.fetch_many(database, [position.id]))[0]
        # What cannot be stored has no reply: the asker times out.
        writer.tell_nowait(Append(at(1, latitude=-1.0), reply=Reply()))
        writer.tell_nowait(Append(at(2)))
        await published.receive_batch()
        assert len(replies) == 1


async def test_events_are_stored_with_their_position_and_get_its_id(database, writing, neighbours):
    async with writing() as (system, writer, _):
        connection, probe = await neighbours.connect(system, 1)
        published = system.topic(EVENTS).subscribe()
        alarm = Event(type="alarm", event_time=NOW, device_id=1)
        lonely = Event(type="deviceOnline", event_time=NOW, device_id=2)
        writer.tell_nowait(Append(at(0)))
        writer.tell_nowait(Append(at(1), (alarm,), connection, 1))
        writer.tell_nowait(AppendEvents((lonely,)))
        await probe.receive()
        rows = {row.type: row for row in await events.TABLE.list(database)}
        position_id = await database.fetch_value(
            "select id from positions where fix_time = $1", NOW + timedelta(seconds=1)
        )
        assert rows["alarm"].position_id == position_id
        assert rows["deviceOnline"].position_id == 0
        assert await published.receive_batch() == [(rows["alarm"], rows["deviceOnline"])]


def event_storing(system, writer, time):
    """A function that stores an event, and returns its id."""
    published = system.topic(EVENTS).subscribe()

    async def store():
        writer.tell_nowait(AppendEvents((Event(type="alarm", event_time=NOW, device_id=1),)))
        await time.passes(position_writer.FLUSH_SECONDS)
        await time.settle()
        (((event,),)) = await published.receive_batch()
        return event.id

    return store


async def test_events_that_come_one_by_one_take_no_more_ids_than_they_need(database, writing, time):
    async with writing() as (system, writer, _):
        stored_id = event_storing(system, writer, time)
        found = []
        for _ in range(3):
            found.append(await stored_id())
            await time.passes(1.1)
        assert found == [found[0], found[0] + 1, found[0] + 2]
        for _ in range(20):
            await stored_id()
        # What is allocated beforehand is as much as has been needed.
        (after,) = await events.allocate_ids(database, 1)
        assert after <= found[-1] + 2 * 20


async def test_ids_of_events_follow_those_that_others_stored_a_second_before(database, writing, time):
    async with writing() as (system, writer, _):
        stored_id = event_storing(system, writer, time)
        first = await stored_id()
        assert await stored_id() == first + 1
        (other,) = await events.allocate_ids(database, 1)
        await time.passes(1.1)
        assert await stored_id() > other


async def test_an_outage_costs_nothing_but_time_and_keeps_the_order(
    database, writing, neighbours, outage, time, caplog
):
    async with writing() as (system, writer, _):
        connection, probe = await neighbours.connect(system, 1)
        writer.tell_nowait(Append(at(0), (), connection, 0))
        await time.settle()
        await time.passes(0.005)
        with outage():
            for number in range(1, 400):
                happened = (Event(type="alarm", event_time=NOW, device_id=1),) if number % 100 == 0 else ()
                writer.tell_nowait(Append(at(number), happened, connection, number))
            await time.passes(1)
            assert list(system.conditions) == []
            for _ in range(4):
                await time.passes(5)
            (told,) = warnings(caplog)
            assert "positions: positions wait (399 rows): " in told.getMessage()
            assert probe.messages == [AcknowledgeStored((0,))]
        await time.passes(5)
        await time.passes(1)
        assert await acknowledged_receipts(probe, 400) == list(range(400))
        assert "positions: over after " in warnings(caplog)[-1].getMessage()
        assert len(warnings(caplog)) == 2
        assert list(system.conditions) == []
    assert await stored(database) == list(range(400))
    assert sorted(
        row[0]
        for row in await database.fetch(
            "select fix_time from events join positions on positions.id = position_id"
        )
    ) == [NOW + timedelta(seconds=seconds) for seconds in (100, 200, 300)]


def tries_of(caplog):
    return sum("not stored yet" in record.getMessage() for record in caplog.records)


async def test_what_the_database_already_says_of_itself_is_not_said_again(
    database, writing, outage, time, caplog
):
    async with writing() as (system, writer, _):
        with outage():
            system.conditions.enter(DATABASE, "away")
            writer.tell_nowait(Append(at(0)))
            await time.passes(5)
            assert len(warnings(caplog)) == 1
            # Now it works, but for the table.
            system.conditions.leave(DATABASE)
            for _ in range(3):
                await time.passes(5)
            assert system.conditions.find(POSITIONS_WAIT) is not None
        await time.passes(5)
        assert list(system.conditions) == []


async def test_tries_during_an_outage_get_rarer_up_to_five_seconds(database, writing, outage, time, caplog):
    caplog.set_level("DEBUG")
    async with writing() as (_, writer, _):
        with outage():
            writer.tell_nowait(Append(at(0)))
            await time.settle()
            for most in (0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0):
                tries = tries_of(caplog)
                await time.passes(most * 0.49)  # the pause is between half and the whole of it
                assert tries_of(caplog) == tries
                await time.passes(most * 0.52)
                assert tries_of(caplog) == tries + 1
        await time.passes(5)
    assert await stored(database) == [0]


async def test_a_row_that_the_database_refuses_is_dropped_alone(database, writing, neighbours, caplog):
    await database.execute("alter table positions add constraint northern check (latitude >= 0)")
    async with writing() as (system, writer, _):
        connection, probe = await neighbours.connect(system, 1)
        published = system.topic(POSITIONS).subscribe()
        for number in range(100):
            latitude = -1.0 if number in {0, 41, 42, 99} else 1.0
            writer.tell_nowait(Append(at(number, latitude=latitude), (), connection, number))
        good = [number for number in range(100) if number not in {0, 41, 42, 99}]
        assert await acknowledged_receipts(probe, 96) == good
        (batch,) = await published.receive_batch()
        assert len(batch) == 96
    assert await stored(database) == good
    assert len([record for record in caplog.records if "cannot be stored" in record.getMessage()]) == 4


async def test_a_full_queue_makes_the_mailbox_fill_and_then_the_tellers_wait(
    database, writing, neighbours, until_full, monkeypatch
):
    monkeypatch.setattr(position_writer, "QUEUE_ROWS", 10)
    async with writing(mailbox_size=3) as (system, writer, _):
        connection, probe = await neighbours.connect(system, 1)
        async with trio.open_nursery() as nursery:
            async with locked_table(database):
                accepted = until_full(
                    lambda number: writer.tell_nowait(Append(at(number), (), connection, number))
                )
                assert accepted == 10 + 1 + 3  # the queue, the one that waits for it, the mailbox
                nursery.start_soon(writer.tell, Append(at(accepted), (), connection, accepted))
                await trio.testing.wait_all_tasks_blocked(0.01)
                assert writer.statistics().waiting == 1
                assert probe.messages == []
            assert await acknowledged_receipts(probe, accepted + 1) == list(range(accepted + 1))
    assert await stored(database) == list(range(accepted + 1))


async def test_a_few_large_rows_fill_the_queue_too(database, writing, neighbours, until_full, monkeypatch):
    monkeypatch.setattr(position_writer, "FLUSH_ROWS", 2)
    monkeypatch.setattr(position_writer, "QUEUE_BYTES", 50_000)
    large = {"text": "x" * 5_000, "list": ["y" * 5_000], "speed": 1.0}
    async with writing(mailbox_size=3) as (_, writer, built):
        async with locked_table(database):
            accepted = until_full(lambda number: writer.tell_nowait(Append(at(number, attributes=large))))
            # Two that the next flush takes, five in the queue, the one that waits for it, the mailbox.
            assert accepted == 2 + 5 + 1 + 3
        while await stored(database) != list(range(accepted)):
            await trio.testing.wait_all_tasks_blocked(0.01)
        rows = await database.fetch("select attributes from positions")
        assert all(row[0] == large for row in rows)
        # All that was counted is given back.
        assert (built[0]._encoded_bytes, built[0]._encoded) == (0, {})


async def test_stop_writes_what_was_accepted(database, writing, neighbours, monkeypatch):
    monkeypatch.setattr(position_writer, "QUEUE_ROWS", 20)
    async with writing(mailbox_size=500) as (_, writer, _):
        for number in range(400):
            writer.tell_nowait(Append(at(number)))
    assert await stored(database) == list(range(400))


async def test_stop_ends_in_time_although_the_database_is_away(database, outage, tree, time):
    with outage():
        async with (
            tree(
                ChildSpec(
                    kind=POSITION_WRITER,
                    factory=lambda: PositionWriter(database.urgent() if False else database),
                )
            ) as system,
            trio.open_nursery() as nursery,
        ):
            system.ref(POSITION_WRITER).tell_nowait(Append(at(0)))
            await time.settle()
            nursery.start_soon(system.ref(POSITION_WRITER).stop)
            await time.passes(5.5, step=0.5)
            assert not system.ref(POSITION_WRITER).alive
    assert await stored(database) == []


async def test_a_flush_begins_at_most_every_six_milliseconds(database, writing, time):
    async with writing() as (system, writer, _):
        flushed = system.topic(POSITIONS).subscribe()
        writer.tell_nowait(Append(at(0)))
        await time.settle()
        assert flushed.lag == 1
        writer.tell_nowait(Append(at(1)))
        writer.tell_nowait(Append(at(2)))
        await time.settle()
        assert flushed.lag == 1
        await time.passes(0.0055)
        assert flushed.lag == 1
        await time.passes(0.0006)
        assert flushed.lag == 2
        # After a pause the first row is not held back.
        await time.passes(1)
        writer.tell_nowait(Append(at(3)))
        await time.settle()
        assert flushed.lag == 3
    assert await stored(database) == [0, 1, 2, 3]


async def test_a_full_flush_is_not_held_back(database, writing, time, monkeypatch):
    monkeypatch.setattr(position_writer, "FLUSH_ROWS", 2)
    async with writing() as (system, writer, _):
        flushed = system.topic(POSITIONS).subscribe()
        writer.tell_nowait(Append(at(0)))
        await time.settle()
        writer.tell_nowait(Append(at(1)))
        await time.settle()
        for number in (2, 3, 4):
            writer.tell_nowait(Append(at(number)))
        await time.settle()
        assert flushed.lag == 1
        await time.passes(0.0101)
        # The one that waited, and the next.
        assert flushed.lag == 3
    assert await stored(database) == [0, 1, 2, 3, 4]


async def test_a_row_that_cannot_be_packed_is_dropped_alone(database, writing, neighbours):
    async with writing() as (system, writer, built):
        connection, probe = await neighbours.connect(system, 1)
        for number in range(5):
            place = {"latitude": "nowhere"} if number == 2 else {}  # no codec makes such
            writer.tell_nowait(Append(at(number, **place), (), connection, number))
        assert await acknowledged_receipts(probe, 4) == [0, 1, 3, 4]
        assert len(built) == 1
    assert await stored(database) == [0, 1, 3, 4]


async def test_a_fresh_writer_after_a_crash_gives_no_id_twice(database, writing, neighbours, monkeypatch):
    async with writing() as (system, writer, built):
        connection, probe = await neighbours.connect(system, 1)
        writer.tell_nowait(Append(at(0), (), connection, 0))
        await acknowledged_receipts(probe, 1)
        with monkeypatch.context() as broken:
            broken.setattr(PositionWriter, "_announce", lambda *_: 1 / 0)
            writer.tell_nowait(Append(at(1), (), connection, 1))
            while len(built) < 2:
                await trio.testing.wait_all_tasks_blocked(0.02)
        await writer.tell(Append(at(2), (), connection, 2))
        assert await acknowledged_receipts(probe, 1) == [2]
    assert await stored(database) == [0, 1, 2]
