"""Footage requests over HTTP: what may be asked for, by whom, and who sees it."""

import pytest
from tests.api.cases import on_one_server

from motorpool.storage.video import footage_requests

SPAN = {"startTime": "2026-05-01T10:00:00Z", "endTime": "2026-05-01T10:05:00Z"}


@pytest.fixture
async def van(served):
    return await served.device(served.admin, "van 1")


@pytest.fixture
async def ann(served, van):
    made = await served.user("ann")
    await served.admin.post("/permissions", json={"userId": made.id, "deviceId": van})
    return made


async def wish(client, van, **fields):
    return await client.post("/footagerequests", json={"deviceId": van, "channel": 2, **SPAN, **fields})


async def test_a_request_waits_is_listed_and_is_taken_back(served, ann, van):
    made = await wish(ann, van)
    assert made.status == 200, made.text
    wanted = {
        "id": made.json()["id"],
        "deviceId": van,
        "channel": 2,
        **SPAN,
        "userId": ann.id,
        "created": "2026-05-01T12:00:00Z",
        "until": "2026-05-08T12:00:00Z",
        "status": "WAITING",
        "reason": None,
        "captureId": None,
        "fileName": None,
        "url": None,
    }
    assert {**made.json(), "created": wanted["created"], "until": wanted["until"]} == wanted
    number = wanted["id"]
    listed = (await ann.get("/footagerequests")).json()
    assert listed == [made.json()]
    assert (await served.admin.get(f"/footagerequests?deviceId={van}")).json() == listed
    assert (await served.admin.get(f"/footagerequests/{number}")).json() == listed[0]
    assert (await served.admin.get("/footagerequests")).json() == []
    assert (await ann.delete(f"/footagerequests/{number}")).status == 204
    assert (await ann.get("/footagerequests")).json() == []
    rows = await served.context.database.fetch(
        "select action_type, attributes from audit where object_type = 'footageRequest' order by id"
    )
    assert [row["action_type"] for row in rows] == ["create", "remove"]
    assert rows[0]["attributes"]["deviceId"] == van


async def test_a_complete_one_says_where_its_file_is(served, ann, van):
    number = (await wish(ann, van)).json()["id"]
    await served.context.database.execute(
        "update footage_requests set status = 'COMPLETE', capture_id = 'c', file_name = 'f.mp4'"
    )
    found = (await ann.get(f"/footagerequests/{number}")).json()
    assert (found["captureId"], found["url"]) == ("c", "/api/media/van%201/f.mp4")


@on_one_server(
    ("fields", "why"),
    [
        ({"channel": 0}, "channel: cameras have the numbers 1 to 31"),
        ({"channel": 32}, "channel: cameras have the numbers 1 to 31"),
        ({"endTime": "2026-05-01T10:00:00Z"}, "startTime, endTime: a span of at most 4 hours"),
        ({"endTime": "2026-05-01T14:00:01Z"}, "startTime, endTime: a span of at most 4 hours"),
        (
            {"startTime": "2026-05-01T12:00:00Z", "endTime": "2026-05-01T13:00:00Z"},
            "endTime: has not passed yet",
        ),
        ({"until": "2026-05-01T11:00:00Z"}, "until: within the next 30 days"),
        ({"until": "2026-06-02T12:00:00Z"}, "until: within the next 30 days"),
    ],
)
async def test_what_cannot_be_fetched_is_refused(served, ann, van, fields, why):
    refused = await wish(ann, van, **fields)
    assert (refused.status, refused.text[: len(why)]) == (400, why)


async def test_others_see_it_with_the_device_but_only_its_user_and_administrators_take_it_back(
    served, ann, van
):
    bob, eve = await served.user("bob"), await served.user("eve")
    await served.admin.post("/permissions", json={"userId": bob.id, "deviceId": van})
    number = (await wish(ann, van)).json()["id"]
    assert (await bob.get(f"/footagerequests?deviceId={van}")).json()[0]["id"] == number
    assert (await bob.delete(f"/footagerequests/{number}")).status == 400
    for answer in (
        await eve.get(f"/footagerequests/{number}"),
        await eve.delete(f"/footagerequests/{number}"),
        await eve.get(f"/footagerequests?deviceId={van}"),
        await eve.get(f"/footagerequests/{2**63}"),
        await wish(eve, van),
    ):
        assert answer.status == 404
    # What one sees no more is not listed among one's own either.
    await served.admin.delete("/permissions", json={"userId": ann.id, "deviceId": van})
    assert (await ann.get("/footagerequests")).json() == []
    assert (await served.admin.delete(f"/footagerequests/{number}")).status == 204


async def test_open_requests_of_a_user_are_bounded(served, ann, van, monkeypatch):
    monkeypatch.setattr(footage_requests, "MAX_OPEN_OF_USER", 1)
    assert (await wish(ann, van)).status == 200
    refused = await wish(ann, van)
    assert (refused.status, refused.text) == (400, "open footage requests of one user: 1 at most")
