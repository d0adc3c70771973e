import gzip
import json
import zlib

import pytest
from tests.api.cases import on_one_server

from motorpool.actors.upkeep.settings import PositionSettings
from motorpool.api.settings import HttpSettings

GZIP = {"Accept-Encoding": "gzip, deflate, br"}


async def devices(served, count):
    for number in range(count):
        await served.device(served.admin, f"{number}")


@pytest.fixture
async def five(served):
    """Five devices."""
    await devices(served, 5)


async def test_json_is_zipped_for_who_accepts_it_and_says_the_same(served):
    await devices(served, 5)
    plain = await served.admin.get("/devices")
    zipped = await served.admin.get("/devices", headers=GZIP)
    assert "Content-Encoding" not in plain.headers
    assert zipped.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(zipped.body) == plain.body
    assert int(zipped.headers["Content-Length"]) == len(zipped.body) < len(plain.body) / 2
    for answer in (plain, zipped):
        assert "Accept-Encoding" in answer.headers.getlist("Vary")


@on_one_server("accepted", ["identity", "br", "gzip;q=0", "deflate, gzip;q=0.0", "gzipped", "", "\xe9;q=x"])
async def test_who_does_not_accept_it_gets_it_plain(served, five, accepted):
    answer = await served.admin.get("/devices", headers={"Accept-Encoding": accepted})
    assert "Content-Encoding" not in answer.headers
    assert len(answer.json()) == 5


@on_one_server("accepted", ["gzip", "*", "identity;q=0.5, gzip;q=0.1", "GZIP"])
async def test_all_ways_to_accept_it_count(served, five, accepted):
    answer = await served.admin.get("/devices", headers={"Accept-Encoding": accepted})
    assert len(json.loads(gzip.decompress(answer.body))) == 5


async def test_what_is_short_and_what_is_no_reading_go_out_as_they_are(served):
    assert "Content-Encoding" not in (await served.admin.get("/session/token", headers=GZIP)).headers
    short = await served.admin.get("/groups", headers=GZIP)
    assert (short.body, "Content-Encoding" in short.headers) == (b"[]", False)
    device = {"name": "Long", "uniqueId": "1", "attributes": {"note": "x" * 2000}}
    made = await served.admin.post("/devices", json=device, headers=GZIP)
    assert len(made.json()["attributes"]["note"]) == 2000
    assert "Content-Encoding" not in made.headers


async def test_an_answer_that_comes_in_pieces_is_zipped_on_its_way(starting):
    async with starting(positions=PositionSettings(most=0)) as served:
        number = await served.device(served.admin, "1")
        await served.report(*[served.position(number) for _ in range(2500)])
        path = f"/positions?deviceId={number}&from=2026-05-01T00:00:00Z&to=2026-05-02T00:00:00Z"
        plain = await served.admin.get(path)
        zipped = await served.admin.get(path, headers=GZIP)
        assert zipped.headers["Content-Encoding"] == "gzip"
        assert len(plain.json()) == 2500
        unpacker = zlib.decompressobj(16 + zlib.MAX_WBITS)
        assert unpacker.decompress(zipped.body) == plain.body
        assert unpacker.eof
        assert len(zipped.body) < len(plain.body) / 4


async def test_it_goes_with_the_rules_for_other_origins(starting):
    async with starting(http=HttpSettings(cors_origin="https://app.example")) as served:
        await devices(served, 5)
        origin = {"Origin": "https://app.example"}
        answer = await served.client({"Authorization": "Basic YWRtaW5AZXhhbXBsZS5vcmc6YWRtaW4="}).get(
            "/devices", headers={**GZIP, **origin}
        )
        assert answer.headers["Content-Encoding"] == "gzip"
        assert answer.headers["Access-Control-Allow-Origin"] == "https://app.example"
        assert set(answer.headers.getlist("Vary")) == {"Origin", "Accept-Encoding"}
