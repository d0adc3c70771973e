import base64
from datetime import UTC, datetime, timedelta

import pytest
import trio
from tests.actors.schedules.icalendar import NOW, encode_calendar, minutes

from motorpool.actors.change_feed import publish_changes
from motorpool.actors.messages.changes import CalendarChanged, EverythingChanged, ScheduleChanged
from motorpool.actors.messages.scheduling import (
    DISPATCHER,
    TIMETABLE,
    EdgeReached,
)
from motorpool.actors.schedules import timetable
from motorpool.actors.schedules.timetable import MAX_PASSED_EDGES, Timetable
from motorpool.actors.schedules.timetable_kinds import SCHEDULED_COMMANDS
from motorpool.runtime import Actor, ChildSpec
from motorpool.storage import plain_tables
from motorpool.storage.accounts import server
from motorpool.storage.records import Calendar, ScheduledCommand
from motorpool.storage.schedules import scheduled_commands


def timetable_spec(database, kind=SCHEDULED_COMMANDS):
    return ChildSpec(kind=kind.timetable, factory=lambda: Timetable(database, kind))


class RecordingDispatcher(Actor):
    """Records edges, and fires them: `watched_from` of the schedules moves to the edge."""

    def __init__(self, followers):
        self.followers = followers

    async def handle(self, message):
        assert isinstance(message, EdgeReached)
        if self.followers.seconds:
            await trio.sleep(self.followers.seconds)
        self.followers.messages.append(message)
        if self.followers.fire:
            for number in message.schedule_ids:
                await scheduled_commands.WATCHED.watch_from(self.followers.database, number, message.at)


class Followers:
    """The edges that were reported for each scheduled command: (minutes from NOW, opens)."""

    def __init__(self, database):
        self.database = database
        self.messages = []
        self.fire = True
        self.seconds = 0
        """How long the dispatcher takes for a message."""

    @property
    def spec(self):
        return ChildSpec(kind=DISPATCHER, factory=lambda: RecordingDispatcher(self), mailbox_size=1)

    def told(self, number):
        return [
            ((message.at - NOW).total_seconds() / 60, message.phase == "start")
            for message in self.messages
            if number in message.schedule_ids
        ]


@pytest.fixture
def followers(database):
    return Followers(database)


@pytest.fixture
def make_calendar(database):
    async def make(*events, head=(), **attributes):
        row = Calendar(name="c", data=encode_calendar(*events, head=head), attributes=attributes)
        return (await plain_tables.CALENDARS.insert(database, row)).id

    return make


@pytest.fixture
def follow(database):
    """`await follow(calendar_id)`: an active scheduled command that follows it from NOW on."""

    async def make(calendar_id, since=NOW, active=True):
        row = ScheduledCommand(name="s", calendar_id=calendar_id, active=active)
        row = await scheduled_commands.TABLE.insert(database, row)
        await scheduled_commands.WATCHED.watch_from(database, row.id, since)
        return row.id

    return make


async def change(database, system, calendar_id, data, now, **attributes):
    row = Calendar(id=calendar_id, name="c", data=data, attributes=attributes)
    await plain_tables.CALENDARS.update(database, row)
    await scheduled_commands.WATCHED.restart_calendar(database, calendar_id, now)
    await publish_changes(system, CalendarChanged(calendar_id, "updated", ("data",)))


async def test_each_edge_is_told_when_it_comes_and_once(
    database, tree, time, followers, make_calendar, follow
):
    first = await follow(await make_calendar((10, 20), (15, 30), (30, 31), (40, 41)))
    async with tree(followers.spec, timetable_spec(database)):
        await time.passes(599, step=10)
        assert followers.told(first) == []
        await time.passes(1)
        assert followers.told(first) == [(10, True)]
        # What touches or overlaps is one window.
        await time.passes(50 * 60, step=30)
    assert followers.told(first) == [(10, True), (31, False), (40, True), (41, False)]


async def test_edges_of_others_do_not_wait_for_a_calendar_that_is_much_work(
    database, tree, time, until, followers, make_calendar, follow
):
    never = ("DTSTART:20200101T000000Z", "DURATION:PT1H", "RRULE:FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30")
    large = await follow(await make_calendar(*[never] * 60, (-5, -4)), since=minutes(-30))
    small = await follow(await make_calendar((-5, -4)), since=minutes(-30))
    async with tree(followers.spec, timetable_spec(database)):
        await until(lambda: followers.told(large))
        assert followers.told(large) == followers.told(small) == [(-5, True), (-4, False)]
        assert [each.schedule_ids for each in followers.messages[:2]] == [(small,)] * 2


async def test_an_edge_is_computed_once_for_all_who_follow_the_calendar(
    database, tree, time, followers, make_calendar, follow
):
    calendar_id = await make_calendar((1, 2, "RRULE:FREQ=HOURLY"))
    ids = [await follow(calendar_id) for _ in range(120)]
    await database.execute("update scheduled_commands set active = false where id = $1", ids[7])
    async with tree(followers.spec, timetable_spec(database)):
        await time.passes(60)
        assert all(followers.told(number) == [(1, True)] for number in ids if number != ids[7])
        assert followers.told(ids[7]) == []


async def test_an_edge_of_many_schedules_is_reported_in_several_messages(
    database, tree, time, followers, make_calendar, follow, monkeypatch
):
    monkeypatch.setattr(timetable, "SCHEDULES_PER_MESSAGE", 5)
    calendar_id = await make_calendar((1, 2))
    ids = [await follow(calendar_id) for _ in range(13)]
    async with tree(followers.spec, timetable_spec(database)):
        await time.passes(60)
    assert [(each.calendar_id, each.at, each.phase) for each in followers.messages] == [
        (calendar_id, minutes(1), "start")
    ] * 3
    assert [each.schedule_ids for each in followers.messages] == [
        tuple(ids[:5]),
        tuple(ids[5:10]),
        tuple(ids[10:]),
    ]


async def test_it_waits_while_the_dispatcher_is_full(
    database, tree, time, followers, make_calendar, follow, monkeypatch
):
    monkeypatch.setattr(timetable, "SCHEDULES_PER_MESSAGE", 1)
    followers.seconds = 1
    calendar_id = await make_calendar(*((each / 60, each / 60 + 0.02) for each in range(-6, 0, 2)))
    ids = [await follow(calendar_id, minutes(-1)) for _ in range(2)]
    async with tree(followers.spec, timetable_spec(database)):
        await time.passes(20, step=0.5)
    assert [opens for _, opens in followers.told(ids[0])] == [True, False] * 3
    assert followers.told(ids[1]) == followers.told(ids[0])


async def test_exceptions_extra_dates_and_overrides_move_the_edges(
    database, tree, time, followers, make_calendar, follow
):
    daily = (
        "DTSTART:20260616T080000Z",
        "DTEND:20260616T090000Z",
        "RRULE:FREQ=DAILY;COUNT=4",
        "EXDATE:20260617T080000Z",
        "RDATE:20260620T100000Z",
    )
    calendar_id = await make_calendar(daily)
    row = await plain_tables.CALENDARS.fetch(database, calendar_id)
    override = (
        "BEGIN:VEVENT\r\nUID:0\r\nRECURRENCE-ID:20260618T080000Z\r\nDTSTART:20260618T113000Z\r\n"
        "DTEND:20260618T120000Z\r\nEND:VEVENT\r\nEND:VCALENDAR"
    )
    text = base64.b64decode(row.data).decode().replace("END:VCALENDAR", override)
    await database.execute("update calendars set data = $1", base64.b64encode(text.encode()).decode())
    number = await follow(calendar_id)
    async with tree(followers.spec, timetable_spec(database)):
        await time.passes(6 * 86400, step=1800)
    told = [minutes(at).strftime("%d %H:%M") for at, _ in followers.told(number)]
    assert told == [
        "16 08:00", "16 09:00", "18 11:30", "18 12:00", "19 08:00", "19 09:00", "20 10:00", "20 11:00",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("head", "calendar_zone", "server_zone", "hour"),
    [
        ((), None, None, "08:00"),
        ((), None, "America/New_York", "13:00"),
        ((), "Asia/Tokyo", "America/New_York", "23:00"),
        (("X-WR-TIMEZONE:Europe/Berlin",), "Asia/Tokyo", "America/New_York", "07:00"),
    ],
)
async def test_floating_times_are_at_home_where_the_chain_of_decisions_28_says(
    database, tree, time, clock, followers, make_calendar, follow, head, calendar_zone, server_zone, hour
):
    # In winter, so that nobody's summer time takes part.
    floating = ("DTSTART:20261201T080000", "DTEND:20261201T090000")
    clock.set_wall(datetime(2026, 11, 30, 12, tzinfo=UTC))
    if server_zone:
        row = await server.fetch(database)
        row.attributes["timezone"] = server_zone
        await server.save(database, row)
    attributes = {"timezone": calendar_zone} if calendar_zone else {}
    number = await follow(await make_calendar(floating, head=head, **attributes), clock.now())
    async with tree(followers.spec, timetable_spec(database)):
        await time.passes(2 * 86400, step=1800)
    (at, opens), _ = followers.told(number)
    assert (minutes(at).strftime("%H:%M"), opens) == (hour, True)


async def test_the_clock_change_moves_local_windows_and_whole_days_have_23_and_25_hours(
    database, tree, time, clock, followers, make_calendar, follow
):
    clock.set_wall(datetime(2026, 10, 23, tzinfo=UTC))
    shift = (
        "DTSTART;TZID=Europe/Berlin:20261023T220000",
        "DTEND;TZID=Europe/Berlin:20261024T060000",
        "RRULE:FREQ=DAILY;COUNT=3",
    )
    days = ("DTSTART;VALUE=DATE:20261025", "DTEND;VALUE=DATE:20261026")
    night = await follow(await make_calendar(shift), clock.now())
    whole = await follow(await make_calendar(days, head=("X-WR-TIMEZONE:Europe/Berlin",)), clock.now())
    async with tree(followers.spec, timetable_spec(database)):
        await time.passes(5 * 86400, step=1800)
    spans = [(end[0] - start[0]) / 60 for start, end in zip(*[iter(followers.told(night))] * 2, strict=True)]
    assert spans == [8, 9, 8]
    assert [minutes(at).strftime("%d %H:%M") for at, _ in followers.told(whole)] == ["24 22:00", "25 23:00"]


async def test_what_changes_is_followed_from_then_on(
    database, tree, time, clock, followers, make_calendar, follow
):
    calendar_id, other = await make_calendar((10, 20)), await make_calendar((12, 14))
    first = await follow(calendar_id)
    async with tree(followers.spec, timetable_spec(database)) as system:
        await time.passes(60)
        # A calendar's text, in the middle of what becomes its window: only the end is still to come.
        await change(database, system, calendar_id, encode_calendar((0, 5)), clock.now())
        await time.passes(5 * 60, step=30)
        assert followers.told(first) == [(5, False)]
        # A new one, and one that follows another calendar now.
        second = await follow(other, clock.now())
        row = await scheduled_commands.TABLE.fetch(database, first)
        row = ScheduledCommand(id=first, name=row.name, calendar_id=other)
        await scheduled_commands.TABLE.update(database, row)
        await scheduled_commands.WATCHED.watch_from(database, first, clock.now())
        await publish_changes(system, ScheduleChanged(first, "updated"), ScheduleChanged(second, "updated"))
        await time.passes(7 * 60, step=30)
        assert followers.told(first) == [(5, False), (12, True)]
        assert followers.told(second) == [(12, True)]
        # One that is gone, one that is put to rest.
        await scheduled_commands.TABLE.delete(database, first)
        await database.execute("update scheduled_commands set active = false")
        await publish_changes(system, ScheduleChanged(first, "updated"), ScheduleChanged(second, "updated"))
        await time.passes(3600, step=60)
        assert followers.told(second) == [(12, True)]


async def test_the_servers_time_zone_changes_all_calendars(
    database, tree, time, clock, followers, make_calendar, follow
):
    number = await follow(await make_calendar(("DTSTART:20260615T200000", "DTEND:20260615T210000")))
    async with tree(followers.spec, timetable_spec(database)) as system:
        await time.settle()
        row = await server.fetch(database)
        row.attributes["timezone"] = "Europe/Berlin"
        await server.save(database, row)
        await publish_changes(system, EverythingChanged())
        await time.passes(10 * 3600, step=600)
    assert followers.told(number) == [(360, True), (420, False)]


async def test_edges_that_passed_before_the_start_are_told_the_last_of_them_alone(
    database, tree, time, followers, make_calendar, follow
):
    few = await follow(await make_calendar((-200, -190), (-3, 60)), minutes(-1000))
    many = await follow(await make_calendar((-6000, -5999, "RRULE:FREQ=HOURLY")), minutes(-6001))
    async with tree(followers.spec, timetable_spec(database)):
        await time.settle()
        assert followers.told(few) == [(-200, True), (-190, False), (-3, True)]
        told = followers.told(many)
        assert len(told) == MAX_PASSED_EDGES
        assert told == sorted(told)
        assert told[-1] == (0, True)


async def test_a_suspended_machine_hears_of_its_edges_as_it_wakes(
    database, tree, time, clock, followers, make_calendar, follow
):
    number = await follow(await make_calendar((10, 20), (180, 190)))
    async with tree(followers.spec, timetable_spec(database)):
        await time.settle()
        clock.move_wall(3 * 3600)
        await time.passes(1)
        assert followers.told(number) == [(10, True), (20, False), (180, True)]


async def test_a_clock_put_back_tells_no_edge_again_that_was_fired(
    database, tree, time, clock, followers, make_calendar, follow
):
    number = await follow(await make_calendar((10, 20), (70, 80)))
    async with tree(followers.spec, timetable_spec(database)):
        await time.passes(15 * 60, step=60)
        assert followers.told(number) == [(10, True)]
        clock.move_wall(-3600)
        await time.passes(125 * 60, step=60)
        assert followers.told(number) == [(10, True), (20, False), (70, True), (80, False)]


async def test_a_clock_that_was_years_ahead_does_not_silence_anybody_for_years(
    database, tree, time, clock, followers, make_calendar, follow, caplog
):
    number = await follow(await make_calendar((10, 20, "RRULE:FREQ=DAILY")), NOW + timedelta(days=4000))
    async with tree(followers.spec, timetable_spec(database)):
        await time.passes(600)
    assert followers.told(number) == [(10, True)]
    assert "1 scheduled commands are watched afresh: the clock was wrong" in caplog.text


async def test_who_lost_the_news_is_told_again(
    database, tree, time, clock, followers, make_calendar, follow, caplog
):
    number = await follow(await make_calendar((1, 50)))
    followers.fire = False
    async with tree(followers.spec, timetable_spec(database)):
        await time.passes(90)
        assert followers.told(number) == [(1, True)]
        followers.fire = True
        await time.passes(60, step=10)
        assert followers.told(number) == [(1, True)] * 2
        assert "1 scheduled commands have not fired an edge" in caplog.text
        # Once it has fired there is silence.
        await time.passes(600, step=10)
        assert followers.told(number) == [(1, True)] * 2


async def test_news_of_a_schedule_that_come_after_its_edge_are_in_time(
    database, tree, time, clock, followers, make_calendar, follow
):
    calendar_id = await make_calendar((1, 50))
    first = await follow(calendar_id)
    async with tree(followers.spec, timetable_spec(database)) as system:
        await time.passes(59)
        second = await follow(calendar_id, clock.now())
        await time.passes(1)
        assert followers.told(second) == []
        await publish_changes(system, ScheduleChanged(second, "updated"))
        await time.settle()
        assert followers.told(second) == [(1, True)]
        assert followers.told(first)[0] == (1, True)


async def test_an_outage_delays_the_news_and_loses_none(
    database, tree, time, clock, followers, make_calendar, follow, outage
):
    number = await follow(await make_calendar((1, 2), (5, 6)))
    async with tree(followers.spec, timetable_spec(database)):
        await time.settle()
        with outage():
            await time.passes(150, step=5)
        await time.passes(10, step=1)
        assert followers.told(number) == [(1, True), (2, False)]
        await time.passes(60 * 4, step=5)
        assert (6, False) in followers.told(number)


async def test_a_calendar_that_cannot_be_read_is_silent_and_keeps_nobody_up(
    database, tree, time, clock, followers, make_calendar, follow, caplog
):
    broken, good = await follow(await make_calendar((1, 2))), await follow(await make_calendar((1, 2)))
    await database.execute("update calendars set data = '#' where id = (select min(id) from calendars)")
    async with tree(followers.spec, timetable_spec(database)):
        await time.passes(60)
    assert followers.told(broken) == []
    assert followers.told(good) == [(1, True)]
    assert "cannot be read: not base64" in caplog.text


async def test_after_a_crash_everything_is_read_again(
    database, tree, time, clock, followers, make_calendar, follow
):
    number = await follow(await make_calendar((1, 2)))
    async with tree(followers.spec, timetable_spec(database)) as system:
        await time.settle()
        system.ref(TIMETABLE).tell_nowait("no message")
        await time.passes(60, step=1)
        assert followers.told(number) == [(1, True)]
