from datetime import timedelta
from functools import partial
from urllib.parse import parse_qs, urlsplit

import msgspec
import pytest
import trio
from tests.actors.schedules.icalendar import NOW, encode_calendar, minutes

from motorpool.actors.change_feed import publish_changes
from motorpool.actors.mailings.scheduled_report_mails import ScheduledReportMails
from motorpool.actors.messages.changes import CalendarChanged, ScheduledReportChanged
from motorpool.actors.messages.scheduling import SCHEDULED_REPORT_MAILS, EventsEnded
from motorpool.actors.schedules.timetable import Timetable
from motorpool.actors.schedules.timetable_kinds import SCHEDULED_REPORTS
from motorpool.runtime import ChildSpec
from motorpool.storage import plain_tables
from motorpool.storage.accounts import audit, links, users
from motorpool.storage.devices import devices, groups
from motorpool.storage.records import Calendar, Device, Group, ScheduledReport, User
from motorpool.storage.reports import scheduled_reports

URL = "https://fleet.example.org"


@pytest.fixture
def specs(database, outgoing):
    return (
        ChildSpec(
            kind=SCHEDULED_REPORT_MAILS,
            factory=lambda: ScheduledReportMails(database, outgoing, URL),
        ),
        ChildSpec(kind=SCHEDULED_REPORTS.timetable, factory=lambda: Timetable(database, SCHEDULED_REPORTS)),
    )


@pytest.fixture
def schedule(database):
    """`await schedule((10, 20), readers=[user])`: a scheduled report that follows a calendar from NOW on."""

    async def make(*events, readers=(), since=NOW, **fields):
        calendar = await plain_tables.CALENDARS.insert(
            database, Calendar(name="c", data=encode_calendar(*events))
        )
        row = ScheduledReport(**{"type": "trips", **fields}, calendar_id=calendar.id)
        row = await scheduled_reports.TABLE.insert(database, row)
        await scheduled_reports.WATCHED.watch_from(database, row.id, since)
        for reader in readers:
            await links.add(database, links.USER_REPORT, reader.id, row.id)
        return row

    return make


def link_of(mail):
    return urlsplit(next(line for line in mail.text.splitlines() if line.startswith(URL)))


def period(mail):
    found = parse_qs(link_of(mail).query)
    return found["from"], found["to"]


def instant(number):
    return [f"{minutes(number):%Y-%m-%dT%H:%M:%S}.000Z"]


async def test_each_event_is_mailed_when_it_ends_and_once(
    database, tree, time, specs, schedule, person, mails
):
    ann = await person()
    await schedule((0, 10), (10, 20), (15, 20), readers=[ann], description="Night shift")
    async with tree(*specs):
        await time.passes(599, step=60)
        assert await mails() == []
        await time.passes(1)
        (mail,) = await mails()
        assert mail.to == "ann@example.org"
        assert mail.user_id == ann.id
        assert mail.subject == "Report: Night shift"
        assert "2026-06-15 12:00 UTC to 2026-06-15 12:10 UTC" in mail.text
        assert link_of(mail).path == "/reports/trips"
        await time.passes(3600, step=60)
    # Those that touch or overlap each count.
    spans = [(instant(0), instant(10)), (instant(10), instant(20)), (instant(15), instant(20))]
    assert [period(mail) for mail in await mails()] == spans


async def test_an_end_that_passed_while_the_server_was_down_is_mailed_after_the_start(
    tree, time, specs, schedule, person, mails
):
    await schedule((10, 20), readers=[await person()], since=minutes(-60))
    await schedule((-30, -20), (-90, -80), readers=[await person("bob")], since=minutes(-60))
    async with tree(*specs):
        await time.passes(1)
        assert [mail.to for mail in await mails()] == ["bob@example.org"]
    async with tree(*specs):
        await time.passes(90)
    assert [period(mail) for mail in await mails()] == [(instant(-30), instant(-20))]


async def test_two_servers_mail_it_once(database, tree, time, specs, schedule, person, mails):
    report = await schedule((0, 10), readers=[await person()])
    ended = EventsEnded(report.calendar_id, minutes(10), (NOW,), (report.id,))
    async with tree(specs[0]) as first, tree(specs[0]) as second, trio.open_nursery() as nursery:
        time.let_go()
        for system in (first, second) * 5:
            nursery.start_soon(partial(system.ref(SCHEDULED_REPORT_MAILS).tell, ended))
    assert len(await mails()) == 1


async def test_the_link_has_the_options_of_the_report(tree, time, specs, schedule, person, mails):
    ann = await person()
    place = {"latitude": 52.05, "longitude": -13, "radius": None}
    await schedule((0, 10), readers=[ann], type="presence", attributes=place)
    await schedule((0, 20), readers=[ann], type="geofences", attributes={"geofenceId": [3, 4]})
    await schedule((0, 30), readers=[ann], type="trips", attributes={"geofenceId": "wrong"})
    async with tree(*specs):
        await time.passes(1800, step=60)
    asked = [parse_qs(link_of(mail).query) for mail in await mails()]
    ends = [{"from": instant(0), "to": instant(minute)} for minute in (10, 20, 30)]
    assert asked == [
        {"latitude": ["52.05"], "longitude": ["-13"], **ends[0]},
        {"geofenceId": ["3", "4"], **ends[1]},
        ends[2],
    ]


async def test_it_says_which_devices_and_leaves_a_row_in_the_audit(
    database, tree, time, specs, schedule, person, mails
):
    ann = await person()
    report = await schedule((0, 10), readers=[ann], type="summary", attributes={"daily": True})
    device = await devices.TABLE.insert(database, Device(unique_id="1"))
    group = await groups.TABLE.insert(database, Group(name="g"))
    await links.add(database, links.DEVICE_REPORT, device.id, report.id)
    await links.add(database, links.GROUP_REPORT, group.id, report.id)
    async with tree(*specs):
        await time.passes(600, step=60)
    (mail,) = await mails()
    assert link_of(mail).path == "/reports/summary"
    assert parse_qs(link_of(mail).query) == {
        "deviceId": [str(device.id)],
        "groupId": [str(group.id)],
        "daily": ["true"],
        "from": instant(0),
        "to": instant(10),
    }
    (actions,) = [batch async for batch in audit.stream_between(database, NOW, NOW + timedelta(days=1))]
    (action,) = actions
    assert (action.action_type, action.user_id, action.object_type) == ("report", ann.id, None)
    assert action.attributes == {
        "type": "summary",
        "from": "2026-06-15 12:00",
        "to": "2026-06-15 12:10",
        "devices": f"[{device.id}]",
        "groups": f"[{group.id}]",
        "scheduled": True,
    }


async def test_a_link_that_would_be_cut_is_about_all_devices(
    database, tree, time, specs, schedule, person, mails
):
    report = await schedule((0, 10), readers=[await person()])
    for number in range(200):
        device = await devices.TABLE.insert(database, Device(unique_id=f"{number}"))
        await links.add(database, links.DEVICE_REPORT, device.id, report.id)
    async with tree(*specs):
        await time.passes(600, step=60)
    (mail,) = await mails()
    assert set(parse_qs(link_of(mail).query)) == {"from", "to"}


@pytest.mark.parametrize(
    "fields",
    [
        {"disabled": True},
        {"expiration_time": NOW},
        {"temporary": True},
        {"disable_reports": True},
        {"email": "nowhere"},
    ],
    ids=lambda fields: next(iter(fields)),
)
async def test_who_cannot_read_it_gets_none(database, tree, time, specs, schedule, person, mails, fields):
    fields = {"email": "bob@example.org", **fields}
    bob = await users.TABLE.insert(database, User(name="bob", **fields))
    await schedule((0, 10), readers=[bob, await person()])
    async with tree(*specs):
        await time.passes(600, step=60)
    assert [mail.to for mail in await mails()] == ["ann@example.org"]


async def test_a_server_without_reports_mails_administrators_alone(
    database, tree, time, specs, schedule, person, mails
):
    await schedule((0, 10), readers=[await person(), await person("root", administrator=True)])
    await database.execute("update server set disable_reports = true, force_settings = true")
    async with tree(*specs):
        await time.passes(600, step=60)
    assert [mail.to for mail in await mails()] == ["root@example.org"]


async def test_changes_are_followed(database, tree, time, specs, schedule, person, mails):
    ann = await person(attributes={"language": "de", "timezone": "Europe/Berlin"})
    report = await schedule((0, 10), readers=[ann])
    async with tree(*specs) as system:
        await time.passes(60)
        other = encode_calendar((0, 5))
        row = Calendar(name="d", data=other)
        row = await plain_tables.CALENDARS.insert(database, row)
        await scheduled_reports.TABLE.update(
            database, msgspec.structs.replace(report, calendar_id=row.id, type="stops")
        )
        await publish_changes(system, ScheduledReportChanged(report.id, "updated", ("calendar_id", "type")))
        await time.passes(1200, step=60)
        (mail,) = await mails()
        assert period(mail) == (instant(0), instant(5))
        assert mail.subject == "Bericht: Stopps"
        assert "2026-06-15 14:00 CEST bis 2026-06-15 14:05 CEST" in mail.text
        later = await schedule((30, 40), readers=[ann])
        await publish_changes(system, ScheduledReportChanged(later.id, "created"))
        await time.passes(60)
        await plain_tables.CALENDARS.delete(database, later.calendar_id)
        await publish_changes(system, CalendarChanged(later.calendar_id, "deleted"))
        await time.passes(3600, step=300)
    assert len(await mails()) == 1


async def test_it_is_tried_again_after_an_outage(
    database, tree, time, specs, schedule, person, mails, outage
):
    await schedule((0, 10), readers=[await person()])
    async with tree(*specs):
        await time.passes(300, step=60)
        with outage():
            await time.passes(360, step=60)
        await time.passes(240, step=5)
    assert [period(mail) for mail in await mails()] == [(instant(0), instant(10))]
