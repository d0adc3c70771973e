"""Ticket rules of a company: from a stored event to a ticket."""

from datetime import UTC, datetime, timedelta

import msgspec
import pytest
import trio

from motorpool.actors.devices.position_writer import POSITION_WRITER, AppendEvents
from motorpool.storage.devices import position_rows, positions
from motorpool.storage.events import events
from motorpool.storage.events.waiting import WaitingEvents
from motorpool.storage.records import Event, Position, Review

WAITING = WaitingEvents("ticket_rule_events", skips_locked=False)
NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
RULE = {"name": "SOS", "when": {"eventTypes": ["alarm"], "alarms": ["sos"]}}


async def save_rules(desk, *rules, who=None):
    company = (await desk.chief.get(f"/companies/{desk.id}")).json()
    attributes = {**company["attributes"], "ticketRules": list(rules)}
    return await (who or desk.chief).put(f"/companies/{desk.id}", json={**company, "attributes": attributes})


async def make_device(desk, name):
    """A device that the manager sees."""
    made = await desk.served.admin.post("/devices", json={"name": name, "uniqueId": name})
    assert made.status == 200, made.text
    linked = await desk.link(desk.served.admin, userId=desk.chief.id, deviceId=made.json()["id"])
    assert linked.status == 204, linked.text
    return made.json()


async def happen(served, *happened):
    """Have events stored; returns when rules have looked at them."""
    await served.context.system.ref(POSITION_WRITER).tell(AppendEvents(happened))
    database = served.context.database
    with trio.fail_after(120):
        while len(await events.existing(database, [each.id for each in happened])) < len(happened):  # noqa: ASYNC110
            await trio.sleep(0.01)
        while await WAITING.any(database):  # noqa: ASYNC110
            await trio.sleep(0.01)


def alarm(device_id, number, minutes=0, **fields):
    when = NOON + timedelta(minutes=minutes)
    return Event(
        **{
            "id": number,
            "type": "alarm",
            "event_time": when,
            "device_id": device_id,
            "attributes": {"alarm": "sos"},
            **fields,
        }
    )


async def tickets_of(desk):
    found = (await desk.chief.get(f"/tickets?companyId={desk.id}")).json()
    return sorted(found, key=lambda ticket: ticket["number"])


async def history_of(desk, ticket, kind):
    listed = (await desk.chief.get(f"/tickets/{ticket['id']}/events")).json()
    return [entry for entry in listed if entry["type"] == kind]


@pytest.fixture
async def truck(desk):
    """A device of the manager, in a company with the standard configuration."""
    answer = await desk.chief.post(f"/tickets/defaults?companyId={desk.id}")
    assert answer.status == 200, answer.text
    return await make_device(desk, "Truck")


async def test_a_ticket_says_which_camera_fails_and_how_severe_that_is(desk, truck):
    names = {"attributes": {**truck["attributes"], "cameras": {"2": "front"}}}
    assert (await desk.chief.put(f"/devices/{truck['id']}", json={**truck, **names})).status == 200
    assert (await save_rules(desk, {**RULE, "when": {"eventTypes": ["alarm"]}})).status == 200
    position = Position(
        id=9,
        device_id=truck["id"],
        fix_time=NOON,
        device_time=NOON,
        server_time=NOON,
        attributes={"videoLost": 2},
    )
    await positions.store(desk.database, [position_rows.pack_row(position)], [9])
    lost = alarm(truck["id"], 901, position_id=9)
    said = {"alarm": "fault", "alarmDetail": "videoSignalLost"}
    lost = msgspec.structs.replace(lost, attributes=said, severity="WARNING", review=Review())
    await happen(desk.served, lost)
    mild = msgspec.structs.replace(lost, id=902, event_time=NOON + timedelta(hours=2))
    severe = {"when": {"eventTypes": ["alarm"], "severity": "CRITICAL"}}
    assert (await save_rules(desk, {**RULE, **severe})).status == 200
    await happen(desk.served, mild)
    (ticket,) = await tickets_of(desk)
    assert ticket["description"] == "Severity: warning"
    assert ticket["subject"] == "Camera without signal, camera 2 (front): Truck"


async def test_an_alarm_opens_a_ticket_that_says_where_the_device_was(desk, truck):
    branch = await desk.make("branches", name="Depot")
    group = (
        await desk.chief.post("/groups", json={"name": "G", "attributes": {"branchId": branch["id"]}})
    ).json()
    moved = await desk.chief.put(f"/devices/{truck['id']}", json={**truck, "groupId": group["id"]})
    assert moved.status == 200, moved.text
    team = await desk.make("teams", name="Night")
    saved = await save_rules(desk, {**RULE, "then": {"teamId": team["id"], "subject": "Help"}})
    assert saved.status == 200, saved.text
    (rule,) = saved.json()["attributes"]["ticketRules"]
    assert rule["id"]
    assert rule["userId"] == desk.chief.id
    position = Position(
        id=9,
        device_id=truck["id"],
        fix_time=NOON,
        device_time=NOON,
        server_time=NOON,
        valid=True,
        latitude=52.5,
        longitude=13.4,
        speed=20,
        course=90,
        attributes={"ignition": True, "odometer": 1000},
    )
    await positions.store(desk.database, [position_rows.pack_row(position)], [9])
    await happen(desk.served, alarm(truck["id"], 901, position_id=9))
    (ticket,) = await tickets_of(desk)
    assert ticket["subject"] == "Help"
    assert (ticket["channel"], ticket["eventId"], ticket["positionId"]) == ("device", 901, 9)
    assert (ticket["deviceId"], ticket["branchId"], ticket["teamId"]) == (
        truck["id"],
        branch["id"],
        team["id"],
    )
    assert ticket["attributes"]["positionSnapshot"] == {
        "time": "2026-05-01T12:00:00Z",
        "valid": True,
        "latitude": 52.5,
        "longitude": 13.4,
        "speed": 20.0,
        "course": 90.0,
        "odometer": 1000,
        "ignition": True,
    }
    (created,) = await history_of(desk, ticket, "created")
    assert (created["actor"], created["attributes"]["ruleId"]) == ("device", rule["id"])


@pytest.mark.parametrize(
    "flags", ["users set disable_reports", "server set force_settings = $1, disable_reports"]
)
async def test_a_rule_of_who_may_read_no_history_makes_nothing(desk, truck, flags):
    """A ticket would keep for them what they may not read."""
    await save_rules(desk, RULE)
    await desk.database.execute(f"update {flags} = $1", True)
    await happen(desk.served, alarm(truck["id"], 901))
    assert await tickets_of(desk) == []
    await desk.database.execute(f"update {flags} = $1", False)
    await happen(desk.served, alarm(truck["id"], 902))
    assert [ticket["eventId"] for ticket in await tickets_of(desk)] == [902]


async def test_more_events_join_the_ticket_until_it_is_done_and_some_time_has_passed(desk, truck):
    await save_rules(desk, {**RULE, "dedupeMinutes": 10})
    await happen(desk.served, alarm(truck["id"], 901), alarm(truck["id"], 902, 1))
    await happen(
        desk.served, alarm(truck["id"], 903, 90), alarm(truck["id"], 904, 90, attributes={"alarm": "low"})
    )
    (ticket,) = await tickets_of(desk)
    entries = await history_of(desk, ticket, "evidence")
    assert [(entry["attributes"]["count"], entry["attributes"]["eventIds"]) for entry in entries] == [
        (2, [902]),
        (3, [903]),
    ]
    statuses = (await desk.chief.get(f"/ticketstatuses?companyId={desk.id}&kind=resolved")).json()
    answer = await desk.chief.post(
        f"/tickets/{ticket['id']}/transition", json={"statusId": statuses[0]["id"]}
    )
    assert answer.status == 200, answer.text
    await happen(desk.served, alarm(truck["id"], 905, 95))
    assert len(await tickets_of(desk)) == 1
    await happen(desk.served, alarm(truck["id"], 906, 106))
    first, second = await tickets_of(desk)
    assert (first["id"], second["eventId"]) == (ticket["id"], 906)


async def test_a_rule_that_opens_too_many_tickets_is_muted_with_one(desk, truck):
    ids = [truck["id"], *[(await make_device(desk, f"T{number}"))["id"] for number in range(4)]]
    await save_rules(desk, {**RULE, "maxPerHour": 2})
    await happen(desk.served, *(alarm(device_id, 900 + device_id) for device_id in ids))
    found = await tickets_of(desk)
    assert [ticket["deviceId"] for ticket in found] == [*ids[:2], 0]
    assert found[2]["subject"] == "Rule muted: SOS"


async def test_a_rule_has_the_rights_of_who_edited_it_last_at_that_moment(desk, truck):
    admin = (await desk.served.admin.get("/session")).json()
    other = (await desk.served.admin.post("/devices", json={"name": "Other", "uniqueId": "o"})).json()
    await save_rules(desk, RULE)
    # Not seen by the manager, who edited the rule.
    await happen(desk.served, alarm(other["id"], 901))
    assert await tickets_of(desk) == []
    company = (await desk.served.admin.get(f"/companies/{desk.id}")).json()
    company["attributes"]["ticketRules"][0]["dedupeMinutes"] = 5
    saved = await desk.served.admin.put(f"/companies/{desk.id}", json=company)
    assert saved.json()["attributes"]["ticketRules"][0]["userId"] == admin["id"]
    await happen(desk.served, alarm(other["id"], 902))
    assert [ticket["eventId"] for ticket in await tickets_of(desk)] == [902]
    await save_rules(desk, {**RULE, "name": "Another"})
    answer = await desk.served.admin.delete(
        "/permissions", json={"userId": desk.chief.id, "companyId": desk.id}
    )
    assert answer.status == 204, answer.text
    await happen(desk.served, alarm(truck["id"], 903))
    count = await desk.database.fetch_value("select count(*) from tickets")
    assert count == 1


async def test_a_ticket_is_called_by_what_happened_in_the_words_of_the_server(desk, truck):
    await save_rules(desk, {"name": "Alarms", "when": {"eventTypes": ["alarm"]}})
    exact = {"alarm": "general", "alarmDetail": "phoneUse:1"}
    await happen(desk.served, alarm(truck["id"], 900, attributes=exact))
    server = (await desk.served.admin.get("/server")).json()
    attributes = {**server["attributes"], "language": "pt"}
    assert (await desk.served.admin.put("/server", json={**server, "attributes": attributes})).status == 200
    van, bus = await make_device(desk, "Van"), await make_device(desk, "Bus")
    await happen(desk.served, alarm(van["id"], 901), alarm(bus["id"], 902, attributes={"alarm": "own\nword"}))
    assert [ticket["subject"] for ticket in await tickets_of(desk)] == [
        "Phone in hand, level 1: Truck",
        "Botão de emergência: Van",
        "Own word: Bus",
    ]


async def test_the_end_of_a_cause_is_noted_once_and_closes_nothing(desk, truck):
    rule = {"name": "Silent", "when": {"eventTypes": ["deviceOffline"]}, "commentWhenOver": True}
    await save_rules(desk, rule)
    away = {"type": "deviceOffline", "attributes": {}}
    back = {"type": "deviceOnline", "attributes": {}}
    await happen(desk.served, alarm(truck["id"], 900, **back), alarm(truck["id"], 901, **away))
    await happen(desk.served, alarm(truck["id"], 902, 5, **back))
    await happen(desk.served, alarm(truck["id"], 903, 6, **back))
    (ticket,) = await tickets_of(desk)
    assert (ticket["subject"], ticket["statusKind"]) == ("Went offline: Truck", "new")
    (comment,) = await history_of(desk, ticket, "comment")
    assert (comment["text"], comment["internal"]) == ("Came online, 2026-05-01 12:05:00", True)


async def test_maintenance_opens_one_ticket_for_each_period(desk, truck):
    body = {"name": "Oil", "type": "odometer", "start": 10000, "period": 5000}
    oil = (await desk.chief.post("/maintenance", json=body)).json()
    await save_rules(desk, {"name": "Service", "when": {"eventTypes": ["maintenance"]}})

    def due(number, value):
        fields = {"type": "maintenance", "maintenance_id": oil["id"], "attributes": {"odometer": value}}
        return alarm(truck["id"], number, **fields)

    await happen(desk.served, due(901, 10001), due(902, 10050), due(903, 15000))
    found = await tickets_of(desk)
    assert [(ticket["eventId"], ticket["maintenanceId"]) for ticket in found] == [
        (901, oil["id"]),
        (903, oil["id"]),
    ]
    assert "PUT /maintenance/" in found[0]["description"]
    assert found[0]["description"].startswith("Maintenance Oil is due. Odometer: 10.0 km\n")


async def test_resolving_resets_the_maintenance_and_the_history_says_where(desk, truck):
    body = {"name": "Oil", "type": "odometer", "start": 10000, "period": 5000, "attributes": {"oil": "5W30"}}
    oil = (await desk.chief.post("/maintenance", json=body)).json()
    await save_rules(desk, {"name": "Service", "when": {"eventTypes": ["maintenance"]}})
    due = {"type": "maintenance", "maintenance_id": oil["id"], "attributes": {"odometer": 15001}}
    await happen(desk.served, alarm(truck["id"], 901, **due))
    (ticket,) = await tickets_of(desk)
    listed = (await desk.chief.get(f"/ticketstatuses?companyId={desk.id}")).json()
    status = {each["name"]: each["id"] for each in listed}
    path = f"/tickets/{ticket['id']}/transition"

    async def refused(who, name, text):
        answer = await who.post(path, json={"statusId": status[name], "resetMaintenance": True})
        assert (answer.status, answer.text) == (400, f"resetMaintenance: {text}")

    await refused(desk.chief, "In progress", "only with a status of kind resolved or closed")
    await refused(desk.chief, "Resolved", "the device has not reported odometer")
    await desk.served.report(desk.served.position(truck["id"], attributes={"odometer": 15020.5}))
    linked = await desk.link(desk.served.admin, userId=desk.ann.id, deviceId=truck["id"])
    assert linked.status == 204, linked.text
    await refused(desk.ann, "Resolved", "no access to the maintenance or the device, or no such")
    sent = {"statusId": status["Resolved"], "resetMaintenance": True, "attributes": {"start": 1, "bill": 7}}
    for _ in range(2):
        answer = await desk.chief.post(path, json=sent)
        assert answer.status == 200, answer.text
    (entry,) = await history_of(desk, ticket, "statusChanged")
    said = {
        "maintenanceId": oil["id"],
        "maintenanceType": "odometer",
        "startBefore": 10000,
        "start": 15020.5,
        "bill": 7,
    }
    assert (entry["userId"], entry["attributes"] | said) == (desk.chief.id, entry["attributes"])
    (stored,) = (await desk.chief.get("/maintenance")).json()
    assert stored == {**oil, "start": 15020.5}
    rows = "select attributes from audit where action_type = 'edit' and object_type = 'maintenance'"
    assert [row[0] for row in await desk.database.fetch(rows)] == [
        {"start": {"before": 10000, "after": 15020.5}, "ticketId": ticket["id"]}
    ]
    other = await desk.make("tickets", subject="Smoke")
    path = f"/tickets/{other['id']}/transition"
    await refused(desk.chief, "Resolved", "the ticket is not about the maintenance of a device")


async def test_rules_are_checked_when_the_company_is_stored(desk):
    team = await desk.make("teams", name="Night", disabled=True)
    for rules, text in (
        ({}, "attributes.ticketRules: not a list"),
        ([{"name": "x", "wen": {}}], "attributes.ticketRules[0]: Object contains unknown field `wen`"),
        ([{**RULE, "name": " "}], "attributes.ticketRules[0].name: empty, or longer than 255 characters"),
        ([{"name": "x"}], "attributes.ticketRules[0].when.eventTypes: needed"),
        (
            [{"name": "x", "when": {"eventTypes": ["boo"]}}],
            "attributes.ticketRules[0].when.eventTypes: there is no type 'boo'",
        ),
        ([RULE, {**RULE, "maxPerHour": 0}], "attributes.ticketRules[1].maxPerHour: not from 1 to 1000"),
        (
            [{**RULE, "then": {"teamId": team["id"]}}],
            "attributes.ticketRules[0].then.teamId: there is none in the company that is not disabled",
        ),
        (
            [{**RULE, "when": {**RULE["when"], "calendarId": 7}}],
            "attributes.ticketRules[0].when.calendarId: no access to it, or no such",
        ),
        (
            [{**RULE, "capture": {"channel": 32}}],
            "attributes.ticketRules[0].capture.channel: cameras have the numbers 1 to 31",
        ),
        (
            [{**RULE, "capture": {"afterSeconds": 301}}],
            "attributes.ticketRules[0].capture.afterSeconds: not from 0 to 300",
        ),
        (
            [{**RULE, "capture": {"live": True}}],
            "attributes.ticketRules[0].capture.beforeSeconds: 0 for live video",
        ),
        (
            [{**RULE, "capture": {"beforeSeconds": 0, "afterSeconds": 0}}],
            "attributes.ticketRules[0].capture.afterSeconds: needed",
        ),
    ):
        company = (await desk.chief.get(f"/companies/{desk.id}")).json()
        answer = await desk.chief.put(
            f"/companies/{desk.id}", json={**company, "attributes": {"ticketRules": rules}}
        )
        assert (answer.status, answer.text) == (400, text)


async def test_who_edits_nothing_does_not_take_over_a_rule(desk):
    saved = await save_rules(desk, RULE)
    company = saved.json()
    answer = await desk.served.admin.put(f"/companies/{desk.id}", json={**company, "name": "South"})
    assert answer.json()["attributes"]["ticketRules"] == company["attributes"]["ticketRules"]
    kept = await desk.database.fetch("select type, user_id from ticket_rule_types")
    assert [tuple(row.values()) for row in kept] == [("alarm", desk.chief.id)]
    await save_rules(desk)
    assert await desk.database.fetch_value("select count(*) from ticket_rule_types") == 0
