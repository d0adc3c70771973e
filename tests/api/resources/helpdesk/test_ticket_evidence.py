"""What people add to a ticket as evidence: captures, positions and commands."""

import hashlib
from datetime import UTC, datetime
from urllib.parse import unquote

import pytest
import trio
from tests.api.resources.test_captures import start, stream

from motorpool.actors.files.media_files import media_name
from motorpool.actors.files.media_store import folder_name
from motorpool.actors.messages.tickets import TICKET_CAPTURES, TicketCapturesWaiting
from motorpool.storage.devices import position_rows, positions
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
    await stream(desk.served, capture)
    answer = await desk.chief.post(path, json=body)
    assert (answer.status, answer.json()["type"]) == (200, "comment")
    shown = (await desk.served.admin.get(f"/captures/{capture['id']}")).json()
    content = (await desk.served.admin.get(unquote(shown["url"]).removeprefix("/api"))).body
    (entry,) = await evidence_of(desk, ticket)
    assert (entry["captureId"], entry["fileName"]) == (capture["id"], capture["fileName"])
    assert (entry["size"], entry["sha256"]) == (len(content), hashlib.sha256(content).hexdigest())
    assert (entry["status"], entry["url"]) == ("COMPLETE", shown["url"])
    count = "select count(*) from ticket_files"
    assert await desk.database.fetch_value(count) == 1
    assert (await desk.chief.delete(f"/tickets/{ticket['id']}")).status == 204
    assert await desk.database.fetch_value(count) == 0


async def test_the_end_of_a_capture_that_is_recording_is_entered_later(desk, ticket):
    device = await seen_by_chief(desk, "van")
    capture = (await start(desk.served.admin, device)).json()
    path = f"/tickets/{ticket['id']}/comments"
    for _ in range(2):
        answer = await desk.chief.post(path, json={"text": "See the video", "captureId": capture["id"]})
        assert answer.status == 200, answer.text
    await stream(desk.served, capture)
    # The tests' clock stands still: what tells the actor of the end of captures is that it looks again.
    desk.served.context.system.ref(TICKET_CAPTURES).offer(TicketCapturesWaiting())
    with trio.fail_after(120):
        while len(entries := await evidence_of(desk, ticket)) < 3:  # noqa: ASYNC110
            await trio.sleep(0.01)
    first, second, ended = entries
    assert first == second
    known = {name: first[name] for name in ("captureId", "status", "fileName")}
    assert known == {"captureId": capture["id"], "status": "RECORDING", "fileName": capture["fileName"]}
    assert "sha256" not in first
    content = (await desk.served.admin.get(ended["url"].removeprefix("/api"))).body
    assert (ended["status"], ended["captureId"]) == ("COMPLETE", capture["id"])
    assert (ended["size"], ended["sha256"]) == (len(content), hashlib.sha256(content).hexdigest())
    assert await desk.database.fetch_value("select count(*) from ticket_files") == 1


async def test_files_of_devices_become_evidence_with_their_hash(desk, ticket):
    device = await seen_by_chief(desk, "van ä")
    folder = desk.served.context.files.store.folder / folder_name("van ä")
    folder.mkdir(parents=True, exist_ok=True)
    photo, alarm = media_name(NOON, "jpg"), media_name(NOON, "mp4")
    (folder / photo).write_bytes(b"a photo")
    (folder / alarm).write_bytes(b"a video of an alarm")
    (folder / "device.jpg").write_bytes(b"may be replaced")
    path = f"/tickets/{ticket['id']}/comments"
    files = [{"deviceId": device, "fileName": name} for name in (photo, alarm)]
    assert (await desk.chief.post(path, json={"text": "See", "files": files})).status == 200
    entries = await evidence_of(desk, ticket)
    assert [(entry["size"], entry["sha256"]) for entry in entries] == [
        (len(content), hashlib.sha256(content).hexdigest())
        for content in (b"a photo", b"a video of an alarm")
    ]
    served = await desk.chief.get(unquote(entries[0]["url"]).removeprefix("/api"))
    assert (served.status, served.body) == (200, b"a photo")
    held = await desk.database.fetch("select name from ticket_files")
    assert {row[0] for row in held} == {photo, alarm}
    capture = (await start(desk.served.admin, device)).json()
    refused = {
        photo.replace("jpg", "png"): "there is no such file",
        f"../{folder.name}/{photo}": "not the name of a photo, file of an alarm or capture",
        "device.jpg": "not the name of a photo, file of an alarm or capture",
        capture["fileName"]: f"still being recorded; name its captureId {capture['id']}",
    }
    for name, reason in refused.items():
        body = {"text": "See", "files": [files[0], {"deviceId": device, "fileName": name}]}
        answer = await desk.chief.post(path, json=body)
        assert (answer.status, answer.text) == (400, f"files[1].fileName: {reason}")
    hidden = await desk.served.device(desk.served.admin, "hidden")
    body = {"text": "See", "files": [{"deviceId": hidden, "fileName": photo}]}
    answer = await desk.chief.post(path, json=body)
    assert (answer.status, answer.text) == (400, "files[0].deviceId: no access to it, or no such")
    many = await desk.chief.post(path, json={"text": "See", "files": files * 11})
    assert many.status == 400
    assert len(await evidence_of(desk, ticket)) == 2


async def test_a_ticket_keeps_a_limited_number_of_files(desk, ticket):
    device = await seen_by_chief(desk, "van")
    folder = desk.served.context.files.store.folder / folder_name("van")
    folder.mkdir(parents=True, exist_ok=True)
    await desk.database.execute(
        "insert into ticket_files (company_id, ticket_id, name, size, sha256)"
        " select $1, $2, 'file ' || number, 1, '' from generate_series(1, 99) number",
        desk.id,
        ticket["id"],
    )
    path = f"/tickets/{ticket['id']}/comments"
    statuses = []
    for number in range(2):
        name = f"1-{number}.jpg"
        (folder / name).write_bytes(b"a photo")
        body = {"text": "See", "files": [{"deviceId": device, "fileName": name}]}
        statuses.append(await desk.chief.post(path, json=body))
    assert [answer.status for answer in statuses] == [200, 400]
    assert statuses[1].text == "a ticket keeps 100 files at most"


async def test_evidence_is_added_by_agents_who_see_it(desk, ticket):
    device = await seen_by_chief(desk, "van")
    hidden = await desk.served.admin.post("/devices", json={"name": "hidden", "uniqueId": "hidden"})
    for number, device_id in ((8, device), (9, hidden.json()["id"])):
        fields = {"fix_time": NOON, "device_time": NOON, "server_time": NOON, "latitude": 52.5}
        position = Position(id=number, device_id=device_id, **fields)
        await positions.store(desk.database, [position_rows.pack_row(position)], [number])
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
    unsent = {**sent, "attributes": {"data": "x", "noQueue": True}}
    refused = await desk.chief.post(f"/commands/send?ticketId={ticket['id']}", json=unsent)
    assert (refused.status, refused.text) == (400, "the device is offline")
    removed = await desk.chief.delete(f"/commands/queue/{answer.json()['id']}")
    assert removed.status == 204
    with trio.fail_after(120):
        while len(entries := await evidence_of(desk, ticket)) < 4:  # noqa: ASYNC110
            await trio.sleep(0.01)
    assert [entry["status"] for entry in entries] == ["queued", "queued", "refused", "removed"]
    assert entries[2]["reason"] == "the device is offline"
    assert entries[3]["queuedCommandId"] == answer.json()["id"]
    assert await desk.database.fetch_value("select count(*) from ticket_commands") == 1
