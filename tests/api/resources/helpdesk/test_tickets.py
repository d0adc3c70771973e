"""Tickets over HTTP: what is created, changed and refused, and who may do it."""

from datetime import UTC, datetime
from typing import Any

import pytest

from motorpool.actors.helpdesk.settings import TicketSettings

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


@pytest.fixture
async def world(desk: Any) -> Any:
    """The company with its standard configuration; the time stands still unless a test moves it."""
    desk.served.clock.stop_wall(NOON)
    answer = await desk.chief.post("/tickets/defaults", json={"companyId": desk.id})
    assert answer.status == 200, answer.text
    told = answer.json()
    for family in ("statuses", "priorities", "categories"):
        setattr(desk, family, {each["name"]: each["id"] for each in told[family]})
    return desk


async def make(desk: Any, who: Any = None, **fields: Any) -> Any:
    answer = await (who or desk.chief).post(
        "/tickets", json={"companyId": desk.id, "subject": "No signal", **fields}
    )
    assert answer.status == 200, answer.text
    return answer.json()


async def refused(answer: Any, *words: str) -> None:
    assert answer.status == 400, (answer.status, answer.text)
    for word in words:
        assert word in answer.text, answer.text
    assert "\n" not in answer.text


async def separate(desk: Any) -> int:
    """Make chief the only agent: ann is linked, but in no team."""
    team = await desk.make("teams", name="Workshop")
    answer = await desk.chief.put(f"/teams/{team['id']}/members/{desk.chief.id}")
    assert answer.status == 204, answer.text
    return int(team["id"])


async def entries(desk: Any, ticket_id: int) -> list[Any]:
    rows = await desk.database.fetch(
        "select type, actor, user_id, field, from_value, to_value, text, internal, version, attributes"
        " from ticket_events where ticket_id = $1 order by id",
        ticket_id,
    )
    return [dict(row.items()) for row in rows]


async def test_a_ticket_begins_as_its_category_says_and_is_read_again(world: Any) -> None:
    made = await make(world, categoryId=world.categories["No signal"], description=" It blinks. ")
    assert (made["number"], made["version"], made["channel"]) == (1, 1, "api")
    assert made["priorityId"] == world.priorities["High"]
    assert (made["statusId"], made["statusKind"]) == (world.statuses["New"], "new")
    assert made["description"] == "It blinks."
    assert made["reporterId"] == world.chief.id
    assert made["createdAt"] == "2026-05-01T12:00:00Z"
    assert made["firstResponseDue"] == "2026-05-01T13:00:00Z"
    assert made["resolutionDue"] == "2026-05-01T20:00:00Z"
    answer = await world.ann.get(f"/tickets/{made['id']}")
    assert (answer.status, answer.headers["ETag"]) == (200, '"1"')
    assert answer.json() == made
    assert (await make(world))["number"] == 2


async def test_the_whole_life_of_a_ticket(world: Any) -> None:
    ticket = await make(world, priorityId=world.priorities["Normal"])
    path, clock = f"/tickets/{ticket['id']}", world.served.clock
    clock.move_wall(600)
    said = await world.chief.post(
        f"{path}/comments", json={"text": "We look", "statusId": world.statuses["Waiting for contact"]}
    )
    assert (said.status, said.headers["ETag"]) == (200, '"2"')
    entry = said.json()
    assert (entry["type"], entry["text"], entry["actor"], entry["version"]) == (
        "comment",
        "We look",
        "user",
        2,
    )
    assert entry["eventTime"] == "2026-05-01T12:10:00Z"
    now = (await world.chief.get(path)).json()
    assert now["firstResponseAt"] == now["lastAgentAt"] == "2026-05-01T12:10:00Z"
    assert (now["statusKind"], now["slaPaused"], now["resolutionDue"]) == ("pending", True, None)
    clock.move_wall(3600)
    words = await world.chief.post(f"{path}/comments", json={"text": "Well?", "onBehalfOfContact": True})
    assert words.json()["actor"] == "contact"
    now = (await world.chief.get(path)).json()
    assert (now["statusKind"], now["resolutionDue"]) == ("open", "2026-05-02T13:00:00Z")
    done = await world.chief.post(
        f"{path}/transition",
        json={"statusId": world.statuses["Resolved"], "comment": "Fuse", "internal": True},
    )
    assert (done.status, done.json()["resolvedAt"]) == (200, "2026-05-01T13:10:00Z")
    again = await world.chief.post(f"{path}/transition", json={"statusId": world.statuses["Resolved"]})
    assert (again.status, again.json()) == (200, done.json())
    back = await world.chief.post(f"{path}/transition", json={"statusId": world.statuses["In progress"]})
    assert (back.json()["reopenCount"], back.json()["resolvedAt"]) == (1, None)
    told = [entry["type"] for entry in await entries(world, ticket["id"])]
    assert told == [
        "created", "comment", "firstResponse", "statusChanged", "slaPaused",
        "comment", "statusChanged", "slaResumed",
        "comment", "statusChanged", "statusChanged", "reopened",
    ]  # fmt: skip


async def test_the_workflow_is_kept(world: Any) -> None:
    ticket = await make(world)
    path = f"/tickets/{ticket['id']}"
    new, closed = world.statuses["New"], world.statuses["Closed"]
    await refused(
        await world.chief.post(f"{path}/transition", json={"statusId": closed}),
        f"status {new} cannot move to {closed}",
    )
    await refused(await world.chief.post(f"{path}/transition", json={"statusId": 4711}), "no status 4711")
    await refused(await world.chief.post(f"{path}/transition", json={}), "statusId")
    for name in ("Resolved", "Closed"):
        moved = await world.chief.post(f"{path}/transition", json={"statusId": world.statuses[name]})
        assert moved.status == 200, moved.text
    await refused(
        await world.chief.put(path, json={"statusId": world.statuses["New"]}), "status Closed is final"
    )
    await refused(
        await world.chief.post(f"{path}/comments", json={"text": "x", "onBehalfOfContact": True}),
        "ticket is closed; open a new one with parentId",
    )
    noted = await world.chief.post(f"{path}/comments", json={"text": "x", "internal": True})
    assert noted.status == 200


async def test_a_put_changes_what_is_sent_and_enters_it(world: Any) -> None:
    branch = await world.make("branches", name="South")
    ticket = await make(world, attributes={"tags": ["gps"], "kept": 1})
    path = f"/tickets/{ticket['id']}"
    changed = await world.chief.put(
        path,
        json={
            "id": ticket["id"],
            "branchId": branch["id"],
            "subject": " Wheel ",
            "attributes": {"tags": ["gps", "urgent"]},
            "createdAt": "2001-01-01T00:00:00Z",
        },
    )
    told = changed.json()
    assert changed.status == 200, changed.text
    assert (told["branchId"], told["subject"], told["version"]) == (branch["id"], "Wheel", 2)
    assert (told["attributes"], told["createdAt"]) == ({"tags": ["gps", "urgent"]}, ticket["createdAt"])
    fields = [
        (each["field"], each["from_value"], each["to_value"])
        for each in (await entries(world, ticket["id"]))[1:]
    ]
    assert fields == [
        ("branchId", 0, branch["id"]),
        ("subject", "No signal", "Wheel"),
        ("attributes.kept", 1, None),
        ("attributes.tags", ["gps"], ["gps", "urgent"]),
    ]
    same = await world.chief.put(path, json={"subject": "Wheel"})
    assert (same.status, same.json()) == (200, told)
    assert (await world.chief.put(path, json=told)).json() == told


async def test_versions_are_checked_where_they_are_sent(world: Any) -> None:
    ticket = await make(world)
    path = f"/tickets/{ticket['id']}"
    text = f"ticket {ticket['id']} was changed: it is at version 1, you sent 9"
    for method, rest, body in (
        ("PUT", "", {"subject": "x"}),
        ("POST", "/comments", {"text": "x"}),
        ("POST", "/transition", {"statusId": world.statuses["In progress"]}),
        ("POST", "/assign", {"assigneeId": world.chief.id}),
    ):
        call = world.chief.call
        await refused(await call(method, f"/api{path}{rest}", json={**body, "version": 9}), text)
        await refused(await call(method, f"/api{path}{rest}", json=body, headers={"If-Match": '"9"'}), text)
    await refused(await world.chief.delete(path, headers={"If-Match": '"9"'}), text)
    assert (await world.chief.put(path, json={"subject": "x", "version": 1})).status == 200
    assert (await world.chief.put(path, json={"subject": "y"}, headers={"If-Match": '"2"'})).status == 200


async def test_references_stay_in_the_company_and_are_enabled(world: Any) -> None:
    other = (await world.stranger.post("/companies", json={"name": "Other"})).json()["id"]
    for family, name in (
        ("branches", "branchId"),
        ("contacts", "contactId"),
        ("ticketcategories", "categoryId"),
    ):
        foreign = (await world.stranger.post(f"/{family}", json={"companyId": other, "name": "F"})).json()[
            "id"
        ]
        off = await world.make(family, name="Off", disabled=True)
        on = await world.make(family, name="On")
        ticket = await make(world, **{name: on["id"]})
        path = f"/tickets/{ticket['id']}"
        for wrong in (foreign, off["id"], 4_711_000):
            await refused(await world.chief.put(path, json={name: wrong}), name)
            await refused(
                await world.chief.post("/tickets", json={"companyId": world.id, "subject": "x", name: wrong}),
                name,
            )
        assert (await world.chief.put(f"/{family}/{on['id']}", json={**on, "disabled": True})).status == 200
        kept = await world.chief.put(path, json={**ticket, "subject": "y"})
        assert (kept.status, kept.json()[name]) == (200, on["id"])
    device = await world.served.device(world.served.admin, "100")
    await refused(
        await world.chief.post("/tickets", json={"companyId": world.id, "subject": "x", "deviceId": device}),
        "deviceId",
    )
    await refused(await world.chief.put(path, json={"parentId": ticket["id"]}), "below itself")
    child = await make(world, parentId=ticket["id"])
    await refused(await world.chief.put(path, json={"parentId": child["id"]}), "below itself")
    await refused(await world.chief.put(path, json={"companyId": other}), "companyId: cannot be changed")


async def test_assignment(world: Any) -> None:
    team = await separate(world)
    ticket = await make(world)
    path = f"/tickets/{ticket['id']}/assign"
    await refused(await world.chief.post(path, json={}), "teamId or assigneeId")
    await refused(await world.chief.post(path, json={"assigneeId": world.stranger.id}), "no access")
    taken = await world.chief.post(path, json={"assigneeId": world.chief.id, "expectAssigneeId": 0})
    assert (taken.status, taken.json()["assigneeId"]) == (200, world.chief.id)
    await refused(
        await world.chief.post(path, json={"assigneeId": world.ann.id, "expectAssigneeId": 0}),
        f"already assigned to user {world.chief.id}",
    )
    same = await world.chief.post(path, json={"assigneeId": world.chief.id})
    assert (same.status, same.json()["version"]) == (200, 2)
    both = await world.chief.post(path, json={"teamId": team, "assigneeId": world.ann.id})
    await refused(both, "not a member")
    given = await world.chief.post(path, json={"assigneeId": world.ann.id, "comment": "Yours"})
    assert given.json()["firstResponseAt"] is None
    moved = await world.chief.post(path, json={"teamId": team})
    assert (moved.json()["teamId"], moved.json()["assigneeId"]) == (team, 0)
    await refused(await world.chief.post(path, json={"teamId": 4711}), "no team 4711")


async def test_who_is_no_agent_comments_for_the_contact_and_handles_what_they_reported(world: Any) -> None:
    await separate(world)
    own = await make(world, who=world.ann)
    path = f"/tickets/{own['id']}"
    for method, rest, body in (
        ("PUT", "", {"subject": "x"}),
        ("POST", "/comments", {"text": "x", "internal": True}),
        ("POST", "/comments", {"text": "x", "onBehalfOfContact": True}),
        ("POST", "/transition", {"statusId": world.statuses["In progress"]}),
        ("POST", "/assign", {"assigneeId": world.ann.id}),
    ):
        await refused(await world.ann.call(method, f"/api{path}{rest}", json=body), "only agents")
    await refused(await world.ann.delete(path), "only managers")
    for field in ("statusId", "teamId", "assigneeId"):
        body = {"companyId": world.id, "subject": "x", field: 1}
        await refused(await world.ann.post("/tickets", json=body), "only agents")
    excusing = {"companyId": world.id, "subject": "x", "attributes": {"slaExcused": ["resolution"]}}
    await refused(await world.ann.post("/tickets", json=excusing), "only managers")
    said = await world.ann.post(f"{path}/comments", json={"text": "Hello"})
    assert (said.json()["actor"], said.json()["userId"]) == ("contact", world.ann.id)
    assert (await world.ann.get(path)).json()["firstResponseAt"] is None
    resolved, opened = world.statuses["Resolved"], world.statuses["In progress"]
    assert (await world.chief.post(f"{path}/transition", json={"statusId": resolved})).status == 200
    assert (await world.ann.post(f"{path}/transition", json={"statusId": opened})).status == 200
    cancelled = await world.ann.post(f"{path}/transition", json={"statusId": world.statuses["Cancelled"]})
    assert (cancelled.status, cancelled.json()["statusKind"]) == (200, "cancelled")
    others = await make(world)
    gone = {"statusId": world.statuses["Cancelled"]}
    await refused(await world.ann.post(f"/tickets/{others['id']}/transition", json=gone), "only agents")


async def test_strangers_get_the_same_text_whether_or_not_the_company_exists(world: Any) -> None:
    ticket = await make(world)
    path = f"/tickets/{ticket['id']}"
    texts = {
        (await world.stranger.get(path)).text,
        (await world.stranger.put(path, json={})).text,
        (await world.stranger.delete(path)).text,
        (await world.stranger.post(f"{path}/comments", json={"text": "x"})).text,
        (await world.stranger.post("/tickets", json={"companyId": world.id, "subject": "x"})).text,
        (await world.stranger.post("/tickets", json={"companyId": 4711, "subject": "x"})).text,
        (await world.served.admin.post("/tickets", json={"companyId": 4711, "subject": "x"})).text,
    }
    assert texts == {"no access to the company, or no such"}
    for method, rest in (("GET", ""), ("PUT", ""), ("DELETE", ""), ("POST", "/comments")):
        body = {} if method in {"GET", "DELETE"} else {"json": {"text": "x"}}
        assert (await world.chief.call(method, f"/api/tickets/4711{rest}", **body)).status == 404


async def test_a_company_without_statuses_says_what_to_do(desk: Any) -> None:
    await refused(
        await desk.chief.post("/tickets", json={"companyId": desk.id, "subject": "x"}),
        "company has no starting status; call POST /tickets/defaults",
    )


async def test_imports_keep_their_instant_and_their_end(world: Any) -> None:
    body = {
        "companyId": world.id,
        "subject": "Old",
        "createdAt": "2026-04-01T08:00:00Z",
        "statusId": world.statuses["Closed"],
        "priorityId": world.priorities["Urgent"],
    }
    made = (await world.served.admin.post("/tickets", json=body)).json()
    assert made["createdAt"] == made["closedAt"] == made["resolvedAt"] == "2026-04-01T08:00:00Z"
    assert (made["firstResponseBreached"], made["resolutionBreached"]) == (False, False)
    later = {**body, "createdAt": "2026-05-01T12:00:01Z"}
    await refused(await world.served.admin.post("/tickets", json=later), "createdAt")
    own = (await world.chief.post("/tickets", json=later)).json()
    assert own["createdAt"] == "2026-05-01T12:00:00Z"


async def test_a_unique_id_gives_the_ticket_that_was_made_with_the_same_fields(world: Any) -> None:
    body = {"companyId": world.id, "subject": "x", "uniqueId": "A-1", "attributes": {"tags": ["a"]}}
    first = await world.chief.post("/tickets", json=body)
    ticket = first.json()
    moved = {"statusId": world.statuses["In progress"]}
    assert (await world.chief.post(f"/tickets/{ticket['id']}/transition", json=moved)).status == 200
    again = await world.chief.post("/tickets", json=body)
    assert (again.status, again.json()["id"], again.json()["version"]) == (200, ticket["id"], 2)
    await refused(await world.chief.post("/tickets", json={**body, "subject": "y"}), "uniqueId")
    other = await make(world)
    await refused(await world.chief.put(f"/tickets/{other['id']}", json={"uniqueId": "A-1"}), "uniqueId")


async def test_a_request_with_a_key_is_done_once(world: Any) -> None:
    body, key = {"companyId": world.id, "subject": "x"}, {"Idempotency-Key": "k-1"}
    first = await world.chief.post("/tickets", json=body, headers=key)
    again = await world.chief.post("/tickets", json=body, headers=key)
    assert (again.status, again.json()) == (200, first.json())
    assert again.headers["Idempotent-Replay"] == "true"
    assert again.headers["ETag"] == first.headers["ETag"] == '"1"'
    assert "Idempotent-Replay" not in first.headers
    await refused(
        await world.chief.post("/tickets", json={**body, "subject": "y"}, headers=key), "other body"
    )
    path = f"/tickets/{first.json()['id']}"
    for rest, sent in (
        ("comments", {"text": "x"}),
        ("transition", {"statusId": world.statuses["In progress"]}),
        ("assign", {"assigneeId": world.chief.id}),
    ):
        one = await world.chief.post(f"{path}/{rest}", json=sent, headers=key)
        two = await world.chief.post(f"{path}/{rest}", json=sent, headers=key)
        assert (one.status, two.status, one.json()) == (200, 200, two.json())
    assert (await world.chief.get(path)).json()["version"] == 4
    for wrong in ("", "ä", "k" * 129, "a b"):
        answer = await world.chief.post("/tickets", json=body, headers={"Idempotency-Key": wrong})
        await refused(answer, "Idempotency-Key")
    assert (await world.served.admin.post("/tickets", json=body, headers=key)).json()["number"] == 2
    await world.link(world.served.admin, userId=world.ann.id, companyId=world.id)
    said = await world.ann.post(f"{path}/comments", json={"text": "x"}, headers=key)
    assert said.status == 200
    unlinked = await world.served.admin.delete(
        "/permissions", json={"userId": world.ann.id, "companyId": world.id}
    )
    assert unlinked.status == 204
    await refused(await world.ann.post(f"{path}/comments", json={"text": "x"}, headers=key), "no access")


async def test_of_a_long_answer_only_the_ids_are_stored(world: Any) -> None:
    text, key = "x" * 65_536, {"Idempotency-Key": "k"}
    body = {"companyId": world.id, "subject": "x", "description": text}
    first = await world.chief.post("/tickets", json=body, headers=key)
    path = f"/tickets/{first.json()['id']}"
    said = await world.chief.post(f"{path}/comments", json={"text": text}, headers=key)
    assert (first.status, said.status) == (200, 200)
    lengths = await world.database.fetch("select length(answer) from idempotency_keys")
    assert all(row[0] < 100 for row in lengths)
    again = await world.chief.post(f"{path}/comments", json={"text": text}, headers=key)
    assert (again.status, again.json()) == (200, said.json())
    present = (await world.chief.get(path)).json()
    again = await world.chief.post("/tickets", json=body, headers=key)
    assert (again.status, again.json()) == (200, present)
    assert again.headers["Idempotent-Replay"] == "true"
    assert again.headers["ETag"] == f'"{present["version"]}"'
    assert present["commentCount"] == 1
    assert (await world.chief.delete(path)).status == 204
    await refused(await world.chief.post("/tickets", json=body, headers=key), "ticket was deleted")


async def test_invalid_fields_are_named(world: Any) -> None:
    for fields, word in (
        ({"subject": "   "}, "subject"),
        ({"subject": "x" * 256}, "subject"),
        ({"description": "x" * 65_537}, "description"),
        ({"uniqueId": "x" * 129}, "uniqueId"),
        ({"channel": "pigeon"}, "channel"),
        ({"attributes": {"x": "y" * 70_000}}, "attributes"),
        ({"attributes": {"tags": "gps"}}, "tags"),
        ({"attributes": {"slaExcused": ["both"]}}, "slaExcused"),
        ({"priorityId": 4711}, "priorityId"),
        ({"teamId": 4711}, "teamId"),
        ({"statusId": -1}, "statusId"),
        ({"assigneeId": 4711}, "assigneeId"),
        ({"companyId": 0}, "companyId"),
        ({"subject": "a\x00b"}, "subject: holds a character"),
    ):
        body = {"companyId": world.id, "subject": "x", **fields}
        await refused(await world.chief.post("/tickets", json=body), word)
    ticket = await make(world)
    path = f"/tickets/{ticket['id']}"
    await refused(
        await world.chief.put(path, json={"id": ticket["id"] + 1}), "id: is not the one of the path"
    )
    await refused(await world.chief.put(path, json={"subject": " "}), "subject")
    await refused(await world.chief.post(f"{path}/comments", json={"text": " "}), "text")
    await refused(await world.chief.post(f"{path}/comments", json={"text": "x" * 65_537}), "text")
    assert (await world.chief.get(path)).json() == ticket


async def test_a_deleted_ticket_is_audited_and_gone(world: Any) -> None:
    ticket = await make(world)
    path = f"/tickets/{ticket['id']}"
    assert (await world.chief.delete(path)).status == 204
    assert (await world.chief.get(path)).status == 404
    assert (await world.chief.delete(path)).status == 404
    row = await world.database.fetch_row(
        "select object_type, attributes from audit where action_type = 'remove' and object_type = 'ticket'"
    )
    assert row["attributes"] == {"number": 1, "subject": "No signal", "companyId": world.id}
    assert (await make(world))["number"] == 2


async def test_a_session_as_somebody_else_is_in_the_history(world: Any) -> None:
    admin = await world.served.log_in("admin@example.org", "admin")
    answer = await admin.get(f"/session/{world.chief.id}")
    assert answer.status == 200, answer.text
    ticket = await make(world, who=admin)
    entry = (await entries(world, ticket["id"]))[0]
    assert entry["user_id"] == world.chief.id
    assert entry["attributes"]["byUserId"] == world.served.admin_id
    assert entry["attributes"]["userName"] == "chief"


async def test_a_late_answer_finds_the_breach_first(world: Any) -> None:
    ticket = await make(world, priorityId=world.priorities["Urgent"])
    world.served.clock.move_wall(16 * 60)
    await world.chief.post(f"/tickets/{ticket['id']}/comments", json={"text": "Sorry"})
    now = (await world.chief.get(f"/tickets/{ticket['id']}")).json()
    assert now["firstResponseBreached"] is True
    assert now["firstResponseDue"] == "2026-05-01T12:15:00Z"


async def test_a_client_does_not_say_in_the_history_who_it_is(world: Any) -> None:
    made = await make(world)
    forged = {"userName": "Boss", "byUserId": 1, "requestId": "7", "toKind": "closed", "reason": "phoned"}
    moved = await world.chief.post(
        f"/tickets/{made['id']}/transition",
        json={"statusId": world.statuses["In progress"], "attributes": forged},
    )
    assert moved.status == 200, moved.text
    (entry,) = (await world.chief.get(f"/tickets/{made['id']}/events?type=statusChanged")).json()
    assert entry["attributes"] == {
        "userName": (await world.chief.get("/session")).json()["name"],
        "fromName": "New",
        "toName": "In progress",
        "fromKind": "new",
        "toKind": "open",
        "reason": "phoned",
    }


async def test_secrets_in_attributes_reach_neither_history_nor_webhook(world: Any) -> None:
    company = (await world.chief.get(f"/companies/{world.id}")).json()
    company["attributes"]["ticketWebhook"] = {"url": "https://hooks.example.org/"}
    assert (await world.chief.put(f"/companies/{world.id}", json=company)).status == 200

    def held(secret: str) -> dict[str, Any]:
        return {"mail.smtp.password": secret, "ticketWebhook": {"secret": secret}, "floor": 2}

    made = await make(world, attributes=held("hunter-1"))
    path = f"/tickets/{made['id']}"
    for answer in (
        await world.chief.put(path, json={"attributes": held("hunter-2")}),
        await world.chief.put(path, json={"attributes": {"webhook.secret": "hunter-3"}}),
        await world.chief.post(
            f"{path}/transition",
            json={"statusId": world.statuses["In progress"], "attributes": {"webhook.secret": "hunter-4"}},
        ),
    ):
        assert answer.status == 200, answer.text
    assert made["attributes"] == held("********")
    assert "hunter" not in (await world.chief.get(f"{path}/events")).text
    bodies = await world.database.fetch(
        "select message ->> 'text' as body from deliveries where order_key = $1", made["id"]
    )
    assert bodies
    assert not any("hunter" in row["body"] for row in bodies)
    # Null removes it, as it does elsewhere.
    emptied = await world.chief.put(path, json={"attributes": {"webhook.secret": None}})
    assert emptied.json()["attributes"] == {}


async def test_what_is_looked_for_in_all_tickets_is_short(world: Any) -> None:
    await make(world, description="x" * 65_536, attributes={"tags": ["x"] * 500})
    found = await world.chief.get(f"/tickets?keyword={'x' * 128}")
    assert (found.status, len(found.json())) == (200, 1)
    await refused(await world.chief.get(f"/tickets?keyword={'x' * 129}"), "keyword", "128")
    tags = "&".join(f"tag={number}" for number in range(50))
    assert (await world.chief.get(f"/tickets?{tags}")).status == 200
    await refused(await world.chief.get(f"/tickets?{tags}&tag=50"), "tag", "50")


async def test_a_company_gets_so_many_tickets_an_hour(starting: Any) -> None:
    async with starting(tickets=TicketSettings(created_per_hour=1)) as served:
        company = (await served.admin.post("/companies", json={"name": "North"})).json()["id"]
        await served.admin.post("/tickets/defaults", json={"companyId": company})
        body = {"companyId": company, "subject": "x"}
        assert (await served.admin.post("/tickets", json=body)).status == 200
        answer = await served.admin.post("/tickets", json=body)
        assert answer.status == 429
        assert answer.text == "at most 1 tickets an hour are created in a company"
        assert 3000 < int(answer.headers["Retry-After"]) <= 3600
