"""Refused requests of users in the audit log: one row for each user, operation and hour."""

from datetime import UTC, datetime, timedelta

import pytest

from motorpool.storage.accounts import audit
from motorpool.storage.errors import StorageUnavailable

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
ROWS = "select user_id, object_id, attributes from audit where action_type = 'refused' order by id"


async def refusals(database):
    return [(row["user_id"], row["object_id"], row["attributes"]) for row in await database.fetch(ROWS)]


@pytest.fixture
async def ann(served):
    return await served.user("ann", deviceLimit=-1)


@pytest.fixture
async def hidden(served):
    return await served.device(served.admin, "hidden")


async def test_each_kind_of_refusal_is_told_once(served, database, ann, hidden):
    await served.admin.post("/companies", json={"name": "North"})
    area = {"name": "Depot", "area": "CIRCLE (52.5 13.4, 50)"}
    depot = (await served.admin.post("/geofences", json=area)).json()["id"]
    (position,) = await served.report(served.position(hidden))
    span = "from=2026-05-01T00:00:00Z&to=2026-05-02T00:00:00Z"
    asked = [
        ("GET", f"/audit?{span}", 401, "GET /audit", 0),
        ("GET", f"/statistics?{span}", 400, "GET /statistics", 0),
        ("GET", "/companies/1", 400, "GET /companies/{id}", 1),
        ("GET", f"/devices/{hidden}", 404, "GET /devices/{id}", hidden),
        ("DELETE", f"/devices/{hidden}", 400, "DELETE /devices/{id}", hidden),
        ("GET", f"/geofences/{depot}", 404, "GET /geofences/{id}", depot),
        ("DELETE", f"/geofences/{depot}", 400, "DELETE /geofences/{id}", depot),
        ("GET", f"/positions?id={position.id}", 404, "GET /positions", 0),
        ("GET", f"/captures?deviceId={hidden}", 404, "GET /captures", 0),
        (
            "GET",
            f"/stream/{hidden}/1/live.m3u8",
            404,
            "GET /stream/{deviceId}/{channel}/live.m3u8",
            hidden,
        ),
        ("GET", f"/session/{served.admin_id}", 401, "GET /session/{id}", served.admin_id),
    ]
    for method, path, status, _, _ in asked:
        answer = await ann.call(method, "/api" + path)
        assert answer.status == status, path
    found = await refusals(database)
    assert [(user_id, number, told["operation"], told["status"]) for user_id, number, told in found] == [
        (ann.id, number, operation, status) for _, _, status, operation, number in asked
    ]
    assert found[3][2]["reason"] == "no such device"
    assert all(told["count"] == 1 for _, _, told in found)


async def test_what_is_wrong_or_not_there_is_no_refusal(served, database, ann):
    own = await served.device(ann, "own")
    for method, path, status in (
        ("GET", "/devices/4711", 404),
        ("GET", "/geofences/4711", 404),
        ("GET", "/events/4711", 404),
        ("GET", "/positions?deviceId=x", 400),
        ("GET", f"/stream/{own}/1/0.ts", 404),
        ("GET", "/devices?limit=x", 400),
        ("GET", "/devices", 200),
    ):
        answer = await ann.call(method, "/api" + path)
        assert answer.status == status, path
    for client in (served.client(), served.client({"Authorization": "Bearer x"})):
        assert (await client.get(f"/devices/{own}")).status == 401
    assert (await served.admin.get("/geofences/4711")).status == 404
    assert (await served.admin.delete("/devices/4711")).status == 404
    assert await refusals(database) == []


async def test_repetitions_are_counted_in_the_row_of_the_hour(served, database, ann, hidden):
    other = await served.device(served.admin, "other")
    for number in (hidden, *[other] * 20):
        assert (await ann.get(f"/devices/{number}")).status == 404
    ((user_id, number, told),) = await refusals(database)
    assert (user_id, number, told["count"]) == (ann.id, hidden, 16)
    served.clock.move_wall(3600)
    assert (await ann.get(f"/devices/{hidden}")).status == 404
    assert [told["count"] for _, _, told in await refusals(database)] == [16, 1]


async def test_several_servers_write_one_row(served, database, ann, hidden):
    await ann.get(f"/devices/{hidden}")
    ((_, _, told),) = await refusals(database)
    (action,) = [
        each
        async for part in audit.stream_between(database, NOON, NOON + timedelta(days=1))
        for each in part
        if each.action_type == "refused"
    ]
    await audit.record_refusals(database, action, 4)
    assert [row[2]["count"] for row in await refusals(database)] == [told["count"] + 4]


async def test_who_acts_as_another_is_named(served, database, ann, hidden):
    boss = await served.user("boss", userLimit=-1)
    await served.admin.post("/permissions", json={"userId": boss.id, "managedUserId": ann.id})
    assert (await boss.get(f"/session/{ann.id}")).status == 200
    assert (await boss.get(f"/devices/{hidden}")).status == 404
    ((user_id, _, told),) = await refusals(database)
    assert (user_id, told["impersonatorId"]) == (ann.id, boss.id)


async def test_a_refusal_that_cannot_be_written_is_answered_all_the_same(
    served, database, ann, hidden, monkeypatch, caplog
):
    async def fail(*_):
        raise StorageUnavailable("gone")

    monkeypatch.setattr(audit, "record_refusals", fail)
    assert (await ann.get(f"/devices/{hidden}")).status == 404
    assert "is not audited: gone" in caplog.text
