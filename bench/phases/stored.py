"""Whether a server has what it acknowledged."""

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import httpx

from motorpool.bench.load.messages import LocationMessages
from motorpool.bench.measured_server import MeasuredServer, device_ids
from motorpool.bench.options import BenchError

AT_ONCE = 4
"""Requests that keep the server busy without a queue."""
STORED_SECONDS = 10.0
"""In which another server is to have stored what it has acknowledged. Ours stores it before."""


def missing_positions(
    server: MeasuredServer, phones: Sequence[str], first_epoch: float, acknowledged: Sequence[int]
) -> int:
    """Count the positions that are not found over HTTP, of the first so many of each device.

    Raises:
        BenchError: the server does not answer with positions.
    """
    messages = LocationMessages(datetime.fromtimestamp(first_epoch, UTC))
    until = time.monotonic() + STORED_SECONDS
    with server.client() as client:
        ids = device_ids(client)

        def missing_of(place: int) -> int:
            expected = {messages.device_time(number) for number in range(acknowledged[place])}
            if not expected:
                return 0
            while True:
                stored = _stored_times(client, ids[phones[place]], messages, acknowledged[place])
                missing = len(expected - stored)
                if not missing or server.is_own or time.monotonic() > until:
                    return missing
                time.sleep(0.2)

        with ThreadPoolExecutor(AT_ONCE) as pool:
            return sum(pool.map(missing_of, range(len(phones))))


def _stored_times(
    client: httpx.Client, device_id: int, messages: LocationMessages, count: int
) -> set[datetime]:
    span: dict[str, str | int] = {
        "deviceId": device_id,
        "from": _iso(messages.first - timedelta(seconds=1)),
        "to": _iso(messages.device_time(count)),
    }
    answer = client.get("/positions", params=span)
    if answer.status_code != 200:
        raise BenchError(f"GET /positions answered {answer.status_code}: {answer.text[:200]}")
    return {datetime.fromisoformat(position["fixTime"]) for position in answer.json()}


def _iso(instant: datetime) -> str:
    return instant.strftime("%Y-%m-%dT%H:%M:%SZ")
