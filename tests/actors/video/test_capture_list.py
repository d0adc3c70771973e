"""The list of captures since the last start."""

from datetime import timedelta

import pytest

from motorpool.actors.video import capture_list
from motorpool.actors.video.capture_list import (
    CAPTURE_LIST,
    BeginCapture,
    CaptureEnded,
    CaptureFilesRemoved,
    CaptureGrew,
    GetCapture,
    GetOpenCaptures,
    ListCaptures,
    OpenCapture,
    capture_list_spec,
)


@pytest.fixture
async def captures(tree):
    async with tree(capture_list_spec(per_device=2)) as system:
        yield system.ref(CAPTURE_LIST)


async def test_a_new_capture_is_recording_and_its_file_has_a_name_nobody_guesses(captures, clock, time):
    one = await captures.ask(OpenCapture(7, 1))
    two = await captures.ask(OpenCapture(7, 1, live=True))
    assert (one.device_id, one.channel, one.status, one.size) == (7, 1, "RECORDING", 0)
    assert (one.completed_at, one.reason, one.live, two.live) == (None, None, False, True)
    assert one.started_at == clock.now()
    assert one.id != two.id
    assert one.file_name.startswith("capture-20260615120000-")
    assert one.file_name.endswith(".mp4")
    assert len({one.file_name, two.file_name}) == 2
    assert len(one.file_name) >= len("capture-20260615120000-.mp4") + 16
    assert await captures.ask(GetCapture(one.id)) == one
    assert await captures.ask(GetCapture("nobody's")) is None


async def test_a_capture_begins_once_and_a_restarted_actor_is_told_so(captures):
    record = await captures.ask(OpenCapture(7, 1, live=True, unique_id="van 1", max_seconds=60.0))
    begun = await captures.ask(BeginCapture(record.id))
    assert (begun.id, begun.unique_id, begun.max_seconds) == (record.id, "van 1", 60.0)
    assert await captures.ask(BeginCapture(record.id)) is None
    assert await captures.ask(BeginCapture("nobody's")) is None


async def test_a_device_has_so_many_open_ones_at_once(captures):
    first, _ = [await captures.ask(OpenCapture(7, channel)) for channel in (1, 2)]
    assert await captures.ask(OpenCapture(7, 3)) is None
    assert await captures.ask(OpenCapture(8, 1)) is not None
    await captures.ask(CaptureEnded(first.id, "FAILED", "over"))
    assert await captures.ask(OpenCapture(7, 3)) is not None


async def test_those_of_a_device_are_listed_newest_first(captures):
    made = [await captures.ask(OpenCapture(device, 1)) for device in (7, 8, 7)]
    assert await captures.ask(ListCaptures(7)) == (made[2], made[0])
    assert await captures.ask(ListCaptures(9)) == ()
    assert await captures.ask(GetOpenCaptures()) == tuple(made)


async def test_the_size_grows_and_the_first_end_counts(captures, time):
    record = await captures.ask(OpenCapture(7, 1))
    await captures.tell(CaptureGrew(record.id, 1_000))
    assert (await captures.ask(GetCapture(record.id))).size == 1_000
    await time.passes(5)
    ended = await captures.ask(CaptureEnded(record.id, "COMPLETE", "the device ended it", 3_000))
    assert (ended.status, ended.reason, ended.size) == ("COMPLETE", "the device ended it", 3_000)
    assert (ended.completed_at - ended.started_at).total_seconds() == 5
    assert await captures.ask(CaptureEnded(record.id, "FAILED", "again")) == ended
    await captures.tell(CaptureGrew(record.id, 9_000))
    assert await captures.ask(GetCapture(record.id)) == ended
    assert await captures.ask(GetOpenCaptures()) == ()
    assert await captures.ask(CaptureEnded("nobody's", "FAILED", "x")) is None


async def test_an_end_without_a_size_keeps_the_last_one_and_the_span(captures):
    record = await captures.ask(OpenCapture(7, 1))
    span = record.started_at, record.started_at + timedelta(seconds=9)
    await captures.tell(CaptureGrew(record.id, 1_000, span))
    ended = await captures.ask(CaptureEnded(record.id, "FAILED", "crashed"))
    assert (ended.size, ended.span) == (1_000, span)


async def test_a_record_says_that_its_file_is_gone(captures):
    kept, gone = [await captures.ask(OpenCapture(7, 1)) for _ in range(2)]
    for record in (kept, gone):
        await captures.ask(CaptureEnded(record.id, "COMPLETE", "over", 1))
    await captures.tell(CaptureFilesRemoved((gone.file_name, "capture-of-yore.mp4"), "past 3 days"))
    assert not (await captures.ask(GetCapture(kept.id))).removed
    found = await captures.ask(GetCapture(gone.id))
    assert (found.removed, found.reason, found.status) == (True, "past 3 days", "COMPLETE")


async def test_the_list_is_bounded_and_forgets_the_oldest_that_has_ended(captures, monkeypatch):
    monkeypatch.setattr(capture_list, "KEPT_RECORDS", 3)
    made = [await captures.ask(OpenCapture(device, 1)) for device in (1, 2, 3)]
    await captures.ask(CaptureEnded(made[1].id, "COMPLETE", "over", 1))
    await captures.ask(OpenCapture(4, 1))
    assert await captures.ask(GetCapture(made[1].id)) is None
    assert await captures.ask(ListCaptures(2)) == ()
    assert await captures.ask(GetCapture(made[0].id)) == made[0]
