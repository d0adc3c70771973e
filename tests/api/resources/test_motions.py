"""`GET /devices/motion`: since when devices move or stand."""

from datetime import UTC, datetime, timedelta

from motorpool.storage.events import events
from motorpool.storage.records import Event

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


async def happened(served, *told):
    """Store events of motion: device, type and minutes after noon."""
    await events.insert_many(
        served.context.database,
        [
            Event(id=number, type=kind, event_time=NOON + timedelta(minutes=minutes), device_id=device)
            for number, (device, kind, minutes) in enumerate(told, 1)
        ],
    )


def asked(*ids):
    return "/devices/motion?" + "&".join(f"id={each}" for each in ids)


async def test_the_last_start_or_stop_of_each_device_counts(served):
    van, bus, new = [await served.device(served.admin, number) for number in ("1", "2", "3")]
    await happened(
        served,
        (van, "deviceMoving", 5),
        (van, "deviceStopped", 9),
        (van, "alarm", 11),
        (bus, "deviceStopped", 1),
        (bus, "deviceMoving", 2),
    )
    answer = await served.admin.get(asked(bus, van, new, van))
    assert answer.json() == [
        {"deviceId": van, "moving": False, "since": "2026-05-01T12:09:00Z"},
        {"deviceId": bus, "moving": True, "since": "2026-05-01T12:02:00Z"},
    ]


async def test_users_see_their_own_devices_only_even_without_reports(served):
    anna = await served.user("anna", disableReports=True, deviceLimit=-1)
    mine = await served.device(anna, "1")
    other = await served.device(served.admin, "2")
    await happened(served, (mine, "deviceStopped", 1), (other, "deviceStopped", 2))
    answer = await anna.get(asked(mine, other))
    assert [each["deviceId"] for each in answer.json()] == [mine]
    answer = await served.admin.get(asked(mine, other))
    assert [each["deviceId"] for each in answer.json()] == [mine, other]


async def test_too_many_devices_and_none_are_refused(served):
    answer = await served.admin.get(asked(*range(1, 502)))
    assert (answer.status, answer.text) == (400, "id: at most 500 devices")
    assert (await served.admin.get(asked(*range(1, 501)))).json() == []
    assert (await served.admin.get("/devices/motion")).status == 400
