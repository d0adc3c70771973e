"""Requests to real servers on the loopback."""

import pytest
import trio

from motorpool.actors.http.errors import DeliveryRefused, OutgoingError, Unreachable
from motorpool.actors.http.http import OutgoingHttp

LOOPBACK = ("127.0.0.0/8",)


async def test_a_request_arrives_as_it_was_made_and_its_answer_comes_back(web_server):
    server = web_server(lambda _: (201, b'{"a": [1]}'))
    answer = await OutgoingHttp(LOOPBACK).request(
        "PUT",
        server.url + "/path?x=1",
        params={"y": "ä b"},
        headers={"X-Key": "k", "Content-Type": "text/plain"},
        content="hé".encode(),
    )
    assert (answer.status, answer.ok, answer.json()) == (201, True, {"a": [1]})
    (asked,) = server.asked
    assert (asked.method, asked.path, asked.body) == ("PUT", "/path?x=1&y=%C3%A4+b", "hé".encode())
    assert asked.headers["Host"] == f"127.0.0.1:{server.port}"
    assert asked.headers["X-Key"] == "k"
    assert asked.headers["Content-Type"] == "text/plain"
    assert asked.headers["Accept-Encoding"] == "identity"


async def test_a_form_is_sent_urlencoded(web_server):
    server = web_server()
    await OutgoingHttp(LOOPBACK).request("POST", server.url, form={"code": "a+b", "n": "ü"})
    (asked,) = server.asked
    assert asked.body == b"code=a%2Bb&n=%C3%BC"
    assert asked.headers["Content-Type"] == "application/x-www-form-urlencoded"


@pytest.mark.parametrize("status", [204, 301, 404, 500])
async def test_any_status_is_an_answer(web_server, status):
    server = web_server(lambda _: (status, b""))
    answer = await OutgoingHttp(LOOPBACK).request("GET", server.url)
    assert (answer.status, answer.ok) == (status, status == 204)


async def test_a_private_address_is_refused_before_anything_is_sent(web_server):
    server = web_server()
    with pytest.raises(DeliveryRefused, match="private network"):
        await OutgoingHttp().request("GET", server.url)
    with pytest.raises(DeliveryRefused, match="private network"):
        await OutgoingHttp(("10.0.0.0/8",)).request("GET", server.url)
    assert server.asked == []


async def test_what_the_operator_named_may_be_in_the_house(web_server):
    server = web_server()
    assert (await OutgoingHttp().request("GET", server.url, trusted=True)).status == 200


async def test_a_redirect_is_not_followed(web_server):
    inside = web_server()
    outside = web_server(lambda _: (302, b""))
    outside.headers["Location"] = inside.url + "/secret"
    answer = await OutgoingHttp(LOOPBACK).request("GET", outside.url)
    assert (answer.status, answer.headers["location"]) == (302, inside.url + "/secret")
    assert inside.asked == []


async def test_a_name_is_resolved_once_and_the_checked_address_is_the_one_connected_to(web_server, names):
    server = web_server()
    resolver = names({"fleet.example": [["127.0.0.1"], ["127.0.0.2"]]})
    http = OutgoingHttp(("127.0.0.1/32",))
    url = f"http://fleet.example:{server.port}/"
    assert (await http.request("GET", url)).status == 200
    assert resolver.questions == ["fleet.example"]
    assert server.asked[0].headers["Host"] == f"fleet.example:{server.port}"
    # Next time the name leads somewhere else, and that is looked at again.
    with pytest.raises(DeliveryRefused, match="private network"):
        await http.request("GET", url)


async def test_the_next_address_is_tried_where_one_cannot_be_connected_to(web_server, names):
    server = web_server()
    names({"fleet.example": [["127.0.0.9", "127.0.0.1"]]})
    answer = await OutgoingHttp(LOOPBACK).request("GET", f"http://fleet.example:{server.port}/")
    assert answer.status == 200


async def test_tls_is_verified_against_the_name_whatever_the_address(web_server, names, authority):
    server = web_server(tls=authority.server("fleet.example"))
    names({"fleet.example": [["127.0.0.1"]], "other.example": [["127.0.0.1"]]})
    http = OutgoingHttp(LOOPBACK, tls=authority.trusting)
    assert (await http.request("GET", f"https://fleet.example:{server.port}/")).status == 200
    with pytest.raises(
        Unreachable, match=r"other\.example cannot be connected to: .*mismatch.*other\.example"
    ):
        await http.request("GET", f"https://other.example:{server.port}/")
    with pytest.raises(Unreachable, match="certificate"):
        await OutgoingHttp(LOOPBACK).request("GET", f"https://fleet.example:{server.port}/")
    assert len(server.asked) == 1


async def test_an_answer_past_the_bound_is_refused(web_server):
    server = web_server(lambda _: (200, b"x" * 1001))
    http = OutgoingHttp(LOOPBACK)
    assert len((await http.request("GET", server.url, max_bytes=1001)).content) == 1001
    with pytest.raises(DeliveryRefused, match="more than 1000 bytes"):
        await http.request("GET", server.url, max_bytes=1000)


async def test_an_answer_that_unfolds_is_refused(web_server):
    server = web_server(lambda _: (200, b"x"))
    server.headers["Content-Encoding"] = "gzip"
    with pytest.raises(DeliveryRefused, match="compressed"):
        await OutgoingHttp(LOOPBACK).request("GET", server.url)


async def test_a_server_that_says_nothing_costs_the_deadline_and_no_more(hanging_port):
    clock = trio.current_time()
    with pytest.raises(Unreachable, match=r"no answer within 0\.05 s"):
        await OutgoingHttp(LOOPBACK).request("GET", f"http://127.0.0.1:{hanging_port}", seconds=0.05)
    assert trio.current_time() - clock < 60


async def test_waiting_for_a_place_ends_with_the_deadline_too(hanging_port):
    http = OutgoingHttp(LOOPBACK, max_concurrent=1)
    url = f"http://127.0.0.1:{hanging_port}"
    outcomes = []

    async def ask():
        try:
            await http.request("GET", url, seconds=0.05)
        except Unreachable as error:
            outcomes.append(str(error))

    async with trio.open_nursery() as nursery:
        for _ in range(3):
            nursery.start_soon(ask)
    assert len(outcomes) == 3


async def test_a_closed_port_is_unreachable():
    with pytest.raises(Unreachable, match="cannot be connected to"):
        await OutgoingHttp(LOOPBACK).request("GET", "http://127.0.0.1:1/")


async def test_what_is_no_http_is_unreachable(mail_server):
    server = await mail_server()
    with pytest.raises(Unreachable, match="not HTTP"):
        await OutgoingHttp(LOOPBACK).request("GET", f"http://127.0.0.1:{server.port}/")


@pytest.mark.parametrize(
    "url",
    [
        "",
        "fleet.example/path",
        "ftp://fleet.example/",
        "file:///etc/passwd",
        "http://",
        "http:///path",
        "http://fleet.example:99999/",
        "http://user:secret@fleet.example/",
        "http://fleet.example/\r\nX: secret",
        "http://" + "a" * 300 + ".example/",
    ],
)
async def test_what_is_no_plain_web_address_is_refused_without_repeating_it(url):
    with pytest.raises(OutgoingError) as caught:
        await OutgoingHttp().request("GET", url)
    assert "secret" not in str(caught.value)


# In this order: numbers in other notations; a dot at the end, letters of other scripts, encoded and invisible
# ones; IPv6, with zones and IPv4 addresses in it; what some parsers take for another host than others do.
WAYS_TO_WRITE_THIS_MACHINE = """
    http://127.1:{}/ http://2130706433:{}/ http://0x7f000001:{}/ http://0x7f.1:{}/ http://0177.0.0.1:{}/
    http://017700000001:{}/ http://0:{}/ http://0.0.0.0:{}/
    http://127.0.0.1.:{}/ http://localhost.:{}/ http://LocalHost:{}/ http://\u24dbocalhost:{}/
    http://\u2460\u2461\u2466.\u24ea.\u24ea.\u2460:{}/ http://\uff11\uff12\uff17.\uff10.\uff10.\uff11:{}/
    http://127\u30020\u30020\u30021:{}/ http://xn--localhost-:{}/ http://lo\u00adcalhost:{}/
    http://127.0.0.1\u200b:{}/ http://%31%32%37.0.0.1:{}/ http://localhost%2e:{}/
    http://127.0.0.1%00.example.org:{}/ http://127.0.0.1%09:{}/
    http://[::1]:{}/ http://[0:0:0:0:0:0:0:1]:{}/ http://[::]:{}/ http://[::127.0.0.1]:{}/
    http://[::ffff:127.0.0.1]:{}/ http://[::ffff:7f00:1]:{}/ http://[64:ff9b::7f00:1]:{}/
    http://[::1%25lo]:{}/ http://[::1%lo]:{}/ http://[::ffff:127.0.0.1%25lo]:{}/
    http://8.8.8.8@127.0.0.1:{}/ http://8.8.8.8:80@127.0.0.1:{}/ http://8.8.8.8\\@127.0.0.1:{}/
    http://127.0.0.1:{}\\@8.8.8.8/ http://127.0.0.1:{}#@8.8.8.8/ http://127.0.0.1:{}:80/
    http:127.0.0.1:{}/ http:///127.0.0.1:{}/ //127.0.0.1:{}/ http:\\\\127.0.0.1:{}/
"""


@pytest.mark.parametrize("url", [*WAYS_TO_WRITE_THIS_MACHINE.split(), "http://127.0.0.1\t:{}/"])
async def test_no_way_of_writing_this_machine_in_a_url_reaches_it(web_server, url):
    server = web_server()
    with pytest.raises((DeliveryRefused, Unreachable)):
        await OutgoingHttp().request("GET", url.format(server.port))
    assert server.asked == []


async def test_a_header_that_cannot_be_sent_is_refused(web_server):
    server = web_server()
    with pytest.raises(OutgoingError) as caught:
        await OutgoingHttp(LOOPBACK).request("GET", server.url, headers={"X": "secret\r\nY: 1"})
    assert "secret" not in str(caught.value)
    assert server.asked == []


async def test_what_is_no_json_is_refused(web_server):
    server = web_server(lambda _: (200, b"[" * 100_000))
    answer = await OutgoingHttp(LOOPBACK).request("GET", server.url)
    with pytest.raises(DeliveryRefused, match="not JSON"):
        answer.json()


async def test_the_proxies_of_the_environment_are_not_asked(web_server, monkeypatch):
    proxy, server = web_server(lambda _: (200, b"proxy")), web_server(lambda _: (200, b"server"))
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, proxy.url)
    assert (await OutgoingHttp(LOOPBACK).request("GET", server.url)).content == b"server"
    assert proxy.asked == []


async def test_keys_in_addresses_reach_no_log(web_server, caplog):
    caplog.set_level("INFO")
    server = web_server()
    await OutgoingHttp(LOOPBACK).request(
        "GET", server.url + "/?key=secret", headers={"Authorization": "secret"}
    )
    assert "secret" not in caplog.text
