from datetime import UTC, datetime

from motorpool.storage import events
from motorpool.storage.records import Event

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


async def happen(database, device_id):
    event = Event(type="alarm", event_time=NOON, device_id=device_id, attributes={"alarm": "sos"})
    await events.assign_ids(database, [event])
    await events.insert_many(database, [event])
    return event.id


async def test_an_event_is_told_to_who_may_see_its_device(served, database):
    ann = await served.user("ann")
    number = await served.device(served.admin, "1")
    event_id = await happen(database, number)
    answer = await served.admin.get(f"/events/{event_id}")
    assert answer.status == 200
    assert answer.json() == {
        "id": event_id,
        "type": "alarm",
        "eventTime": "2026-05-01T12:00:00Z",
        "deviceId": number,
        "positionId": 0,
        "geofenceId": 0,
        "maintenanceId": 0,
        "attributes": {"alarm": "sos"},
    }
    assert (await ann.get(f"/events/{event_id}")).status == 404
    await served.admin.post("/permissions", json={"userId": ann.id, "deviceId": number})
    assert (await ann.get(f"/events/{event_id}")).status == 200
    assert (await served.client().get(f"/events/{event_id}")).status == 401


async def test_what_never_happened_is_404(served, database):
    assert (await served.admin.get("/events/1")).status == 404
    assert (await served.admin.get("/events/9223372036854775807")).status == 404
    orphan = await happen(database, 4711)
    assert (await served.admin.get(f"/events/{orphan}")).status == 404
