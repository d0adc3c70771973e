"""Who drove, as entered by hand (docs/drivers.md)."""

from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest
from tests.api.resources.reports.reporting import span
from tests.api.resources.reports.test_lists import drive
from tests.api.test_races import in_parallel

from motorpool.storage.devices import driver_assignments

MAY = datetime(2026, 5, 1, tzinfo=UTC)
START, END = "2026-05-01T00:10:00Z", "2026-05-01T00:21:00Z"
"""Of the trip of `drive`."""


async def driver(client: Any, name: str) -> int:
    made = await client.post("/drivers", json={"name": name, "uniqueId": name.lower()})
    assert made.status == 200, made.text
    return int(made.json()["id"])


def at(minutes: float) -> str:
    return (MAY + timedelta(minutes=minutes)).isoformat()[:19] + "Z"


async def assign(client: Any, device_id: int, driver_id: int, start: str = START, end: str = END) -> Any:
    sent = {"deviceId": device_id, "driverId": driver_id, "startTime": start, "endTime": end}
    return await client.post("/driverassignments", json=sent)


async def who(client: Any, device_id: int) -> tuple[Any, Any, Any]:
    """The driver of the one trip of a device."""
    answer = await client.get(f"/reports/trips?{span()}&deviceId={device_id}")
    (trip,) = answer.json()
    return trip["driverId"], trip["driverUniqueId"], trip["driverName"]


@pytest.fixture
async def van(served: Any) -> int:
    """A device that was driven with the card `ann`."""
    device_id = await served.device(served.admin, "1")
    await served.report(*drive(served, device_id, attributes=lambda index: {"driverUniqueId": "ann"}))
    return int(device_id)


async def test_by_hand_goes_before_the_card_until_it_is_deleted(served, van):
    assert await who(served.admin, van) == (None, "ann", None)
    ann, bob = await driver(served.admin, "Ann"), await driver(served.admin, "Bob")
    assert await who(served.admin, van) == (ann, "ann", "Ann")
    made = await assign(served.admin, van, bob)
    assert (made.status, made.headers["ETag"]) == (200, '"1"')
    assert made.json() == {
        "id": made.json()["id"],
        "deviceId": van,
        "driverId": bob,
        "startTime": START,
        "endTime": END,
    }
    assert await who(served.admin, van) == (bob, "bob", "Bob")
    path = f"/driverassignments/{made.json()['id']}"
    changed = await served.admin.put(path, json={**made.json(), "driverId": ann})
    assert (changed.status, changed.headers["ETag"]) == (200, '"2"')
    assert await who(served.admin, van) == (ann, "ann", "Ann")
    stale = await served.admin.call("DELETE", f"/api{path}", headers={"If-Match": '"1"'})
    assert stale.status == 400
    assert (await served.admin.delete(path)).status == 204
    assert (await served.admin.get(path)).status == 404
    assert await who(served.admin, van) == (ann, "ann", "Ann")


@pytest.mark.parametrize(
    ("spans", "number"),
    [
        # The trip is from 10:00 to 21:00.
        ([(0, 15.5)], 0),
        ([(0, 15)], None),
        ([(15.5, 60)], 0),
        ([(16, 60)], None),
        ([(12, 17), (17, 17.25)], None),
        ([(0, 15.5), (15.5, 60)], 0),
        ([(0, 12), (12, 60)], 1),
        ([(21, 60), (0, 10)], None),
        ([(-9000, 9000)], 0),
    ],
)
async def test_an_assignment_counts_for_a_trip_of_which_it_covers_half(served, van, spans, number):
    drivers = [await driver(served.admin, name) for name in ("Bob", "Carl")]
    for driver_id, (start, end) in zip(drivers, spans, strict=False):
        assert (await assign(served.admin, van, driver_id, at(start), at(end))).status == 200
    found, unique_id, _ = await who(served.admin, van)
    assert (found, unique_id) == (
        (None, "ann") if number is None else (drivers[number], ["bob", "carl"][number])
    )


async def test_who_does_not_see_the_driver_is_told_neither_name_nor_the_card_of_another(served, van):
    eve = await served.user("eve", deviceLimit=-1)
    await served.admin.post("/permissions", json={"userId": eve.id, "deviceId": van})
    await driver(served.admin, "Ann")
    bob = await driver(served.admin, "Bob")
    assert await who(eve, van) == (None, "ann", None)
    made = await assign(served.admin, van, bob)
    path = f"/driverassignments/{made.json()['id']}"
    assert await who(eve, van) == (None, None, None)
    assert (await eve.get(f"/driverassignments?deviceId={van}")).json() == []
    assert (await eve.get(path)).status == 404
    assert (await eve.put(path, json=made.json())).status == 400
    assert (await eve.delete(path)).status == 400
    await served.admin.post("/permissions", json={"userId": eve.id, "driverId": bob})
    assert await who(eve, van) == (bob, "bob", "Bob")
    assert (await eve.get(f"/driverassignments?deviceId={van}")).json() == [made.json()]
    assert (await eve.put(path, json={**made.json(), "endTime": at(22)})).status == 200


async def test_spans_of_a_device_are_apart(served, van):
    bob = await driver(served.admin, "Bob")
    other = await served.device(served.admin, "2")
    first = (await assign(served.admin, van, bob, at(60), at(120))).json()
    for start, end in [(0, 61), (119, 180), (70, 80), (0, 180), (60, 120)]:
        refused = await assign(served.admin, van, bob, at(start), at(end))
        assert refused.status == 400
        assert refused.text == f"startTime, endTime: the span overlaps driver assignment {first['id']}"
    assert (await assign(served.admin, van, bob, at(120), at(180))).status == 200
    assert (await assign(served.admin, van, bob, at(0), at(60))).status == 200
    assert (await assign(served.admin, other, bob, at(60), at(120))).status == 200
    path = f"/driverassignments/{first['id']}"
    assert (await served.admin.put(path, json={**first, "endTime": at(100)})).status == 200
    assert (await served.admin.put(path, json={**first, "endTime": at(121)})).status == 400
    moved = await served.admin.put(path, json={**first, "deviceId": other})
    assert (moved.status, moved.text) == (400, "deviceId: cannot be changed")
    for start, end in [(120, 120), (120, 60)]:
        backwards = await assign(served.admin, other, bob, at(start), at(end))
        assert (backwards.status, backwards.text) == (400, "endTime: is not after startTime")


async def test_of_parallel_requests_that_overlap_one_is_stored(served, database, van):
    bob = await driver(served.admin, "Bob")
    clients = [await served.log_in("admin@example.org", "admin") for _ in range(8)]
    calls = [
        partial(assign, client, van, bob, at(10 + index), at(30)) for index, client in enumerate(clients)
    ]
    answers = await in_parallel(*calls)
    assert sorted(answer.status for answer in answers) == [200] + [400] * 7
    (row,) = [answer.json() for answer in answers if answer.status == 200]
    free = (await assign(served.admin, van, bob, at(40), at(50))).json()
    changes = [
        partial(
            client.put,
            f"/driverassignments/{each['id']}",
            json={**each, "startTime": at(31), "endTime": at(39)},
        )
        for client, each in zip(clients, [row, free] * 4, strict=True)
    ]
    answers = await in_parallel(*changes)
    assert {answer.status for answer in answers} == {200, 400}
    clashes = await database.fetch_value(
        "select count(*) from driver_assignments a join driver_assignments b on a.id < b.id"
        " and a.device_id = b.device_id and a.start_time < b.end_time and b.start_time < a.end_time"
    )
    assert clashes == 0


async def test_lists_are_filtered_by_device_driver_and_span(served, van):
    ann, bob = await driver(served.admin, "Ann"), await driver(served.admin, "Bob")
    other = await served.device(served.admin, "2")
    made = [
        (await assign(served.admin, device, of, at(start), at(start + 60))).json()["id"]
        for device, of, start in [(van, ann, 120), (van, bob, 0), (other, bob, 60)]
    ]

    async def listed(query: str) -> list[int]:
        answer = await served.admin.get(f"/driverassignments{query}")
        assert answer.status == 200, answer.text
        return [made.index(each["id"]) for each in answer.json()]

    assert await listed("") == [1, 2, 0]
    assert await listed(f"?deviceId={van}") == [1, 0]
    assert await listed(f"?driverId={bob}") == [1, 2]
    assert await listed(f"?from={at(60)}&to={at(90)}") == [2]
    assert await listed(f"?from={at(59)}") == [1, 2, 0]
    assert await listed(f"?to={at(60)}&limit=1&offset=1") == [2]


async def test_the_audit_says_what_was_in_place_of_what(served, van):
    ann, bob = await driver(served.admin, "Ann"), await driver(served.admin, "Bob")
    made = (await assign(served.admin, van, ann)).json()
    await served.admin.put(f"/driverassignments/{made['id']}", json={**made, "driverId": bob})
    await served.admin.delete(f"/driverassignments/{made['id']}")
    rows = (await served.admin.get("/audit?from=2026-05-01T00:00:00Z&to=2026-05-02T00:00:00Z")).json()
    found = [row for row in rows if row["objectType"] == "driverAssignment"]
    assert sorted((row["actionType"], row["objectId"]) for row in found) == [
        ("create", made["id"]),
        ("edit", made["id"]),
        ("remove", made["id"]),
    ]
    said = {row["actionType"]: row["attributes"] for row in found}
    assert said["edit"] == {"driverId": {"before": ann, "after": bob}}
    assert said["create"]["startTime"] == {"after": START}
    assert said["remove"]["driverId"] == {"before": bob}


async def test_they_go_with_their_device_and_driver_and_have_a_bound(served, database, van, monkeypatch):
    monkeypatch.setattr("motorpool.api.resources.driver_assignments.MOST", 2)
    ann, bob = await driver(served.admin, "Ann"), await driver(served.admin, "Bob")
    await assign(served.admin, van, ann, at(0), at(1))
    await assign(served.admin, van, bob, at(1), at(2))
    third = await assign(served.admin, van, bob, at(2), at(3))
    assert (third.status, third.text) == (400, "a device has at most 2 driver assignments")
    assert (await served.admin.delete(f"/drivers/{ann}")).status == 204
    assert await driver_assignments.count(database, van) == 1
    assert (await served.admin.delete(f"/devices/{van}")).status == 204
    assert await database.fetch_value("select count(*) from driver_assignments") == 0
