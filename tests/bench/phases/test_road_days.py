"""Days on a server, which the tests play."""

import json
from collections.abc import Callable, Sequence
from functools import partial
from urllib.parse import parse_qs

import httpx
import pytest

from motorpool.bench.load.day_senders import ReportsRefused
from motorpool.bench.options import BenchError
from motorpool.bench.phases import road_days
from motorpool.bench.phases.road_days import PlannedDay, RoadServer, measure_days
from motorpool.bench.roads import CALM, Report, make_day
from motorpool.bench.roads.day import START

SERVER = RoadServer(
    url="http://server",
    email="bench@example.org",
    password="secret",
    host="server",
    ports={"jt808": 5015, "osmand": 5055},
)
PLANS = [PlannedDay(kind, 3, START) for kind in ("van", "courier", "commuter")]


class PlayedServer:
    """Knows no trips, and one long stop."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.created: list[dict[str, object]] = []
        self.deleted: list[str] = []
        self.logins: list[dict[str, list[str]]] = []
        self.sent: list[tuple[str, str, int, str, int]] = []
        self.refuses = ""
        transport = httpx.MockTransport(self._answer)
        monkeypatch.setattr(road_days.httpx, "AsyncClient", partial(httpx.AsyncClient, transport=transport))
        monkeypatch.setattr(road_days, "send_by_jt808", self._take("jt808"))
        monkeypatch.setattr(road_days, "send_by_osmand", self._take("osmand"))

    def _answer(self, request: httpx.Request) -> httpx.Response:
        assert request.headers["Accept"] == "application/json"
        if request.url.path == "/api/session":
            self.logins.append(parse_qs(request.content.decode()))
            return httpx.Response(200, json={}, headers={"Set-Cookie": "JSESSIONID=abc"})
        assert request.headers["Cookie"] == "JSESSIONID=abc"
        if request.method == "POST":
            body = json.loads(request.content)
            if body["uniqueId"] == self.refuses:
                return httpx.Response(403, text="no more devices")
            self.created.append(body)
            return httpx.Response(200, json=body | {"id": len(self.created)})
        if request.method == "DELETE":
            self.deleted.append(request.url.path)
            return httpx.Response(204)
        if request.url.path == "/api/reports/stops":
            return httpx.Response(
                200, json=[{"startTime": START.isoformat(), "endTime": "2025-03-05T00:00:00Z"}]
            )
        return httpx.Response(200, json=[])

    def _take(self, way_in: str) -> Callable[..., object]:
        async def take(host: str, port: int, unique_id: str, reports: Sequence[Report]) -> None:
            self.sent.append((way_in, host, port, unique_id, len(reports)))

        return take


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> PlayedServer:
    return PlayedServer(monkeypatch)


async def test_days_are_registered_sent_and_compared(played: PlayedServer) -> None:
    done: list[None] = []
    found = await measure_days(SERVER, PLANS, 41, lambda: done.append(None))
    assert len(done) == 3
    assert played.logins == [{"email": ["bench@example.org"], "password": ["secret"]}]
    assert {each.kind for each in found} == {"van", "courier", "commuter"}
    assert all(each.trips.missed == each.trips.trips > 0 for each in found)
    assert [body["uniqueId"] for body in played.created] == ["000000000041", "000000000042", "000000000043"]
    reports = {
        body["uniqueId"]: len(make_day(plan.kind, 3).reports)
        for body, plan in zip(played.created, PLANS, strict=True)
    }
    assert {unique_id: count for *_, unique_id, count in played.sent} == reports
    assert not played.deleted


async def test_devices_on_a_server_that_goes_on_are_deleted(played: PlayedServer) -> None:
    kept = RoadServer(
        url="http://server", email="a", password="b", host="there", ports={"osmand": 6000}, is_kept=True
    )
    await measure_days(kept, PLANS, 1, lambda: None)
    assert sorted(played.deleted) == [f"/api/devices/{number}" for number in (1, 2, 3)]
    assert {sent[:3] for sent in played.sent} == {("osmand", "there", 6000)}


@pytest.mark.usefixtures("played")
async def test_what_a_server_refuses_is_told_in_one_sentence(
    played: PlayedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    played.refuses = "000000000002"
    with pytest.raises(BenchError, match="http://server: POST /devices answered 403: no more devices"):
        await measure_days(SERVER, PLANS, 1, lambda: None)

    async def refuse(*_: object) -> None:
        raise ReportsRefused("OsmAnd at server:5055: not today")

    played.refuses = ""
    monkeypatch.setattr(road_days, "send_by_jt808", refuse)
    monkeypatch.setattr(road_days, "send_by_osmand", refuse)
    with pytest.raises(BenchError, match="http://server: OsmAnd at server:5055: not today"):
        await measure_days(SERVER, PLANS, 1, lambda: None)


def test_jt808_takes_what_it_can_tell() -> None:
    wired = make_day("van", 1, **CALM | {"ignition": True, "odometer": False})
    assert SERVER.way_in(wired) == "jt808"
    assert SERVER.way_in(make_day("van", 1, **CALM | {"ignition": False, "odometer": False})) == "osmand"
    assert SERVER.way_in(make_day("van", 1, **CALM | {"ignition": True, "odometer": True})) == "osmand"
    only = RoadServer(url="", email="", password="", host="", ports={"jt808": 1})
    assert only.way_in(make_day("van", 1, **CALM | {"ignition": False})) == "jt808"
