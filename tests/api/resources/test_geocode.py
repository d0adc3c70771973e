"""The address of a place, over HTTP."""

import json

from tests.api.cases import on_one_server

from motorpool.api.settings import GeocoderSettings

ANSWER = {
    "display_name": "all of it",
    "address": {"house_number": "6", "road": "Marktplatz", "town": "Bruchsal", "country_code": "de"},
}


def settings(server, **fields):
    return GeocoderSettings(type="nominatim", url=server.url + "/reverse", per_second=0, **fields)


async def test_any_login_gets_the_address_as_text(starting, web_server):
    server = web_server(lambda _: (200, json.dumps(ANSWER).encode()))
    async with starting(geocoder=settings(server)) as served:
        ann = await served.user("ann", readonly=True)
        answer = await ann.get("/server/geocode?latitude=49.1&longitude=8.6")
        assert (answer.status, answer.text) == (200, "6 Marktplatz, Bruchsal, DE")
        assert answer.headers["Content-Type"].startswith("text/plain")
        assert (await served.client().get("/server/geocode?latitude=49.1&longitude=8.6")).status == 401
        assert (await served.client().get("/server")).json()["geocoderEnabled"] is True


async def test_without_a_geocoder_it_is_500(served):
    answer = await served.admin.get("/server/geocode?latitude=49.1&longitude=8.6")
    assert (answer.status, answer.text) == (500, "reverse geocoding is not enabled")


@on_one_server(
    "query",
    [
        "",
        "?latitude=49",
        "?longitude=8",
        "?latitude=x&longitude=8",
        "?latitude=90.1&longitude=8",
        "?latitude=49&longitude=-180.1",
        "?latitude=nan&longitude=8",
        "?latitude=49&longitude=inf",
    ],
)
async def test_what_is_no_place_is_400(served, query):
    answer = await served.admin.get("/server/geocode" + query)
    assert answer.status == 400
    assert "itude" in answer.text


async def test_the_ends_of_the_world_are_places(starting, web_server):
    server = web_server(lambda _: (200, b'{"error": "Unable to geocode"}'))
    async with starting(geocoder=settings(server)) as served:
        for place in ("latitude=90&longitude=180", "latitude=-90&longitude=-180"):
            answer = await served.admin.get("/server/geocode?" + place)
            assert (answer.status, answer.text) == (200, "")


async def test_a_geocoder_that_fails_is_503_and_its_key_stays_here(starting, web_server, caplog):
    caplog.set_level("INFO")
    server = web_server(lambda asked: (403, b"invalid key secret-key"))
    async with starting(geocoder=settings(server, key="secret-key")) as served:
        answer = await served.admin.get("/server/geocode?latitude=1&longitude=1")
        assert (answer.status, answer.text) == (503, "the geocoder answers 403")
        assert "Retry-After" in answer.headers
    assert "secret-key" in server.asked[0].path
    assert "secret-key" not in caplog.text
