"""Calendars as they are stored: read once, read again when they change, in the zone that is named nearest."""

import base64
import threading
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
import trio
import trio.testing

from motorpool.actors.work import stored_calendars as module
from motorpool.actors.work.stored_calendars import StoredCalendars, zone_of
from motorpool.codecs.calendars import calendar as evaluation
from motorpool.codecs.calendars.content_lines import CalendarError
from motorpool.storage.records import Calendar

MIDNIGHT = datetime(2026, 6, 15, tzinfo=UTC)


def text(start="20260615T080000Z", end="20260615T090000Z"):
    lines = [
        "BEGIN:VCALENDAR",
        "VERSION:2.0",
        "PRODID:-//test//EN",
        "BEGIN:VEVENT",
        "UID:1",
        f"DTSTART:{start}",
        f"DTEND:{end}",
        "END:VEVENT",
        "END:VCALENDAR",
        "",
    ]
    return "\r\n".join(lines).encode()


def row(content, number=1):
    return Calendar(id=number, name="c", data=base64.b64encode(content).decode())


async def read(stored, row):
    return await stored.compute(row, lambda calendar: calendar)


async def test_a_calendar_is_read_once_and_again_when_its_text_changes():
    stored = StoredCalendars()
    first = await read(stored, row(text()))
    assert first.next_edge(MIDNIGHT, zone=UTC).at == MIDNIGHT.replace(hour=8)
    assert await read(stored, row(text())) is first
    changed = await read(stored, row(text(start="20260615T060000Z")))
    assert changed.next_edge(MIDNIGHT, zone=UTC).at == MIDNIGHT.replace(hour=6)
    assert await read(stored, row(text(), number=2)) is not first


async def test_what_was_not_asked_for_longest_is_forgotten_first(monkeypatch):
    monkeypatch.setattr(module, "CACHED_CALENDARS", 2)
    stored = StoredCalendars()
    one, two = [await read(stored, row(text(), number)) for number in (1, 2)]
    assert await read(stored, row(text(), 1)) is one
    await read(stored, row(text(), 3))
    assert await read(stored, row(text(), 1)) is one
    assert await read(stored, row(text(), 2)) is not two


async def test_base64_may_be_folded_as_mail_folds_it():
    plain = row(text())
    folded = "\r\n ".join(plain.data[at : at + 60] for at in range(0, len(plain.data), 60))
    calendar = await read(StoredCalendars(), Calendar(id=1, name="c", data=folded))
    assert calendar.next_edge(MIDNIGHT, zone=UTC).at == MIDNIGHT.replace(hour=8)


@pytest.mark.parametrize(
    "data",
    [
        "é",
        "abc",
        "abcd-_==",
        "====",
        base64.b64encode(b"\xff\xfe").decode(),
        base64.b64encode(b"BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\n").decode(),
    ],
    ids=["not ASCII", "cut off", "the other alphabet", "nothing but ends", "not text", "not closed"],
)
async def test_what_is_no_calendar_is_one_known_error_and_the_next_one_is_read(data):
    stored = StoredCalendars()
    for _ in range(2):
        with pytest.raises(CalendarError):
            await read(stored, Calendar(id=1, name="c", data=data))
    assert await read(stored, row(text())) is not None


def test_the_nearest_zone_that_there_is_counts():
    berlin, tokyo = {"timezone": "Europe/Berlin"}, {"timezone": "Asia/Tokyo"}
    assert zone_of(berlin, tokyo) == ZoneInfo("Europe/Berlin")
    assert zone_of({}, tokyo) == ZoneInfo("Asia/Tokyo")
    for unknown in ({"timezone": "Moon/Tycho"}, {"timezone": 7}, {"timezone": ""}, {"timezone": None}):
        assert zone_of(unknown, tokyo) == ZoneInfo("Asia/Tokyo")
        assert zone_of(unknown) == UTC
    assert zone_of() == UTC


async def test_the_zone_is_where_floating_times_are_at_home():
    calendar = await read(StoredCalendars(), row(text(start="20260615T080000", end="20260615T090000")))
    edge = calendar.next_edge(MIDNIGHT, zone=zone_of({"timezone": "Europe/Berlin"}))
    assert edge.at == MIDNIGHT.replace(hour=6)


async def test_a_zone_that_is_unknown_by_now_is_read_as_utc(caplog):
    stored = row(text().replace(b"DTSTART:20260615T080000Z", b"DTSTART;TZID=Mars/Base:20260615T080000"))
    calendar = await read(StoredCalendars(), stored)
    assert calendar.next_edge(MIDNIGHT, zone=UTC).at == MIDNIGHT.replace(hour=8)
    assert "calendar 1: line 6: DTSTART: unknown time zone Mars/Base; it is read as UTC" in caplog.text


def calendar_row(number, *events):
    lines = ["BEGIN:VCALENDAR"]
    for uid, event in enumerate(events):
        lines += ["BEGIN:VEVENT", f"UID:{uid}", event, "END:VEVENT"]
    return row("\n".join([*lines, "END:VCALENDAR"]).encode(), number)


LONG = "DTSTART:20200101T000000Z\nDURATION:P3600D\nRRULE:FREQ=DAILY"


async def test_whether_it_is_open_is_looked_up_in_windows_that_were_computed_before(calendar_steps):
    stored, opened = StoredCalendars(), row(text())
    assert await stored.covers(opened, MIDNIGHT.replace(hour=8), UTC)
    assert calendar_steps.spent > 0
    calendar_steps.spent = 0
    for hour in range(24):
        assert await stored.covers(opened, MIDNIGHT.replace(hour=hour), UTC) is (hour == 8)
    assert calendar_steps.spent == 0
    assert not await stored.covers(opened, MIDNIGHT.replace(month=1), UTC)


async def test_calendars_that_are_much_work_keep_only_their_like_waiting():
    stored, may_end = StoredCalendars(), threading.Event()
    heavy = [calendar_row(number, *[LONG] * 10) for number in (1, 2)]
    ended = []

    async def compute(each):
        await stored.compute(each, lambda _: may_end.wait(60))
        ended.append(each.id)

    async with trio.open_nursery() as nursery:
        for each in heavy:
            nursery.start_soon(compute, each)
        await trio.testing.wait_all_tasks_blocked()
        assert await stored.covers(row(text(), 3), MIDNIGHT.replace(hour=8), UTC)
        assert ended == []
        may_end.set()
    assert sorted(ended) == [1, 2]


async def test_one_that_was_stored_before_the_limit_works_within_it_and_its_owner_is_told(
    caplog, monkeypatch
):
    for each in (module, evaluation):
        monkeypatch.setattr(each, "MAX_COST", 10_000)
    stored, old = StoredCalendars(), calendar_row(7, LONG)
    assert not await stored.covers(old, MIDNIGHT.replace(year=2019), UTC)
    assert caplog.text.count("calendar 7 was stored before there was a limit") == 1
    assert await stored.covers(old, MIDNIGHT, UTC)
    for _ in range(2):
        with pytest.raises(CalendarError, match="need more than 10000 times"):
            await stored.compute(old, lambda calendar: calendar.next_edge(MIDNIGHT.replace(year=2031)))
    assert caplog.text.count("calendar 7 is treated as one that cannot be read") == 1
