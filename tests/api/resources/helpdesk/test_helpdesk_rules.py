"""Rules of the helpdesk over HTTP, one by one, as docs/helpdesk.md and docs/tickets.md state them."""

import pytest


@pytest.fixture
async def world(desk):
    """The company with its standard configuration."""
    answer = await desk.chief.post("/tickets/defaults", json={"companyId": desk.id})
    desk.defaults = answer.json()
    for family in ("statuses", "priorities", "categories"):
        setattr(desk, family, {each["name"]: each["id"] for each in desk.defaults[family]})
    return desk


async def make(world, who=None, **fields):
    answer = await (who or world.chief).post(
        "/tickets", json={"companyId": world.id, "subject": "No signal", **fields}
    )
    assert answer.status == 200, answer.text
    return answer.json()


def refused(answer, text):
    assert (answer.status, answer.text) == (400, text)
    assert answer.headers["Content-Type"].startswith("text/plain")


WAITING = ["In progress", "Resolved", "Cancelled"]
PRIORITIES = {
    "Urgent": (1, 15, 240),
    "High": (2, 60, 480),
    "Normal": (3, 240, 1440),
    "Low": (4, 480, 4320),
}
STATUSES = {
    "New": ("new", 10, ["In progress", "Waiting for contact", "Resolved", "Cancelled"]),
    "In progress": (
        "open",
        20,
        ["Waiting for contact", "Waiting for parts", "Waiting for vehicle", "Resolved", "Cancelled"],
    ),
    "Waiting for contact": ("pending", 30, WAITING),
    "Waiting for parts": ("pending", 40, WAITING),
    "Waiting for vehicle": ("pending", 50, WAITING),
    "Resolved": ("resolved", 60, ["In progress", "Closed"]),
    "Closed": ("closed", 70, []),
    "Cancelled": ("cancelled", 80, []),
}
CATEGORIES = {
    "Device": ["No signal", "Installation", "Power and wiring", "SIM and data"],
    "Camera": ["No recording", "No live picture", "Footage request"],
    "Vehicle": ["Breakdown", "Maintenance", "Accident"],
    "Driver": [],
    "Account and access": [],
    "Billing": [],
    "Other": [],
}
URGENCY = {
    "Accident": "Urgent",
    "Breakdown": "Urgent",
    "No signal": "High",
    "Footage request": "Low",
    "Other": "Low",
}


async def test_the_standard_configuration(world):
    made = world.defaults
    assert {
        each["name"]: (each["level"], each["firstResponseMinutes"], each["resolutionMinutes"])
        for each in made["priorities"]
    } == PRIORITIES
    assert all((each["calendarId"], each["attributes"]) == (0, {}) for each in made["priorities"])
    names = {number: name for name, number in world.statuses.items()}
    assert {
        each["name"]: (
            each["kind"],
            each["sortOrder"],
            [names[number] for number in each["attributes"]["next"]],
        )
        for each in made["statuses"]
    } == STATUSES
    parents = {child: root for root, children in CATEGORIES.items() for child in children}
    assert {
        each["name"]: (each["parentId"], each["teamId"], each["priorityId"]) for each in made["categories"]
    } == {
        name: (
            world.categories[parents[name]] if name in parents else 0,
            0,
            world.priorities[URGENCY.get(name, "Normal")],
        )
        for name in (*CATEGORIES, *parents)
    }


async def test_what_a_client_cannot_set_is_ignored(world):
    ticket = await make(
        world, number=77, version=9, reporterId=world.ann.id, escalatedAt="2026-05-01T00:00:00Z", colour="red"
    )
    shown = ticket["number"], ticket["version"], ticket["reporterId"], ticket["escalatedAt"]
    assert shown == (1, 1, world.chief.id, None)
    assert "colour" not in ticket
    answer = await world.chief.put(
        f"/tickets/{ticket['id']}", json={"colour": "red", "number": 5, "createdAt": "2020-01-01T00:00:00Z"}
    )
    assert (answer.status, answer.json()) == (200, ticket)


async def test_a_kind_is_one_of_six(world):
    for kind in ("New", "done"):
        answer = await world.chief.post(
            "/ticketstatuses", json={"companyId": world.id, "name": "x", "kind": kind}
        )
        refused(answer, "kind: not one of new, open, pending, resolved, closed, cancelled")


async def test_what_is_disabled_is_not_set_but_may_stay(world):
    team = await world.make("teams", name="Workshop")
    member = await world.served.admin.put(f"/teams/{team['id']}/members/{world.ann.id}")
    assert member.status == 204
    await world.chief.put(f"/teams/{team['id']}/members/{world.chief.id}")
    status = await world.make("ticketstatuses", name="Checked", kind="open")
    priority = await world.make("ticketpriorities", name="Fleet", level=2)
    fields = {"priorityId": priority["id"], "statusId": status["id"], "teamId": team["id"]}
    ticket, other = await make(world, **fields, assigneeId=world.ann.id), await make(world)
    for path, row in (("ticketpriorities", priority), ("ticketstatuses", status), ("teams", team)):
        answer = await world.chief.put(f"/{path}/{row['id']}", json={**row, "disabled": True})
        assert answer.status == 200, answer.text
    ann = (await world.served.admin.get(f"/users/{world.ann.id}")).json()
    assert (
        await world.served.admin.put(f"/users/{world.ann.id}", json={**ann, "disabled": True})
    ).status == 200
    for name, value, text in (
        ("priorityId", priority["id"], "priorityId: priority Fleet is disabled"),
        ("statusId", status["id"], "statusId: status Checked is disabled"),
        ("teamId", team["id"], "teamId: team Workshop is disabled"),
        ("assigneeId", world.ann.id, f"assigneeId: user {world.ann.id} is disabled"),
    ):
        refused(await world.chief.put(f"/tickets/{other['id']}", json={name: value}), text)
        body = {"companyId": world.id, "subject": "x", name: value}
        refused(await world.chief.post("/tickets", json=body), text)
    kept = await world.chief.put(f"/tickets/{ticket['id']}", json={**ticket, "subject": "Wheel"})
    assert (kept.status, kept.json()["assigneeId"]) == (200, world.ann.id)
    # The present status is no move, disabled or not.
    same = await world.chief.post(f"/tickets/{ticket['id']}/transition", json={"statusId": status["id"]})
    assert (same.status, same.json()["version"]) == (200, kept.json()["version"])


async def test_a_ticket_does_not_lie_below_one_of_another_company(world):
    other = (await world.chief.post("/companies", json={"name": "Other"})).json()["id"]
    await world.chief.post("/tickets/defaults", json={"companyId": other})
    foreign = await make(world, companyId=other)
    ticket = await make(world)
    for answer in (
        await world.chief.put(f"/tickets/{ticket['id']}", json={"parentId": foreign["id"]}),
        await world.chief.post(
            "/tickets", json={"companyId": world.id, "subject": "x", "parentId": foreign["id"]}
        ),
    ):
        refused(answer, "parentId: no access to it, or no such")


async def test_a_later_change_of_category_leaves_team_and_priority(world):
    ticket = await make(world, categoryId=world.categories["Billing"])
    assert ticket["priorityId"] == world.priorities["Normal"]
    moved = await world.chief.put(
        f"/tickets/{ticket['id']}", json={"categoryId": world.categories["Accident"]}
    )
    assert (moved.json()["categoryId"], moved.json()["priorityId"]) == (
        world.categories["Accident"],
        world.priorities["Normal"],
    )


async def test_no_operation_edits_or_deletes_an_entry(world):
    ticket = await make(world)
    (entry,) = (await world.chief.get(f"/tickets/{ticket['id']}/events")).json()
    for method in ("PUT", "POST", "DELETE"):
        for path in (f"/tickets/{ticket['id']}/events", f"/tickets/{ticket['id']}/events/{entry['id']}"):
            answer = await world.served.admin.call(method, f"/api{path}", json={})
            assert answer.status in {404, 405}, (method, path)
    assert (await world.chief.get(f"/tickets/{ticket['id']}/events")).json() == [entry]


async def test_a_device_that_the_reader_does_not_see_is_a_number(world):
    device = await world.served.device(world.served.admin, "1")
    ticket = await make(world, who=world.served.admin, deviceId=device)
    assert (await world.ann.get(f"/tickets/{ticket['id']}")).json()["deviceId"] == device
    assert (await world.ann.get(f"/devices/{device}")).status == 404
    # It may stay, but not be set by who does not see it.
    kept = await world.chief.put(f"/tickets/{ticket['id']}", json={**ticket, "subject": "Wheel"})
    assert (kept.status, kept.json()["deviceId"]) == (200, device)
    other = await make(world)
    answer = await world.chief.put(f"/tickets/{other['id']}", json={"deviceId": device})
    refused(answer, "deviceId: no access to it, or no such")


async def test_texts_of_a_contact_are_trimmed_and_found_whatever_their_case(world):
    made = await world.make("contacts", name=" Carla ", email=" Carla@Example.org ", phone=" 030 1 ")
    assert (made["name"], made["email"], made["phone"]) == ("Carla", "Carla@Example.org", "030 1")
    twin = await world.make("contacts", name="Carl", email="carla@example.org", phone="030 1")
    found = (await world.ann.get(f"/contacts?companyId={world.id}&keyword=CARLA@example")).json()
    assert [each["id"] for each in found] == [twin["id"], made["id"]]


async def test_assigning_moves_no_status_and_answers_nobody(world):
    ticket = await make(world, priorityId=world.priorities["Normal"])
    path = f"/tickets/{ticket['id']}/assign"
    taken = (await world.chief.post(path, json={"assigneeId": world.chief.id, "comment": "Mine"})).json()
    assert (taken["statusId"], taken["firstResponseAt"]) == (ticket["statusId"], None)
    # An absent field stays as it is, 0 clears it.
    team = await world.make("teams", name="Workshop")
    await world.chief.put(f"/teams/{team['id']}/members/{world.chief.id}")
    both = (await world.chief.post(path, json={"teamId": team["id"]})).json()
    assert (both["teamId"], both["assigneeId"]) == (team["id"], world.chief.id)
    cleared = (await world.chief.post(path, json={"assigneeId": 0})).json()
    assert (cleared["teamId"], cleared["assigneeId"]) == (team["id"], 0)


async def test_the_history_keeps_names_of_what_was_renamed_or_deleted(world):
    ben = await world.served.user("ben")
    await world.link(world.served.admin, userId=ben.id, companyId=world.id)
    ticket = await make(world)
    path = f"/tickets/{ticket['id']}"
    await ben.post(f"{path}/assign", json={"assigneeId": ben.id})
    moved = await ben.post(f"{path}/transition", json={"statusId": world.statuses["In progress"]})
    assert moved.status == 200, moved.text
    for status in world.defaults["statuses"]:
        renamed = {**status, "name": f"{status['name']} (old)"}
        assert (await world.chief.put(f"/ticketstatuses/{status['id']}", json=renamed)).status == 200
    assert (await world.served.admin.delete(f"/users/{ben.id}")).status == 204
    entries = (await world.chief.get(f"{path}/events?type=assigned&type=statusChanged")).json()
    told = [
        (entry["type"], entry["userId"], entry["attributes"]["userName"], entry["attributes"]["toName"])
        for entry in entries
    ]
    assert told[:2] == [("assigned", ben.id, "ben", "ben"), ("statusChanged", ben.id, "ben", "In progress")]
    assert entries[2]["attributes"]["fromName"] == "ben"
