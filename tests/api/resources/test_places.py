"""Places by their names, over HTTP."""

import json
import re

import pytest
from tests.api.cases import on_one_server

from motorpool.api.request_limits import ADDRESS_SEARCHES
from motorpool.api.settings import GeocoderSettings

ANSWER = [{"display_name": "6, Marktplatz, Bruchsal", "lat": "49.1", "lon": "8.6", "address": {"town": "B"}}]


def settings(server):
    return GeocoderSettings(type="nominatim", url=server.url + "/reverse", per_second=0)


async def find(client, text):
    answer = await client.get(f"/places?{text}")
    assert answer.status == 200, answer.text
    return answer.json()


async def test_towns_are_found_near_where_the_map_is(served):
    ann = await served.user("ann", readonly=True)
    first, *_ = await find(ann, "keyword=P%C3%94RTO")
    assert (first["kind"], first["country"], first["geofenceId"]) == ("town", "PT", None)
    assert (first["name"], round(first["latitude"]), round(first["longitude"])) == ("Porto", 41, -9)
    found = await find(ann, "keyword=springfield&latitude=39.8&longitude=-89.6&limit=2")
    assert len(found) == 2
    assert round(found[0]["latitude"], 1) == 39.8
    assert await find(ann, "keyword=no-such-town-anywhere") == []
    assert len(await find(ann, "keyword=a&limit=0")) == 50


async def test_the_town_of_a_place_is_named_without_a_geocoder(served):
    ann = await served.user("ann", readonly=True)

    async def town(latitude, longitude):
        answer = await ann.get(f"/places/town?latitude={latitude}&longitude={longitude}")
        assert answer.status == 200, answer.text
        return answer.json()["place"]

    assert await town(52.52, 13.4) == "Berlin"
    assert re.fullmatch(r".+, \d+ km [NESW]{1,2}", await town(52.3, 12.6))
    assert await town(0, 0) is None
    assert (await ann.get("/places/town?latitude=91&longitude=0")).status == 400


async def test_only_zones_of_the_user_are_found_with_their_middle(served):
    drawn = [("North depot", "CIRCLE (10 20, 100)"), ("Depot", "POLYGON ((1 2, 1 4, 3 4, 3 2))")]
    ids = {}
    for name, area in drawn:
        ids[name] = (await served.admin.post("/geofences", json={"name": name, "area": area})).json()["id"]
    ann = await served.user("ann")
    assert [each for each in await find(ann, "keyword=depot") if each["kind"] == "geofence"] == []
    await served.admin.post("/permissions", json={"userId": ann.id, "geofenceId": ids["Depot"]})
    zone, *_ = await find(ann, "keyword=DEPO")
    assert zone == {
        "kind": "geofence", "name": "Depot", "latitude": 2.0, "longitude": 3.0, "geofenceId": ids["Depot"],
        "country": None,
    }  # fmt: skip
    circle = next(each for each in await find(served.admin, "keyword=north") if each["kind"] == "geofence")
    assert (circle["latitude"], circle["longitude"]) == pytest.approx((10, 20))


async def test_the_geocoder_is_asked_only_where_addresses_are_wanted_and_not_too_often(starting, web_server):
    server = web_server(lambda _: (200, json.dumps(ANSWER).encode()))
    async with starting(geocoder=settings(server)) as served:
        ann, ben = await served.user("ann"), await served.user("ben")
        await find(ann, "keyword=Bruchsal")
        assert server.asked == []
        (found,) = await find(ann, "keyword=Bruchsal&addresses=true")
        assert (found["kind"], found["name"]) == ("address", "6, Marktplatz, Bruchsal")
        assert (found["latitude"], found["longitude"]) == (49.1, 8.6)
        for _ in range(ADDRESS_SEARCHES - 1):
            await find(ann, "keyword=Bruchsal&addresses=true")
        assert (await ann.get("/places?keyword=Bruchsal&addresses=true")).status == 429
        await find(ann, "keyword=Bruchsal")
        await find(ben, "keyword=Bruchsal&addresses=true")
        assert len(server.asked) == 1


async def test_without_a_geocoder_there_are_no_addresses(served):
    assert await find(served.admin, "keyword=Bruchsal&addresses=true") == []


async def test_a_geocoder_that_is_away_is_503(starting, web_server):
    server = web_server(lambda _: (500, b""))
    async with starting(geocoder=settings(server)) as failing:
        answer = await failing.admin.get("/places?keyword=Bruchsal&addresses=true")
        assert answer.status == 503


@on_one_server(
    "query",
    ["", "keyword=", "keyword=%20", f"keyword={'x' * 201}", "keyword=a&latitude=1", "keyword=a&longitude=1",
     "keyword=a&latitude=91&longitude=1", "keyword=a&limit=51", "keyword=a&limit=-1"],
)  # fmt: skip
async def test_what_is_no_search_is_400(served, query):
    assert (await served.admin.get(f"/places?{query}")).status == 400


async def test_places_are_for_who_is_logged_in(served):
    assert (await served.client().get("/places?keyword=porto")).status == 401
