"""History and service levels of a ticket, and who reads what of it."""

import base64
from datetime import UTC, datetime, timedelta

import pytest
from tests.api.cases import on_one_server

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
HOURS = (
    b"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nBEGIN:VEVENT\r\nUID:1\r\nDTSTART:20260401T080000Z\r\n"
    b"DTEND:20260401T160000Z\r\nRRULE:FREQ=DAILY\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
)
COMPANY = """
    insert into companies (id, name) values (1, 'Ours'), (2, 'Theirs');
    insert into teams (id, company_id, name, disabled) values (1, 1, 'Workshop', false), (2, 1, 'Gone', true);
    insert into ticket_priorities (id, company_id, name, level, first_response_minutes, resolution_minutes)
        values (1, 1, 'High', 1, 120, 540), (2, 1, 'Low', 2, 0, 0);
    insert into ticket_statuses (id, company_id, name, kind)
        values (1, 1, 'Waiting', 'pending'), (2, 2, 'New', 'new');
    insert into tickets (id, company_id, number, status_id, status_kind, subject, priority_id,
        created_at, updated_at, status_changed_at)
    select each.*, made, made, made
    from (values (1, 1, 1, 1, 'pending', 'Brakes', 1), (2, 2, 1, 2, 'new', 'Lights', null)) as each,
        (values (timestamptz '2026-04-30 09:00Z')) as times (made);
"""
ENTRY = """
    insert into ticket_events (company_id, ticket_id, event_time, created_at, type, actor, user_id, text,
        internal, version, attributes, from_value, to_value)
    values (1, 1, $1, $1, $2, 'user', 1, $3, $4, $5, $6, $7, $8)
"""


@pytest.fixture
async def ticket(served, database):
    served.clock.now = lambda: NOON
    await database.execute(COMPANY)
    return 1


@pytest.fixture
async def people(served, database, ticket):
    """Users by what they are in the company."""
    found = {
        "agent": await served.user("agent"),
        "plain": await served.user("plain"),
        "readonly": await served.user("readonly", readonly=True),
        "manager": await served.user("manager", userLimit=5),
        "creator": await served.user("creator"),
        "of a disabled team": await served.user("former"),
        "readonly agent": await served.user("reader", readonly=True),
        "stranger": await served.user("stranger"),
    }
    for name, client in found.items():
        if name != "stranger":
            await database.execute(
                "insert into user_company (user_id, company_id, manager) values ($1, 1, $2)",
                client.id,
                name == "creator",
            )
    for name, team in (("agent", 1), ("readonly agent", 1), ("of a disabled team", 2)):
        await database.execute("insert into user_team values ($1, $2)", found[name].id, team)
    return {**found, "administrator": served.admin}


async def enter(database, minutes, kind, text="", *, internal=False, attributes=None, values=(None, None)):
    at = NOON + timedelta(minutes=minutes, milliseconds=123)
    await database.execute(ENTRY, at, kind, text, internal, 1, attributes or {}, *values)


@pytest.fixture
async def entered(database, ticket):
    """Entries of three types."""
    for minutes, (text, kind) in enumerate(
        (("a", "created"), ("b", "comment"), ("c", "updated"), ("d", "comment"))
    ):
        await enter(database, minutes, kind, text)


async def test_internal_entries_are_for_agents_managers_and_administrators(people, database):
    await enter(database, 0, "comment", "for all")
    await enter(database, 1, "comment", "for us", internal=True)

    async def reads(name):
        answer = await people[name].get("/tickets/1/events")
        return [entry["text"] for entry in answer.json()] if answer.status == 200 else answer.text

    found = {name: await reads(name) for name in people}
    everything, public = ["for all", "for us"], ["for all"]
    assert found == {
        "agent": everything,
        "manager": everything,
        "creator": everything,
        "administrator": everything,
        "plain": public,
        "readonly": public,
        "of a disabled team": public,
        "readonly agent": public,
        "stranger": "no access to the company, or no such",
    }


async def test_statistics_are_for_agents_managers_and_administrators(people):
    statuses = {
        name: (await client.get("/tickets/stats?companyId=1")).status for name, client in people.items()
    }
    allowed = {"agent", "manager", "creator", "administrator"}
    assert {name for name, status in statuses.items() if status == 200} == allowed
    refused = await people["plain"].get("/tickets/stats?companyId=1")
    assert refused.text == "only agents and managers of the company may see its statistics"


async def test_without_team_members_all_linked_users_but_readonly_ones_are_agents(people, database):
    await database.execute("delete from user_team")
    assert (await people["plain"].get("/tickets/stats?companyId=1")).status == 200
    assert (await people["readonly"].get("/tickets/stats?companyId=1")).status == 400


async def test_entries_come_oldest_first_with_ids_to_break_ties(served, ticket, database):
    for text, minutes in (("third", 5), ("first", 0), ("fourth", 5), ("second", 1)):
        await enter(database, minutes, "comment", text)
    entries = (await served.admin.get("/tickets/1/events")).json()
    assert [entry["text"] for entry in entries] == ["first", "second", "third", "fourth"]
    assert [entry["eventTime"] for entry in entries[:2]] == ["2026-05-01T12:00:00Z", "2026-05-01T12:01:00Z"]


async def test_an_entry_has_every_field(served, ticket, database):
    names = {"fromName": "New", "toName": "Waiting"}
    await enter(database, 0, "updated", attributes=names, values=(3, "x"))
    (entry,) = (await served.admin.get("/tickets/1/events")).json()
    entry.pop("id")
    assert entry == {
        "ticketId": 1,
        "eventTime": "2026-05-01T12:00:00Z",
        "createdAt": "2026-05-01T12:00:00Z",
        "type": "updated",
        "actor": "user",
        "userId": 1,
        "contactId": 0,
        "field": None,
        "from": 3,
        "to": "x",
        "text": None,
        "internal": False,
        "version": 1,
        "attributes": names,
    }


@on_one_server(
    ("parameters", "expected"),
    [
        ("type=comment", "bd"),
        ("type=comment&type=created", "abd"),
        ("type=escalated", ""),
        ("from=2026-05-01T12:01:00.123Z", "bcd"),
        ("from=2026-05-01T12:01:00.124Z", "cd"),
        ("to=2026-05-01T12:02:00.123Z", "ab"),
        ("limit=2", "ab"),
        ("limit=2&offset=1", "bc"),
        ("offset=3", "d"),
    ],
)
async def test_entries_are_filtered_and_paged(served, entered, parameters, expected):
    entries = (await served.admin.get(f"/tickets/1/events?{parameters}")).json()
    assert "".join(entry["text"] for entry in entries) == expected


@on_one_server("parameters", ["type=unheard", "limit=-1", "limit=1001", "offset=-1", "from=x"])
async def test_wrong_parameters_of_a_history_are_refused(served, ticket, parameters):
    answer = await served.admin.get(f"/tickets/1/events?{parameters}")
    assert answer.status == 400
    assert answer.text.startswith(parameters.partition("=")[0])


async def test_1000_entries_at_most_and_200_by_default(served, ticket, database):
    await database.execute(
        "insert into ticket_events (company_id, ticket_id, event_time, created_at, type, actor, version)"
        " select 1, 1, now(), now(), 'comment', 'user', 1 from generate_series(1, 1200)"
    )
    assert len((await served.admin.get("/tickets/1/events")).json()) == 200
    assert len((await served.admin.get("/tickets/1/events?limit=1000")).json()) == 1000


@pytest.mark.parametrize("what", ["events", "sla"])
async def test_a_ticket_without_access_and_one_that_is_unknown(people, what):
    assert (await people["plain"].get(f"/tickets/2/{what}")).text == "no access to the company, or no such"
    assert (await people["plain"].get(f"/tickets/2/{what}")).status == 400
    assert (await people["plain"].get(f"/tickets/3/{what}")).status == 404
    assert (await people["plain"].get(f"/tickets/{2**63 - 1}/{what}")).status == 404


async def test_the_service_levels_of_a_ticket_that_waits(served, ticket, database):
    """Created on Thursday at 09:00 in hours of 08:00 to 16:00; answered at 09:40; waits since 11:00."""
    made = await served.admin.post(
        "/calendars", json={"name": "Hours", "data": base64.b64encode(HOURS).decode()}
    )
    calendar_id = made.json()["id"]
    await database.execute("update ticket_priorities set calendar_id = $1 where id = 1", calendar_id)
    await database.execute(
        "update tickets set first_response_target = 120, resolution_target = 540, sla_paused = true,"
        " first_response_at = '2026-04-30 09:40Z', first_response_due = '2026-04-30 11:00Z',"
        " first_response_elapsed = '40 minutes', first_response_verdict = 'met',"
        " first_response_decided_at = '2026-04-30 09:40Z', resolution_elapsed = '2 hours' where id = 1"
    )
    await database.execute(
        "insert into ticket_pauses (company_id, ticket_id, begins, status_id, reason)"
        " values (1, 1, '2026-04-30 11:00Z', 1, 'pending')"
    )
    answer = await served.admin.get("/tickets/1/sla")
    assert answer.status == 200, answer.text
    assert answer.json() == {
        "ticketId": 1,
        "priorityId": 1,
        "calendarId": calendar_id,
        "statusKind": "pending",
        "computedAt": "2026-05-01T12:00:00Z",
        "inBusinessHours": True,
        "windowEnd": "2026-05-01T16:00:00Z",
        "nextWindowStart": None,
        "firstResponse": {
            "targetMinutes": 120,
            "state": "met",
            "due": "2026-04-30T11:00:00Z",
            "doneAt": "2026-04-30T09:40:00Z",
            "elapsedMinutes": 40,
            "remainingMinutes": 80,
            "percent": 33.3,
            "breached": False,
            "breachedAt": None,
            "creditSeconds": 0,
        },
        "resolution": {
            "targetMinutes": 540,
            "state": "paused",
            "due": None,
            "doneAt": None,
            "elapsedMinutes": 120,
            "remainingMinutes": 420,
            "percent": 22.2,
            "breached": False,
            "breachedAt": None,
            "creditSeconds": 0,
        },
        "pauses": [
            {
                "from": "2026-04-30T11:00:00Z",
                "to": None,
                "statusId": 1,
                "reason": "pending",
                "businessMinutes": 540,
            }
        ],
        "escalation": {"escalatedAt": None, "teamId": 0, "priorityId": 0},
    }


async def test_where_an_escalated_ticket_went(served, ticket, database):
    await database.execute("update tickets set escalated_at = '2026-05-01 11:00:00.5Z' where id = 1")
    shown = (await served.admin.get("/tickets/1/sla")).json()["escalation"]
    assert shown == {"escalatedAt": "2026-05-01T11:00:00Z", "teamId": 0, "priorityId": 0}
    await enter(database, -60, "escalated", attributes={"fromTeamId": 0, "toTeamId": 1, "toPriorityId": 2})
    shown = (await served.admin.get("/tickets/1/sla")).json()["escalation"]
    assert shown == {"escalatedAt": "2026-05-01T11:00:00Z", "teamId": 1, "priorityId": 2}


async def test_a_ticket_without_a_priority_has_no_targets(served, ticket):
    shown = (await served.admin.get("/tickets/2/sla")).json()
    assert shown["priorityId"] == shown["calendarId"] == 0
    assert [shown[target]["state"] for target in ("firstResponse", "resolution")] == ["none", "none"]


async def test_readonly_users_see_service_levels(people):
    assert (await people["readonly"].get("/tickets/1/sla")).status == 200


async def test_service_levels_of_several_tickets_are_those_of_each(served, people, ticket):
    path = "/tickets/sla?ticketId=2&ticketId=1&ticketId=4711"
    each = [(await served.admin.get(f"/tickets/{number}/sla")).json() for number in (1, 2)]
    assert (await served.admin.get(path)).json() == each
    assert (await people["readonly"].get(path)).json() == each[:1]
    assert (await people["stranger"].get(path)).json() == []
    assert (await served.admin.get("/tickets/sla")).json() == []
    many = "&".join(f"ticketId={number}" for number in range(1, 202))
    assert (await served.admin.get(f"/tickets/sla?{many}")).status == 400
