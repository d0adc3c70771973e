"""Trials of ticket rules on stored events."""

import base64
import threading
from datetime import timedelta

from motorpool.actors.helpdesk.rule_trial import try_rule
from motorpool.api.resources.helpdesk import rule_trials
from motorpool.storage.events import events
from motorpool.storage.records import Event

RULE = {"name": "", "when": {"eventTypes": ["alarm"], "alarms": ["sos"]}}


async def make_device(desk, name, *, seen=True):
    made = (await desk.served.admin.post("/devices", json={"name": name, "uniqueId": name})).json()
    if seen:
        linked = await desk.link(desk.served.admin, userId=desk.chief.id, deviceId=made["id"])
        assert linked.status == 204, linked.text
    return made["id"]


async def store(desk, *ages):
    """Store SOS alarms as (id, device, how long ago)."""
    now = desk.served.clock.now()
    found = [
        Event(
            id=number,
            type="alarm",
            event_time=now - age,
            device_id=device_id,
            attributes={"alarm": "sos"},
        )
        for number, device_id, age in ages
    ]
    await events.insert_many(desk.database, found)


async def trial(desk, rule, who=None):
    return await (who or desk.chief).post(f"/companies/{desk.id}/ticketrules/trial", json=rule)


async def test_a_rule_says_what_it_would_have_made_of_the_last_week_and_makes_nothing(desk):
    van = await make_device(desk, "Van")
    truck = await make_device(desk, "Truck")
    hidden = await make_device(desk, "Hidden", seen=False)
    minutes = timedelta(minutes=1)
    await store(
        desk,
        (1, van, timedelta(days=8)),
        (2, van, timedelta(days=6)),
        (3, van, 90 * minutes),
        (4, van, 60 * minutes),
        (5, truck, 10 * minutes),
        (6, hidden, 10 * minutes),
    )
    answer = await trial(desk, RULE)
    assert answer.status == 200, answer.text
    found = answer.json()
    assert (found["events"], found["tickets"], found["muted"]) == (4, 3, 0)
    assert [
        (each["subject"], each["deviceId"], each["eventId"], each["events"]) for each in found["newest"]
    ] == [
        ("Emergency button: Truck", truck, 5, 1),
        ("Emergency button: Van", van, 3, 2),
        ("Emergency button: Van", van, 2, 1),
    ]
    limited = {**RULE, "when": {**RULE["when"], "deviceIds": [truck]}, "then": {"subject": "Call the driver"}}
    (only,) = (await trial(desk, limited)).json()["newest"]
    assert (only["subject"], only["eventId"]) == ("Call the driver", 5)
    assert (await desk.chief.get(f"/tickets?companyId={desk.id}")).json() == []


async def test_a_calendar_restricts_the_trial(desk):
    van = await make_device(desk, "Van")
    await store(desk, (1, van, timedelta(hours=3)), (2, van, timedelta(hours=1)))
    now = desk.served.clock.now()
    text = (
        "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nBEGIN:VEVENT\r\nUID:1\r\n"
        f"DTSTART:{now - timedelta(hours=2):%Y%m%dT%H%M%SZ}\r\nDTEND:{now:%Y%m%dT%H%M%SZ}\r\n"
        "END:VEVENT\r\nEND:VCALENDAR\r\n"
    )
    data = base64.b64encode(text.encode()).decode()
    calendar = (await desk.chief.post("/calendars", json={"name": "Then", "data": data})).json()["id"]
    within = {**RULE, "when": {**RULE["when"], "calendarId": calendar}}
    assert [each["eventId"] for each in (await trial(desk, within)).json()["newest"]] == [2]
    strange = (await desk.stranger.post("/calendars", json={"name": "Theirs", "data": data})).json()["id"]
    answer = await trial(desk, {**RULE, "when": {**RULE["when"], "calendarId": strange}})
    assert (answer.status, answer.text) == (400, "rule.when.calendarId: no access to it, or no such")


async def test_only_managers_who_read_history_try_rules_and_only_valid_ones(desk):
    for who in (desk.ann, desk.stranger):
        assert (await trial(desk, RULE, who)).status == 400
    answer = await trial(desk, {"name": "x"})
    assert (answer.status, answer.text) == (400, "rule.when.eventTypes: needed")
    answer = await trial(desk, {**RULE, "then": {"teamId": 4711}})
    assert (answer.status, answer.text) == (
        400,
        "rule.then.teamId: there is none in the company that is not disabled",
    )
    assert (await trial(desk, {**RULE, "surprise": 1})).status == 400
    assert (await desk.served.admin.post("/companies/4711/ticketrules/trial", json=RULE)).status == 404
    blind = await desk.served.user("blind", userLimit=-1, disableReports=True)
    await desk.link(desk.served.admin, userId=blind.id, companyId=desk.id)
    assert (await trial(desk, RULE, blind)).status == 400


async def test_a_rule_with_long_lists_does_not_keep_the_server_from_other_work(desk, monkeypatch):
    threads = []

    def tried(*arguments):
        threads.append(threading.current_thread())
        return try_rule(*arguments)

    monkeypatch.setattr(rule_trials, "try_rule", tried)
    assert (await trial(desk, RULE)).status == 200
    assert threads != [threading.current_thread()]
    assert len(threads) == 1


async def test_events_of_geofences_that_the_caller_does_not_see_are_left_out(desk):
    van = await make_device(desk, "Van")
    area = {"name": "Secret", "area": "CIRCLE (1 2, 100)"}
    geofence = (await desk.served.admin.post("/geofences", json=area)).json()["id"]
    now = desk.served.clock.now()
    entered = Event(
        id=1,
        type="geofenceEnter",
        event_time=now - timedelta(hours=1),
        device_id=van,
        geofence_id=geofence,
    )
    await events.insert_many(desk.database, [entered])
    rule = {"when": {"eventTypes": ["geofenceEnter"]}}
    assert (await trial(desk, rule)).json()["events"] == 0
    assert (await desk.link(desk.served.admin, userId=desk.chief.id, geofenceId=geofence)).status == 204
    assert [each["eventId"] for each in (await trial(desk, rule)).json()["newest"]] == [1]
