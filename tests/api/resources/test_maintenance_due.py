"""Which maintenance is due of which device."""

from datetime import timedelta

import pytest
from tests.api.conftest import NOON

from motorpool.api.resources import maintenance_due

KM = 1000.0


async def link(client, **ids):
    answer = await client.post("/permissions", json=ids)
    assert answer.status == 204, answer.text


async def task(client, name, **fields):
    answer = await client.post("/maintenance", json={"name": name, "type": "totalDistance", **fields})
    assert answer.status == 200, answer.text
    return answer.json()["id"]


async def due(client, path="/maintenance/due"):
    answer = await client.get(path)
    assert answer.status == 200, answer.text
    return answer


def pairs(answer):
    return [(each["maintenanceId"], each["deviceId"], each["state"]) for each in answer.json()]


@pytest.fixture
async def fleet(served):
    """A van and a truck of Ann, which have driven 120,000 and 40,000 km, and one that was never heard of."""
    ann = await served.user("ann", deviceLimit=-1)
    found = {name: await served.device(ann, name) for name in ("van", "truck", "new")}
    for name, kilometres in (("van", 120_000), ("truck", 40_000)):
        position = served.position(found[name], attributes={"totalDistance": kilometres * KM})
        await served.report(position)
    return ann, found


async def test_maintenance_of_devices_and_of_groups_is_listed_with_the_most_urgent_first(served, fleet):
    ann, ids = fleet
    oil = await task(ann, "Oil", start=90_000 * KM, period=30_000 * KM)
    tyres = await task(ann, "Tyres", start=121_000 * KM, period=50_000 * KM)
    group = (await ann.post("/groups", json={"name": "Heavy"})).json()["id"]
    below = (await ann.post("/groups", json={"name": "Below", "groupId": group})).json()["id"]
    truck = (await ann.get(f"/devices/{ids['truck']}")).json()
    assert (await ann.put(f"/devices/{ids['truck']}", json={**truck, "groupId": below})).status == 200
    await link(ann, deviceId=ids["van"], maintenanceId=oil)
    await link(ann, deviceId=ids["van"], maintenanceId=tyres)
    await link(ann, deviceId=ids["new"], maintenanceId=oil)
    await link(ann, groupId=group, maintenanceId=oil)
    # Linked twice, and listed once.
    await link(ann, deviceId=ids["truck"], maintenanceId=oil)
    answer = await due(ann)
    assert pairs(answer) == [
        (oil, ids["van"], "due"),
        (tyres, ids["van"], "soon"),
        (oil, ids["truck"], "later"),
        (oil, ids["new"], "unknown"),
    ]
    assert answer.headers["X-Total-Count"] == "4"
    first, *_, last = answer.json()
    assert (first["value"], first["next"]) == (120_000 * KM, 120_000 * KM)
    assert (last["value"], last["next"]) == (None, None)
    urgent = await due(ann, "/maintenance/due?state=due&state=soon&limit=1&offset=1")
    assert pairs(urgent) == [(tyres, ids["van"], "soon")]
    assert urgent.headers["X-Total-Count"] == "2"
    assert pairs(await due(ann, f"/maintenance/due?deviceId={ids['truck']}")) == [
        (oil, ids["truck"], "later")
    ]


async def test_maintenance_by_time_is_due_by_the_clock(served, fleet):
    ann, ids = fleet
    start = (NOON - timedelta(days=400)).timestamp() * 1000
    yearly = await task(ann, "Inspection", type="serverTime", start=start, period=365 * 86_400_000)
    await link(ann, deviceId=ids["new"], maintenanceId=yearly)
    assert pairs(await due(ann)) == [(yearly, ids["new"], "due")]


async def test_nobody_sees_devices_or_maintenance_of_others(served, fleet):
    ann, ids = fleet
    oil = await task(ann, "Oil", start=0, period=30_000 * KM)
    await link(ann, deviceId=ids["van"], maintenanceId=oil)
    ben = await served.user("ben", deviceLimit=-1)
    assert pairs(await due(ben)) == []
    assert (await ben.get(f"/maintenance/due?deviceId={ids['van']}")).status == 404
    await link(served.admin, userId=ben.id, deviceId=ids["van"])
    assert pairs(await due(ben)) == []
    await link(served.admin, userId=ben.id, maintenanceId=oil)
    assert pairs(await due(ben)) == [(oil, ids["van"], "due")]
    # Administrators have to ask for what is not linked to them.
    assert pairs(await due(served.admin)) == []
    own = (await served.admin.get("/session")).json()["id"]
    await link(served.admin, userId=own, deviceId=ids["van"])
    assert pairs(await due(served.admin)) == []
    assert pairs(await due(served.admin, "/maintenance/due?all=true")) == [(oil, ids["van"], "due")]


async def test_too_many_are_refused_without_a_device(served, fleet, monkeypatch):
    monkeypatch.setattr(maintenance_due, "MAX_PAIRS", 1)
    ann, ids = fleet
    oil = await task(ann, "Oil", start=0, period=30_000 * KM)
    for name in ("van", "truck"):
        await link(ann, deviceId=ids[name], maintenanceId=oil)
    answer = await ann.get("/maintenance/due")
    assert (answer.status, answer.text) == (
        400,
        "deviceId: needed, as there are too many devices with maintenance",
    )
    assert len(pairs(await due(ann, f"/maintenance/due?deviceId={ids['van']}"))) == 1
    assert (await ann.get("/maintenance/due?state=late")).status == 400
