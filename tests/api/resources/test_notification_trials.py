"""Trials of notifications on stored events."""

import base64
import re
from datetime import timedelta

import pytest
from tests.api.conftest import NOON

from motorpool.actors.deliveries.notificators.mail import MailSettings
from motorpool.api.resources import notification_trials
from motorpool.storage.events import events
from motorpool.storage.records import Event

HOUR = timedelta(hours=1)
WEEK = f"/notifications/trial?from={NOON - timedelta(days=7):%Y-%m-%dT%H:%M:%SZ}&to={NOON:%Y-%m-%dT%H:%M:%SZ}"
PREVIEW = "/notifications/preview"
BY_MAIL = {"type": "deviceOverspeed", "always": True, "notificators": "mail,web"}


@pytest.fixture
async def mailing(starting):
    settings = MailSettings(host="127.0.0.1", port=1, security="none", address="fleet@example.net")
    async with starting(mail=settings) as served:
        yield served


async def store(served, *ages, kind="deviceOverspeed", **fields):
    """Store events as (id, device, how long ago)."""
    await events.insert_many(
        served.context.database,
        [
            Event(id=number, type=kind, event_time=NOON - age, device_id=device_id, **fields)
            for number, device_id, age in ages
        ],
    )


async def link(client, **ids):
    answer = await client.post("/permissions", json=ids)
    assert answer.status == 204, answer.text


async def trial(client, body, path=WEEK):
    answer = await client.post(path, json=body)
    assert answer.status == 200, answer.text
    return answer.json()


def channels(found):
    return {each["type"]: (each["messages"], each["users"], each["unreached"]) for each in found["channels"]}


def calendar(start, end):
    text = (
        "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nBEGIN:VEVENT\r\nUID:1\r\n"
        f"DTSTART:{start:%Y%m%dT%H%M%SZ}\r\nDTEND:{end:%Y%m%dT%H%M%SZ}\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
    )
    return {"name": "Then", "data": base64.b64encode(text.encode()).decode()}


async def test_a_notification_says_what_it_would_have_sent_and_sends_nothing(mailing):
    served = mailing
    ann = await served.user("ann", deviceLimit=-1)
    van, truck = [await served.device(ann, name) for name in ("van", "truck")]
    hidden = await served.device(served.admin, "hidden")
    await store(served, (1, van, 8 * 24 * HOUR), (2, van, 5 * HOUR), (3, truck, 2 * HOUR), (4, hidden, HOUR))
    await store(served, (5, van, HOUR), kind="ignitionOn")
    found = await trial(ann, BY_MAIL)
    assert (found["events"], found["shut"]) == (2, 0)
    assert channels(found) == {"mail": (2, 1, 0), "web": (2, 1, 0)}
    assert [(each["eventId"], each["deviceId"], each["users"]) for each in found["newest"]] == [
        (3, truck, 1),
        (2, van, 1),
    ]
    assert found["preview"]["subject"].startswith("Vehicle truck: ")
    assert found["preview"]["digest"].splitlines() == found["preview"]["text"].splitlines()[:1]
    assert (await ann.get("/notifications")).json() == []
    assert await served.context.database.fetch_value("select count(*) from deliveries") == 0
    chosen = {**BY_MAIL, "always": False}
    nothing = await trial(ann, chosen)
    assert (nothing["events"], nothing["preview"]) == (0, None)
    assert (await trial(ann, {**chosen, "deviceIds": [truck, hidden]}))["events"] == 1


async def test_groups_restrict_it_and_those_below_count(served):
    top = (await served.admin.post("/groups", json={"name": "Top"})).json()["id"]
    below = (await served.admin.post("/groups", json={"name": "Below", "groupId": top})).json()["id"]
    inside = await served.device(served.admin, "inside", groupId=below)
    outside = await served.device(served.admin, "outside")
    await store(served, (1, inside, HOUR), (2, outside, HOUR))
    found = await trial(served.admin, {**BY_MAIL, "always": False, "groupIds": [top]})
    assert [each["deviceId"] for each in found["newest"]] == [inside]


async def test_each_user_counts_who_sees_the_device_and_has_an_address(mailing):
    served = mailing
    chief = await served.user("chief", userLimit=5, deviceLimit=-1)
    ann = await served.user("ann", deviceLimit=-1)
    bob = await served.user("bob")
    stranger = await served.user("stranger")
    for user in (ann, bob):
        await link(served.admin, userId=chief.id, managedUserId=user.id)
    van, truck = [await served.device(chief, name) for name in ("van", "truck")]
    await link(served.admin, userId=ann.id, deviceId=van)
    await store(served, (1, van, 3 * HOUR), (2, van, 2 * HOUR), (3, truck, HOUR))
    body = {**BY_MAIL, "notificators": "mail,telegram,web", "userIds": [chief.id, ann.id, bob.id]}
    found = await trial(chief, body)
    assert channels(found) == {"mail": (5, 2, 0), "telegram": (0, 0, 2), "web": (5, 2, 0)}
    assert [each["users"] for each in found["newest"]] == [1, 2, 2]
    for user_id in (stranger.id, 4711):
        answer = await chief.post(WEEK, json={**BY_MAIL, "userIds": [user_id]})
        assert (answer.status, answer.text) == (400, "userIds: no access to one of them, or no such")
    assert (await ann.post(WEEK, json={**BY_MAIL, "userIds": [chief.id]})).status == 400


async def test_commands_count_by_event_if_one_of_the_users_may_send_them(served):
    ann = await served.user("ann", deviceLimit=-1)
    van = await served.device(ann, "van")
    saved = {"type": "custom", "description": "Horn", "attributes": {"data": "00"}}
    command = (await served.admin.post("/commands", json=saved)).json()["id"]
    await store(served, (1, van, HOUR), (2, van, 2 * HOUR))
    body = {**BY_MAIL, "notificators": "command", "commandId": command}
    answer = await ann.post(WEEK, json=body)
    assert (answer.status, answer.text) == (400, "commandId: no access to it, or no such")
    await link(served.admin, userId=ann.id, commandId=command)
    assert channels(await trial(ann, body)) == {"command": (2, 1, 0)}


async def test_alarms_and_calendar_restrict_it(served):
    van = await served.device(served.admin, "van")
    await store(served, (1, van, 3 * HOUR), (2, van, HOUR), kind="alarm", attributes={"alarm": "sos"})
    await store(served, (3, van, HOUR), kind="alarm", attributes={"alarm": "jamming"})
    answer = await served.admin.post("/calendars", json=calendar(NOON - 2 * HOUR, NOON))
    calendar_id = answer.json()["id"]
    body = {"type": "alarm", "always": True, "notificators": "web", "attributes": {"alarms": "sos"}}
    found = await trial(served.admin, {**body, "calendarId": calendar_id})
    assert (found["events"], found["shut"]) == (1, 1)
    assert [each["eventId"] for each in found["newest"]] == [2]
    ann = await served.user("ann", deviceLimit=-1)
    answer = await ann.post(WEEK, json={**body, "calendarId": calendar_id})
    assert (answer.status, answer.text) == (400, "calendarId: no access to it, or no such")


async def test_a_stored_one_keeps_the_calendar_that_its_reader_does_not_see(served):
    ann = await served.user("ann", deviceLimit=-1)
    van = await served.device(ann, "van")
    await store(served, (1, van, HOUR), (2, van, 3 * HOUR))
    made = await served.admin.post("/calendars", json=calendar(NOON - 2 * HOUR, NOON))
    body = {**BY_MAIL, "notificators": "web", "calendarId": made.json()["id"]}
    stored = (await served.admin.post("/notifications", json=body)).json()
    assert (await ann.post(WEEK, json=stored)).status == 400
    await link(served.admin, userId=ann.id, notificationId=stored["id"])
    assert (await trial(ann, stored))["events"] == 1


async def test_only_valid_ones_are_tried_by_those_who_may_see_reports(served):
    wrong = {
        "type: not one of GET /notifications/types": {**BY_MAIL, "type": "surprise"},
        "notificators: owl is not one of": {**BY_MAIL, "notificators": "owl"},
        "commandId: needed for the notificator command": {**BY_MAIL, "notificators": "command"},
    }
    for message, body in wrong.items():
        answer = await served.admin.post(WEEK, json=body)
        assert answer.status == 400
        assert answer.text.startswith(message)
    long = "/notifications/trial?from=2026-01-01T00:00:00Z&to=2026-05-01T00:00:00Z"
    answer = await served.admin.post(long, json=BY_MAIL)
    assert (answer.status, answer.text) == (
        400,
        "from, to: a span of at most 31 days, and its end after its start",
    )
    blind = await served.user("blind", disableReports=True)
    assert (await blind.post(WEEK, json=BY_MAIL)).status == 400
    assert (await served.client().post(WEEK, json=BY_MAIL)).status == 401


async def test_what_is_too_much_is_cut_and_said(served, monkeypatch):
    monkeypatch.setattr(notification_trials, "MAX_EVENTS", 2)
    van = await served.device(served.admin, "van")
    await store(served, (1, van, 3 * HOUR), (2, van, 2 * HOUR), (3, van, HOUR))
    found = await trial(served.admin, BY_MAIL)
    assert (found["events"], found["from"]) == (2, f"{NOON - 2 * HOUR:%Y-%m-%dT%H:%M:%SZ}")


async def test_own_words_are_shown_for_the_newest_event_and_for_one_that_is_made_up(served):
    van = await served.device(served.admin, "van")
    await store(served, (1, van, HOUR), attributes={"speed": 50.0})
    words = {"subject": "{device}: slow down", "text": "{speed}\n{geofence}"}
    body = {**BY_MAIL, "attributes": words}
    shown = (await trial(served.admin, body))["preview"]
    assert (shown["subject"], shown["digest"]) == ("Vehicle van: slow down", "92.6 km/h")
    assert re.fullmatch(r"92\.6 km/h\nhttp://\S+/event/1\n", shown["text"])
    made_up = await trial(served.admin, body, PREVIEW)
    assert (made_up["subject"], made_up["digest"]) == ("Van 12: slow down", "92.6 km/h Depot")
    alarms = {"type": "alarm", "attributes": {"alarms": "jamming"}}
    assert (await trial(served.admin, alarms, PREVIEW))["subject"] == "Van 12: alarm: jamming"


async def test_words_with_an_unknown_placeholder_are_neither_stored_nor_shown(served):
    for attributes, message in (
        ({"text": "{device} {odometer}"}, "attributes.text: {odometer} is none of device, event, "),
        ({"subject": "a\nb"}, "attributes.subject: has characters that are not printable"),
        ({"subject": 7}, "attributes.subject: is not text"),
    ):
        body = {**BY_MAIL, "attributes": attributes}
        for path in ("/notifications", PREVIEW, WEEK):
            answer = await served.admin.post(path, json=body)
            assert answer.status == 400
            assert answer.text.startswith(message)
    assert (await served.admin.get("/notifications")).json() == []
