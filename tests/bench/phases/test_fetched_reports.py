"""Reports of a server with Traccar's API."""

from datetime import UTC, datetime

import httpx
import msgspec
import pytest

from motorpool.bench.options import BenchError
from motorpool.bench.phases.fetched_reports import fetch_reported
from motorpool.bench.roads.reported import ReportedStop, ReportedTrip

START, END = datetime(2025, 3, 4, tzinfo=UTC), datetime(2025, 3, 5, tzinfo=UTC)


def instant(hour: int, minute: int = 0) -> datetime:
    return datetime(2025, 3, 4, hour, minute, tzinfo=UTC)


ANSWERS = {
    "/api/reports/stops": [
        {
            "deviceId": 7,
            "startTime": "2025-03-04T00:00:00.000+00:00",
            "endTime": "2025-03-04T08:00:00.000+00:00",
        }
    ],
    "/api/reports/trips": [
        {
            "startTime": "2025-03-04T08:00:00Z",
            "endTime": "2025-03-04T10:30:00+01:00",
            "distance": 1234.5,
            "startAddress": None,
        }
    ],
    "/api/reports/summary": [{"deviceId": 7, "distance": 1300}],
    "/api/reports/events": [
        {"type": "deviceStopped", "eventTime": "2025-03-04T09:30:00Z", "positionId": 3},
        {"type": "deviceMoving", "eventTime": "2025-03-04T08:00:00Z"},
    ],
}


def client(answers: dict[str, object], asked: list[httpx.Request] | None = None) -> httpx.AsyncClient:
    def answer(request: httpx.Request) -> httpx.Response:
        if asked is not None:
            asked.append(request)
        found = answers[request.url.path]
        return found if isinstance(found, httpx.Response) else httpx.Response(200, json=found)

    return httpx.AsyncClient(base_url="http://server/api", transport=httpx.MockTransport(answer))


async def test_all_reports_of_the_day_are_read() -> None:
    asked: list[httpx.Request] = []
    async with client(ANSWERS, asked) as server:
        reported = await fetch_reported(server, 7, START, END)
    assert reported.stops == (ReportedStop(START, instant(8)),)
    assert reported.trips == (ReportedTrip(instant(8), instant(9, 30), 1234.5),)
    assert reported.metres == 1300
    assert (reported.moved, reported.stopped) == ((instant(8),), (instant(9, 30),))
    for request in asked:
        assert request.url.params["deviceId"] == "7"
        assert request.url.params["from"] == "2025-03-04T00:00:00Z"
        assert request.url.params["to"] == "2025-03-05T00:00:00Z"
    assert asked[-1].url.params.get_list("type") == ["deviceMoving", "deviceStopped"]


async def test_a_device_without_positions_has_no_summary() -> None:
    async with client({path: [] for path in ANSWERS}) as server:
        assert (await fetch_reported(server, 7, START, END)).metres == 0


async def test_what_is_no_report() -> None:
    async with client(
        ANSWERS | {"/api/reports/trips": httpx.Response(400, text="too long a span")}
    ) as server:
        with pytest.raises(BenchError, match="GET /reports/trips answered 400: too long a span"):
            await fetch_reported(server, 7, START, END)
    async with client(ANSWERS | {"/api/reports/stops": [{"startTime": "yesterday"}]}) as server:
        with pytest.raises(msgspec.ValidationError):
            await fetch_reported(server, 7, START, END)
