"""The seven plain families through HTTP, from one table written by hand."""

import base64
from dataclasses import dataclass, field
from typing import Any

import pytest
from tests.api.cases import on_one_server

ICALENDAR = base64.b64encode(
    b"BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART:20260105T080000Z\nDURATION:PT1H\nEND:VEVENT\nEND:VCALENDAR\n"
).decode()


@dataclass
class Case:
    """What one family is sent and shows."""

    path: str
    key: str
    """In permission objects."""
    least: dict[str, Any]
    """The least that can be created."""
    shown: dict[str, Any]
    """What the least is shown as, without its id."""
    changed: dict[str, Any]
    """Another body for it; what it leaves out must become the default."""
    word: str
    """The field that keywords are looked for in and lists are sorted by."""
    optional: tuple[str, ...] = ()
    """Texts that are null where they are absent, though the least has them."""
    linked: bool = True
    """Can be linked to devices and groups."""
    wrong: list[tuple[dict[str, Any], str]] = field(default_factory=list)
    """Bodies that are refused, and the word that says why."""

    def named(self, number: int) -> dict[str, Any]:
        """A further one, whose word has this number in it."""
        unique = {"uniqueId": f"unique {number}"} if "uniqueId" in self.least else {}
        return {**self.least, **unique, self.word: f"Word {number}"}


CASES = {
    "drivers": Case(
        path="/drivers",
        key="driverId",
        least={"name": "Ann", "uniqueId": "77"},
        shown={"name": "Ann", "uniqueId": "77", "attributes": {}},
        changed={"name": " Bob ", "uniqueId": "78", "attributes": {"a": [1, {"b": None}]}},
        word="name",
        wrong=[
            ({"uniqueId": "1"}, "name: needed"),
            ({"name": "x", "uniqueId": " "}, "uniqueId: needed"),
            ({"name": "x" * 129, "uniqueId": "1"}, "name: longer than 128"),
            ({"name": 5, "uniqueId": "1"}, "name"),
        ],
    ),
    "orders": Case(
        path="/orders",
        key="orderId",
        least={"uniqueId": "A-1", "description": "Sofa"},
        shown={
            "uniqueId": "A-1",
            "description": "Sofa",
            "fromAddress": None,
            "toAddress": None,
            "attributes": {},
        },
        changed={"uniqueId": "A-2", "fromAddress": "Here", "toAddress": "There", "description": "Sofas"},
        word="description",
        wrong=[({"description": "x" * 4001}, "description: longer than 4000")],
    ),
    "calendars": Case(
        path="/calendars",
        key="calendarId",
        least={"name": "Office", "data": ICALENDAR},
        shown={"name": "Office", "data": ICALENDAR, "attributes": {}},
        changed={"name": "Shop", "data": ICALENDAR, "attributes": {"timezone": "Europe/Berlin"}},
        word="name",
        linked=False,
        wrong=[
            ({"name": "x"}, "data: needed"),
            ({"data": ICALENDAR}, "name: needed"),
            ({"name": "x", "data": "äöü"}, "data: not base64"),
            ({"name": "x", "data": ICALENDAR[:-1] + "-"}, "data: not base64"),
            (
                {"name": "x", "data": base64.b64encode(b"hello").decode()},
                "data: line 1: 'hello' is not NAME:",
            ),
            ({"name": "x", "data": ICALENDAR, "attributes": {"timezone": "Mars"}}, "attributes.timezone"),
            ({"name": "x", "data": ICALENDAR, "attributes": {"timezone": 3}}, "attributes.timezone"),
        ],
    ),
    "geofences": Case(
        path="/geofences",
        key="geofenceId",
        # What the web client sends when somebody has drawn one.
        least={"name": "New geofence", "area": "CIRCLE (52.5 13.4, 50)"},
        shown={
            "name": "New geofence",
            "area": "CIRCLE (52.5 13.4, 50)",
            "description": None,
            "calendarId": 0,
            "attributes": {},
        },
        changed={
            "name": "Yard",
            "description": "Ours",
            "area": " LINESTRING(52.5 13.4, 52.6 13.5)",
            "attributes": {"polylineDistance": 40.5, "color": "#f00", "hide": True, "floor": None},
        },
        word="name",
        wrong=[
            ({"name": "x"}, "area: needed"),
            ({"area": "CIRCLE (1 2, 3)"}, "name: needed"),
            ({"name": "x", "area": "CIRCLE (13.4 152.5)"}, "area: a CIRCLE is a point and a radius"),
            ({"name": "x", "area": "CIRCLE (152.5 13.4, 5)"}, "area: point 1: latitude 152.5"),
            (
                {"name": "x", "area": "POLYGON ((1 2, 3 4))"},
                "area: ring 1 of the POLYGON needs at least 3 points",
            ),
            (
                {"name": "x", "area": "CIRCLE (1 2, 3)", "attributes": {"floor": "low"}},
                "attributes.floor: not",
            ),
            (
                {"name": "x", "area": "CIRCLE (1 2, 3)", "attributes": {"speedLimit": True}},
                "attributes.speedL",
            ),
        ],
    ),
    "maintenance": Case(
        path="/maintenance",
        key="maintenanceId",
        least={"name": "Oil", "type": "totalDistance", "start": 1000, "period": 5000000},
        shown={"name": "Oil", "type": "totalDistance", "start": 1000, "period": 5000000, "attributes": {}},
        changed={"name": "Oil", "type": "hours", "start": 3600000.5},
        word="name",
        wrong=[
            ({"name": "x"}, "type: needed"),
            ({"type": "hours"}, "name: needed"),
            ({"name": "x", "type": "hours", "period": -1}, "period: is below 0"),
            ({"name": "x", "type": "hours", "start": "soon"}, "start"),
        ],
    ),
    "notifications": Case(
        path="/notifications",
        key="notificationId",
        least={"type": "ignitionOn"},
        shown={
            "type": "ignitionOn",
            "description": None,
            "always": False,
            "web": False,
            "mail": False,
            "sms": False,
            "notificators": "",
            "calendarId": 0,
            "commandId": 0,
            "attributes": {},
        },
        changed={"type": "alarm", "always": True, "attributes": {"alarms": "sos,powerCut"}},
        word="description",
        wrong=[
            ({}, "type: needed"),
            ({"type": "allEvents"}, "type: not one of GET /notifications/types"),
            ({"type": "alarm", "notificators": "web,pigeon"}, "notificators: pigeon is not one of web, mail"),
            ({"type": "alarm", "notificators": "command"}, "commandId: needed"),
            ({"type": "alarm", "always": "yes"}, "always"),
        ],
    ),
    "commands": Case(
        path="/commands",
        key="commandId",
        least={"type": "engineStop", "description": "Stop"},
        shown={
            "deviceId": 0,
            "type": "engineStop",
            "description": "Stop",
            "textChannel": False,
            "attributes": {},
        },
        changed={"type": "custom", "textChannel": True, "attributes": {"data": "00"}, "deviceId": 99},
        word="description",
        optional=("description",),
        wrong=[({"description": "x"}, "type: needed"), ({"type": "x" * 129}, "type: longer than 128")],
    ),
}
FAMILIES = [pytest.param(case, id=name) for name, case in CASES.items()]


async def make(client, case, body=None):
    made = await client.post(case.path, json=body or case.least)
    assert made.status == 200, made.text
    return made.json()


async def ids(client, path):
    answer = await client.get(path)
    assert answer.status == 200, answer.text
    return [each["id"] for each in answer.json()]


@on_one_server("case", CASES.values())
async def test_what_is_created_can_be_fetched_replaced_and_deleted(served, database, case):
    made = await make(served.admin, case, {**case.least, "id": 4711, "unknown": 1})
    assert made == {"id": made["id"], **case.shown}
    assert made["id"] != 4711
    one = f"{case.path}/{made['id']}"
    assert (await served.admin.get(one)).json() == made

    replaced = await served.admin.put(one, json={**case.changed, "id": made["id"]})
    assert replaced.status == 200, replaced.text
    expected = {
        **{
            name: None if value is None or name in case.optional else type(value)()
            for name, value in case.shown.items()
        },
        **{name: value.strip() if name == "name" else value for name, value in case.changed.items()},
        "id": made["id"],
    }
    expected |= {"deviceId": 0} if "deviceId" in case.shown else {}
    assert replaced.json() == expected == (await served.admin.get(one)).json()
    # An old client echoes all that it got.
    assert (await served.admin.put(one, json=replaced.json())).json() == replaced.json()

    assert (await served.admin.delete(one)).status == 204
    assert (await served.admin.get(one)).status == 404
    assert (await served.admin.put(one, json=case.least)).status == 404
    assert (await served.admin.delete(one)).status == 404
    name = case.key.removesuffix("Id")
    rows = await database.fetch("select action_type from audit where object_type = $1 order by id", name)
    assert [row[0] for row in rows] == ["create", "edit", "edit", "remove"]


@on_one_server("case", CASES.values())
async def test_what_is_wrong_is_refused_with_a_line_that_names_it(served, case):
    made = await make(served.admin, case)
    for body, why in [*case.wrong, ({**case.least, "attributes": 5}, "attributes")]:
        for answer in (
            await served.admin.post(case.path, json=body),
            await served.admin.put(f"{case.path}/{made['id']}", json=body),
        ):
            assert answer.status == 400, body
            assert why in answer.text, answer.text
            assert answer.headers["Content-Type"].startswith("text/plain")
            assert "\n" not in answer.text
    other = await served.admin.put(f"{case.path}/{made['id']}", json={**case.least, "id": made["id"] + 1})
    assert (other.status, other.text) == (400, "id: is not the one of the path")
    assert await ids(served.admin, case.path) == [made["id"]]


@pytest.mark.parametrize("case", FAMILIES)
async def test_only_who_is_linked_reads_and_writes_and_the_readonly_only_read(served, case):
    ann, bob = await served.user("ann"), await served.user("bob", deviceLimit=-1)
    made = await make(ann, case)
    one = f"{case.path}/{made['id']}"
    assert await ids(ann, case.path) == [made["id"]]
    assert await ids(bob, case.path) == await ids(served.admin, case.path) == []
    assert (await bob.get(one)).status == 404
    assert (await bob.put(one, json=case.least)).status == 400
    assert (await bob.delete(one)).status == 400
    assert (await served.client().get(one)).status == 401
    # An administrator opens anything by its id.
    assert (await served.admin.get(one)).status == 200
    # A device's link does not show it to the device's user.
    if case.linked:
        number = await served.device(bob, "1")
        link = {"deviceId": number, case.key: made["id"]}
        assert (await served.admin.post("/permissions", json=link)).status == 204
        assert await ids(bob, case.path) == []
    await served.admin.post("/permissions", json={"userId": bob.id, case.key: made["id"]})
    assert await ids(bob, case.path) == [made["id"]]
    user = (await served.admin.get(f"/users/{bob.id}")).json()
    assert (await served.admin.put(f"/users/{bob.id}", json={**user, "readonly": True})).status == 200
    assert (await bob.get(one)).status == 200
    for refused in (
        await bob.post(case.path, json=case.named(9)),
        await bob.put(one, json=case.least),
        await bob.delete(one),
    ):
        assert (refused.status, refused.text) == (400, "the user is read-only")
    # Without the link it is gone for its maker too.
    await ann.call("DELETE", "/api/permissions", json={"userId": ann.id, case.key: made["id"]})
    assert await ids(ann, case.path) == []
    assert (await ann.get(one)).status == 404


@pytest.mark.parametrize("case", FAMILIES)
async def test_lists_take_the_filters_of_the_specification(served, case):
    boss = await served.user("boss", userLimit=-1)
    ann = await served.user("ann")
    await served.admin.post("/permissions", json={"userId": boss.id, "managedUserId": ann.id})
    made = {}
    for owner, number in ((ann, 3), (ann, 1), (boss, 2), (served.admin, 4)):
        body = {**case.named(number), "attributes": {"n": number}}
        made[number] = (await make(owner, case, body))["id"]

    async def numbers(client, query=""):
        found = await ids(client, case.path + query)
        return [next(number for number, each in made.items() if each == one) for one in found]

    # Sorted by their word, whoever made them in which order.
    assert await numbers(ann) == [1, 3]
    assert await numbers(ann, "?all=true") == [1, 3]
    assert await numbers(boss) == [2]
    assert await numbers(boss, "?all=true") == [1, 2, 3]
    assert await numbers(served.admin) == [4]
    assert await numbers(served.admin, "?all=true") == [1, 2, 3, 4]
    assert await numbers(ann, f"?userId={ann.id}") == [1, 3]
    assert await numbers(boss, f"?userId={ann.id}") == [1, 3]
    assert await numbers(served.admin, f"?userId={ann.id}&refresh=true") == [1, 3]
    refused = await ann.get(f"{case.path}?userId={boss.id}")
    assert (refused.status, refused.text) == (400, "userId: not the caller's to ask for")
    assert await numbers(served.admin, "?all=true&keyword=WORD%203") == [3]
    assert await numbers(served.admin, "?all=true&keyword=%25") == []
    assert await numbers(served.admin, "?all=true&limit=2") == [1, 2]
    assert await numbers(served.admin, "?all=true&limit=2&offset=1") == [2, 3]
    assert await numbers(served.admin, "?all=true&offset=3") == [1, 2, 3, 4]
    full = (await ann.get(case.path)).json()
    assert [each["attributes"] for each in full] == [{"n": 1}, {"n": 3}]
    short = (await ann.get(case.path + "?excludeAttributes=true")).json()
    assert short == [{**each, "attributes": {}} for each in full]
    for wrong in ("?limit=-1", "?all=maybe", "?userId=x"):
        assert (await ann.get(case.path + wrong)).status == 400, wrong


@pytest.mark.parametrize("case", [case for case in FAMILIES if case.values[0].linked])
async def test_lists_of_a_device_or_group_keep_to_what_the_caller_sees(served, case):
    ann = await served.user("ann", deviceLimit=-1)
    number = await served.device(ann, "1")
    group = (await ann.post("/groups", json={"name": "G"})).json()["id"]
    foreign = await served.device(served.admin, "2")
    mine, other, theirs = (
        (await make(ann, case, case.named(1)))["id"],
        (await make(ann, case, case.named(2)))["id"],
        (await make(served.admin, case, case.named(3)))["id"],
    )
    for link in (
        {"deviceId": number, case.key: mine},
        {"groupId": group, case.key: other},
        {"deviceId": number, case.key: theirs},
    ):
        assert (await served.admin.post("/permissions", json=link)).status == 204
    if case.path == "/orders":  # the specification gives orders no such filters: they are ignored
        assert await ids(ann, f"/orders?deviceId={number}") == [mine, other]
        return
    assert await ids(ann, f"{case.path}?deviceId={number}") == [mine]
    assert await ids(ann, f"{case.path}?groupId={group}") == [other]
    assert await ids(ann, f"{case.path}?deviceId={number}&groupId={group}") == []
    assert await ids(served.admin, f"{case.path}?deviceId={number}") == [theirs]
    assert await ids(served.admin, f"{case.path}?deviceId={number}&all=true") == [mine, theirs]
    for query, why in ((f"deviceId={foreign}", "deviceId"), ("groupId=999", "groupId")):
        refused = await ann.get(f"{case.path}?{query}")
        assert refused.status == 400, query
        assert refused.text.startswith(why)


@pytest.mark.parametrize("case", FAMILIES)
async def test_links_go_with_either_side(served, database, case):
    made = await make(served.admin, case)
    name = case.key.removesuffix("Id")
    owners = ["user", *(["device", "group"] if case.linked else [])]
    link = {"deviceId": await served.device(served.admin, "1"), case.key: made["id"]}
    if case.linked:
        assert (await served.admin.post("/permissions", json=link)).status == 204
    assert (await served.admin.delete(f"{case.path}/{made['id']}")).status == 204
    for owner in owners:
        assert await database.fetch_value(f"select count(*) from {owner}_{name}") == 0


async def test_a_drivers_unique_id_is_nobody_elses(served):
    ann = await served.user("ann")
    await make(served.admin, CASES["drivers"])
    refused = await ann.post("/drivers", json={"name": "Other", "uniqueId": "77"})
    assert (refused.status, refused.text) == (400, "uniqueId is taken already")
    other = await make(ann, CASES["drivers"], {"name": "Other", "uniqueId": "78"})
    again = await ann.put(f"/drivers/{other['id']}", json={"name": "Other", "uniqueId": "77"})
    assert again.status == 400
    # By name and by unique id.
    assert await ids(ann, "/drivers?keyword=78") == [other["id"]]


async def test_references_are_zero_where_none_and_null_is_none(served):
    for path, body in (
        ("/geofences", {"name": "x", "area": "CIRCLE (1 2, 3)", "calendarId": None, "attributes": None}),
        ("/notifications", {"type": "alarm", "calendarId": None, "commandId": None, "attributes": None}),
    ):
        made = await served.admin.post(path, json=body)
        assert made.status == 200, made.text
        assert (made.json()["calendarId"], made.json()["attributes"]) == (0, {})
