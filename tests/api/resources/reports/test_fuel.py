"""The report of fuel."""

from datetime import timedelta

import pytest
from tests.api.resources.reports.reporting import MAY, Road, get, opened, span, table

MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)


def filled_and_robbed(served, device_id, **attributes):
    """From 10:00: drives 30 km, takes 40 l, drives 30 km; 25 l are gone in the night, which ends at 22:50."""
    road = Road(served, device_id, MAY + 10 * HOUR)
    road.stand(10, fuel=30.0, ignition=False, **attributes)
    for minute in range(30):
        road.drive(1, fuel=30 - minute / 10, ignition=True, **attributes)
    road.stand(5, fuel=27.0, ignition=False, **attributes)
    road.stand(10, fuel=67.0, ignition=False, **attributes)
    for minute in range(30):
        road.drive(1, fuel=67 - minute / 10, ignition=True, **attributes)
    road.stand(15, fuel=64.0, ignition=False, **attributes)
    road.sleep(670)
    road.stand(10, fuel=39.0, ignition=False, **attributes)
    return road.positions


async def test_what_was_used_filled_and_lost(served):
    device_id = await served.device(served.admin, "1", attributes={"fuelCapacity": 80})
    await served.device(served.admin, "2")
    stored = await served.report(*filled_and_robbed(served, device_id))
    (item,) = await get(served.admin, f"/reports/fuel?{span()}")
    fill, loss = stored[45], stored[100]
    assert item == {
        "deviceId": device_id,
        "deviceName": "Vehicle 1",
        "startTime": "2026-05-01T10:00:00Z",
        "endTime": "2026-05-01T22:59:00Z",
        "startFuel": 30.0,
        "endFuel": 39.0,
        "used": pytest.approx(6, abs=0.1),
        "filled": pytest.approx(40, abs=0.1),
        "lost": 25.0,
        "distance": pytest.approx(60_000, abs=100),
        "consumption": pytest.approx(10, abs=0.3),
        "fills": [
            {
                "time": "2026-05-01T10:45:00Z",
                "positionId": fill.id,
                "latitude": fill.latitude,
                "longitude": fill.longitude,
                "litres": pytest.approx(40, abs=0.1),
                "before": pytest.approx(27, abs=0.1),
                "after": 67.0,
            }
        ],
        "losses": [
            {
                "time": "2026-05-01T22:50:00Z",
                "positionId": loss.id,
                "latitude": loss.latitude,
                "longitude": loss.longitude,
                "litres": 25.0,
                "before": 64.0,
                "after": 39.0,
            }
        ],
    }


async def test_days_are_cut_at_the_midnights_of_the_user_and_sum_up(served):
    ann = await served.user("ann", attributes={"timezone": "Asia/Tokyo"})
    device_id = await served.device(served.admin, "1", attributes={"fuelCapacity": 80})
    await served.admin.post("/permissions", json={"userId": ann.id, "deviceId": device_id})
    await served.report(*filled_and_robbed(served, device_id))
    (whole,) = await get(ann, f"/reports/fuel?{span()}")
    first, second = await get(ann, f"/reports/fuel?{span(daily='true')}")
    assert (first["startTime"], second["startTime"]) == ("2026-05-01T10:00:00Z", "2026-05-01T22:50:00Z")
    assert (len(first["fills"]), len(first["losses"])) == (1, 0)
    assert (len(second["fills"]), len(second["losses"])) == (0, 1)
    assert first["endFuel"] == second["startFuel"] == 64.0
    assert (second["used"], second["lost"], second["consumption"]) == (0.0, 25.0, None)
    for key in ("used", "filled", "lost", "distance"):
        assert first[key] + second[key] == pytest.approx(whole[key])


async def test_a_counter_says_what_was_used(served):
    device_id = await served.device(served.admin, "1")
    road = Road(served, device_id, MAY)
    for minute in range(20):
        road.drive(1, fuelUsed=500 + minute / 4, ignition=True)
    await served.report(*road.positions)
    (item,) = await get(served.admin, f"/reports/fuel?{span()}")
    assert (item["used"], item["startFuel"], item["endFuel"], item["fills"]) == (4.75, None, None, [])
    assert item["consumption"] == pytest.approx(4.75 / 19 * 100, abs=0.3)


async def test_settings_say_what_is_a_fill_and_what_a_loss(served):
    least = {"fuelCapacity": 80, "report.fuel.minFill": 50, "report.fuel.minLoss": 30}
    device_id = await served.device(served.admin, "1", attributes=least)
    await served.report(*filled_and_robbed(served, device_id))
    (item,) = await get(served.admin, f"/reports/fuel?{span()}")
    assert (item["fills"], item["losses"], item["used"]) == ([], [], 0.0)


async def test_it_opens_as_a_workbook_in_the_units_of_the_user(served):
    ann = await served.user("ann", attributes={"volumeUnit": "usGal", "timezone": "Asia/Tokyo"})
    device_id = await served.device(served.admin, "1", attributes={"fuelCapacity": 80})
    await served.admin.post("/permissions", json={"userId": ann.id, "deviceId": device_id})
    await served.report(*filled_and_robbed(served, device_id))
    book = await opened(ann, f"/reports/fuel/xlsx?{span(daily='true')}")
    assert book.sheetnames == ["Fuel"]
    _, titles, rows = table(book.active)
    assert titles == [
        "Device",
        "Start",
        "End",
        "Start Fuel",
        "End Fuel",
        "Used",
        "Fills",
        "Filled",
        "Losses",
        "Lost",
        "Distance",
        "Consumption",
    ]
    assert rows[0][3] == pytest.approx(30 / 3.785411784)
    assert [row[6] for row in rows] == [1, 0]
    assert [row[8] for row in rows] == [0, 1]
    assert rows[1][11] is None
