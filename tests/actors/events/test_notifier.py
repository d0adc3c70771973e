"""Stored events notify those whom they concern, once, whatever happens in between."""

import base64
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
import trio
from tests.runtime.actor_testing import Probe

from motorpool.actors.change_feed import publish_changes
from motorpool.actors.cluster.shared_attempts import SharedAttempts
from motorpool.actors.deliveries import OutgoingServices
from motorpool.actors.deliveries.notificators.mail import MailSettings
from motorpool.actors.deliveries.notificators.sms import SmsSettings
from motorpool.actors.deliveries.outbox import OUTBOX
from motorpool.actors.devices.position_writer import POSITION_WRITER, AppendEvents, PositionWriter
from motorpool.actors.events import batch_renderer, deliveries
from motorpool.actors.events import notifier as notifier_module
from motorpool.actors.events.notifier import Notifier
from motorpool.actors.events.settings import NotificationSettings
from motorpool.actors.messages.changes import NotificationChanged, UserChanged
from motorpool.actors.messages.topics import (
    DELIVERIES_STOPPED,
    EVENTS,
    WEB_EVENTS,
    DeliveryStopped,
)
from motorpool.actors.messages.uplink import DEVICE, CommandRefused, DeliverQueued, SendCommand
from motorpool.runtime import ChildSpec, DynamicSpec, Restart, TaskSpec
from motorpool.storage import plain_tables
from motorpool.storage.accounts import links, users
from motorpool.storage.database.tables import Table
from motorpool.storage.deliveries import receivers
from motorpool.storage.devices import commands, position_rows, positions
from motorpool.storage.events import notifications
from motorpool.storage.records import Calendar, Command, Event, Geofence, Notification, Position, User

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)


def position_writer_spec(database, *, is_urgent=False):
    return ChildSpec(
        kind=POSITION_WRITER,
        factory=lambda: PositionWriter(database.urgent() if is_urgent else database),
    )


@pytest.fixture
def outgoing():
    return OutgoingServices()


@pytest.fixture
def make_user(database):
    async def make(name, **fields):
        return await users.TABLE.insert(
            database, User(name=name, email=f"{name}@example.org", phone="112", **fields)
        )

    return make


@pytest.fixture
def make_notification(database):
    """`await make_notification("alarm", ann, ben, always=True, …)`: linked to these users."""

    async def make(kind, *owners, notificators="web,mail", **fields):
        row = Notification(type=kind, notificators=notificators, **fields)
        made = await plain_tables.NOTIFICATIONS.insert(database, row)
        for owner in owners:
            await links.add(database, links.USER_NOTIFICATION, owner.id, made.id)
        return made

    return make


@pytest.fixture
def sees(database):
    async def link(device, *viewers):
        for viewer in viewers:
            await links.add(database, links.USER_DEVICE, viewer.id, device.id)

    return link


@pytest.fixture
def mails(database):
    """`await mails()`: to whom mails wait in the outbox, with their subjects."""

    async def read():
        rows = await database.fetch("select message from deliveries order by id")
        return [(row[0]["to"], row[0]["subject"]) for row in rows]

    return read


def notifying(database, outgoing):
    """The notifier, and an outbox that sends nothing."""
    silent = ChildSpec(kind=OUTBOX, factory=Probe)
    return silent, TaskSpec(
        name="notifier",
        factory=lambda: Notifier(database, outgoing, NotificationSettings.max_age_seconds, ""),
    )


async def store(system, *events):
    """Have the writer store events; returns when they are published."""
    async with system.topic(EVENTS).subscribe() as published:
        await system.ref(POSITION_WRITER).tell(AppendEvents(events))
        found = 0
        while found < len(events):
            found += sum(len(each) for each in await published.receive_batch())


def event(device, kind="deviceStopped", **fields):
    return Event(**{"type": kind, "event_time": NOW, "device_id": device.id, **fields})


async def left(database):
    return await database.fetch_value("select count(*) from unmatched_events")


ALWAYS = base64.b64encode(
    b"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nBEGIN:VEVENT\r\nUID:1\r\n"
    b"DTSTART:20200101T000000Z\r\nDURATION:P3000D\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
).decode()


async def test_those_who_see_the_device_and_have_the_notification_are_notified(
    database, tree, time, outgoing, make_device, make_user, make_notification, sees, mails
):
    device, other = await make_device("1"), await make_device("2")
    ann, ben, eve, out = [await make_user(name) for name in ("ann", "ben", "eve", "out")]
    gone = await make_user("gone", disabled=True)
    past = await make_user("past", expiration_time=NOW - timedelta(seconds=1))
    await sees(device, ann, ben, gone, past)
    await sees(other, eve)
    await make_notification("deviceStopped", ann, eve, out, gone, past, always=True)
    linked = await make_notification("deviceStopped", ben, eve, notificators="mail")
    await links.add(database, links.DEVICE_NOTIFICATION, device.id, linked.id)
    await make_notification("deviceMoving", ann, always=True)
    async with tree(position_writer_spec(database), *notifying(database, outgoing)) as system:
        async with system.topic(WEB_EVENTS).subscribe() as web:
            await store(system, event(device))
            (shown,) = await web.receive_batch()
        await time.settle()
    assert shown.user_ids == {ann.id}
    assert shown.event.attributes == {"message": "1: has stopped, 2026-06-15 12:00:00"}
    assert await mails() == [
        ("ann@example.org", "1: has stopped"),
        ("ben@example.org", "1: has stopped"),
    ]
    assert await left(database) == 0


async def test_the_own_words_of_the_oldest_notification_that_has_any_are_said(
    database, tree, time, outgoing, make_device, make_user, make_notification, sees
):
    device = await make_device("1")
    ann, ben = await make_user("ann"), await make_user("ben")
    await sees(device, ann, ben)
    await make_notification("deviceStopped", ann, always=True)
    own = {"subject": "{device} rests", "text": "{device}\nrests", "priority": True}
    for attributes in (own, {"subject": "Never"}):
        await make_notification("deviceStopped", ann, always=True, notificators="mail", attributes=attributes)
    await make_notification("deviceStopped", ben, always=True, attributes={"text": "Halt {geofence}"})
    async with tree(position_writer_spec(database), *notifying(database, outgoing)) as system:
        async with system.topic(WEB_EVENTS).subscribe() as web:
            await store(system, event(device))
            shown = await web.receive_batch()
            while len(shown) < 2:
                shown += await web.receive_batch()
        await time.settle()
    assert {(*each.user_ids, each.event.attributes["message"]) for each in shown} == {
        (ann.id, "1: has stopped, 2026-06-15 12:00:00"),
        (ben.id, "Halt"),
    }
    rows = await database.fetch("select message from deliveries order by id")
    assert [(row[0]["to"], row[0]["subject"], row[0]["text"]) for row in rows] == [
        ("ann@example.org", "1 rests", "1\nrests\n"),
        ("ben@example.org", "1: has stopped", "Halt\n"),
    ]


@pytest.mark.parametrize("exists_before", [True, False])
async def test_towns_are_read_once_there_are_notifications_and_before_the_first_event(
    database, tree, time, outgoing, make_user, make_notification, monkeypatch, exists_before
):
    reads = []
    monkeypatch.setattr(notifier_module, "read_towns", lambda: reads.append(time.current_time()))
    ann = await make_user("ann")
    if exists_before:
        await make_notification("deviceMoving", ann)
    async with tree(*notifying(database, outgoing)) as system:
        await time.settle()
        assert bool(reads) == exists_before
        await publish_changes(system, UserChanged(ann.id, "updated"))
        await time.settle()
        assert bool(reads) == exists_before
        added = await make_notification("deviceStopped", ann)
        await publish_changes(system, NotificationChanged(added.id, "created"))
        await time.settle()
        assert len(reads) == 1


async def test_events_that_nobody_has_a_notification_for_do_not_wait(
    database, tree, time, outgoing, make_device, make_user, make_notification
):
    device = await make_device("1")
    await make_notification("deviceMoving", await make_user("ann"), always=True)
    async with tree(position_writer_spec(database)) as system:
        await store(system, event(device), event(device, "deviceMoving"))
    assert await left(database) == 1


async def test_an_event_that_was_stored_before_a_crash_is_notified_after_it(
    database, tree, time, outgoing, make_device, make_user, make_notification, sees, mails
):
    device, ann = await make_device("1"), await make_user("ann")
    await sees(device, ann)
    await make_notification("deviceStopped", ann, always=True)
    async with tree(position_writer_spec(database)) as system:
        # There is no notifier: the server ends before the event is matched.
        await store(system, event(device))
    assert await mails() == []
    async with tree(*notifying(database, outgoing)):
        await time.settle()
    assert len(await mails()) == 1
    async with tree(*notifying(database, outgoing)):
        await time.settle()
    assert len(await mails()) == 1


async def test_a_crash_between_the_messages_and_the_commit_undoes_both(
    database, tree, time, outgoing, make_device, make_user, make_notification, sees, mails, monkeypatch
):
    device, ann = await make_device("1"), await make_user("ann")
    await sees(device, ann)
    await make_notification("deviceStopped", ann, always=True)
    remove, crashes = notifications.remove_matched, [True, True]

    async def crash(transaction, event_ids):
        assert await transaction.fetch_value("select count(*) from deliveries") == 1
        if crashes:
            crashes.pop()
            raise RuntimeError("in between")
        await remove(transaction, event_ids)

    monkeypatch.setattr(notifier_module.notifications, "remove_matched", crash)
    async with tree(position_writer_spec(database), *notifying(database, outgoing)) as system:
        await store(system, event(device))
        await time.settle()
        assert not crashes
    assert len(await mails()) == 1
    assert await left(database) == 0


async def test_two_servers_notify_of_each_event_once(
    database, tree, time, outgoing, make_device, make_user, make_notification, sees, mails
):
    device, ann = await make_device("1"), await make_user("ann")
    await sees(device, ann)
    await make_notification("deviceStopped", ann, always=True)
    async with tree(position_writer_spec(database)) as system:
        await store(system, *[event(device) for _ in range(250)])
    assert await left(database) == 250
    async with tree(*notifying(database, outgoing)), tree(*notifying(database, outgoing)):
        await time.settle()
    assert len(await mails()) == 250
    assert await left(database) == 0


async def test_events_that_were_old_when_they_were_stored_notify_nobody(
    database, tree, time, outgoing, make_device, make_user, make_notification, sees, mails
):
    device, ann = await make_device("1"), await make_user("ann")
    await sees(device, ann)
    await make_notification("deviceStopped", ann, always=True)
    async with tree(position_writer_spec(database), *notifying(database, outgoing)) as system:
        await store(
            system,
            event(device, event_time=NOW - timedelta(seconds=901)),
            event(device, event_time=NOW - timedelta(seconds=900)),
            event(device, event_time=NOW + timedelta(days=1)),
        )
        await time.settle()
    assert len(await mails()) == 2


async def test_a_user_gets_an_event_once_by_each_way_however_many_notifications_match(
    database, tree, time, outgoing, make_device, make_user, make_notification, sees, mails
):
    device, ann = await make_device("1"), await make_user("ann")
    await sees(device, ann)
    for _ in range(3):
        await make_notification("deviceStopped", ann, always=True, notificators="mail")
    async with tree(position_writer_spec(database), *notifying(database, outgoing)) as system:
        await store(system, event(device))
        await time.settle()
    assert len(await mails()) == 1


async def test_a_calendar_is_asked_at_the_time_of_the_event(
    database, tree, time, outgoing, make_device, make_user, make_notification, sees, mails
):
    device, ann = await make_device("1"), await make_user("ann")
    await sees(device, ann)
    text = (
        "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nBEGIN:VEVENT\r\nUID:1\r\n"
        "DTSTART:20260615T115900Z\r\nDTEND:20260615T120000Z\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
    )
    row = Calendar(name="a", data=base64.b64encode(text.encode()).decode())
    calendar = await plain_tables.CALENDARS.insert(database, row)
    await make_notification("deviceStopped", ann, always=True, calendar_id=calendar.id)
    async with tree(position_writer_spec(database), *notifying(database, outgoing)) as system:
        await store(system, event(device), event(device, event_time=NOW - timedelta(seconds=1)))
        await time.settle()
    assert len(await mails()) == 1


async def test_the_text_names_the_geofence_in_the_readers_language(
    database, tree, time, outgoing, make_device, make_user, make_notification, sees, mails
):
    device = await make_device("1")
    ann, ben = await make_user("ann", attributes={"language": "de"}), await make_user("ben")
    await sees(device, ann, ben)
    depot = await plain_tables.GEOFENCES.insert(database, Geofence(name="Depot", area="CIRCLE (1 1, 1)"))
    restricted = {"geofenceIds": str(depot.id)}
    await make_notification("geofenceEnter", ann, ben, always=True, attributes=restricted)
    async with tree(position_writer_spec(database), *notifying(database, outgoing)) as system:
        await store(
            system,
            event(device, "geofenceEnter", geofence_id=depot.id),
            event(device, "geofenceEnter", geofence_id=depot.id + 1),
        )
        await time.settle()
    assert await mails() == [
        ("ann@example.org", "1: hat Depot erreicht"),
        ("ben@example.org", "1: entered Depot"),
    ]


async def test_the_text_says_in_which_zone_that_the_reader_may_see_or_near_which_town(
    database, tree, time, outgoing, make_device, make_user, make_notification, sees
):
    device = await make_device("1")
    readers = {
        "ann": await make_user("ann"),
        "ben": await make_user("ben", attributes={"language": "de", "distanceUnit": "mi"}),
        "eve": await make_user("eve"),
        "root": await make_user("root", administrator=True),
    }
    await sees(device, *readers.values())
    await make_notification("deviceStopped", *readers.values(), always=True, notificators="mail")
    region, gate = [
        await plain_tables.GEOFENCES.insert(
            database, Geofence(name=name, area=f"CIRCLE (52.42 13.1, {size})")
        )
        for name, size in (("Region", 9000), ("Gate", 50))
    ]
    await links.add(database, links.USER_GEOFENCE, readers["ann"].id, region.id)
    for zone in (region, gate):
        await links.add(database, links.USER_GEOFENCE, readers["eve"].id, zone.id)
    inside = Position(
        id=(await positions.allocate_ids(database, 1))[0],
        device_id=device.id,
        server_time=NOW,
        device_time=NOW,
        fix_time=NOW,
        latitude=52.42,
        longitude=13.1,
        geofence_ids=[region.id, gate.id],
    )
    await positions.store(database, [position_rows.pack_row(inside)], [inside.id])
    async with tree(position_writer_spec(database), *notifying(database, outgoing)) as system:
        await store(system, event(device, position_id=inside.id))
        await time.settle()
    rows = await database.fetch("select message from deliveries")
    places = {
        row[0]["to"].split("@")[0]: line
        for row in rows
        for line in row[0]["text"].splitlines()
        if line.startswith(("Place", "Ort"))
    }
    assert places == {
        "ann": "Place: Region",
        "ben": "Ort: Potsdam, 2 mi NO",
        "eve": "Place: Gate",
        "root": "Place: Gate",
    }


async def test_a_saved_command_is_queued_for_the_device_of_a_user_who_may_send_it(
    database, tree, time, outgoing, make_device, make_user, make_notification, sees
):
    device = await make_device("1")
    ann, ben = await make_user("ann"), await make_user("ben")
    await sees(device, ann, ben)
    command = await commands.TABLE.insert(database, Command(type="engineStop"))
    await make_notification(
        "alarm", ann, always=True, notificators="command", command_id=command.id, attributes={"alarms": "sos"}
    )
    alarm = event(device, "alarm", attributes={"alarm": "sos"})
    probe = Probe()
    found = DynamicSpec(kind=DEVICE, name="devices", factory=lambda _: probe, restart=Restart.TEMPORARY)
    async with tree(found, position_writer_spec(database), *notifying(database, outgoing)) as system:
        await system.start(DEVICE, device.id)
        await store(system, alarm)
        await time.settle()
        assert await commands.queued_for(database, device.id) == []
        assert probe.messages == []
        await time.passes(1)
        await links.add(database, links.USER_COMMAND, ann.id, command.id)
        await store(system, event(device, "alarm", attributes={"alarm": "sos"}))
        await time.settle()
        # The device, which is connected, is asked to send what waits.
        assert probe.messages == [DeliverQueued()]
    (queued,) = await commands.waiting_for(database, device.id)
    assert (queued.type, queued.user_id) == ("engineStop", ann.id)


async def test_an_event_for_ten_thousand_users_takes_few_statements(
    database, tree, time, outgoing, make_device, make_notification, mails, monkeypatch
):
    device = await make_device("1")
    await database.execute(
        "insert into users (name, email) select 'u' || n, 'u' || n || '@example.org'"
        " from generate_series(1, 10000) as n"
    )
    await database.execute("insert into user_device select id, $1 from users", device.id)
    made = await make_notification("deviceStopped", always=True)
    await database.execute("insert into user_notification select id, $1 from users", made.id)
    # As autovacuum does, which comes too late here: without it, tables pass for nearly empty.
    await database.execute("analyze")
    counted = []
    async with (
        tree(position_writer_spec(database), *notifying(database, outgoing)) as system,
        system.topic(WEB_EVENTS).subscribe() as web,
    ):
        count_statements(monkeypatch, counted)
        await store(system, event(device))
        (shown,) = await web.receive_batch()
        monkeypatch.undo()
        await time.settle()
    assert len(shown.user_ids) == 10_000
    assert await database.fetch_value("select count(*) from deliveries") == 10_000
    assert len(counted) < 50


def count_statements(monkeypatch, counted):
    from motorpool.storage.database.connections import Connection

    call = Connection.call

    async def count(self, *args, **more):
        counted.append(args[1])
        return await call(self, *args, **more)

    monkeypatch.setattr(Connection, "call", count)


async def test_an_event_that_cannot_be_matched_holds_back_no_other(
    database, tree, time, outgoing, make_device, make_user, make_notification, sees, mails, monkeypatch
):
    device, ann = await make_device("1"), await make_user("ann")
    await sees(device, ann)
    await make_notification("deviceStopped", ann, always=True)
    render = batch_renderer.render

    def fail(facts, *how):
        if "bad" in facts.event.attributes:
            raise RuntimeError("cannot be rendered")
        return render(facts, *how)

    monkeypatch.setattr(batch_renderer, "render", fail)
    async with tree(position_writer_spec(database), *notifying(database, outgoing)) as system:
        await store(system, event(device), event(device, attributes={"bad": 1}), event(device))
        await time.settle()
    assert len(await mails()) == 2
    assert await left(database) == 0


async def test_while_the_database_is_away_nothing_is_lost(
    database, tree, time, outgoing, make_device, make_user, make_notification, sees, mails, outage
):
    device, ann = await make_device("1"), await make_user("ann")
    await sees(device, ann)
    await make_notification("deviceStopped", ann, always=True)
    async with tree(position_writer_spec(database)) as system:
        await store(system, event(device))
    with outage():
        async with tree(*notifying(database, outgoing)):
            await time.settle()
    async with tree(*notifying(database, outgoing)):
        await time.settle()
        await time.passes(11)
    assert len(await mails()) == 1


async def test_a_command_by_text_message_is_handed_to_the_device(
    database, tree, time, outgoing, make_device, make_user, make_notification, sees
):
    device, ann = await make_device("1"), await make_user("ann")
    await sees(device, ann)
    row = Command(type="custom", text_channel=True, attributes={"data": "stop"})
    command = await commands.TABLE.insert(database, row)
    await links.add(database, links.USER_COMMAND, ann.id, command.id)
    for kind in ("deviceStopped", "queuedCommandSent"):
        fields = {"always": True, "notificators": "command", "command_id": command.id}
        await make_notification(kind, ann, **fields)
    probe = Probe({SendCommand: CommandRefused("the device has no telephone number")})
    found = DynamicSpec(kind=DEVICE, name="devices", factory=lambda _: probe, restart=Restart.TEMPORARY)
    async with tree(found, position_writer_spec(database), *notifying(database, outgoing)) as system:
        # The outcome of a command sends none: that could go on for ever.
        await store(system, event(device, "queuedCommandSent"), event(device))
        await time.settle()
    (sent,) = probe.messages
    assert (sent.type, sent.text_channel, sent.user_id) == ("custom", True, ann.id)
    assert await commands.queued_for(database, device.id) == []


async def test_a_paused_receiver_gets_no_messages_and_the_others_of_its_user_do(
    database, tree, time, outgoing, make_device, make_user, make_notification, sees
):
    device = await make_device("1")
    ann = await make_user("ann", attributes={"webhook.url": "https://example.org", "telegramChatId": 42})
    await sees(device, ann)
    await make_notification("deviceStopped", ann, always=True, notificators="mail,webhook,telegram,firebase")
    await receivers.acquire(database, "webhook", ann.id, "a server", now=NOW, until=NOW)
    assert await receivers.pause(database, "webhook", ann.id, now=NOW)
    async with tree(position_writer_spec(database), *notifying(database, outgoing)) as system:
        await store(system, event(device))
        await time.settle()
    assert [row[0] for row in await database.fetch("select lane from deliveries order by id")] == [
        "mail",
        "telegram",
    ]


async def test_the_user_of_a_paused_receiver_is_told_by_mail_and_socket(database, tree, time, make_user):
    account = MailSettings(host="127.0.0.1", port=1, security="none", address="fleet@example.net")
    ann = await make_user("ann", attributes={"language": "de"})
    async with tree(*notifying(database, OutgoingServices(mail=account))) as system:
        await time.settle()
        async with system.topic(WEB_EVENTS).subscribe() as web:
            for lane in ("webhook", "mail"):
                attributes = {"notificator": lane, "reason": "the receiver answers 410"}
                stopped = DeliveryStopped("notificatorPaused", frozenset({ann.id}), attributes, lane)
                system.topic(DELIVERIES_STOPPED).publish(stopped)
            await time.settle()
            told = await web.receive_batch()
    assert [(each.user_ids, each.event.type) for each in told] == [({ann.id}, "notificatorPaused")] * 2
    assert "webhook sind ausgesetzt" in told[0].event.attributes["message"]
    # Not by mail where it is mail that is paused.
    (row,) = await database.fetch("select message from deliveries")
    assert row[0]["subject"] == "Nachrichten über webhook sind ausgesetzt"


async def test_managers_hear_of_a_webhook_that_was_disabled_by_mail_and_socket(
    database, tree, time, make_user
):
    account = MailSettings(host="127.0.0.1", port=1, security="none", address="fleet@example.net")
    ann, ben = await make_user("ann"), await make_user("ben", attributes={"language": "de"})
    attributes = {"company": "Acme", "reason": "the receiver answers 410"}
    webhook = DeliveryStopped("ticketWebhookDisabled", frozenset({ann.id, ben.id}), attributes)
    async with tree(*notifying(database, OutgoingServices(mail=account))) as system:
        await time.settle()
        async with system.topic(WEB_EVENTS).subscribe() as web:
            system.topic(DELIVERIES_STOPPED).publish(webhook)
            await time.settle()
            published = await web.receive_batch()
    assert [(each.user_ids, each.event.type) for each in published] == [
        ({ann.id}, "ticketWebhookDisabled"),
        ({ben.id}, "ticketWebhookDisabled"),
    ]
    assert "of Acme is disabled" in published[0].event.attributes["message"]
    rows = await database.fetch("select message ->> 'subject' from deliveries order by id")
    assert [row[0] for row in rows] == [
        "The ticket webhook of Acme is disabled",
        "Der Ticket-Webhook von Acme ist deaktiviert",
    ]


async def test_more_recipients_than_fit_at_once_are_notified_of_one_event_after_the_other(
    database, tree, time, outgoing, make_device, make_user, make_notification, sees, mails, monkeypatch
):
    monkeypatch.setattr(deliveries, "MAX_WORK", 2)
    device, other = await make_device("1"), await make_device("2")
    ann, ben, eve = [await make_user(name) for name in ("ann", "ben", "eve")]
    await sees(device, ann, ben, eve)
    await sees(other, ann)
    await make_notification("deviceStopped", ann, ben, eve, always=True, notificators="mail")
    async with tree(position_writer_spec(database), *notifying(database, outgoing)) as system:
        await store(system, *[event(each) for each in (other, device, device, other, other)])
        await time.settle()
    assert Counter(to.partition("@")[0] for to, _ in await mails()) == {"ann": 5, "ben": 2, "eve": 2}
    assert await left(database) == 0


async def test_a_calendar_that_takes_long_holds_back_the_events_of_its_device_alone(
    database, tree, time, outgoing, make_device, make_user, make_notification, sees, mails, monkeypatch
):
    may_go_on = trio.Event()
    fetch = Table.fetch_versioned

    async def wait(table, *args, **named):
        if table is plain_tables.CALENDARS:
            await may_go_on.wait()
        return await fetch(table, *args, **named)

    monkeypatch.setattr(Table, "fetch_versioned", wait)
    slow, other = await make_device("1"), await make_device("2")
    ann, ben = await make_user("ann"), await make_user("ben")
    await sees(slow, ann)
    await sees(other, ben)
    calendar = await plain_tables.CALENDARS.insert(database, Calendar(name="a", data=ALWAYS))
    await make_notification("deviceStopped", ann, always=True, calendar_id=calendar.id)
    await make_notification("deviceStopped", ben, always=True)
    async with tree(position_writer_spec(database), *notifying(database, outgoing)) as system:
        await store(system, event(slow), event(slow), event(other))
        await time.settle()
        assert ([to for to, _ in await mails()], await left(database)) == (["ben@example.org"], 2)
        await time.passes(1)
        await store(system, event(other))
        await time.settle()
        assert (len(await mails()), await left(database)) == (2, 2)
        may_go_on.set()
        await time.settle()
        assert await left(database) == 0
    assert Counter(to for to, _ in await mails()) == {"ann@example.org": 2, "ben@example.org": 2}


async def test_a_device_with_many_events_does_not_hold_back_others(
    database, tree, time, outgoing, make_device, make_user, make_notification, sees, mails, monkeypatch
):
    monkeypatch.setattr(deliveries, "MAX_WORK", 3)
    busy, other = await make_device("1"), await make_device("2")
    ann, ben = await make_user("ann"), await make_user("ben")
    await sees(busy, ann)
    await sees(other, ben)
    await make_notification("deviceStopped", ann, ben, always=True)
    order = []
    plan_batch = notifier_module.plan_batch

    async def plan(*args, **named):
        planned = await plan_batch(*args, **named)
        order.append([each.facts.event.device_id for each in planned.events])
        return planned

    monkeypatch.setattr(notifier_module, "plan_batch", plan)
    async with tree(position_writer_spec(database)) as system:
        await store(system, *[event(busy) for _ in range(30)], event(other))
    async with tree(position_writer_spec(database), *notifying(database, outgoing)):
        await time.settle()
        assert await left(database) == 0
    assert [busy.id, other.id] == order[0][:2]
    assert len(order) > 10


async def test_own_words_are_read_once_however_many_devices_they_are_about(
    database, tree, time, outgoing, make_device, make_user, make_notification, sees, mails, monkeypatch
):
    read = []

    def own_words_of(attributes):
        read.append(attributes["text"])
        return deliveries_own_words_of(attributes)

    deliveries_own_words_of = deliveries.own_words_of
    monkeypatch.setattr(deliveries, "own_words_of", own_words_of)
    ann = await make_user("ann")
    devices = [await make_device(str(number)) for number in range(3)]
    for device in devices:
        await sees(device, ann)
    for text in ("one", "two"):
        await make_notification("deviceStopped", ann, always=True, attributes={"text": text})
    async with tree(position_writer_spec(database)) as system:
        await store(system, *[event(device) for device in devices])
    async with tree(position_writer_spec(database), *notifying(database, outgoing)):
        await time.settle()
        assert await left(database) == 0
    assert len(await mails()) == 3
    assert sorted(read) == ["one", "two"]


async def test_text_messages_past_the_limit_are_discarded_whichever_server_sent_the_others(
    database, tree, time, clock, make_device, make_user, make_notification, sees, caplog
):
    def services():
        gateway = SmsSettings(url="http://127.0.0.1:9", per_user=3)
        return OutgoingServices(
            sms=gateway, monotonic=clock.monotonic, shared=SharedAttempts(database, clock)
        )

    device, ann, ben = await make_device("1"), await make_user("ann"), await make_user("ben")
    await sees(device, ann, ben)
    await make_notification("deviceStopped", ann, ben, notificators="sms", always=True)
    await services().sms.admit(ann.id, 2)
    async with tree(position_writer_spec(database), *notifying(database, services())) as system:
        await store(system, event(device), event(device))
        await time.settle()
    rows = await database.fetch("select user_id from deliveries order by user_id")
    assert [row[0] for row in rows] == [ann.id, ben.id, ben.id]
    (discarded,) = [record for record in caplog.records if "is discarded" in record.getMessage()]
    assert "a user may send 3 text messages an hour" in discarded.getMessage()
