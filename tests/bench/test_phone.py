"""What a simulated phone sends, read by the server's codec."""

from datetime import UTC, datetime

import httpx
import pytest

from motorpool.bench.phone import Phone
from motorpool.bench.target import Target
from motorpool.bench.vehicles.fleet import plan_fleet
from motorpool.codecs.devices.osmand.codec import OsmAnd
from motorpool.codecs.reports import Login, PositionReport
from motorpool.runtime.clock import SystemClock

MORNING = datetime(2026, 6, 1, 7, 30, tzinfo=UTC)


@pytest.mark.parametrize("index", [0, 1], ids=["query", "json"])
async def test_both_forms_tell_where_the_phone_is(index: int) -> None:
    plan = plan_fleet(vehicles=0, phones=2).phones[index]
    phone = Phone(plan, Target(host="127.0.0.1"), SystemClock())
    async with httpx.AsyncClient() as client:
        request = phone.request(client, MORNING)
    head = f"{request.method} {request.url.raw_path.decode()} HTTP/1.1\r\n".encode()
    head += b"".join(name + b": " + value + b"\r\n" for name, value in request.headers.raw) + b"\r\n"
    reports = OsmAnd().receive(head + request.content)
    login = next(report for report in reports if isinstance(report, Login))
    assert plan.unique_id in login.unique_ids
    position = next(report for report in reports if isinstance(report, PositionReport))
    assert (position.fix_time or position.device_time) == MORNING
    assert 52.4 < position.latitude < 52.6
    assert 13.2 < position.longitude < 13.5
    assert 0 <= position.speed < 12
    assert 0 < position.attributes["batteryLevel"] <= 100
