"""What companies configure: rules of all families, and those of categories, priorities and statuses."""

import base64
from functools import partial

import pytest
from tests.api.test_races import connections, in_parallel

from motorpool.actors.messages.changes import TICKETS
from motorpool.actors.words.catalog import languages, read_catalog
from motorpool.api.resources.helpdesk.defaults import CATEGORIES, PRIORITIES, STATUSES
from motorpool.api.resources.helpdesk.statuses import StatusPolicy

FAMILIES = {
    "branches": {},
    "teams": {},
    "contacts": {},
    "ticketcategories": {},
    "ticketpriorities": {"level": 1},
    "ticketstatuses": {"kind": "open"},
}
ALWAYS_OPEN = base64.b64encode(
    b"BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:x\nBEGIN:VEVENT\nUID:1\nDTSTART:20260501T080000Z\n"
    b"DTEND:20260501T200000Z\nRRULE:FREQ=DAILY\nEND:VEVENT\nEND:VCALENDAR"
).decode()


async def test_what_belongs_to_a_company_is_read_by_linked_users_and_written_by_managers(desk):
    for family in FAMILIES:
        await read_and_write(desk, family)


async def read_and_write(desk, family):
    made = await desk.make(family, name="one", **FAMILIES[family])
    path = f"/{family}/{made['id']}"
    assert (await desk.ann.get(path)).json() == made
    assert (await desk.ann.get(f"/{family}?companyId={desk.id}")).json() == [made]
    new = {"companyId": desk.id, "name": "two", **FAMILIES[family]}
    # In a company without members of teams every linked user is an agent, who may write contacts.
    expected = 200 if family == "contacts" else 400
    assert (await desk.ann.post(f"/{family}", json=new)).status == expected
    assert (await desk.ann.put(path, json=made)).status == expected
    for answer in (
        await desk.stranger.get(f"/{family}?companyId={desk.id}"),
        await desk.stranger.get(f"/{family}?companyId=4711"),
        await desk.stranger.post(f"/{family}", json=new),
        await desk.stranger.post(f"/{family}", json={**new, "companyId": 4711}),
        await desk.served.admin.post(f"/{family}", json={**new, "companyId": 4711}),
    ):
        assert (answer.status, answer.text) == (400, "no access to the company, or no such")
    for method in ("get", "put", "delete"):
        sent = {"json": made} if method == "put" else {}
        assert (await getattr(desk.stranger, method)(path, **sent)).status == 400
        assert (
            await getattr(desk.chief, method)(
                f"/{family}/4711", **({"json": {**made, "id": 4711}} if sent else {})
            )
        ).status == 404
    assert (await desk.stranger.get(f"/{family}")).json() == []
    assert (await desk.chief.delete(path)).status == 204
    assert (await desk.chief.get(path)).status == 404


async def test_nothing_moves_to_another_company(desk):
    other = (await desk.chief.post("/companies", json={"name": "Other"})).json()["id"]
    for family in FAMILIES:
        await move(desk, family, other)


async def move(desk, family, other):
    made = await desk.make(family, name="one", **FAMILIES[family])
    path = f"/{family}/{made['id']}"
    for change, text in [
        ({"companyId": other}, "companyId: cannot be changed"),
        ({"companyId": 0}, "companyId: needed"),
        ({"id": made["id"] + 1}, "id: is not the one of the path"),
        ({"name": " "}, "name: needed"),
    ]:
        answer = await desk.chief.put(path, json={**made, **change})
        assert (answer.status, answer.text) == (400, text)
    answer = await desk.chief.put(path, json={**made, "id": 0, "name": "two"}, headers={"If-Match": '"1"'})
    assert (answer.status, answer.headers["ETag"], answer.json()["name"]) == (200, '"2"', "two")
    answer = await desk.chief.put(path, json=made, headers={"If-Match": '"1"'})
    assert "was changed: it is at version 2, you sent 1" in answer.text


async def test_references_stay_in_the_company_and_name_nothing_that_is_disabled(desk):
    other = (await desk.chief.post("/companies", json={"name": "Other"})).json()["id"]
    team = await desk.make("teams", name="Workshop")
    foreign = (await desk.chief.post("/teams", json={"companyId": other, "name": "x"})).json()
    category = {"companyId": desk.id, "name": "Breakdown"}
    for team_id in (foreign["id"], 4711):
        answer = await desk.chief.post("/ticketcategories", json={**category, "teamId": team_id})
        assert (answer.status, answer.text) == (400, "teamId: no such team in the company")
    made = await desk.make("ticketcategories", name="Breakdown", teamId=team["id"])
    priority = await desk.make(
        "ticketpriorities", name="High", level=2, attributes={"escalateTeamId": team["id"]}
    )
    await desk.chief.put(f"/teams/{team['id']}", json={**team, "disabled": True})
    answer = await desk.chief.post("/ticketcategories", json={**category, "teamId": team["id"]})
    assert (answer.status, answer.text) == (400, "teamId: the team is disabled")
    # What is stored already stays.
    assert (await desk.chief.put(f"/ticketcategories/{made['id']}", json={**made, "name": "x"})).status == 200
    answer = await desk.chief.put(f"/ticketpriorities/{priority['id']}", json={**priority, "level": 3})
    assert answer.status == 200
    for value, text in [
        (foreign["id"], "attributes.escalateTeamId: no such team in the company"),
        ("1", f"attributes.escalateTeamId: not a whole number from 0 to {2**63 - 1}"),
    ]:
        changed = {**priority, "attributes": {"escalateTeamId": value}}
        answer = await desk.chief.put(f"/ticketpriorities/{priority['id']}", json=changed)
        assert (answer.status, answer.text) == (400, text)


@pytest.mark.parametrize(
    ("family", "key"), [("ticketcategories", "pauseWhenOutside"), ("branches", "geofenceId")]
)
async def test_a_zone_is_a_geofence_that_the_editor_has_access_to(desk, family, key):
    area = {"name": "Yard", "area": "CIRCLE (52 13, 500)"}
    own = (await desk.chief.post("/geofences", json=area)).json()["id"]
    foreign = (await desk.stranger.post("/geofences", json=area)).json()["id"]
    made = await desk.make(family, name="North", attributes={key: own})
    for value in (foreign, 4711):
        answer = await desk.chief.put(f"/{family}/{made['id']}", json={**made, "attributes": {key: value}})
        assert (answer.status, answer.text) == (400, f"attributes.{key}: no access to it, or no such")
    for value in ("Yard", True, -1, 1.5):
        answer = await desk.chief.put(f"/{family}/{made['id']}", json={**made, "attributes": {key: value}})
        assert (answer.status, answer.text) == (
            400,
            f"attributes.{key}: not a whole number from 0 to {2**63 - 1}",
        )
    # What is stored already stays, whoever edits.
    answer = await desk.served.admin.put(
        f"/{family}/{made['id']}", json={**made, "attributes": {key: foreign}}
    )
    assert answer.status == 200, answer.text
    assert (await desk.chief.put(f"/{family}/{made['id']}", json=answer.json())).status == 200
    if family == "ticketcategories":
        changed = {**made, "attributes": {key: "branch"}}
        answer = await desk.chief.put(f"/{family}/{made['id']}", json=changed)
        assert answer.status == 200, answer.text


async def test_unique_ids_are_unique_in_the_company(desk):
    other = (await desk.chief.post("/companies", json={"name": "Other"})).json()["id"]
    for family in ("branches", "teams", "contacts"):
        await desk.make(family, name="one", uniqueId="1")
        again = {"companyId": desk.id, "name": "two", "uniqueId": "1"}
        answer = await desk.chief.post(f"/{family}", json=again)
        assert (answer.status, answer.text) == (400, "uniqueId is taken already")
        assert (await desk.chief.post(f"/{family}", json={**again, "companyId": other})).status == 200


async def test_lists_are_sorted_and_filtered(desk):
    for name, level in (("b", 2), ("a", 2), ("c", 1)):
        await desk.make("ticketpriorities", name=name, level=level)
    for name, kind, order in (("z", "new", 5), ("y", "open", 1), ("x", "pending", 5)):
        await desk.make("ticketstatuses", name=name, kind=kind, sortOrder=order)
    branch = await desk.make("branches", name="Leeds")
    for name, branch_id, phone in (("Zoe", 0, "1"), ("adam", branch["id"], "222"), ("Bea", 0, "")):
        await desk.make("contacts", name=name, branchId=branch_id, phone=phone, uniqueId=f"c-{name}")

    async def names(path):
        return [each["name"] for each in (await desk.ann.get(path)).json()]

    assert await names(f"/ticketpriorities?companyId={desk.id}") == ["c", "b", "a"]
    assert await names("/ticketpriorities?keyword=B") == ["b"]
    assert await names("/ticketstatuses") == ["y", "z", "x"]
    assert await names("/ticketstatuses?kind=new&kind=open") == ["y", "z"]
    assert (await desk.ann.get("/ticketstatuses?kind=sleeping")).status == 400
    assert await names("/contacts") == ["adam", "Bea", "Zoe"]
    assert await names(f"/contacts?branchId={branch['id']}") == ["adam"]
    assert await names("/contacts?branchId=0&limit=1&offset=1") == ["Zoe"]
    assert await names("/contacts?keyword=22") == ["adam"]
    assert await names("/contacts?uniqueId=c-Bea") == ["Bea"]
    # An administrator who is linked to no company sees one by asking for it, or for all.
    assert (await desk.served.admin.get("/branches")).json() == []
    for query in (f"companyId={desk.id}", "all=true"):
        assert (await desk.served.admin.get(f"/branches?{query}")).json() == [branch]


async def test_the_references_of_a_contact_are_checked(desk):
    driver = (await desk.chief.post("/drivers", json={"name": "Dora", "uniqueId": "d"})).json()["id"]
    made = await desk.make("contacts", name="Carla", userId=desk.ann.id, driverId=driver, timezone="UTC")
    assert (made["userId"], made["driverId"]) == (desk.ann.id, driver)
    hidden = (await desk.stranger.post("/drivers", json={"name": "Dan", "uniqueId": "e"})).json()["id"]
    for change, text in [
        ({"userId": desk.stranger.id}, "userId: no access to it, or no such"),
        ({"userId": 4711}, "userId: no access to it, or no such"),
        ({"driverId": hidden}, "driverId: no access to it, or no such"),
        ({"branchId": 4711}, "branchId: no such branch in the company"),
        ({"timezone": "Mars"}, "timezone: not a known time zone, see GET /server/timezones"),
    ]:
        answer = await desk.chief.put(f"/contacts/{made['id']}", json={**made, **change})
        assert (answer.status, answer.text) == (400, text)


async def test_a_category_is_not_its_own_ancestor(desk):
    top = await desk.make("ticketcategories", name="top")
    middle = await desk.make("ticketcategories", name="middle", parentId=top["id"])
    leaf = await desk.make("ticketcategories", name="leaf", parentId=middle["id"])
    for parent in (top, middle, leaf):
        answer = await desk.chief.put(
            f"/ticketcategories/{top['id']}", json={**top, "parentId": parent["id"]}
        )
        assert (answer.status, answer.text) == (400, "parentId: the category would lie below itself")
    assert (await desk.chief.delete(f"/ticketcategories/{middle['id']}")).status == 204
    assert (await desk.chief.get(f"/ticketcategories/{leaf['id']}")).json()["parentId"] == 0


async def test_the_numbers_of_a_priority_are_checked(desk):
    new = {"companyId": desk.id, "name": "High", "level": 1}
    for change, text in [
        ({"level": 0}, "level: expected `int` >= 1"),
        ({"level": None}, "level: needed"),
        ({"firstResponseMinutes": -1}, "firstResponseMinutes: expected `int` >= 0"),
        ({"resolutionMinutes": 525_601}, "resolutionMinutes: expected `int` <= 525600"),
        ({"attributes": {"warnPercent": 101}}, "attributes.warnPercent: not a whole number from 0 to 100"),
        ({"attributes": {"pauseFirstResponse": 1}}, "attributes.pauseFirstResponse: not true or false"),
        ({"calendarId": 4711}, "calendarId: no access to it, or no such"),
        (
            {"attributes": {"holidayCalendarId": 4711}},
            "attributes.holidayCalendarId: no access to it, or no such",
        ),
    ]:
        answer = await desk.chief.post("/ticketpriorities", json={**new, **change})
        assert (answer.status, answer.text) == (400, text)


async def test_priorities_do_not_escalate_in_a_circle(desk):
    made = [await desk.make("ticketpriorities", name=f"{number}", level=number) for number in (1, 2, 3)]

    async def escalate(source, target):
        changed = {**made[source], "attributes": {"escalatePriorityId": made[target]["id"]}}
        answer = await desk.chief.put(f"/ticketpriorities/{made[source]['id']}", json=changed)
        return answer.status, answer.text if answer.status != 200 else ""

    itself = "attributes.escalatePriorityId: the priority itself"
    back = "attributes.escalatePriorityId: it escalates back to this priority"
    assert await escalate(0, 0) == (400, itself)
    assert await escalate(0, 1) == (200, "")
    assert await escalate(1, 2) == (200, "")
    assert await escalate(2, 0) == (400, back)
    assert await escalate(2, 1) == (400, back)
    assert (await desk.chief.delete(f"/ticketpriorities/{made[1]['id']}")).status == 204
    # Nothing escalates to what is gone.
    assert (await desk.chief.get(f"/ticketpriorities/{made[0]['id']}")).json()["attributes"] == {}


async def test_a_calendar_of_a_priority_is_not_deleted(desk):
    body = {"name": "Office hours", "data": ALWAYS_OPEN}
    hours, holidays = [(await desk.chief.post("/calendars", json=body)).json()["id"] for _ in "ab"]
    made = await desk.make(
        "ticketpriorities",
        name="High",
        level=1,
        calendarId=hours,
        attributes={"holidayCalendarId": holidays},
    )
    for number in (hours, holidays):
        answer = await desk.chief.delete(f"/calendars/{number}")
        assert (answer.status, answer.text) == (400, f"calendar {number} is used by 1 ticket priority")
    assert (await desk.chief.delete(f"/ticketpriorities/{made['id']}")).status == 204
    for number in (hours, holidays):
        assert (await desk.chief.delete(f"/calendars/{number}")).status == 204


async def test_what_tickets_use_is_not_deleted(desk):
    made = (await desk.chief.post(f"/tickets/defaults?companyId={desk.id}")).json()
    used = {name: made[name][0]["id"] for name in made}
    columns = {"category_id": used["categories"], "priority_id": used["priorities"]}
    for number in (1, 2):
        await desk.ticket(used["statuses"], **columns)
        tickets = "1 ticket" if number == 1 else "2 tickets"
        for name, word in (("categories", "category"), ("priorities", "priority"), ("statuses", "status")):
            answer = await desk.chief.delete(f"/ticket{name}/{used[name]}")
            text = f"{word} {used[name]} is used by {tickets}; disable it instead"
            assert (answer.status, answer.text) == (400, text)
    status = made["statuses"][0]
    changed = {**status, "kind": "open"}
    answer = await desk.chief.put(f"/ticketstatuses/{status['id']}", json=changed)
    text = f"status {status['id']} is used by 2 tickets; its kind cannot be changed"
    assert (answer.status, answer.text) == (400, text)
    other = {**made["statuses"][1], "kind": "pending"}
    assert (await desk.chief.put(f"/ticketstatuses/{other['id']}", json=other)).status == 200


async def test_what_may_follow_a_status_are_statuses_of_the_company(desk):
    first = await desk.make("ticketstatuses", name="New", kind="new")
    second = await desk.make("ticketstatuses", name="Done", kind="closed", attributes={"next": None})
    assert second["attributes"] == {}
    for sent, text in [
        ([second["id"], 4711], "attributes.next: no such status in the company: 4711"),
        ("1", "attributes.next: not a list of at most 1000 ids"),
        ([True], "attributes.next: not a list of at most 1000 ids"),
        (["1"], "attributes.next: not a list of at most 1000 ids"),
    ]:
        answer = await desk.chief.put(
            f"/ticketstatuses/{first['id']}", json={**first, "attributes": {"next": sent}}
        )
        assert (answer.status, answer.text) == (400, text)
    following = [first["id"], second["id"], second["id"]]
    answer = await desk.chief.put(
        f"/ticketstatuses/{first['id']}", json={**first, "attributes": {"next": following}}
    )
    # A status does not follow itself.
    assert answer.json()["attributes"]["next"] == [second["id"]]


async def test_a_deleted_status_follows_no_other(desk):
    first, second, third = [
        await desk.make("ticketstatuses", name=f"{number}", kind="open") for number in range(3)
    ]
    for status, following in ((first, [second["id"]]), (second, [third["id"], first["id"]])):
        changed = {**status, "attributes": {"next": following}}
        assert (await desk.chief.put(f"/ticketstatuses/{status['id']}", json=changed)).status == 200
    answer = await desk.chief.delete(f"/ticketstatuses/{third['id']}")
    assert (answer.status, "X-Warning" in answer.headers) == (204, False)
    answer = await desk.chief.delete(f"/ticketstatuses/{second['id']}")
    assert (answer.status, answer.headers["X-Warning"]) == (204, f"status {first['id']} is final now")
    assert (await desk.chief.get(f"/ticketstatuses/{first['id']}")).json()["attributes"] == {"next": []}


async def test_the_standard_configuration_is_made_once(desk):
    await desk.make("ticketpriorities", name="NORMAL", level=7, disabled=True)
    made = (await desk.chief.post("/tickets/defaults", json={"companyId": desk.id})).json()
    assert [len(made[name]) for name in ("categories", "priorities", "statuses")] == [17, 4, 8]
    assert [(each["name"], each["level"], each["disabled"]) for each in made["priorities"]] == [
        ("Urgent", 1, False),
        ("High", 2, False),
        ("NORMAL", 7, True),
        ("Low", 4, False),
    ]
    ids = {each["name"]: each["id"] for name in made for each in made[name]}
    kinds = {each["name"]: (each["kind"], each["attributes"]["next"]) for each in made["statuses"]}
    assert kinds["Resolved"] == ("resolved", [ids["In progress"], ids["Closed"]])
    assert kinds["Closed"] == ("closed", [])
    categories = {each["name"]: each for each in made["categories"]}
    assert categories["Accident"]["parentId"] == ids["Vehicle"]
    assert categories["Accident"]["priorityId"] == ids["Urgent"]
    assert categories["Billing"]["priorityId"] == ids["NORMAL"]
    again = await desk.chief.post(f"/tickets/defaults?companyId={desk.id}")
    assert again.json() == made
    for client, text in [
        (desk.ann, "only managers of the company may do this"),
        (desk.stranger, "no access to the company, or no such"),
    ]:
        answer = await client.post(f"/tickets/defaults?companyId={desk.id}")
        assert (answer.status, answer.text) == (400, text)
    assert (await desk.chief.post("/tickets/defaults")).text == "companyId: needed"


async def test_the_standard_configuration_is_made_in_a_language_and_known_in_any(desk):
    await desk.make("ticketstatuses", name="em CURSO", kind="open")
    of = {"companyId": desk.id}
    made = (await desk.chief.post("/tickets/defaults", json={**of, "language": "de-AT"})).json()
    assert [each["name"] for each in made["priorities"]] == ["Dringend", "Hoch", "Normal", "Niedrig"]
    assert [each["name"] for each in made["statuses"]][:3] == ["Neu", "em CURSO", "Wartet auf Kontakt"]
    names = {each["id"]: each["name"] for each in made["categories"]}
    children = {each["name"]: names.get(each["parentId"]) for each in made["categories"]}
    assert (children["Kein Signal"], children["Fahrer"]) == ("Gerät", None)
    for language in ("en", "pt-BR", "xx"):
        query = f"companyId={desk.id}&language={language}"
        assert (await desk.chief.post(f"/tickets/defaults?{query}")).json() == made
    answer = await desk.chief.post("/tickets/defaults", json={**of, "language": "?"})
    assert (answer.status, answer.text) == (400, "language: not the tag of a language")


def test_a_name_of_the_standard_means_one_thing_in_whatever_language():
    for names in (
        [each.name for each in PRIORITIES],
        [each.status.name for each in STATUSES],
        [each.name for each in CATEGORIES],
    ):
        meant = {}
        for language in languages():
            words = read_catalog(language).helpdesk
            assert language == "en" or words.keys() >= set(names)
            for name in names:
                assert meant.setdefault(words.get(name, name).lower(), name) == name


async def test_the_standard_configuration_is_made_once_by_parallel_requests(desk):
    clients = await connections(desk.served, "chief@example.org", "chief")
    calls = [partial(client.post, f"/tickets/defaults?companyId={desk.id}") for client in clients]
    answers = await in_parallel(*calls)
    assert [answer.status for answer in answers] == [200] * len(clients)
    assert len({answer.body for answer in answers}) == 1
    assert len((await desk.chief.get("/ticketcategories")).json()) == 17


async def test_a_deleted_contact_leaves_its_tickets(desk):
    status = await desk.make("ticketstatuses", name="New", kind="new")
    contact = await desk.make("contacts", name="Carla")
    ticket = await desk.ticket(status["id"], contact_id=contact["id"])
    await desk.ticket(status["id"])
    assert (await desk.chief.delete(f"/contacts/{contact['id']}")).status == 204
    rows = await desk.database.fetch("select contact_id, version from tickets order by id")
    assert [tuple(row.values()) for row in rows] == [(None, 2), (None, 1)]
    rows = await desk.database.fetch(
        "select ticket_id, type, actor, user_id, field, from_value, to_value, version, attributes"
        " from ticket_events order by id"
    )
    by = ("updated", "user", desk.chief.id)
    assert [tuple(row.values()) for row in rows] == [
        (ticket, *by, "contactId", contact["id"], 0, 2, {"reason": "deleted", "userName": "chief"})
    ]


async def test_tickets_survive_the_end_of_what_they_refer_to(desk):
    status = await desk.make("ticketstatuses", name="New", kind="new")
    branch, team = await desk.make("branches", name="a"), await desk.make("teams", name="b")
    device = await desk.served.device(desk.served.admin, "1")
    await desk.ticket(
        status["id"], branch_id=branch["id"], team_id=team["id"], device_id=device, assignee_id=desk.ann.id
    )
    admin, versions = desk.served.admin, []
    async with desk.served.context.system.topic(TICKETS).subscribe() as subscription:
        for path in (
            f"/branches/{branch['id']}",
            f"/teams/{team['id']}",
            f"/devices/{device}",
            f"/users/{desk.ann.id}",
        ):
            assert (await admin.delete(path)).status == 204
            versions.append([])
            while not versions[-1]:
                for changes in await subscription.receive_batch():
                    versions[-1] += [each.version for each in changes]
    # Who follows the ticket hears of each.
    assert versions == [[2], [3], [4], [5]]
    row = await desk.database.fetch_row(
        "select branch_id, team_id, device_id, assignee_id, version from tickets"
    )
    assert tuple(row.values()) == (None, None, None, None, 5)
    rows = await desk.database.fetch(
        "select type, field, from_value, attributes->>'fromName' as name, version from ticket_events"
        " order by version"
    )
    assert [tuple(row.values()) for row in rows] == [
        ("updated", "branchId", branch["id"], "a", 2),
        ("assigned", "teamId", team["id"], "b", 3),
        ("updated", "deviceId", device, "Vehicle 1", 4),
        ("assigned", "assigneeId", desk.ann.id, "ann", 5),
    ]


async def test_a_company_has_a_limit_of_what_each_change_of_a_ticket_reads(desk, monkeypatch):
    monkeypatch.setattr(StatusPolicy, "max_rows", 2)
    for name in ("one", "two"):
        await desk.make("ticketstatuses", name=name, kind="open")
    answer = await desk.chief.post(
        "/ticketstatuses", json={"companyId": desk.id, "name": "three", "kind": "open"}
    )
    assert answer.status == 400
    assert answer.text == "ticket status: the company has 2, which are the most there may be"


async def test_attributes_have_a_limit_but_those_that_are_stored_may_stay(desk):
    long = {"text": "x" * 65_536}
    for path, fields in (
        ("branches", {}),
        ("teams", {}),
        ("contacts", {}),
        ("ticketcategories", {}),
        ("ticketpriorities", {"level": 1}),
        ("ticketstatuses", {"kind": "open"}),
    ):
        answer = await desk.chief.post(
            f"/{path}", json={"companyId": desk.id, "name": "x", "attributes": long, **fields}
        )
        assert (answer.status, answer.text) == (400, "attributes: more than 16384 bytes"), path
    team = await desk.make("teams", name="x")
    await desk.database.execute("update teams set attributes = $1 where id = $2", long, team["id"])
    stored = (await desk.chief.get(f"/teams/{team['id']}")).json()
    assert (await desk.chief.put(f"/teams/{team['id']}", json={**stored, "name": "y"})).status == 200
    longer = {**stored, "attributes": {"text": "x" * 65_537}}
    assert (await desk.chief.put(f"/teams/{team['id']}", json=longer)).status == 400
