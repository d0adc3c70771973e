from datetime import UTC, datetime, timedelta

import pytest

from motorpool.actors.messages.topics import POSITIONS
from motorpool.storage.devices import positions

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
SPAN = "from=2026-05-01T00:00:00Z&to=2026-05-02T00:00:00Z"


@pytest.fixture
async def van(served):
    number = await served.device(served.admin, "1")
    await served.report(
        served.position(number, NOON - timedelta(hours=1), attributes={"totalDistance": 1.0}),
        served.position(number, attributes={"totalDistance": 5.0, "hours": 7, "ignition": True}),
    )
    return number


async def latest(served, number):
    (found,) = [each for each in (await served.admin.get("/positions")).json() if each["deviceId"] == number]
    return found


async def put(caller, number, **values):
    return await caller.put(f"/devices/{number}/accumulators", json=values)


async def test_the_latest_position_is_stored_again_with_the_new_values(served, van, database):
    before = await latest(served, van)
    served.clock.set_wall(NOON + timedelta(hours=2))
    answer = await put(served.admin, van, deviceId=van, totalDistance=123456.5, hours=3_600_000)
    assert (answer.status, answer.body) == (204, b"")
    after = await latest(served, van)
    assert after["id"] > before["id"]
    assert after["attributes"] == {"totalDistance": 123456.5, "hours": 3_600_000.0, "ignition": True}
    assert after["serverTime"].startswith("2026-05-01T14:00:0")
    for field in ("fixTime", "deviceTime", "latitude", "longitude", "valid", "protocol"):
        assert after[field] == before[field]
    (stored,) = await positions.latest(database, [van])
    assert stored.id == after["id"]
    assert (await served.admin.get(f"/devices/{van}")).json()["positionId"] == after["id"]
    audit = (await served.admin.get(f"/audit?{SPAN}")).json()[-1]
    assert (audit["actionType"], audit["objectType"], audit["objectId"]) == ("accumulators", "device", van)


async def test_it_is_published_once_it_is_stored(served, van):
    async with served.context.system.topic(POSITIONS).subscribe() as subscription:
        assert (await put(served.admin, van, totalDistance=9)).status == 204
        (batch,) = await subscription.receive_batch()
    assert [position.attributes["totalDistance"] for position in batch] == [9.0]
    assert batch[0].id > 0


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"totalDistance": 0}, (0.0, 7)),
        ({"hours": 10}, (5.0, 10.0)),
        ({}, (5.0, 7)),
        ({"hours": None}, (5.0, 7)),
    ],
)
async def test_what_is_left_out_stays(served, van, values, expected):
    assert (await put(served.admin, van, **values)).status == 204
    attributes = (await latest(served, van))["attributes"]
    assert (attributes["totalDistance"], attributes["hours"]) == expected


async def test_the_second_change_stands_on_the_first(served, van):
    await put(served.admin, van, totalDistance=100)
    await put(served.admin, van, hours=200)
    attributes = (await latest(served, van))["attributes"]
    assert (attributes["totalDistance"], attributes["hours"]) == (100.0, 200.0)


async def test_what_cannot_be_is_400(served, van):
    other = await served.device(served.admin, "2")
    for values in [{"deviceId": other}, {"totalDistance": -1}, {"hours": "x"}, {"hours": -0.5}]:
        assert (await put(served.admin, van, **values)).status == 400
    assert (await put(served.admin, other, hours=1)).text == "the device has no position yet"
    assert (await put(served.admin, other, hours=1)).status == 400
    assert (await put(served.admin, 4711, hours=1)).status == 400


async def test_it_is_for_who_may_change_devices_and_sees_this_one(served, van):
    ann = await served.user("ann")
    reader = await served.user("reader", deviceReadonly=True)
    assert (await put(ann, van, hours=1)).status == 400
    assert (await put(served.client(), van, hours=1)).status == 401
    for each in (ann, reader):
        await served.admin.post("/permissions", json={"userId": each.id, "deviceId": van})
    assert (await put(reader, van, hours=1)).status == 400
    assert (await put(ann, van, hours=1)).status == 204
