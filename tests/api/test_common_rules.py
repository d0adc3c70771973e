"""Rules that all operations share (docs/http-api.md, docs/permissions.md#status-of-a-refusal), followed over
HTTP by what the OpenAPI document says of each: a new operation or resource is covered by being there.
"""

import json
import logging
import random
import re
import sys
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import pytest
from tests.api.cases import on_one_server

from motorpool.api.engine.examples import BODIES
from motorpool.api.engine.openapi import describe
from motorpool.api.engine.resource import Resource
from motorpool.api.resources import OPERATIONS

UNKNOWN = 4_711_000
NOON, LATER = "2026-05-01T12:00:00Z", "2026-05-01T13:00:00Z"
DATABASE_WORDS = re.compile(
    r"int32|int64|bigint|smallint|argument|constraint|violat|relation|syntax|invalid byte|encoding|index row"
    r"|codec|a value cannot be stored|a value is not allowed",
    re.IGNORECASE,
)
"""What a text of the database would hold, and what stands for it where nobody has checked a value before."""

EXAMPLES = {
    "createScheduledReport": {"type": "trips", "calendarId": 1},
    "updateScheduledReport": {"type": "trips", "calendarId": 1},
    "createSavedCommand": {"type": "custom", "attributes": {"data": "00"}},
}
"""Bodies that the document has no example of."""
DOCUMENT = describe(OPERATIONS, version="1.2.3")
RESOURCES = {
    each.path: each
    for name, module in sorted(sys.modules.items())
    if name.startswith("motorpool.api.resources.")
    for each in vars(module).values()
    if isinstance(each, Resource)
}


@dataclass(frozen=True)
class Described:
    """An operation as the document describes it."""

    method: str
    path: str
    entry: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def name(self) -> str:
        return self.entry["operationId"]

    def parameters(self, place: str) -> dict[str, dict[str, Any]]:
        """The schemas of the parameters in `query`, `path` or `header`."""
        return {
            each["name"]: each["schema"] for each in self.entry.get("parameters", ()) if each["in"] == place
        }

    def required(self, place: str) -> list[str]:
        return [
            each["name"]
            for each in self.entry.get("parameters", ())
            if each["in"] == place and each["required"]
        ]

    @property
    def body(self) -> tuple[str, dict[str, Any]]:
        """`json` or `form` with its schema; an empty text without a body of fields."""
        content = self.entry.get("requestBody", {}).get("content", {})
        for kind, name in (("application/json", "json"), ("application/x-www-form-urlencoded", "form")):
            if kind in content:
                return name, resolved(content[kind]["schema"])
        return "", {}


def resolved(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema that a reference leads to."""
    if "$ref" in schema:
        return DOCUMENT["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return schema


def type_of(schema: dict[str, Any]) -> str:
    """The type of a value that is not null."""
    kinds = schema.get("type", "any")
    if isinstance(kinds, list):
        kinds = next(kind for kind in kinds if kind != "null")
    return "date-time" if schema.get("format") == "date-time" else kinds


ALL = [
    Described(method.upper(), path, entry)
    for path, entries in DOCUMENT["paths"].items()
    for method, entry in entries.items()
]


@dataclass
class World:
    """Rows that requests name, and two users: who owns them, and who sees nothing."""

    served: Any
    owner: Any
    stranger: Any
    ids: dict[str, int]
    """By the name of a reference, such as `deviceId`."""

    def named(self, value: Any, name: str = "") -> Any:
        """An example with the ids of this world."""
        if isinstance(value, dict):
            return {key: self.named(item, key) for key, item in value.items()}
        if isinstance(value, list):
            return [self.named(item, name) for item in value]
        return self.ids.get(name, value)

    def path(self, operation: Described, **given: object) -> str:
        family = operation.path.split("/")[1]
        path = operation.path
        for name, schema in operation.parameters("path").items():
            known = self.ids.get(name, 1) if type_of(schema) == "integer" else "xlsx"
            if name == "id":
                known = self.ids.get(family, UNKNOWN) if type_of(schema) == "integer" else "unknown"
            path = path.replace(f"{{{name}}}", quote(str(given.get(name, known)), safe=""))
        return path

    def query(self, operation: Described, **given: object) -> dict[str, Any]:
        wanted = operation.parameters("query")
        known = {"from": NOON, "to": LATER, **self.ids}
        sent = {name: sample(wanted[name], known.get(name)) for name in operation.required("query")}
        if "wait" in wanted:
            sent["wait"] = 0
        return {**sent, **given}

    def body(self, operation: Described) -> Any:
        """A body with what it needs."""
        create = operation.name.replace("update", "create", 1)
        example = {**BODIES, **EXAMPLES}.get(operation.name, BODIES.get(create))
        if example is None:
            schema = operation.body[1]
            example = {
                name: sample(schema["properties"][name], self.ids.get(name))
                for name in schema.get("required", ())
            }
        return self.named(example)

    async def send(self, who: Any, operation: Described, **changed: Any) -> Any:
        """Send a request that is right but for what is changed: `path`, `query` or `body`."""
        kind = operation.body[0]
        sent = {kind: changed.get("body", self.body(operation))} if kind else {}
        if kind == "json" and any("\ud800" <= each <= "\udfff" for each in str(sent["json"])):
            sent = {"data": json.dumps(sent["json"]), "headers": {"Content-Type": "application/json"}}
        if "headers" in changed:
            sent["headers"] = {**sent.get("headers", {}), **changed["headers"]}
        return await who.call(
            operation.method,
            "/api" + changed.get("path", self.path(operation)),
            query_string=changed.get("query", self.query(operation)),
            **sent,
        )


def sample(schema: dict[str, Any], known: object = None) -> Any:
    """A value that fits a schema."""
    if known is not None:
        return known
    schema = resolved(schema)
    if "enum" in schema:
        return schema["enum"][0]
    match type_of(schema):
        case "integer" | "number":
            return max(1, schema.get("minimum", 1))
        case "boolean":
            return True
        case "array":
            return [sample(schema["items"])]
        case "object":
            return {}
        case "date-time":
            return NOON
    return "name"


@pytest.fixture
async def world(served):
    owner = await served.user("owner", deviceLimit=-1)
    stranger = await served.user("stranger")
    found = World(served, owner, stranger, {"userId": stranger.id, "users": stranger.id})

    async def make(path: str, key: str, **fields: Any) -> None:
        (operation,) = [each for each in ALL if (each.method, each.path) == ("POST", f"/{path}")]
        body = {**found.body(operation), **fields}
        for name in ("attributes", "priorityId", "calendarId"):
            if name not in fields:
                body.pop(name, None) if name not in found.ids else None
        answer = await owner.post(f"/{path}", json=body)
        assert answer.status == 200, (path, answer.text)
        found.ids |= {key: answer.json()["id"], path.split("/", maxsplit=1)[0]: answer.json()["id"]}

    await make("devices", "deviceId")
    await make("drivers", "driverId")
    await make("groups", "groupId")
    await make("geofences", "geofenceId")
    await make("calendars", "calendarId")
    await make("commands", "commandId", type="custom", attributes={"data": "00"})
    await make("scheduledcommands", "scheduledCommandId", attributes={})
    await make("companies", "companyId")
    await make("teams", "teamId")
    answer = await owner.post("/tickets/defaults", json={"companyId": found.ids["companyId"]})
    assert answer.status == 200, answer.text
    standard = answer.json()
    found.ids |= {
        "categoryId": standard["categories"][0]["id"],
        "priorityId": standard["priorities"][0]["id"],
    }
    found.ids |= {"statusId": standard["statuses"][0]["id"]}
    found.ids |= {"ticketcategories": found.ids["categoryId"], "ticketpriorities": found.ids["priorityId"]}
    found.ids |= {"ticketstatuses": found.ids["statusId"]}
    await make("tickets", "ticketId", subject="Broken")
    return found


# Spans, limits, coordinates


def has_span(operation: Described) -> bool:
    return {"from", "to"} <= operation.parameters("query").keys()


async def test_a_span_that_ends_before_it_begins_is_400_everywhere(world):
    spans = [(each, "from", "to") for each in ALL if has_span(each)]
    spans += [
        (each, name, f"{name[:-4]}To")
        for each in ALL
        for name in each.parameters("query")
        if name.endswith("From")
    ]
    assert len(spans) > 20
    for operation, start, end in spans:
        query = world.query(operation, **{start: LATER, end: NOON})
        answer = await world.send(world.served.admin, operation, query=query)
        assert (answer.status, answer.text) == (400, f"{end}: lies before {start}"), str(operation)


async def test_a_limit_of_0_is_as_many_as_the_list_allows_everywhere(world):
    limited = [each for each in ALL if "limit" in each.parameters("query")]
    assert len(limited) > 20
    for operation in limited:
        most = operation.parameters("query")["limit"]["maximum"]
        # Some lists need a span only with some of their parameters.
        span = {"from": NOON, "to": LATER} if has_span(operation) else {}
        answers = [
            await world.send(world.served.admin, operation, query=world.query(operation, limit=limit, **span))
            for limit in (0, most)
        ]
        assert [each.status for each in answers] == [200, 200], (str(operation), answers[0].text)
        assert answers[0].json() == answers[1].json(), str(operation)


async def test_pages_hold_more_than_by_default_with_a_limit_of_0(world, database):
    await database.execute(
        "insert into events (id, type, event_time, device_id)"
        " select each, 'alarm', $1, $2 from generate_series(1, 150) each",
        world.served.clock.now(),
        world.ids["deviceId"],
    )
    for limit, count in (("", 100), ("&limit=0", 150), ("&limit=7", 7)):
        listed = await world.owner.get(f"/events?from={NOON}&to={LATER}{limit}")
        assert len(listed.json()) == count


async def test_coordinates_have_ranges_wherever_they_are_sent(world):
    found = []
    for operation in ALL:
        sent = {**operation.parameters("query"), **operation.body[1].get("properties", {})}
        for name, most in (("latitude", 90), ("longitude", 180)):
            if name in sent:
                assert (sent[name]["minimum"], sent[name]["maximum"]) == (-most, most), str(operation)
                found.append(operation.name)
    assert {"createUser", "updateUser", "updateServer", "findAddress", "getPresenceReport"} <= set(found)
    for path, body in (("/users/" + str(world.stranger.id), {"email": "a@example.org"}), ("/server", {})):
        for name, number in (("latitude", 90.5), ("latitude", -91), ("longitude", 181)):
            answer = await world.served.admin.put(path, json={**body, name: number})
            assert answer.status == 400
            assert answer.text.startswith(f"{name}: ")


# Identifiers


async def test_no_two_records_have_one_unique_id_but_orders(world):
    owned = []
    for path in sorted(RESOURCES):
        (create,) = [each for each in ALL if (each.method, each.path) == ("POST", f"/{path}")]
        if "uniqueId" not in create.body[1]["properties"]:
            continue
        owned.append(path)
        body = {**world.body(create), "name": "First", "uniqueId": "reference"}
        answers = [
            await world.served.admin.post(f"/{path}", json={**body, "name": name})
            for name in ("First", "Second")
        ]
        second = 200 if path == "orders" else 400
        assert [each.status for each in answers] == [200, second], (path, answers[1].text)
    assert {"devices", "drivers", "orders", "companies"} <= set(owned)


# Unknown and foreign ids


async def test_deleting_an_unknown_id_is_404_everywhere(world):
    deleting = [each for each in ALL if each.method == "DELETE" and each.parameters("path")]
    assert len(deleting) > 20
    for operation in deleting:
        names = operation.parameters("path")
        path = world.path(
            operation, **{name: UNKNOWN if type_of(names[name]) == "integer" else "no" for name in names}
        )
        answer = await world.send(world.served.admin, operation, path=path)
        assert answer.status == 404, (str(operation), answer.text)


@on_one_server("path", sorted(RESOURCES))
async def test_whether_a_record_exists_is_told_to_nobody_who_may_not_see_it(path, world):
    """Companies and what belongs to them answer 404 for an unknown id, by the specification."""
    distinguishes = RESOURCES[path].policy.distinguishes_missing
    (create,) = [each for each in ALL if (each.method, each.path) == ("POST", f"/{path}")]
    body = {**world.body(create), "name": "Another", "uniqueId": "another", "email": "other@example.org"}
    made = await world.served.admin.post(f"/{path}", json=body)
    assert made.status == 200, made.text
    for method in {"GET", "PUT", "DELETE"} - distinguishes:
        answers = [
            await world.stranger.call(method, f"/api/{path}/{number}", json=None if method == "GET" else body)
            for number in (made.json()["id"], UNKNOWN)
        ]
        assert answers[0].status == answers[1].status == (404 if method == "GET" else 400), method
        assert answers[0].text == answers[1].text


def takes_device(operation: Described) -> str:
    """Where the operation names one device: in `path`, `query` or `body`; empty if it names none."""
    if "deviceId" in operation.parameters("path") or operation.path.startswith("/devices/{id}"):
        return "path"
    schema = operation.parameters("query").get("deviceId")
    if schema is not None:
        return "query" if type_of(schema) == "integer" else ""
    return "body" if "deviceId" in operation.body[1].get("properties", {}) else ""


async def test_a_foreign_device_answers_like_an_unknown_one_and_alike_everywhere(world):
    """Reads are 404, writes and filters 400; video and files are 404, as captures in the specification."""
    asked = {}
    for operation in ALL:
        place = takes_device(operation)
        # The links of a device are links; runs, and tickets, are filtered among what the caller may read.
        is_filter = operation.path in {"/permissions", "/scheduledcommands/{id}/runs"}
        if not place or is_filter or operation.path.startswith("/attributes/computed/test"):
            continue
        answers = []
        for number in (world.ids["deviceId"], UNKNOWN):
            changed: dict[str, Any] = {}
            if place == "path":
                changed["path"] = world.path(operation, deviceId=number, id=number)
                if "deviceId" in operation.body[1].get("properties", {}):
                    changed["body"] = {**world.body(operation), "deviceId": number}
            elif place == "query":
                span = {"from": NOON, "to": LATER} if has_span(operation) else {}
                changed["query"] = world.query(operation, deviceId=number, **span)
            else:
                changed["body"] = {**world.body(operation), "deviceId": number}
            answers.append(await world.send(world.stranger, operation, **changed))
        assert answers[0].status == answers[1].status, str(operation)
        assert answers[0].text == answers[1].text, str(operation)
        asked[str(operation)] = answers[0].status
    lists = {f"GET /{path}" for path in RESOURCES} | {"GET /devices/csv", "GET /permissions/inherited"}
    media = {f"{each.method} {each.path}" for each in ALL if each.entry["tags"] == ["media"]}
    media |= {"POST /devices/{id}/image", "POST /devices/{id}/stills"}
    for name, status in asked.items():
        reads = name.startswith("GET") and name not in lists
        # A picture without a body is refused before the device is looked for, or after it.
        assert status == (404 if reads or name in media else 400), name
    assert len(asked) > 30


# Texts that are absent


MAY_BE_EMPTY = {"notificators"}
"""A list that is written as a text."""


@on_one_server("path", sorted(RESOURCES))
async def test_an_absent_text_is_null_in_every_record(path, world):
    resource = RESOURCES[path]
    (create,) = [each for each in ALL if (each.method, each.path) == ("POST", f"/{path}")]
    schema = create.body[1]
    example = {"password": "secret", **world.body(create)}
    needed = {name: example[name] for name in schema.get("required", ())}
    needed |= {name: example[name] for name in ("onStart", "password") if name in example}
    needed |= {
        name: text
        for name, text in (("name", "Third"), ("uniqueId", "third"), ("email", "third@example.org"))
        if name in needed
    }
    texts = [
        name
        for name, each in schema["properties"].items()
        if type_of(resolved(each)) == "string" and name not in needed
    ]
    texts = [name for name in texts if name not in {"password", "currentPassword", "totpKey"}]
    for sent in ({}, dict.fromkeys(texts), dict.fromkeys(texts, "")):
        body = {**needed, **sent}
        made = await world.served.admin.post(f"/{path}", json=body)
        assert made.status == 200, made.text
        number = made.json()["id"]
        fetched = await world.served.admin.get(f"/{path}/{number}")
        for answer in (made.json(), fetched.json()):
            assert [name for name in texts if answer[name] is not None] in ([], sorted(MAY_BE_EMPTY)), answer
            assert "" not in [value for name, value in answer.items() if name not in MAY_BE_EMPTY]
        assert (await world.served.admin.delete(f"/{path}/{number}")).status == 204
    assert resource.shape.__name__ in DOCUMENT["components"]["schemas"]


def test_every_text_of_an_answer_is_needed_or_may_be_null():
    """Texts with an empty default are those that a body must have, and the few that are never empty."""
    never = {"protocol", "type", "status", "actionType", "statusKind", "channel", "actor", "kind", "subject"}
    never |= {"attribute", "expression", "area", "data", "name", "uniqueId", "email"}
    for name, schema in DOCUMENT["components"]["schemas"].items():
        if name.endswith("Input"):
            continue
        sent = DOCUMENT["components"]["schemas"].get(f"{name}Input", {})
        for field, described in schema["properties"].items():
            if described.get("type") != "string" or field in MAY_BE_EMPTY | never or "enum" in described:
                continue
            if sent and field in sent["properties"]:
                assert field in sent.get("required", ()), f"{name}.{field}"


# Fields that a record keeps


async def test_what_is_set_for_ever_is_400_where_it_differs(world):
    other = await world.owner.post("/companies", json={"name": "South"})
    owned = [path for path, each in RESOURCES.items() if "company_id" in each.policy.table.immutable]
    assert len(owned) == 6
    for path in owned:
        (create,) = [each for each in ALL if (each.method, each.path) == ("POST", f"/{path}")]
        body = {**world.body(create), "name": "Fourth", "uniqueId": "fourth"}
        made = await world.owner.post(f"/{path}", json=body)
        assert made.status == 200, made.text
        moved = {**made.json(), "companyId": other.json()["id"]}
        answer = await world.owner.put(f"/{path}/{made.json()['id']}", json=moved)
        assert (answer.status, answer.text) == (400, "companyId: cannot be changed")
        assert (await world.owner.put(f"/{path}/{made.json()['id']}", json=made.json())).status == 200
    ticket = f"/tickets/{world.ids['ticketId']}"
    stored = (await world.owner.get(ticket)).json()
    for name in ("companyId", "eventId", "positionId", "maintenanceId", "geofenceId"):
        answer = await world.owner.put(ticket, json={name: UNKNOWN})
        assert (answer.status, answer.text) == (400, f"{name}: cannot be changed")
        assert (await world.owner.put(ticket, json={name: stored[name]})).status == 200
    answer = await world.owner.put(ticket, json={"channel": "phone"})
    assert (answer.status, answer.text) == (400, "channel: cannot be changed")
    again = await world.owner.put(ticket, json={**stored, "createdAt": "2001-01-01T00:00:00Z", "number": 99})
    assert again.status == 200, again.text
    assert again.json() == stored


# What cannot be stored


NUMBERS = (2**31, 2**63 - 1, 2**63, 2**70, -1, -(2**31) - 1, -(2**63) - 1, 10**40)
HOSTILE: dict[str, tuple[Any, ...]] = {
    "integer": NUMBERS,
    "number": (*NUMBERS, 1e308, -1e308, 5e-324),
    "string": ("\0", "a\0b", "\ud800", "x\udfffy", "x" * 5000, "🚚" * 1500, "'; --", "%_\\"),
    "date-time": ("0001-01-01T00:00:00+14:00", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z", "a\0"),
    "object": (
        {"\0": 1},
        {"a": "\0"},
        {"a": ["\ud800"]},
        {"a": 10**40, "b": 1e308},
        {"x" * 5000: "y" * 5000},
    ),
    "boolean": ("\0", 2**70),
    "any": ("\0", 2**70),
}
AS_TEXT = {"nan", "inf", "-inf", "9" * 5000}
UNTRIED = {"rebootServer", "reboot", "deleteSession", "closeSession"}


def hostile(schema: dict[str, Any], *, in_url: bool) -> list[Any]:
    schema = resolved(schema)
    kind = type_of(schema)
    if kind == "array":
        return [[each] for each in hostile(schema["items"], in_url=in_url)]
    values = [*HOSTILE.get(kind, HOSTILE["any"])]
    if in_url:
        values = [
            each for each in values if not (isinstance(each, str) and re.search("[\ud800-\udfff]", each))
        ]
        if kind in {"integer", "number"}:
            values += AS_TEXT
    if resolved(schema).get("properties"):
        inner = resolved(schema)["properties"]
        values += [{name: each} for name in inner for each in hostile(inner[name], in_url=in_url)]
    return values


def attempts(world: World, operation: Described) -> list[tuple[str, Any, dict[str, Any]]]:
    """For each field of a request what it may be called, a hostile value, and what to change for it."""
    found: list[tuple[str, Any, dict[str, Any]]] = []
    for name, schema in operation.parameters("query").items():
        found += [
            (name, value, {"query": world.query(operation, **{name: value})})
            for value in hostile(schema, in_url=True)
        ]
    for name, schema in operation.parameters("path").items():
        values = [2**63, 2**70, 2**31] if type_of(schema) == "integer" else ["\0", "a\0", "x" * 5000]
        found += [(name, value, {"path": world.path(operation, **{name: value})}) for value in values]
    for name in operation.parameters("header"):
        found += [(name, value, {"headers": {name: value}}) for value in ("x" * 5000, '"' + "9" * 40 + '"')]
    kind, schema = operation.body
    body = world.body(operation) if kind else None
    for name, each in schema.get("properties", {}).items():
        values = hostile(each, in_url=kind == "form")
        found += [(name, value, {"body": {**body, name: value}}) for value in values]
    return found


@pytest.mark.parametrize("part", range(4))
async def test_no_value_gets_a_text_of_the_database(part, world, seed, at_length, caplog):
    chance = random.Random(seed)
    # A row that a request deletes or gives a new identity is not there for the next one.
    world.ids |= {"users": world.stranger.id}
    for operation in ALL[part::4]:
        if operation.name in UNTRIED or operation.entry.get("requestBody", {}).get("content", {}).keys() & {
            "application/octet-stream"
        }:
            continue
        by_field: dict[str, list[Any]] = {}
        for name, value, changed in attempts(world, operation):
            by_field.setdefault(name, []).append((value, changed))
        for name, tried in by_field.items():
            for value, changed in tried if at_length else chance.sample(tried, min(2, len(tried))):
                if operation.method == "DELETE" and operation.parameters("path"):
                    changed.setdefault("path", world.path(operation, id=UNKNOWN))
                caplog.clear()
                with caplog.at_level(logging.WARNING, "motorpool.api.app"):
                    answer = await world.send(world.served.admin, operation, **changed)
                shown = f"{operation} {name}={str(value)[:60]!r}: {answer.status} {answer.body[:200]!r}"
                assert answer.status != 500 or answer.text == "reverse geocoding is not enabled", shown
                if answer.status >= 400:
                    assert not DATABASE_WORDS.search(answer.text), shown
                assert not caplog.records, (shown, caplog.text)


@on_one_server("path", ["/devices", "/orders", "/tickets"])
async def test_a_keyword_that_no_text_can_contain_is_refused_by_its_name(path, world):
    answer = await world.owner.get(path, query_string={"keyword": "a\0b"})
    assert (answer.status, answer.text.partition(":")[0]) == (400, "keyword")
    assert not DATABASE_WORDS.search(answer.text)


@on_one_server("number", [2**31, 2**63, -(2**31) - 1])
async def test_a_number_that_no_column_takes_is_refused_by_the_name_of_its_field(number, world):
    for path, body in (
        (f"/users/{world.stranger.id}", {"email": "a@example.org", "zoom": number}),
        ("/server", {"zoom": number}),
    ):
        answer = await world.served.admin.put(path, json=body)
        assert (answer.status, answer.text.partition(":")[0]) == (400, "zoom")
        assert not DATABASE_WORDS.search(answer.text)


async def test_a_credential_that_cannot_be_stored_is_a_wrong_one(served):
    for header in ("YQBiOmM=", "AAA6", "7aCAOmE="):  # a\0b:c, \0\0:, half a surrogate pair
        answer = await served.client({"Authorization": f"Basic {header}"}).get("/devices")
        assert answer.status == 401
    for form in ({"email": "a\0b", "password": "c"}, {"email": "admin@example.org", "password": "\0"}):
        answer = await served.client().post("/session", form=form)
        assert answer.status in {400, 401}
        assert not DATABASE_WORDS.search(answer.text)


# Companies, lists, reports


async def test_the_last_manager_of_a_company_cannot_leave_it(world, served):
    link = {"userId": world.owner.id, "companyId": world.ids["companyId"]}
    for path, body in (("/permissions", link), ("/permissions/bulk", [link])):
        answer = await world.owner.delete(path, json=body)
        assert (answer.status, answer.text) == (400, "the last manager of a company cannot leave it")
    assert (await world.owner.get(f"/companies/{link['companyId']}")).status == 200
    # Somebody who is linked and nothing more, or cannot log in, manages nothing.
    boss = await served.user("boss", userLimit=3, disabled=False)
    for number in (world.stranger.id, boss.id):
        made = await served.admin.post("/permissions", json={**link, "userId": number})
        assert made.status == 204
    await served.admin.put(
        f"/users/{boss.id}", json={"email": "boss@example.org", "userLimit": 3, "disabled": True}
    )
    assert (await world.owner.delete("/permissions", json=link)).status == 400
    await served.admin.put(f"/users/{boss.id}", json={"email": "boss@example.org", "userLimit": 3})
    assert (await world.owner.delete("/permissions", json=link)).status == 204
    assert (await served.admin.delete("/permissions", json={**link, "userId": boss.id})).status == 204


NAMES = [
    "Ábel",
    "abel",
    "Äbel 2",
    "Łódź",
    "lodz 2",
    "Ñandú",
    "nandu 2",
    "Øre",
    "ore 2",
    "Zug",
    "zug 2",
    "Жук",
]


async def test_accents_and_case_lie_beside_their_letters(served):
    shuffled = random.Random(7).sample(NAMES, len(NAMES))
    for number, name in enumerate(shuffled):
        for path in ("devices", "drivers"):
            body = {"name": name, "uniqueId": f"7{number}"}
            assert (await served.admin.post(f"/{path}", json=body)).status == 200
        assert (await served.admin.post("/orders", json={"description": name})).status == 200
    same_key = [{"Ábel", "abel"}]
    for path, field in (("devices", "name"), ("drivers", "name"), ("orders", "description")):
        listed = [each[field] for each in (await served.admin.get(f"/{path}")).json()]
        assert set(listed[:2]) in same_key
        assert [shuffled.index(each) for each in listed[:2]] == sorted(shuffled.index(e) for e in listed[:2])
        assert listed[2:] == NAMES[2:]


async def test_the_report_of_devices_is_json_with_the_columns_of_the_workbook(world):
    device_id = world.ids["deviceId"]
    await world.served.report(world.served.position(device_id, address="Alexanderplatz 1"))
    empty = await world.served.device(world.owner, "77", phone="+4930", model="X", contact="Bob")
    for headers in ({}, {"Accept": "application/json"}, {"Accept": "*/*"}):
        answer = await world.owner.get("/reports/devices", headers=headers)
        assert answer.headers["Content-Type"] == "application/json"
    first, second = answer.json()
    assert first["address"] == first["place"] == "Alexanderplatz 1"
    assert (first["latitude"], first["longitude"]) == (52.5, 13.4)
    assert second == {
        "deviceId": empty,
        "deviceName": "Vehicle 77",
        "uniqueId": "77",
        "phone": "+4930",
        "model": "X",
        "contact": "Bob",
        "status": "offline",
        "lastUpdate": None,
        "latitude": None,
        "longitude": None,
        "address": None,
        "place": None,
    }
    assert [
        each["deviceId"] for each in (await world.owner.get(f"/reports/devices?deviceId={empty}")).json()
    ] == [empty]
    workbook = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    answer = await world.owner.get("/reports/devices", headers={"Accept": workbook})
    assert answer.headers["Content-Type"] == workbook


async def test_a_computed_attribute_has_a_type(world):
    body = {"attribute": "twice", "expression": "speed * 2"}
    for kind in ({}, {"type": None}, {"type": ""}, {"type": "Integer"}):
        for path in ("", f"/test?deviceId={world.ids['deviceId']}"):
            answer = await world.served.admin.post(f"/attributes/computed{path}", json={**body, **kind})
            assert answer.status == 400
            assert answer.text.startswith("type: ")
