"""Rows of captures: what holds of them at several servers at once, and how many are kept."""

from datetime import UTC, datetime, timedelta

import pytest
import trio

from motorpool.storage.accounts import audit, links, users
from motorpool.storage.database import nodes
from motorpool.storage.devices import devices, groups
from motorpool.storage.records import AuditAction, Device, Group, User
from motorpool.storage.video import captures
from motorpool.storage.video.captures import CaptureChange, CaptureRecord, FoundFile

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)


@pytest.fixture
async def van(database):
    return (await devices.TABLE.insert(database, Device(unique_id="van"))).id


async def join(database):
    async with database.session() as session:
        return await nodes.join(session, "north", "a server of tests", "0")


async def begin(database, device_id, name, *, per_device=100, node=1, at=NOW):
    record = CaptureRecord(name, device_id, 1, False, f"{name}.mp4", at, node=node)
    async with database.transaction() as transaction:
        return record if await captures.add(transaction, record, per_device=per_device) else None


async def end(database, name, status="COMPLETE", at=NOW):
    await captures.save(database, [CaptureChange(id=name, size=9, status=status, completed_at=at)])


async def ids(database, device_id):
    return [record.id for record in await captures.newest(database, device_id=device_id)]


async def test_parallel_captures_of_a_device_keep_to_the_limit(database, van):
    begun = []

    async def open_one(name):
        begun.append(await begin(database, van, name, per_device=3))

    async with trio.open_nursery() as nursery:
        for number in range(10):
            nursery.start_soon(open_one, f"c{number}")
    assert sum(record is not None for record in begun) == 3
    assert len(await captures.newest(database, device_id=van)) == 3
    assert await begin(database, 999, "nowhere") is None


async def test_of_parallel_ends_one_counts_and_no_save_blocks_another(database, van):
    names = [f"c{number}" for number in range(5)]
    for name in names:
        await begin(database, van, name)

    async def end_all(order, reason):
        changes = [
            CaptureChange(id=name, status="COMPLETE", completed_at=NOW, reason=reason, size=len(reason))
            for name in order
        ]
        while changes:
            left = await captures.save(database, changes)
            changes = [change for change in changes if change.id in left]

    async with trio.open_nursery() as nursery:
        for reason, order in (("a", names), ("bb", names[::-1]), ("ccc", names[2:] + names[:2])):
            nursery.start_soon(end_all, order, reason)
    for record in (await captures.by_ids(database, names)).values():
        assert (record.status, record.size) == ("COMPLETE", len(record.reason))


async def test_what_a_save_leaves_out_stays_as_it_was(database, van):
    await begin(database, van, "a")
    span = NOW, NOW + timedelta(seconds=9)
    assert await captures.save(database, [CaptureChange(id="a", size=7, span=span)]) == frozenset()
    await captures.save(database, [CaptureChange(id="a", size=8), CaptureChange(id="gone", size=1)])
    record = await captures.fetch(database, "a")
    assert (record.size, record.start_time, record.end_time, record.status) == (8, *span, "RECORDING")
    await end(database, "a", "FAILED")
    assert await captures.save(database, [CaptureChange(id="a", size=99)]) == frozenset()
    assert (await captures.fetch(database, "a")).size == 9


async def test_any_text_may_be_asked_for(database, van):
    await begin(database, van, "a")
    for text in ("b", "", "a\0", "a'", "\ud800"):
        assert await captures.fetch(database, text) is None
    assert (await captures.fetch(database, "a")).id == "a"
    assert await captures.by_ids(database, []) == {}


async def test_captures_of_servers_that_do_not_live_are_abandoned(database, van):
    me, other = await join(database), await join(database)
    for name, node in (("mine", me), ("theirs", other), ("ended", other)):
        await begin(database, van, name, node=node)
    await end(database, "ended")
    assert await captures.abandoned(database, me) == []
    assert [record.id for record in await captures.recording(database, other)] == ["theirs"]
    assert await captures.recording_into(database, "theirs.mp4") == "theirs"
    assert await captures.recording_into(database, "ended.mp4") is None
    await nodes.leave(database, other)
    assert [record.id for record in await captures.abandoned(database, me)] == ["theirs"]
    # One that is declared dead still knows what it makes itself; until it says that it does not.
    await nodes.leave(database, me)
    assert [record.id for record in await captures.abandoned(database, me)] == ["theirs"]
    await captures.abandon(database, me)
    assert [record.id for record in await captures.abandoned(database, me)] == ["mine", "theirs"]


async def test_those_whose_files_were_removed_say_so(database, van):
    for name in ("kept", "gone", "open"):
        await begin(database, van, name)
    for name in ("kept", "gone"):
        await end(database, name)
    await captures.note_removed(database, ["gone.mp4", "open.mp4", "capture-of-yore.mp4"], "past 3 days")
    found = await captures.by_ids(database, ["kept", "gone", "open"])
    assert (found["gone"].removed, found["gone"].reason, found["gone"].status) == (
        True,
        "past 3 days",
        "COMPLETE",
    )
    assert [name for name, record in found.items() if record.removed] == ["gone"]


async def test_of_a_device_the_latest_that_have_ended_are_kept(database, van, monkeypatch):
    monkeypatch.setattr(captures, "KEPT_OF_DEVICE", 2)
    other = (await devices.TABLE.insert(database, Device(unique_id="other"))).id
    await begin(database, other, "other")
    await end(database, "other")
    await begin(database, van, "open")
    for name in "abc":
        await begin(database, van, name)
        await end(database, name)
    await begin(database, van, "d")
    assert await ids(database, van) == ["d", "c", "b", "open"]
    assert await ids(database, other) == ["other"]


async def test_in_all_so_many_are_kept_and_those_without_a_file_go_first(database, van, monkeypatch):
    monkeypatch.setattr(captures, "KEPT", 3)
    await begin(database, van, "open")
    for name in "abcdef":
        await begin(database, van, name)
        await end(database, name, "FAILED" if name == "e" else "COMPLETE")
    await captures.note_removed(database, ["c.mp4"], "past 1 days")
    await captures.delete_old(database, NOW)
    assert await ids(database, van) == ["f", "d", "b", "open"]
    await captures.delete_old(database, NOW)
    assert len(await ids(database, van)) == 4


async def test_those_without_a_file_go_after_their_days(database, van):
    late = NOW + timedelta(days=1)
    for name, status, at in (
        ("film", "COMPLETE", NOW),
        ("removed", "COMPLETE", NOW),
        ("failed", "FAILED", NOW),
        ("late", "FAILED", late),
    ):
        await begin(database, van, name)
        await end(database, name, status, at)
    await begin(database, van, "open")
    await captures.note_removed(database, ["removed.mp4"], "past 1 days")
    await captures.delete_old(database, NOW + captures.KEPT_WITHOUT_FILE)
    assert len(await ids(database, van)) == 5
    await captures.delete_old(database, late + captures.KEPT_WITHOUT_FILE)
    assert await ids(database, van) == ["open", "late", "film"]


async def test_captures_go_with_their_device_and_a_record_is_what_was_stored(database, van):
    record = await begin(database, van, "a")
    assert await captures.newest(database, device_id=van) == [record]
    await devices.TABLE.delete(database, van)
    assert await captures.fetch(database, "a") is None
    await captures.save(database, [CaptureChange(id="a", size=1)])


async def test_a_list_is_of_a_device_a_span_a_server_or_what_a_user_sees_newest_first(database, van):
    group = (await groups.TABLE.insert(database, Group(name="depot"))).id
    bus = (await devices.TABLE.insert(database, Device(unique_id="bus", group_id=group))).id
    tram = (await devices.TABLE.insert(database, Device(unique_id="tram"))).id
    for number, device_id in enumerate((van, bus, tram, van)):
        at = NOW + timedelta(hours=number)
        await begin(database, device_id, f"c{number}", at=at, node=number // 2)

    async def listed(**conditions):
        return [record.id for record in await captures.newest(database, **conditions)]

    assert await listed() == ["c3", "c2", "c1", "c0"]
    assert await listed(device_id=van) == ["c3", "c0"]
    assert await listed(node=0) == ["c1", "c0"]
    assert await listed(limit=2) == ["c3", "c2"]
    assert await listed(start=NOW + timedelta(hours=1), end=NOW + timedelta(hours=2)) == ["c2", "c1"]
    assert await listed(end=NOW + timedelta(hours=1), device_id=van) == ["c0"]
    # Times of clients are cut off to milliseconds.
    await database.execute("update captures set started_at = started_at + interval '999 microseconds'")
    assert await listed(end=NOW) == ["c0"]
    assert await listed(end=NOW - timedelta(milliseconds=1)) == []
    ann = (await users.TABLE.insert(database, User(email="ann@example.org"))).id
    assert await listed(visible_to=ann) == []
    await links.add(database, links.USER_DEVICE, ann, van)
    await links.add(database, links.USER_GROUP, ann, group)
    assert await listed(visible_to=ann) == ["c3", "c1", "c0"]
    assert await listed(visible_to=ann, start=NOW + timedelta(hours=1), limit=2) == ["c3", "c1"]


async def test_files_without_a_row_get_one_with_the_channel_that_was_audited(database, van):
    await begin(database, van, "known")
    made = {"fileName": "audited.mp4", "channel": 7}
    for attributes in (made, {**made, "fileName": "another.mp4", "channel": 9}):
        await audit.record(
            database,
            AuditAction(action_time=NOW, action_type="capture", object_type="device", attributes=attributes),
        )
    names = ["known.mp4", "audited.mp4", "unknown.mp4"]
    assert await captures.without_row(database, names) == {"audited.mp4", "unknown.mp4"}
    later = NOW + timedelta(minutes=5)
    files = [
        FoundFile(name, device_id, f"{name}.mp4", NOW - timedelta(days=day), later, 1_000)
        for day, (name, device_id) in enumerate(
            (("known", van), ("audited", van), ("unknown", van), ("nowhere", 999))
        )
    ]
    for _ in range(2):
        await captures.add_found(database, files, "not known")
    known, audited, unknown = await captures.newest(database)
    assert (known.id, known.status) == ("known", "RECORDING")
    assert (audited.id, audited.channel, audited.live, audited.status) == ("audited", 7, False, "COMPLETE")
    assert (audited.started_at, audited.completed_at) == (NOW - timedelta(days=1), later)
    assert (audited.file_name, audited.size, audited.reason) == ("audited.mp4", 1_000, "not known")
    assert (unknown.id, unknown.channel) == ("unknown", 0)
    assert await captures.without_row(database, names) == frozenset()


async def test_what_was_found_later_is_not_newer_than_what_began_later(database, van, monkeypatch):
    monkeypatch.setattr(captures, "KEPT_OF_DEVICE", 2)
    for name in "ab":
        await begin(database, van, name)
        await end(database, name)
    found = FoundFile("old", van, "old.mp4", NOW - timedelta(days=9), NOW, 1_000)
    await captures.add_found(database, [found], "not known")
    assert await ids(database, van) == ["b", "a", "old"]
    await begin(database, van, "c")
    assert await ids(database, van) == ["c", "b", "a"]
