"""Questions to a real small geocoder: how many, when, and what becomes of the answers."""

import json
from urllib.parse import parse_qs, urlsplit

import pytest
import trio
import trio.testing

from motorpool.actors.geocoding.geocoder import MAX_CHARACTERS, MAX_CONCURRENT, Geocoder
from motorpool.actors.geocoding.settings import GeocoderSettings
from motorpool.actors.http.errors import DeliveryRefused, Unreachable
from motorpool.actors.http.http import OutgoingHttp
from motorpool.actors.messages.counters import GEOCODER_REQUESTS

ANSWER = {
    "display_name": "6, Marktplatz",
    "address": {"house_number": "6", "road": "Marktplatz", "town": "B"},
}


def geocoder(server, monotonic=trio.current_time, **fields):
    service = GeocoderSettings(
        **{"type": "nominatim", "url": server.url + "/reverse", "per_second": 0, **fields}
    )
    return Geocoder(OutgoingHttp(), service, monotonic)


@pytest.fixture
def nominatim(web_server):
    """A server that knows one address."""
    return web_server(lambda _: (200, json.dumps(ANSWER).encode()))


def query(asked):
    return {name: values[0] for name, values in parse_qs(urlsplit(asked.path).query).items()}


async def test_a_place_is_asked_for_and_its_address_written(nominatim):
    before = GEOCODER_REQUESTS.value
    assert await geocoder(nominatim, language="de", key="k").address(49.1, -8.6) == "6 Marktplatz, B"
    (asked,) = nominatim.asked
    assert urlsplit(asked.path).path == "/reverse"
    assert query(asked) == {
        "lat": "49.1000",
        "lon": "-8.6000",
        "format": "jsonv2",
        "zoom": "18",
        "addressdetails": "1",
        "accept-language": "de",
        "key": "k",
    }
    assert asked.headers["User-Agent"] == "motorpool"
    assert GEOCODER_REQUESTS.value == before + 1


async def test_a_place_may_stand_in_the_path(web_server):
    server = web_server(lambda _: (200, b'{"addresses": []}'))
    url = server.url + "/search/2/reverseGeocode/{latitude},{longitude}.json"
    assert await geocoder(server, type="tomtom", url=url, key="k").address(52.1, 5.2) == ""
    assert server.asked[0].path == "/search/2/reverseGeocode/52.1000,5.2000.json?key=k"


async def test_the_same_place_is_asked_for_once(nominatim):
    asking = geocoder(nominatim)
    for latitude, longitude in ((49.1, 8.6), (49.10001, 8.60001), (49.09999, 8.6)):
        assert await asking.address(latitude, longitude) == "6 Marktplatz, B"
    await asking.address(49.1002, 8.6)
    assert len(nominatim.asked) == 2


async def test_the_two_zeros_are_one_place(nominatim):
    asking = geocoder(nominatim)
    await asking.address(0.0, -0.0)
    await asking.address(-0.00001, 0.0)
    assert len(nominatim.asked) == 1
    assert query(nominatim.asked[0])["lat"] == "0.0000"


async def test_who_asks_at_the_same_time_waits_for_the_same_answer(nominatim):
    asking, found = geocoder(nominatim), []

    async def ask():
        found.append(await asking.address(49.1, 8.6))

    async with trio.open_nursery() as nursery:
        for _ in range(10):
            nursery.start_soon(ask)
    assert found == ["6 Marktplatz, B"] * 10
    assert len(nominatim.asked) == 1


async def test_the_place_asked_for_longest_ago_is_forgotten_first(nominatim):
    asking = geocoder(nominatim, cache_size=2)
    for latitude in (1, 2, 1, 3):
        await asking.address(latitude, 0)
    assert len(nominatim.asked) == 3
    await asking.address(1, 0)
    assert len(nominatim.asked) == 3
    await asking.address(2, 0)
    assert len(nominatim.asked) == 4


async def test_a_place_without_an_address_is_remembered_too(web_server):
    server = web_server(lambda _: (200, b'{"error": "Unable to geocode"}'))
    asking = geocoder(server)
    assert await asking.address(0, 0) == ""
    assert await asking.address(0, 0) == ""
    assert len(server.asked) == 1


async def test_locationiqs_404_is_a_place_without_an_address(web_server):
    server = web_server(lambda _: (404, b'{"error": "Unable to geocode"}'))
    assert await geocoder(server, type="locationiq").address(0, 0) == ""
    with pytest.raises(Unreachable, match="answers 404"):
        await geocoder(server, type="nominatim").address(0, 0)


@pytest.mark.parametrize("status", [301, 401, 403, 429, 500])
async def test_a_geocoder_that_refuses_is_asked_again_next_time(web_server, status):
    statuses = [status, 200]
    server = web_server(lambda _: (statuses.pop(0), json.dumps(ANSWER).encode()))
    asking = geocoder(server, key="secret")
    with pytest.raises(Unreachable) as caught:
        await asking.address(49.1, 8.6)
    assert str(caught.value) == f"the geocoder answers {status}"
    assert await asking.address(49.1, 8.6) == "6 Marktplatz, B"


async def test_googles_refusals_come_with_200(web_server):
    server = web_server(lambda _: (200, b'{"status": "REQUEST_DENIED", "results": []}'))
    with pytest.raises(Unreachable, match="answers REQUEST_DENIED"):
        await geocoder(server, type="google").address(0, 0)


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b"5", b"null", b'{"address": []}', b"{}"])
async def test_what_cannot_be_read_is_said_so_in_one_line(web_server, body):
    server = web_server(lambda _: (200, body))
    with pytest.raises(DeliveryRefused):
        await geocoder(server).address(0, 0)


async def test_a_geocoder_that_hangs_costs_its_patience(hanging_port):
    service = GeocoderSettings(
        type="nominatim", url=f"http://127.0.0.1:{hanging_port}/?key=secret", seconds=0.05
    )
    asking = Geocoder(OutgoingHttp(), service, trio.current_time)
    with pytest.raises(Unreachable) as caught:
        await asking.address(0, 0)
    assert "secret" not in str(caught.value)


async def test_questions_go_out_no_oftener_than_agreed_and_too_many_are_refused(nominatim, autojump_clock):
    # While a thread serves, Trio waits for the socket, and the test's clock would leap: the deadline is far.
    asking = geocoder(nominatim, per_second=0.001, seconds=2500)
    times, refused = [], []

    async def ask(latitude):
        try:
            await asking.address(latitude, 0)
        except Unreachable as error:
            refused.append(str(error))
        else:
            times.append(trio.current_time())

    autojump_clock.autojump_threshold = 0.05
    start = trio.current_time()
    async with trio.open_nursery() as nursery:
        for latitude in range(5):
            nursery.start_soon(ask, latitude)
    assert [round(each - start) // 1000 for each in sorted(times)] == [0, 1, 2]
    assert refused == ["the geocoder is asked more often than it may be"] * 2
    assert len(nominatim.asked) == 3


async def test_who_leaves_does_not_take_the_others_along(web_server):
    import threading

    go = threading.Event()

    def answer(_):
        go.wait(60)
        return 200, json.dumps(ANSWER).encode()

    server, found = web_server(answer), []
    asking = geocoder(server)

    async def ask():
        found.append(await asking.address(49.1, 8.6))

    async with trio.open_nursery() as nursery:
        with trio.CancelScope() as leaving:
            async with trio.open_nursery() as first:
                first.start_soon(ask)
                await trio.testing.wait_all_tasks_blocked()
                nursery.start_soon(ask)
                await trio.testing.wait_all_tasks_blocked()
                leaving.cancel()
        go.set()
    assert found == ["6 Marktplatz, B"]


async def test_many_places_are_looked_up_once_each(nominatim):
    asking = geocoder(nominatim)
    places = [(49.1, 8.6), (49.2, 8.6), (49.1, 8.6), (49.10001, 8.6)]
    assert await asking.addresses(places) == ["6 Marktplatz, B"] * 4
    assert len(nominatim.asked) == 2
    assert await asking.addresses([]) == []


async def test_a_place_without_an_address_has_none(web_server):
    server = web_server(lambda _: (200, b'{"error": "Unable to geocode"}'))
    assert await geocoder(server).addresses([(1.0, 1.0)]) == [None]


async def test_places_are_left_out_when_the_geocoder_fails_or_is_too_slow(web_server, hanging_port):
    statuses = [200]
    server = web_server(
        lambda _: (statuses.pop() if statuses else 500, json.dumps(ANSWER).encode() if not statuses else b"")
    )
    asking = geocoder(server)
    await asking.address(1, 1)
    places = [(number, number) for number in range(100)]
    found = await asking.addresses(places)
    assert [number for number, address in enumerate(found) if address is not None] == [1]
    # The four that were on their way may have failed; the others were not asked for.
    assert len(server.asked) <= 1 + MAX_CONCURRENT
    slow = Geocoder(
        OutgoingHttp(),
        GeocoderSettings(
            type="nominatim", url=f"http://127.0.0.1:{hanging_port}/", per_second=0, request_seconds=0.05
        ),
        trio.current_time,
    )
    assert await slow.addresses(places) == [None] * 100


async def test_places_beyond_the_limit_are_only_remembered(nominatim, monkeypatch):
    monkeypatch.setattr("motorpool.actors.geocoding.geocoder.MAX_PLACES", 3)
    asking = geocoder(nominatim)
    await asking.address(9, 9)
    found = await asking.addresses([(number, number) for number in range(10)])
    assert [number for number, address in enumerate(found) if address is not None] == [0, 1, 2, 9]


async def test_nothing_is_looked_up_for_reports_where_that_is_switched_off(nominatim):
    asking = geocoder(nominatim, on_request=False)
    await asking.address(1, 1)
    assert await asking.addresses([(1, 1), (2, 2)]) == ["6 Marktplatz, B", None]
    assert len(nominatim.asked) == 1


def test_a_service_shows_none_of_its_secrets():
    assert "secret" not in repr(GeocoderSettings(type="nominatim", url="https://secret", key="secret"))


FOUND = [
    {**ANSWER, "lat": "49.1", "lon": "8.6"},
    {"display_name": "", "lat": "1", "lon": "2", "address": {}},
    {"display_name": "far", "lat": "91", "lon": "2", "address": {}},
]


async def test_an_address_is_looked_for_and_remembered(web_server):
    server = web_server(lambda _: (200, json.dumps(FOUND).encode()))
    asking = geocoder(server, language="de", key="k")
    (found,) = await asking.search("Marktplatz 6, B")
    assert (found.name, found.latitude, found.longitude) == ("6, Marktplatz", 49.1, 8.6)
    assert await asking.search(" marktplatz  6, b") == (found,)
    (asked,) = server.asked
    assert urlsplit(asked.path).path == "/search"
    assert query(asked) == {
        "q": "Marktplatz 6, B",
        "format": "jsonv2",
        "addressdetails": "1",
        "accept-language": "de",
        "key": "k",
    }


async def test_a_search_counts_for_the_rate_limit(web_server):
    server = web_server(lambda _: (200, b"[]"))
    asking = geocoder(server, per_second=0.01, seconds=3)
    assert await asking.search("a") == ()
    with pytest.raises(Unreachable, match="asked more often than it may be"):
        await asking.search("b")
    assert len(server.asked) == 1


@pytest.mark.parametrize("answer", [b"{", b'["x"]', b'[{"lat": "a", "lon": "b", "address": {}}]'])
async def test_a_search_that_cannot_be_read_is_refused(web_server, answer):
    server = web_server(lambda _: (200, answer))
    with pytest.raises(DeliveryRefused):
        await geocoder(server).search("x")


async def test_a_server_of_ones_own_that_is_not_known_to_search_is_not_asked(nominatim):
    for kind, url in (("here", "/revgeocode"), ("nominatim", "/where"), ("tomtom", "/reverseGeocode")):
        assert await geocoder(nominatim, type=kind, url=nominatim.url + url).search("x") == ()
    assert nominatim.asked == []


async def test_who_searches_for_the_same_at_the_same_time_waits_for_the_same_answer(web_server):
    server, found = web_server(lambda _: (200, json.dumps(FOUND).encode())), []
    asking = geocoder(server)

    async def ask(keyword):
        found.extend(await asking.search(keyword))

    async with trio.open_nursery() as nursery:
        for keyword in ("Marktplatz", "marktplatz ") * 5:
            nursery.start_soon(ask, keyword)
    assert [each.name for each in found] == ["6, Marktplatz"] * 10
    assert len(server.asked) == 1


@pytest.mark.parametrize("number", [b"1" + b"0" * 400, b'"1e999"', b"181"])
async def test_what_is_found_at_no_place_is_left_out(web_server, number):
    row = b'{"lat": 1, "lon": %s, "display_name": "x", "address": {}}'
    asking = geocoder(web_server(lambda _: (200, b"[" + row % number + b", " + row % b"2" + b"]")))
    assert [(each.latitude, each.longitude) for each in await asking.search("x")] == [(1.0, 2.0)]


async def test_an_address_is_one_line_of_bounded_length(web_server):
    text = "Long\u202e\0\n" + "road " * 10_000
    row = {"lat": 1, "lon": 2, "display_name": text, "address": {"road": text}}
    server = web_server(lambda asked: (200, json.dumps([row] if "/search" in asked.path else row).encode()))
    asking = geocoder(server)
    (found,) = await asking.search("x")
    for address in (found.name, await asking.address(1, 2)):
        assert len(address) == MAX_CHARACTERS
        assert address.startswith("Long road road ")


async def test_a_place_is_asked_for_again_if_the_answer_must_be_new(nominatim):
    asking = geocoder(nominatim)
    for _ in range(2):
        await asking.address(1, 2, anew=True)
    assert len(nominatim.asked) == 2
