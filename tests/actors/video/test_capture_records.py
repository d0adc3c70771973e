"""The rows of the captures of one server: begun at once, written behind, kept over outages and crashes."""

from datetime import timedelta

import pytest

from motorpool.actors.video import capture_records
from motorpool.actors.video.capture_records import (
    BEGIN_SECONDS,
    CAPTURE_RECORDS,
    WRITE_SECONDS,
    BeginCapture,
    CaptureEnded,
    CaptureRecords,
    OpenCapture,
)
from motorpool.runtime import ChildSpec
from motorpool.storage.errors import StorageError
from motorpool.storage.video import captures
from motorpool.storage.video.captures import CaptureChange, CaptureRecord


def capture_records_spec(database, per_device, *, node=0):
    return ChildSpec(kind=CAPTURE_RECORDS, factory=lambda: CaptureRecords(database, per_device, node=node))


@pytest.fixture
async def van(make_device):
    return await make_device("van 1")


@pytest.fixture
async def records(tree, database):
    async with tree(capture_records_spec(database, per_device=2, node=7)) as system:
        yield system.ref(CAPTURE_RECORDS)


@pytest.fixture
def statements(database, monkeypatch):
    """The changes of each statement that wrote some."""
    written = []
    save = captures.save

    async def noted(q, changes):
        written.append([(change.id, change.status, change.size) for change in changes])
        return await save(q, changes)

    monkeypatch.setattr(captures, "save", noted)
    return written


async def test_a_new_capture_is_recording_and_its_file_has_a_name_nobody_guesses(
    records, van, clock, time, database
):
    one = await records.ask(OpenCapture(van.id, 1))
    two = await records.ask(OpenCapture(van.id, 1, live=True))
    assert (one.device_id, one.channel, one.status, one.size) == (van.id, 1, "RECORDING", 0)
    assert (one.completed_at, one.reason, one.live, two.live) == (None, None, False, True)
    assert (one.started_at, one.node) == (clock.now(), 7)
    assert one.id != two.id
    assert one.file_name.startswith("capture-20260615120000-")
    assert one.file_name.endswith(".mp4")
    assert len({one.file_name, two.file_name}) == 2
    assert len(one.file_name) >= len("capture-20260615120000-.mp4") + 16
    assert await captures.newest(database, device_id=van.id) == [two, one]


async def test_a_capture_begins_once_and_a_restarted_actor_is_told_so(records, van, time):
    record = await records.ask(OpenCapture(van.id, 1, live=True, unique_id="van 1", max_seconds=60.0))
    begun = await records.ask(BeginCapture(record.id))
    assert (begun.record, begun.wanted.unique_id, begun.wanted.max_seconds) == (record, "van 1", 60.0)
    assert await records.ask(BeginCapture(record.id)) is None
    assert await records.ask(BeginCapture("nobody's")) is None


async def test_a_device_has_so_many_open_ones_at_once(records, make_device, van, time):
    other = await make_device("van 2")
    first, _ = [await records.ask(OpenCapture(van.id, channel)) for channel in (1, 2)]
    assert await records.ask(OpenCapture(van.id, 3)) is None
    assert await records.ask(OpenCapture(other.id, 1)) is not None
    assert await records.ask(OpenCapture(999, 1)) is None
    await records.ask(CaptureEnded(first.id, "FAILED", "over"))
    assert await records.ask(OpenCapture(van.id, 3)) is not None


async def test_growth_is_written_once_in_a_while_and_the_end_at_once(
    records, van, time, database, statements
):
    one, two = [await records.ask(OpenCapture(van.id, 1)) for _ in range(2)]
    for record in (one, two):
        await records.ask(BeginCapture(record.id))
    for size in (1_000, 2_000, 3_000):
        for record in (one, two):
            await records.tell(CaptureChange(id=record.id, size=size))
    await time.passes(WRITE_SECONDS - 0.1)
    assert statements == []
    await time.passes(0.2)
    assert statements == [[(one.id, "RECORDING", 3_000), (two.id, "RECORDING", 3_000)]]
    assert (await captures.fetch(database, one.id)).size == 3_000
    await time.passes(60, step=10)
    assert len(statements) == 1, "nothing is written while nothing grows"
    await records.ask(CaptureEnded(one.id, "COMPLETE", "the device ended it", 4_000))
    ended = await captures.fetch(database, one.id)
    assert (ended.status, ended.reason, ended.size) == ("COMPLETE", "the device ended it", 4_000)
    assert (ended.completed_at - ended.started_at).total_seconds() == pytest.approx(60 + WRITE_SECONDS + 0.1)
    # The first end counts, and nothing grows after it.
    await records.ask(CaptureEnded(one.id, "FAILED", "again"))
    await records.tell(CaptureChange(id=one.id, size=9_000))
    await time.passes(WRITE_SECONDS)
    assert await captures.fetch(database, one.id) == ended
    await records.ask(CaptureEnded("nobody's", "FAILED", "x"))


async def test_an_end_without_a_size_keeps_the_last_one_and_the_span(records, van, time, database):
    first, last = [await records.ask(OpenCapture(van.id, 1)) for _ in range(2)]
    span = first.started_at, first.started_at + timedelta(seconds=9)
    for record in (first, last):
        await records.tell(CaptureChange(id=record.id, size=1_000, span=span))
        if record is first:
            await time.passes(WRITE_SECONDS)
        await records.ask(CaptureEnded(record.id, "FAILED", "crashed\0", interrupted=True))
        ended = await captures.fetch(database, record.id)
        assert (ended.size, ended.start_time, ended.end_time) == (1_000, *span)
        assert (ended.reason, ended.interrupted) == ("crashed", True)


async def test_a_capture_that_nobody_begins_has_failed(records, van, time, database):
    begun, lost = [await records.ask(OpenCapture(van.id, 1)) for _ in range(2)]
    await records.ask(BeginCapture(begun.id))
    await time.passes(BEGIN_SECONDS + 1, step=5)
    assert (await captures.fetch(database, begun.id)).status == "RECORDING"
    failed = await captures.fetch(database, lost.id)
    assert (failed.status, failed.reason) == ("FAILED", "it was not begun in time")
    assert await records.ask(BeginCapture(lost.id)) is None


async def test_without_the_database_none_is_opened_and_what_ends_is_written_afterwards(
    records, van, time, database, outage
):
    record = await records.ask(OpenCapture(van.id, 1))
    with outage():
        with pytest.raises(StorageError):
            await records.ask(OpenCapture(van.id, 1))
        await records.tell(CaptureChange(id=record.id, size=500))
        await records.ask(CaptureEnded(record.id, "COMPLETE", "over"))
        await records.tell(CaptureChange(id=record.id, size=900))
    await time.passes(20, step=1)
    ended = await captures.fetch(database, record.id)
    assert (ended.status, ended.reason, ended.size) == ("COMPLETE", "over", 500)


async def test_what_is_locked_is_written_later_and_holds_up_nobody(
    records, van, make_device, time, database, caplog
):
    other = await make_device("van 2")
    mine = await records.ask(OpenCapture(van.id, 1))
    theirs = await records.ask(OpenCapture(other.id, 1))
    async with database.transaction() as transaction:
        await transaction.execute("select from captures where id = $1 for update", theirs.id)
        for record in (mine, theirs):
            await records.ask(CaptureEnded(record.id, "COMPLETE", "over", 10))
        assert (await captures.fetch(database, mine.id)).status == "COMPLETE"
        assert (await captures.fetch(database, theirs.id)).status == "RECORDING"
    assert "cannot be written now" not in caplog.text, "it waited for the lock"
    await time.passes(20, step=1)
    assert (await captures.fetch(database, theirs.id)).status == "COMPLETE"


async def test_what_was_not_written_is_written_when_the_server_stops(tree, van, time, database, monkeypatch):
    monkeypatch.setattr(capture_records, "WRITE_SECONDS", 3_600.0)
    async with tree(capture_records_spec(database, per_device=2)) as system:
        records = system.ref(CAPTURE_RECORDS)
        record = await records.ask(OpenCapture(van.id, 1))
        await records.tell(CaptureChange(id=record.id, size=1_000))
    assert (await captures.fetch(database, record.id)).size == 1_000


async def test_captures_of_earlier_starts_stay(tree, van, time, database, clock):
    earlier = CaptureRecord("e", van.id, 1, False, "e.mp4", clock.now(), node=6)
    async with database.transaction() as transaction:
        assert await captures.add(transaction, earlier, per_device=1)
    async with tree(capture_records_spec(database, 2, node=7)) as system:
        await time.settle()
        record = await system.ref(CAPTURE_RECORDS).ask(OpenCapture(van.id, 1))
        assert await captures.newest(database, device_id=van.id) == [record, earlier]


async def test_captures_of_a_former_life_are_abandoned_until_their_end_is_known(tree, van, time, database):
    for life in range(2):
        async with tree(capture_records_spec(database, 2, node=7)) as system:
            records = system.ref(CAPTURE_RECORDS)
            if not life:
                record = await records.ask(OpenCapture(van.id, 1))
                assert await captures.abandoned(database, 7) == []
                continue
            assert [each.id for each in await captures.abandoned(database, 7)] == [record.id]
            # It was on its way when the former life ended.
            await records.ask(CaptureEnded(record.id, "COMPLETE", "over", 1_000))
            assert await captures.abandoned(database, 7) == []
    assert (await captures.fetch(database, record.id)).status == "COMPLETE"
