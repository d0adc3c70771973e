"""What a server with Traccar's API reports of a device."""

from collections.abc import Mapping
from datetime import datetime
from typing import TypeVar

import httpx
import msgspec

from motorpool.bench.options import BenchError
from motorpool.bench.roads.reported import Reported, ReportedStop, ReportedTrip

MOVING, STOPPED = "deviceMoving", "deviceStopped"
T = TypeVar("T")


class _Span(msgspec.Struct, rename="camel"):
    start_time: datetime
    end_time: datetime
    distance: float = 0.0


class _Summary(msgspec.Struct):
    distance: float


class _Event(msgspec.Struct, rename="camel"):
    type: str
    event_time: datetime


async def fetch_reported(
    client: httpx.AsyncClient, device_id: int, start: datetime, end: datetime
) -> Reported:
    """Return trips, stops, the distance of the summary and the events of motion, both ends included.

    Raises:
        BenchError, httpx.HTTPError, msgspec.MsgspecError: the server does not answer them.
    """
    query = f"deviceId={device_id}&from={_stamp(start)}&to={_stamp(end)}"
    stops = await _items(client, f"/reports/stops?{query}", _Span)
    trips = await _items(client, f"/reports/trips?{query}", _Span)
    summary = await _items(client, f"/reports/summary?{query}", _Summary)
    events = await _items(client, f"/reports/events?{query}&type={MOVING}&type={STOPPED}", _Event)
    return Reported(
        stops=tuple(ReportedStop(stop.start_time, stop.end_time) for stop in stops),
        trips=tuple(ReportedTrip(trip.start_time, trip.end_time, trip.distance) for trip in trips),
        metres=sum(item.distance for item in summary),
        moved=tuple(event.event_time for event in events if event.type == MOVING),
        stopped=tuple(event.event_time for event in events if event.type == STOPPED),
    )


async def _items(client: httpx.AsyncClient, path: str, kind: type[T]) -> list[T]:
    return msgspec.json.decode(await ask(client, "GET", path), type=list[kind])  # type: ignore[valid-type]


async def ask(
    client: httpx.AsyncClient,
    method: str,
    path: str,
    *,
    json: object = None,
    data: Mapping[str, str] | None = None,
) -> bytes:
    """Send a request, with JSON or a form, and return the body of its answer.

    Raises:
        BenchError: the answer is no success.
        httpx.HTTPError: there is none.
    """
    answer = await client.request(method, path, json=json, data=data)
    if not answer.is_success:
        raise BenchError(
            f"{method} {path.partition('?')[0]} answered {answer.status_code}: {answer.text[:200]}"
        )
    return answer.content


def _stamp(instant: datetime) -> str:
    return instant.strftime("%Y-%m-%dT%H:%M:%SZ")
