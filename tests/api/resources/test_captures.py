"""Captures over HTTP; what a device would stream is handed to them."""

import io
from datetime import timedelta

import av
import pytest
from tests.api.cases import on_one_server

from motorpool.actors.messages.publishing import FragmentsReady, StreamEnded
from motorpool.actors.video.capture import CAPTURE
from motorpool.actors.video.settings import CaptureSettings
from motorpool.codecs.media.segmenter import Segmenter
from motorpool.codecs.media.units import AccessUnit, AudioCoding
from motorpool.storage.video import captures
from motorpool.storage.video.captures import CaptureChange, CaptureRecord

HOUR = timedelta(hours=1)
SOUND = [AccessUnit(1, AudioCoding.G711A, False, 40 * number, b"\xd5" * 320) for number in range(150)]
"""Six seconds."""


@pytest.fixture
async def van(served):
    return await served.device(served.admin, "van 1/ä")


async def start(caller, device, **query):
    query = {"deviceId": device, "channel": 1, **query}
    return await caller.post("/captures", query_string=query)


async def stream(served, capture, units=SOUND, reason="the device ended it"):
    """What the device streams into the capture, to its end."""
    running = served.context.system.ref(CAPTURE, capture["id"])
    segmenter = Segmenter(live=False)
    cuts = [segmenter.push(unit, 0.0) for unit in units]
    await running.tell(FragmentsReady(tuple(cut for cut in cuts if cut is not None)))
    if reason:
        await running.tell(StreamEnded(reason, segmenter.flush()))
        await running.wait_stopped()


async def test_a_capture_is_made_polled_complete_and_fetched(served, van):
    created = await start(served.admin, van, channel=3)
    assert created.status == 200
    capture = created.json()
    known = {key: capture[key] for key in ("deviceId", "channel", "status", "size", "url", "completedAt")}
    assert known == {
        "deviceId": van,
        "channel": 3,
        "status": "RECORDING",
        "size": 0,
        "url": None,
        "completedAt": None,
    }
    assert capture["startedAt"].startswith("2026-05-01T12:0")
    assert isinstance(capture["id"], str)
    polled = await served.admin.get(f"/captures/{capture['id']}")
    assert (polled.status, polled.json()) == (200, capture)

    await stream(served, capture)
    complete = (await served.admin.get(f"/captures/{capture['id']}")).json()
    assert (complete["status"], complete["reason"]) == ("COMPLETE", "the device ended it")
    assert complete["url"] == f"/api/media/van%201%2F%C3%A4/{complete['fileName']}"
    assert complete["completedAt"] is not None


async def test_the_file_is_served_with_ranges_to_who_may_see_the_device(served):
    van = await served.device(served.admin, "van 1")
    capture = (await start(served.admin, van)).json()
    await stream(served, capture)
    capture = (await served.admin.get(f"/captures/{capture['id']}")).json()
    path = capture["url"].removeprefix("/api")
    whole = await served.admin.get(path)
    assert (whole.status, whole.headers["Content-Type"]) == (200, "video/mp4")
    assert len(whole.body) == capture["size"]
    with av.open(io.BytesIO(whole.body)) as container:
        assert container.duration == pytest.approx(6_000_000, abs=300_000)
    part = await served.admin.get(path, headers={"Range": "bytes=100-199"})
    assert (part.status, part.body) == (206, whole.body[100:200])
    ann = await served.user("ann")
    assert (await ann.get(path)).status == 404
    assert (await served.client().get(path)).status == 401


async def test_who_downloads_a_capture_is_audited_once(served, database):
    van = await served.device(served.admin, "van 1")
    capture = (await start(served.admin, van)).json()
    await stream(served, capture)
    path = f"/media/van 1/{capture['fileName']}"
    ann = await served.user("ann")
    assert (await ann.get(path)).status == 404
    assert (await served.admin.call("HEAD", f"/api{path}")).status == 200
    linked = await served.admin.post("/permissions", json={"userId": ann.id, "deviceId": van})
    assert linked.status == 204, linked.text
    for caller in (served.admin, ann, served.admin):
        for part in ("bytes=0-9", "bytes=10-19"):
            assert (await caller.get(path, headers={"Range": part})).status == 206
    downloads = "select user_id, object_type, object_id, attributes from audit where action_type = 'download'"
    name = {"fileName": capture["fileName"]}
    assert [tuple(row.values()) for row in await database.fetch(f"{downloads} order by id")] == [
        (served.admin_id, "device", van, name),
        (ann.id, "device", van, name),
    ]


async def test_deleted_it_ends_and_keeps_what_arrived(served, van):
    filled, empty = [(await start(served.admin, van)).json() for _ in range(2)]
    await stream(served, filled, reason="")
    ended = await served.admin.delete(f"/captures/{filled['id']}")
    assert (ended.status, ended.json()["status"], ended.json()["reason"]) == (
        200,
        "COMPLETE",
        "ended by a user",
    )
    assert ended.json()["url"] is not None
    failed = (await served.admin.delete(f"/captures/{empty['id']}")).json()
    assert (failed["status"], failed["url"]) == ("FAILED", None)
    again = await served.admin.delete(f"/captures/{filled['id']}")
    assert (again.status, again.json()) == (200, ended.json())


async def test_those_of_a_device_are_listed_newest_first(served, van):
    other = await served.device(served.admin, "van 2")
    made = [(await start(served.admin, device)).json() for device in (van, other, van)]
    listed = await served.admin.get("/captures", query_string={"deviceId": van})
    assert [capture["id"] for capture in listed.json()] == [made[2]["id"], made[0]["id"]]


async def test_those_of_earlier_starts_are_found_by_id_by_a_span_and_among_all(served, database, van):
    now = served.clock.now()
    earlier = CaptureRecord("e", van, 2, False, "capture-e.mp4", now - 9 * HOUR, node=7)
    async with database.transaction() as transaction:
        assert await captures.add(transaction, earlier, per_device=1)
    await captures.save(database, [CaptureChange(id="e", size=9, status="COMPLETE", completed_at=now)])
    later = (await start(served.admin, van)).json()

    async def listed(**query):
        answer = await served.admin.get("/captures", query_string=query)
        assert answer.status == 200, answer.text
        return [capture["id"] for capture in answer.json()]

    assert await listed(deviceId=van) == await listed(deviceId=van, limit=5) == [later["id"]]
    assert await listed() == [later["id"], "e"]
    assert await listed(limit=1) == [later["id"]]
    span = {"from": (now - 10 * HOUR).isoformat(), "to": (now - 9 * HOUR).isoformat()}
    assert await listed(**span) == await listed(deviceId=van, **span) == ["e"]
    assert await listed(deviceId=van, **{"from": span["from"]}) == [later["id"], "e"]
    assert await listed(deviceId=van, to=span["from"]) == []
    found = (await served.admin.get("/captures/e")).json()
    assert (found["status"], found["channel"], found["size"]) == ("COMPLETE", 2, 9)
    assert found["url"] == "/api/media/van%201%2F%C3%A4/capture-e.mp4"


async def test_of_all_captures_users_see_those_of_the_devices_that_they_see(served, van):
    bus = await served.device(served.admin, "bus")
    ids = [(await start(served.admin, device)).json()["id"] for device in (van, bus)]
    ann, boss = await served.user("ann"), await served.user("boss", userLimit=-1)
    linked = await served.admin.post("/permissions", json={"userId": ann.id, "deviceId": bus})
    assert linked.status == 204, linked.text
    for caller, seen in ((served.admin, ids[::-1]), (ann, ids[1:]), (boss, [])):
        listed = await caller.get("/captures")
        assert [capture["id"] for capture in listed.json()] == seen
    assert (await served.client().get("/captures")).status == 401


@on_one_server(
    ("query", "text"),
    [
        ({"from": "2026-05-02T00:00:00Z", "to": "2026-05-01T00:00:00Z"}, "to: lies before from"),
        ({"from": "yesterday"}, "from"),
        ({"to": "2026-05-01T00:00:00"}, "to"),
        ({"limit": 1001}, "limit"),
        ({"limit": -1}, "limit"),
        ({"deviceId": "x"}, "deviceId"),
    ],
)
async def test_a_list_that_makes_no_sense_is_400_and_says_why(served, query, text):
    refused = await served.admin.get("/captures", query_string=query)
    assert (refused.status, text in refused.text) == (400, True), refused.text


async def test_what_is_unknown_or_not_ones_own_is_404(served, van):
    capture = (await start(served.admin, van)).json()
    ann = await served.user("ann")
    assert (await start(ann, van)).status == 404
    assert (await start(served.admin, 999)).status == 404
    assert (await ann.get("/captures", query_string={"deviceId": van})).status == 404
    for caller, name in ((ann, capture["id"]), (served.admin, "nobody's")):
        assert (await caller.get(f"/captures/{name}")).status == 404
        assert (await caller.delete(f"/captures/{name}")).status == 404
    assert (await served.admin.get(f"/captures/{capture['id']}")).json()["status"] == "RECORDING"
    for method in ("get", "post"):
        query = {"deviceId": van, "channel": 1}
        assert (await getattr(served.client(), method)("/captures", query_string=query)).status == 401
    for method in ("get", "delete"):
        assert (await getattr(served.client(), method)(f"/captures/{capture['id']}")).status == 401


@on_one_server(
    ("query", "text"),
    [
        ({"channel": 0}, "channel: cameras have the numbers 1 to 31"),
        ({"channel": 32}, "channel: cameras have the numbers 1 to 31"),
        ({"channel": "x"}, "channel"),
        ({"channel": ""}, "channel"),
        ({"deviceId": ""}, "deviceId"),
        ({"minutes": 5}, "minutes: for live captures"),
        ({"live": "true", "minutes": 0}, "minutes"),
        ({"live": "true", "minutes": "nan"}, "minutes"),
        ({"live": "perhaps"}, "live"),
    ],
)
async def test_what_makes_no_sense_is_400_and_says_why(served, van, query, text):
    refused = await start(served.admin, van, **query)
    assert refused.status == 400
    assert text in refused.text
    assert "\n" not in refused.text.strip()


async def test_the_readonly_may_look_but_neither_begin_nor_end_one(served, van):
    capture = (await start(served.admin, van)).json()
    ann = await served.user("ann", readonly=True)
    me = (await ann.get("/session")).json()["id"]
    await served.admin.post("/permissions", json={"userId": me, "deviceId": van})
    assert (await ann.get(f"/captures/{capture['id']}")).status == 200
    assert (await start(ann, van)).status == 400
    assert (await ann.delete(f"/captures/{capture['id']}")).status == 400


async def test_a_live_capture_that_finds_no_camera_fails_and_ends_after_its_minutes(served, van):
    capture = await start(served.admin, van, live="true", minutes=1.5)
    assert (capture.status, capture.json()["live"], capture.json()["status"]) == (200, True, "RECORDING")


async def test_a_device_has_no_more_open_ones_than_allowed(starting):
    async with starting(captures=CaptureSettings(per_device=1)) as served:
        van = await served.device(served.admin, "van 1")
        first = await start(served.admin, van)
        refused = await start(served.admin, van)
        assert (refused.status, refused.text) == (400, "open captures of one device at once: 1 at most")
        await served.admin.delete(f"/captures/{first.json()['id']}")
        assert (await start(served.admin, van)).status == 200


async def test_the_address_follows_the_name_of_the_device_and_goes_with_the_file(served, database):
    van = await served.device(served.admin, "van 1")
    capture = (await start(served.admin, van)).json()
    await stream(served, capture)
    renamed = {"id": van, "name": "van", "uniqueId": "van 2"}
    assert (await served.admin.put(f"/devices/{van}", json=renamed)).status == 200
    capture = (await served.admin.get(f"/captures/{capture['id']}")).json()
    assert capture["url"].startswith("/api/media/van%202/")
    assert (await served.admin.get(capture["url"].removeprefix("/api"))).status == 200
    await captures.note_removed(database, [capture["fileName"]], "past 1 days")
    capture = (await served.admin.get(f"/captures/{capture['id']}")).json()
    assert (capture["status"], capture["url"], capture["reason"]) == ("COMPLETE", None, "past 1 days")


async def test_captures_go_with_their_device(served, tmp_path):
    van = await served.device(served.admin, "van 1")
    capture = (await start(served.admin, van)).json()
    await stream(served, capture)
    assert len(list((tmp_path / "media" / "van 1").iterdir())) == 1
    assert (await served.admin.delete(f"/devices/{van}")).status == 204
    assert (await served.admin.get(f"/captures/{capture['id']}")).status == 404
    assert not (tmp_path / "media" / "van 1").exists()
