from datetime import UTC, datetime

import pytest

from motorpool.codecs.reports import Recording
from motorpool.storage.video import recordings

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


@pytest.fixture
async def van(served):
    return await served.device(served.admin, "van 1")


async def test_the_list_is_empty_until_the_device_has_answered(served, van):
    answer = await served.admin.get(f"/recordings/{van}")
    assert (answer.status, answer.json()) == (200, [])
    assert "Last-Modified" not in answer.headers


async def test_a_recording_has_the_fields_of_the_specification(served, van):
    listed = [
        Recording(3, NOON, NOON.replace(minute=5), 1 << 40, 0, 1, 2, 4_000_000_000),
        Recording(31, NOON, NOON.replace(second=1, microsecond=500_000), 0, 2, 2, 1, 0),
    ]
    await recordings.save(served.context.database, van, listed, NOON)
    answer = await served.admin.get(f"/recordings/{van}")
    assert answer.headers["Last-Modified"] == "Fri, 01 May 2026 12:00:00 GMT"
    assert answer.json() == [
        {
            "channel": 3,
            "startTime": "2026-05-01T12:00:00Z",
            "endTime": "2026-05-01T12:05:00Z",
            "alarmFlag": 1 << 40,
            "type": 0,
            "streamType": 1,
            "memoryType": 2,
            "size": 4_000_000_000,
        },
        {
            "channel": 31,
            "startTime": "2026-05-01T12:00:00Z",
            "endTime": "2026-05-01T12:00:01.500Z",
            "alarmFlag": 0,
            "type": 2,
            "streamType": 2,
            "memoryType": 1,
            "size": 0,
        },
    ]
    await recordings.save(served.context.database, van, [], NOON.replace(minute=1))
    answer = await served.admin.get(f"/recordings/{van}")
    assert answer.json() == []
    assert answer.headers["Last-Modified"] == "Fri, 01 May 2026 12:01:00 GMT"


async def test_only_who_may_see_the_device_sees_its_recordings(served, van):
    ann = await served.user("ann")
    assert (await ann.get(f"/recordings/{van}")).status == 404
    assert (await served.admin.get("/recordings/999")).status == 404
    assert (await served.admin.get("/recordings/x")).status == 404
    assert (await served.client().get(f"/recordings/{van}")).status == 401
