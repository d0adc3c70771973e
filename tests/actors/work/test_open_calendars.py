"""Whether calendars are open, from windows that are computed in the background."""

import base64
import threading
from datetime import UTC, datetime, timedelta

import pytest
import trio

from motorpool.actors.work import open_calendars as module
from motorpool.actors.work.open_calendars import OpenCalendars
from motorpool.runtime import Signal
from motorpool.storage import plain_tables
from motorpool.storage.errors import StorageUnavailable
from motorpool.storage.records import Calendar

NOON = datetime(2026, 6, 15, 12, tzinfo=UTC)
DAYS = """BEGIN:VCALENDAR
VERSION:2.0
PRODID:x
BEGIN:VEVENT
UID:1
DTSTART:20260601T{hour:02d}0000
DURATION:PT2H
RRULE:FREQ=DAILY
END:VEVENT
END:VCALENDAR"""


def days(hour):
    return base64.b64encode(DAYS.format(hour=hour).encode()).decode()


class Asker:
    """Who asks again when something has been computed."""

    def __init__(self, database):
        self.database = database
        self.known = Signal()
        self.calendars = OpenCalendars(database, self.known.set)

    async def look(self, *ids):
        return await self.calendars.look(self.database, ids)

    async def answer(self, number, instant):
        """Ask until it is known."""
        with trio.fail_after(120):
            while True:
                found = (await self.look(number)).covers(number, instant)
                if found is not None:
                    return found
                await self.known.wait()


@pytest.fixture
async def asker(database, nursery):
    found = Asker(database)
    nursery.start_soon(found.calendars.run)
    return found


@pytest.fixture
def make(database):
    async def insert(hour=11, *, cost=0, **fields):
        record = Calendar(name="x", **{"data": days(hour), **fields})
        return (await plain_tables.CALENDARS.insert(database, record, cost=cost)).id

    return insert


async def test_what_is_asked_for_is_computed_meanwhile(asker, make):
    number = await make(11)
    look = await asker.look(number, 0, 99)
    assert look.covers(number, NOON) is None
    # No calendar, and one that is gone, restrict nothing.
    assert (look.covers(0, NOON), look.covers(99, NOON)) == (True, True)
    assert await asker.answer(number, NOON) is True
    look = await asker.look(number)
    # Now the whole month is known.
    assert [look.covers(number, NOON + timedelta(hours=each)) for each in (0, 1, 24, 48)] == [
        True,
        False,
        True,
        True,
    ]
    assert look.covers(number, NOON + timedelta(days=60)) is None


async def test_an_edited_calendar_and_another_zone_count_at_once(asker, make, database):
    number = await make(11)
    assert await asker.answer(number, NOON) is True
    row = await plain_tables.CALENDARS.fetch(database, number)
    await plain_tables.CALENDARS.update(database, Calendar(number, "x", days(8), row.attributes))
    assert await asker.answer(number, NOON) is False
    moved = Calendar(number, "x", days(8), {"timezone": "America/Sao_Paulo"})
    await plain_tables.CALENDARS.update(database, moved)
    assert await asker.answer(number, NOON) is True
    await plain_tables.CALENDARS.update(database, Calendar(number, "x", days(8), {}))
    await database.execute("""update server set attributes = '{"timezone": "America/Sao_Paulo"}'""")
    assert await asker.answer(number, NOON) is True


async def test_one_that_cannot_be_read_restricts_nothing_and_is_named(asker, make, caplog):
    number = await make(data=base64.b64encode(b"nothing").decode())
    assert await asker.answer(number, NOON) is True
    assert f"calendar {number} restricts nothing, since it cannot be read" in caplog.text


@pytest.mark.parametrize("heavy", [{"cost": 20_001}, {"data": days(11) + " " * 40_000}])
async def test_those_that_are_much_work_do_not_hold_back_others(asker, make, monkeypatch, heavy):
    may_go_on = threading.Event()
    edges_of = module._edges_of
    slow = await make(11, **heavy)

    def wait(row, block):
        assert row.id != slow or may_go_on.wait(30)
        return edges_of(row, block)

    monkeypatch.setattr(module, "_edges_of", wait)
    assert (await asker.look(slow)).covers(slow, NOON) is None
    assert await asker.answer(await make(11), NOON) is True
    assert (await asker.look(slow)).covers(slow, NOON) is None
    may_go_on.set()
    assert await asker.answer(slow, NOON) is True


async def test_only_so_much_is_kept(asker, make, monkeypatch):
    first, second = await make(11), await make(11)
    assert await asker.answer(first, NOON) is True
    monkeypatch.setattr(module, "MAX_EDGES", 100)
    assert await asker.answer(second, NOON) is True
    look = await asker.look(first, second)
    assert (look.covers(second, NOON), look.covers(first, NOON)) == (True, None)


async def test_an_outage_is_waited_for(asker, make, monkeypatch):
    monkeypatch.setattr(module, "RETRY_SECONDS", 0)
    number, failures = await make(11), [StorageUnavailable("away")] * 2
    fetch = plain_tables.CALENDARS.fetch_versioned

    async def fail(*args, **named):
        if failures:
            raise failures.pop()
        return await fetch(*args, **named)

    monkeypatch.setattr(
        type(plain_tables.CALENDARS), "fetch_versioned", lambda _, *args, **named: fail(*args, **named)
    )
    assert await asker.answer(number, NOON) is True
    assert not failures
