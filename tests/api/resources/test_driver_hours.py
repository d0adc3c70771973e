"""Events of the hours of drivers, in a whole server (docs/drivers.md#events)."""

from datetime import timedelta

import pytest
import trio
from tests.api.resources.reports.reporting import happen

from motorpool.actors.messages.topics import EVENTS
from motorpool.storage.records import Event

PATIENCE_SECONDS = 60
MINUTE = timedelta(minutes=1)
WATCHED = "select exists (select from timed_event_marks where type = 'driverHours' and subject_id = $1)"
"""What was exceeded before makes no event."""


@pytest.fixture
def idle_upkeep():
    """Events that come at an instant do come."""


async def test_a_limit_that_is_exceeded_is_an_event_of_the_device(served, database):
    now = served.clock.now()
    limits = {"driverHours.driving": 600, "driverHours.warning": 0}
    sent = {"name": "Ann", "uniqueId": "ann", "attributes": limits}
    ann = (await served.admin.post("/drivers", json=sent)).json()["id"]
    van = await served.device(served.admin, "1")
    with trio.fail_after(PATIENCE_SECONDS):
        while not await database.fetch_value(WATCHED, ann):
            pass
    async with served.context.system.topic(EVENTS).subscribe() as published:
        card = {"driverUniqueId": "ann"}
        begin, _ = await served.report(
            served.position(van, now + MINUTE, attributes=card),
            served.position(van, now + 15 * MINUTE, attributes=card),
        )
        await happen(
            database,
            Event(type="deviceMoving", event_time=begin.fix_time, device_id=van, position_id=begin.id),
        )
        served.clock.move_wall(20 * 60)
        found: list[Event] = []
        with trio.fail_after(PATIENCE_SECONDS):
            while not found:
                batches = await published.receive_batch()
                found = [event for batch in batches for event in batch if event.type == "driverHoursExceeded"]
    (event,) = found
    assert event.attributes == {"rule": "driving", "driverId": ann, "driverUniqueId": "ann"}
    assert (event.device_id, event.event_time) == (van, now + 11 * MINUTE)
    span = "from=2026-05-01T00:00:00Z&to=2026-05-02T00:00:00Z"
    listed = (await served.admin.get(f"/events?{span}&deviceId={van}&type=driverHoursExceeded")).json()
    assert [each["id"] for each in listed] == [event.id]
