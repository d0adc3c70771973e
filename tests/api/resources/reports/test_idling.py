"""The report of idling."""

from datetime import timedelta

import pytest
from tests.api.resources.reports.reporting import MAY, Road, get, opened, span, stamp, table

MINUTE = timedelta(minutes=1)


def worked(served, device_id):
    """Idles for 5 minutes, drives, is in a jam for 4, drives, idles for a minute, and is switched off."""
    road = Road(served, device_id, MAY)
    road.stand(6, ignition=True, fuel=50.0)
    road.drive(10, ignition=True, fuel=48.0)
    road.stand(3, ignition=True, fuel=48.0)
    road.stand(2, ignition=True, fuel=47.5)
    road.drive(10, ignition=True, fuel=46.0)
    road.stand(2, ignition=True, fuel=46.0)
    road.stand(20, ignition=False, fuel=46.0)
    road.stand(10, ignition=True, rpm=0, fuel=46.0)
    return road.positions


async def test_idling_has_all_its_fields(served):
    device_id = await served.device(served.admin, "1")
    stored = await served.report(*worked(served, device_id))
    before, jam, after = await get(served.admin, f"/reports/idling?{span()}")
    assert before == {
        "deviceId": device_id,
        "deviceName": "Vehicle 1",
        "startTime": "2026-05-01T00:00:00Z",
        "endTime": "2026-05-01T00:05:00Z",
        "duration": 300_000,
        "positionId": stored[0].id,
        "latitude": 52.0,
        "longitude": 13.4,
        "address": None,
        "place": "Dahme, 15 km N",
        "spentFuel": 0.0,
    }
    # A jam counts; it ends where the vehicle stood last.
    assert (jam["positionId"], jam["duration"], jam["spentFuel"]) == (stored[16].id, 240_000, 0.5)
    # From the first position at rest to the one that says that the ignition is off.
    assert (after["positionId"], after["duration"]) == (stored[31].id, 120_000)


async def test_it_is_what_is_long_enough_in_the_span(served):
    device_id = await served.device(
        served.admin, "1", attributes={"report.idling.minDuration": 250, "fuelCapacity": 80}
    )
    await served.report(*worked(served, device_id))
    (only,) = await get(served.admin, f"/reports/idling?{span()}")
    assert only["startTime"] == "2026-05-01T00:00:00Z"
    assert await get(served.admin, f"/reports/idling?{span(MAY + 2 * MINUTE)}") == []
    shorter = {"name": "Vehicle 1", "uniqueId": "1", "attributes": {"report.idling.minDuration": 60}}
    assert (await served.admin.put(f"/devices/{device_id}", json=shorter)).status == 200
    late = await get(served.admin, f"/reports/idling?{span(MAY + 2 * MINUTE, MAY + 18 * MINUTE)}")
    assert [(each["startTime"], each["endTime"]) for each in late] == [
        ("2026-05-01T00:02:00Z", "2026-05-01T00:05:00Z"),
        ("2026-05-01T00:16:00Z", "2026-05-01T00:18:00Z"),
    ]


async def test_attributes_of_other_types_tell_nothing(served):
    device_id = await served.device(served.admin, "1")
    road = Road(served, device_id, MAY)
    road.stand(5, ignition="on", rpm="700", fuel=None)
    road.stand(5, ignition=True, rpm=True, fuelUsed=1e300, hours=[1])
    await served.report(*road.positions)
    (found,) = await get(served.admin, f"/reports/idling?{span()}")
    assert (found["startTime"], found["spentFuel"]) == (stamp(MAY + 5 * MINUTE).replace(".000Z", "Z"), 0.0)


async def test_it_opens_as_a_workbook(served):
    device_id = await served.device(served.admin, "1")
    await served.report(*worked(served, device_id))
    book = await opened(served.admin, f"/reports/idling/xlsx?{span()}")
    assert book.sheetnames == ["Vehicle 1"]
    header, titles, rows = table(book.active)
    assert header["Report"] == "Idling"
    assert titles == ["Start", "End", "Duration", "Address", "Spent Fuel"]
    start = MAY.replace(tzinfo=None)
    assert rows[0] == [start, start + 5 * MINUTE, 5 * MINUTE, "Dahme, 15 km N", 0]
    assert rows[1][4] == pytest.approx(0.5)
