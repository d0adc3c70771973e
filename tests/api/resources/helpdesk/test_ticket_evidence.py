"""What people add to a ticket as evidence: captures, positions and commands."""

import hashlib
from datetime import UTC, datetime
from urllib.parse import unquote

import pytest
from tests.api.resources.test_captures import start, stream

from motorpool.storage import positions
from motorpool.storage.records import Position

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


@pytest.fixture
async def ticket(desk):
    answer = await desk.chief.post(f"/tickets/defaults?companyId={desk.id}")
    assert answer.status == 200, answer.text
    return await desk.make("tickets", subject="Accident")


async def seen_by_chief(desk, name):
    made = await desk.served.admin.post("/devices", json={"name": name, "uniqueId": name})
    linked = await desk.link(desk.served.admin, userId=desk.chief.id, deviceId=made.json()["id"])
    assert linked.status == 204, linked.text
    return made.json()["id"]


async def evidence_of(desk, ticket):
    listed = await desk.chief.get(f"/tickets/{ticket['id']}/events", query_string={"type": "evidence"})
    return [entry["attributes"] for entry in listed.json()]


async def test_a_complete_capture_becomes_evidence_with_its_hash(desk, ticket):
    device = await seen_by_chief(desk, "van ä")
    capture = (await start(desk.served.admin, device)).json()
    path = f"/tickets/{ticket['id']}/comments"
    body = {"text": "See the video", "captureId": capture["id"]}
    early = await desk.chief.post(path, json=body)
    assert (early.status, early.text) == (400, "captureId: the capture is not complete yet")
    await stream(desk.served, capture)
    answer = await desk.chief.post(path, json=body)
    assert (answer.status, answer.json()["type"]) == (200, "comment")
    shown = (await desk.served.admin.get(f"/captures/{capture['id']}")).json()
    content = (await desk.served.admin.get(unquote(shown["url"]).removeprefix("/api"))).body
    (entry,) = await evidence_of(desk, ticket)
    assert (entry["captureId"], entry["fileName"]) == (capture["id"], capture["fileName"])
    assert (entry["size"], entry["sha256"]) == (len(content), hashlib.sha256(content).hexdigest())
    count = "select count(*) from ticket_files"
    assert await desk.database.fetch_value(count) == 1
    assert (await desk.chief.delete(f"/tickets/{ticket['id']}")).status == 204
    assert await desk.database.fetch_value(count) == 0


async def test_evidence_is_added_by_agents_who_see_it(desk, ticket):
    device = await seen_by_chief(desk, "van")
    hidden = await desk.served.admin.post("/devices", json={"name": "hidden", "uniqueId": "hidden"})
    for number, device_id in ((8, device), (9, hidden.json()["id"])):
        fields = {"fix_time": NOON, "device_time": NOON, "server_time": NOON, "latitude": 52.5}
        position = Position(id=number, device_id=device_id, **fields)
        await positions.store(desk.database, [positions.pack_row(position)], [number])
    path = f"/tickets/{ticket['id']}/comments"
    unseen = await desk.chief.post(path, json={"text": "Here", "positionId": 9})
    assert (unseen.status, unseen.text) == (400, "positionId: no access to it, or no such")
    unknown = await desk.chief.post(path, json={"text": "Here", "captureId": "x"})
    assert (unknown.status, unknown.text) == (400, "captureId: no access to it, or no such")
    team = await desk.make("teams", name="Night")
    assert (await desk.chief.put(f"/teams/{team['id']}/members/{desk.chief.id}")).status in {200, 204}
    linked = await desk.link(desk.served.admin, userId=desk.ann.id, deviceId=device)
    assert linked.status == 204, linked.text
    refused = await desk.ann.post(path, json={"text": "Here", "positionId": 8})
    assert (refused.status, refused.text) == (400, "only agents of the company may do this")
    assert (await desk.chief.post(path, json={"text": "Here", "positionId": 8})).status == 200
    (entry,) = await evidence_of(desk, ticket)
    assert (entry["positionId"], entry["positionSnapshot"]["latitude"]) == (8, 52.5)


async def test_a_command_for_a_ticket_is_in_its_history(desk, ticket):
    device = await seen_by_chief(desk, "van")
    sent = {
        "deviceId": device,
        "type": "custom",
        "description": "cut the engine",
        "attributes": {"data": "x"},
    }
    answer = await desk.chief.post(f"/commands/send?ticketId={ticket['id']}", json=sent)
    assert answer.status == 202, answer.text
    again = await desk.chief.post("/commands/send", json={**sent, "ticketId": ticket["id"]})
    assert again.status == 202, again.text
    first, second = await evidence_of(desk, ticket)
    assert first["queuedCommandId"] == answer.json()["id"]
    assert second["queuedCommandId"] == again.json()["id"]
    known = {name: first[name] for name in ("commandType", "deviceId", "status", "description")}
    assert known == {
        "commandType": "custom",
        "deviceId": device,
        "status": "queued",
        "description": "cut the engine",
    }
    linked = await desk.link(desk.served.admin, userId=desk.stranger.id, deviceId=device)
    assert linked.status == 204, linked.text
    refused = await desk.stranger.post(f"/commands/send?ticketId={ticket['id']}", json=sent)
    assert (refused.status, refused.text) == (400, "ticketId: no access to it, or no such")
    assert await desk.database.fetch_value("select count(*) from queued_commands") == 2
