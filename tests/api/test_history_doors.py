"""Every door to what is stored of the past of devices, with the right to history and without it.

The doors are those of docs/permissions.md#history; DOORS says how each of them is asked.
"""

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from motorpool.actors.files.media_files import media_name
from motorpool.actors.files.media_store import folder_name
from motorpool.api.app import openapi_document
from motorpool.api.resources import OPERATIONS
from motorpool.storage.events import events
from motorpool.storage.records import Event, Review

PAGE = (Path(__file__).parents[2] / "docs" / "permissions.md").read_text("utf-8")
REFUSAL = b"the user has no access to reports and position history"
SPAN = "from=2026-05-01T00:00:00Z&to=2026-05-02T00:00:00Z"
CAPTURE = "capture-0123456789abcdef.mp4"


class Door(NamedTuple):
    """How an operation is asked; what is in braces comes from the world."""

    operation: str
    takes: str
    path: str
    body: dict[str, Any] | None = None
    status: int = 200
    """What it answers to those who may."""


def _reports() -> Iterator[Door]:
    """All reports, as JSON and as workbooks."""
    own = {"presence": "&latitude=52.5&longitude=13.4", "geofences": "&geofenceId=1"}
    for operation in OPERATIONS:
        found = re.fullmatch(r"/reports/(\w+)(/\{type\})?", operation.plain_path)
        if found and operation.method == "GET":
            path = f"/reports/{found[1]}{'/xlsx' if found[2] else ''}?{SPAN}{own.get(found[1], '')}"
            yield Door(f"GET {operation.plain_path}", "history", path)


RECORDING = {"startTime": "2026-05-01T10:00:00Z", "endTime": "2026-05-01T10:05:00Z"}
AFTER = {"startTime": "2026-05-01T11:00:00Z", "endTime": "2026-05-01T11:05:00Z"}
COMMENTS = "/tickets/{ticket}/comments"
DOORS = (
    Door("GET /positions", "history", "/positions?id={position}"),
    Door("GET /positions", "history", "/positions?deviceId={device}&" + SPAN),
    Door("GET /positions", "access", "/positions"),
    *(
        Door(f"GET /positions/{kind}", "history", f"/positions/{kind}?deviceId={{device}}&{SPAN}")
        for kind in ("kml", "kmz", "csv", "gpx")
    ),
    Door("GET /events", "history", f"/events?{SPAN}"),
    Door("GET /events/{id}", "history", "/events/{event}"),
    Door("PUT /events/{id}/review", "history", "/events/{event}/review", {"state": "DISMISSED"}),
    Door("GET /commands/log", "history", "/commands/log?deviceId={device}"),
    Door("GET /driverassignments", "history", "/driverassignments"),
    Door(
        "POST /driverassignments",
        "history",
        "/driverassignments",
        {"deviceId": "{device}", "driverId": "{driver}", **AFTER},
    ),
    Door("GET /driverassignments/{id}", "history", "/driverassignments/{assignment}"),
    Door(
        "PUT /driverassignments/{id}",
        "history",
        "/driverassignments/{assignment}",
        {"deviceId": "{device}", "driverId": "{driver}", **RECORDING},
    ),
    Door("DELETE /driverassignments/{id}", "history", "/driverassignments/{assignment}", status=204),
    *_reports(),
    Door("GET /reports/{id}", "own link", "/reports/9", status=404),
    Door("GET /recordings/{deviceId}", "history", "/recordings/{device}"),
    Door("GET /captures", "history", "/captures?deviceId={device}"),
    Door("POST /captures", "history", "/captures?deviceId={device}&channel=2", {}),
    Door("GET /captures/{id}", "history", "/captures/{capture}"),
    Door("DELETE /captures/{id}", "history", "/captures/{capture}"),
    Door("GET /footagerequests", "history", "/footagerequests"),
    Door("GET /footagerequests", "history", "/footagerequests?deviceId={device}"),
    Door(
        "POST /footagerequests",
        "history",
        "/footagerequests",
        {"deviceId": "{device}", "channel": 3, **RECORDING},
    ),
    Door("GET /footagerequests/{id}", "history", "/footagerequests/{footage}"),
    Door("DELETE /footagerequests/{id}", "history", "/footagerequests/{footage}", status=204),
    Door("GET /playbacks", "history", "/playbacks?deviceId={device}"),
    Door("GET /stream/{deviceId}/{channel}/playback.m3u8", "history", "/stream/{device}/1/playback.m3u8"),
    Door(
        "GET /stream/{deviceId}/{channel}/playback/{index}.ts",
        "history",
        "/stream/{device}/1/playback/0.ts",
        status=404,
    ),
    Door("GET /stream/{deviceId}/{channel}/live.m3u8", "access", "/stream/{device}/1/live.m3u8?wait=0"),
    Door("GET /media", "history", "/media"),
    Door("PUT /media/{uniqueId}/{file}", "history", "/media/1/{capture_file}", {"kept": False}),
    Door("DELETE /media/{uniqueId}/{file}", "history", "/media/1/20260501120000-a.jpg", status=404),
    Door("GET /events/{id}/evidence", "history", "/events/{event}/evidence"),
    Door("GET /events/{id}/evidence.zip", "history", "/events/{event}/evidence.zip"),
    Door("GET /media/{uniqueId}/{file}", "history", "/media/1/{capture_file}"),
    Door("GET /media/{uniqueId}/{file}", "access", "/media/1/{photo}"),
    # The files of the world are no films.
    *(
        Door(f"GET /media/{{uniqueId}}/{{file}}/{kind}", takes, f"/media/1/{{{file}}}/{kind}", status=404)
        for kind in ("picture", "film")
        for takes, file in (("history", "capture_file"), ("access", "photo"))
    ),
    Door("GET /devices/motion", "access", "/devices/motion?id={device}"),
    Door("GET /devices/places", "access", "/devices/places?id={device}"),
    Door("POST /tickets/{id}/comments", "history", COMMENTS, {"text": "There", "positionId": "{position}"}),
    Door("POST /tickets/{id}/comments", "history", COMMENTS, {"text": "So", "captureId": "{capture}"}),
    Door(
        "POST /tickets/{id}/comments",
        "history",
        COMMENTS,
        {"text": "So", "files": [{"deviceId": "{device}", "fileName": "{capture_file}"}]},
    ),
    Door(
        "POST /tickets",
        "access",
        "/tickets",
        {"companyId": "{company}", "subject": "A", "eventId": "{event}", "positionId": "{position}"},
    ),
    Door("GET /tickets/{id}", "company", "/tickets/{ticket}"),
    Door("GET /tickets/{id}/events", "company", "/tickets/{ticket}/events"),
    Door(
        "POST /attributes/computed/test",
        "administrator",
        "/attributes/computed/test?deviceId={device}",
        {"attribute": "a", "expression": "1", "type": "Number"},
        status=401,
    ),
)


def documented() -> Iterator[tuple[str, str]]:
    """The doors of the page that are operations, as patterns, with what each takes."""
    section = PAGE[PAGE.index("\n## History\n") : PAGE.index("\n## Links\n")]
    for line in section.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and len(cells) == 3:
            for pattern in re.findall(r"`([A-Z]+ /[^`]*)`", cells[0]):
                yield pattern, cells[2]


DOCUMENTED = {pair for pair in documented() if pair[0] != "GET /socket"}


def pattern_of(operation: str) -> str:
    """The pattern of the page that says most of an operation; empty if there is none."""
    found = [pattern for pattern, _ in DOCUMENTED if fnmatchcase(operation, pattern)]
    return max(found, key=lambda pattern: (pattern == operation, len(pattern)), default="")


SHOWN = {
    *("Position", "Event", "Capture", "Footage", "Playback", "Recording", "DeviceMotion", "TicketEvent"),
    *("CombinedItem", "Presence", "DriverAssignment"),
}
"""Records of the past of devices."""
PRESENT = {"GET /devices/csv", "GET /server/backup"}
"""Files of what is now, and a backup, for administrators who give their password."""
PLAIN = {"application/json", "text/plain"}


def shows_history(entry: dict[str, Any], schemas: dict[str, Any]) -> bool:
    """Whether an operation answers such a record, or a file."""
    bodies = [answer.get("content", {}) for status, answer in entry["responses"].items() if status < "4"]
    if any(body.keys() - PLAIN for body in bodies):
        return True
    seen: set[str] = set()
    waiting = set(re.findall(r"#/components/schemas/(\w+)", str(bodies)))
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting |= set(re.findall(r"#/components/schemas/(\w+)", str(schemas[name])))
    return not seen.isdisjoint(SHOWN)


def test_every_operation_that_shows_the_past_is_a_door():
    document = openapi_document()
    schemas = document["components"]["schemas"]
    assert schemas.keys() >= SHOWN
    shown = {
        f"{method.upper()} {path}"
        for path, entries in document["paths"].items()
        for method, entry in entries.items()
        if shows_history(entry, schemas)
    }
    assert len(shown) > 30
    assert sorted(operation for operation in shown - PRESENT if not pattern_of(operation)) == []


def test_the_document_says_that_they_may_be_refused():
    paths = openapi_document()["paths"]
    for door in DOORS:
        method, path = door.operation.split()
        assert door.takes != "history" or "400" in paths[path][method.lower()]["responses"], door.operation


def test_every_door_of_the_page_is_walked():
    assert {(pattern_of(door.operation), door.takes) for door in DOORS} == DOCUMENTED


@pytest.fixture
async def world(served: Any, database: Any) -> dict[str, Any]:
    """A user with a device that has been somewhere, and with a company."""
    ann = await served.user("ann", deviceLimit=-1)
    device = await served.device(ann, "1")
    (position,) = await served.report(served.position(device))
    event = Event(
        type="alarm",
        event_time=position.fix_time,
        device_id=device,
        position_id=position.id,
        review=Review(),
    )
    await events.assign_ids(database, [event])
    await events.insert_many(database, [event])
    folder = served.context.files.store.folder / folder_name("1")
    folder.mkdir(parents=True)
    photo = media_name(position.fix_time, "jpg")
    for name in (photo, CAPTURE):
        (folder / name).write_bytes(b"a picture")
    await database.execute(
        "insert into captures"
        " (id, device_id, channel, live, file_name, started_at, completed_at, status, node)"
        " values ('0123', $1, 1, true, $2, $3, $3, 'COMPLETE', 0)",
        device,
        CAPTURE,
        served.clock.now(),
    )
    footage = await ann.post("/footagerequests", json={"deviceId": device, "channel": 1, **RECORDING})
    driver = (await ann.post("/drivers", json={"name": "Bob", "uniqueId": "7"})).json()["id"]
    span = {"deviceId": device, "driverId": driver, **RECORDING}
    assignment = await ann.post("/driverassignments", json=span)
    company = (await ann.post("/companies", json={"name": "North"})).json()["id"]
    assert (await ann.post(f"/tickets/defaults?companyId={company}")).status == 200
    ticket = (await ann.post("/tickets", json={"companyId": company, "subject": "Accident"})).json()
    return {
        "ann": ann,
        "device": device,
        "position": position.id,
        "event": event.id,
        "capture": "0123",
        "capture_file": CAPTURE,
        "photo": photo,
        "footage": footage.json()["id"],
        "driver": driver,
        "assignment": assignment.json()["id"],
        "company": company,
        "ticket": ticket["id"],
    }


def filled(value: Any, world: dict[str, Any]) -> Any:
    """A body with the values of the world."""
    match value:
        case dict():
            return {name: filled(each, world) for name, each in value.items()}
        case list():
            return [filled(each, world) for each in value]
        case str() if value.startswith("{"):
            return world[value.strip("{}")]
        case _:
            return value


async def go_through(world: dict[str, Any], door: Door) -> Any:
    method = door.operation.split()[0]
    sent = {} if door.body is None else {"json": filled(door.body, world)}
    return await world["ann"].call(method, "/api" + door.path.format_map(world), **sent)


async def restrict(served: Any, path: str, flag: bool) -> None:
    """Set the flag of a user, or of the server for everybody."""
    row = (await served.admin.get(path)).json() | {"disableReports": flag}
    if path == "/server":
        row["forceSettings"] = flag
    assert (await served.admin.put(path, json=row)).status == 200


STORED = "select (select count(*) from captures), (select count(*) from footage_requests),"
STORED += " (select count(*) from driver_assignments),"
STORED += " (select count(*) from ticket_events where type = 'evidence'), (select count(*) from ticket_files)"


async def test_no_door_opens_without_the_right(served, database, world):
    wrong = []
    before = tuple((await database.fetch_row(STORED)).values())
    for restricted in (f"/users/{world['ann'].id}", "/server", None):
        if restricted:
            await restrict(served, restricted, True)
        for door in DOORS:
            answer = await go_through(world, door)
            is_refused = restricted is not None and door.takes == "history"
            expected = 400 if is_refused else door.status
            if answer.status != expected or is_refused is not answer.body.startswith(REFUSAL):
                said = f"{answer.status} {answer.body[:80]!r}"
                wrong.append(f"{door.operation} {door.path}, {restricted}: {said}")
        if restricted:
            assert tuple((await database.fetch_row(STORED)).values()) == before
            await restrict(served, restricted, False)
    assert not wrong, "\n".join(wrong)


async def test_administrators_have_it_whatever_the_flags_say(served, world):
    await restrict(served, "/server", True)
    await restrict(served, f"/users/{served.admin_id}", True)
    for path in (f"/events/{world['event']}", f"/positions?id={world['position']}", "/captures/0123"):
        assert (await served.admin.get(path)).status == 200


async def test_the_right_alone_opens_no_door_to_the_devices_of_others(served, world):
    """What is foreign answers like what is unknown."""
    bob = await served.user("bob", deviceLimit=-1)
    own = await served.device(bob, "2")
    company = (await bob.post("/companies", json={"name": "South"})).json()["id"]
    assert (await bob.post(f"/tickets/defaults?companyId={company}")).status == 200
    ticket = (await bob.post("/tickets", json={"companyId": company, "subject": "B"})).json()["id"]
    fields = {"companyId": company, "subject": "B", "deviceId": own}
    comment = f"/tickets/{ticket}/comments"
    for name, foreign, unknown in (
        ("positionId", world["position"], 9_999_999),
        ("captureId", "0123", "4567"),
        ("eventId", world["event"], 9_999_999),
    ):
        for number in (foreign, unknown):
            path, body = (
                ("/tickets", {**fields, name: number})
                if name == "eventId"
                else (comment, {"text": "B", name: number})
            )
            answer = await bob.post(path, json=body)
            assert (answer.status, answer.text) == (400, f"{name}: no access to it, or no such"), number
    for number in (world["position"], 9_999_999):
        answer = await bob.post("/tickets", json={**fields, "positionId": number})
        assert (answer.status, answer.text) == (400, "positionId: no access to it, or no such")
        both = await bob.post("/tickets", json={**fields, "eventId": world["event"], "positionId": number})
        assert (both.status, both.text) == (400, "eventId: no access to it, or no such")
    for path in ("/events/{}", "/positions?id={}"):
        name = "event" if "event" in path else "position"
        answers = [await bob.get(path.format(number)) for number in (world[name], 9_999_999)]
        assert [(each.status, each.text) for each in answers] == [(404, f"no such {name}")] * 2


async def test_an_event_is_the_cause_of_a_ticket_though_its_position_is_gone(served, database, world):
    await database.execute("delete from positions where id = $1", world["position"])
    body = {"companyId": world["company"], "subject": "A", "positionId": world["position"]}
    assert (await world["ann"].post("/tickets", json=body)).status == 400
    made = await world["ann"].post("/tickets", json={**body, "eventId": world["event"]})
    assert (made.status, made.json()["positionId"]) == (200, world["position"])
