"""What vehicles did yesterday and in the week before, by their counters."""

from datetime import UTC, timedelta
from zoneinfo import ZoneInfo

from tests.api.resources.reports.reporting import MAY

HOUR = timedelta(hours=1)
HOUR_MS = 3_600_000


def midnight(days=0, zone="UTC"):
    """A local midnight so many days before the first of May, which is today."""
    return MAY.replace(tzinfo=ZoneInfo(zone)) - timedelta(days=days)


async def told(served, device_id, *readings):
    """Store positions with counters: when, metres and hours."""
    await served.report(
        *(
            served.position(
                device_id, when, attributes={"totalDistance": metres, "hours": hours * HOUR_MS, **more}
            )
            for when, metres, hours, more in readings
        )
    )


async def test_yesterday_and_the_week_before(served):
    van = await served.device(served.admin, "1", name="Van")
    await told(
        served,
        van,
        (midnight(9), 1_000.0, 10, {}),
        # The week before has seven days, of which it drove on two.
        (midnight(7) + 9 * HOUR, 31_000.0, 12, {}),
        (midnight(3) + 9 * HOUR, 71_000.0, 15, {}),
        (midnight(1) + HOUR, 81_000.0, 16, {}),
        (midnight(0) - HOUR, 101_000.0, 17, {}),
        # What it does today is not asked for.
        (midnight(0), 150_000.0, 18, {}),
    )
    parked = await served.device(served.admin, "2", name="Parked")
    await told(served, parked, (midnight(9), 5.0, 1, {}), (midnight(0) - HOUR, 5.0, 1, {}))
    await served.device(served.admin, "3", name="Never heard")
    answer = await served.admin.get("/reports/overview")
    assert answer.status == 200, answer.text
    assert answer.json() == {
        "yesterday": {
            "startTime": served_time(midnight(1)),
            "endTime": served_time(midnight(0)),
            "distance": 30_000.0,
            "engineHours": 2 * HOUR_MS,
            "devices": 1,
        },
        "weekBefore": {
            "startTime": served_time(midnight(8)),
            "endTime": served_time(midnight(1)),
            "distance": 70_000.0,
            "engineHours": 5 * HOUR_MS,
            "devices": 1,
        },
    }


def served_time(instant):
    return f"{instant.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


async def test_an_odometer_counts_first_and_what_was_set_by_hand_does_not(served):
    van = await served.device(served.admin, "1")
    await told(
        served,
        van,
        (midnight(1) - HOUR, 0.0, 1, {"odometer": 500_000}),
        (midnight(0) - HOUR, 9_000_000.0, 40, {"odometer": 520_000}),
    )
    jumped = await served.device(served.admin, "2")
    await told(served, jumped, (midnight(1) - HOUR, 0.0, 1, {}), (midnight(0) - HOUR, 9_000_000.0, 0, {}))
    found = (await served.admin.get("/reports/overview")).json()["yesterday"]
    # Hours cannot grow by more than the day has.
    assert (found["distance"], found["engineHours"], found["devices"]) == (20_000.0, 0, 1)


async def test_days_and_vehicles_are_those_of_the_caller(served):
    zone = "Asia/Tokyo"
    ann = await served.user("ann", attributes={"timezone": zone})
    mine = await served.device(served.admin, "1")
    others = await served.device(served.admin, "2")
    await served.admin.post("/permissions", json={"userId": ann.id, "deviceId": mine})
    for device_id in (mine, others):
        await told(
            served,
            device_id,
            (midnight(1, zone) - HOUR, 0.0, 1, {}),
            (midnight(1, zone) + HOUR, 7_000.0, 2, {}),
            (midnight(0, zone) + timedelta(seconds=1), 99_000.0, 3, {}),
        )
    found = (await ann.get("/reports/overview")).json()["yesterday"]
    assert (found["startTime"], found["distance"]) == (served_time(midnight(1, zone)), 7_000.0)
    assert (await served.admin.get("/reports/overview?timezone=Nowhere")).status == 400
