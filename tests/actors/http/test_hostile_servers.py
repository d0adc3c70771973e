"""Servers on the loopback that break, stall or flood what is asked of them."""

from contextlib import suppress
from functools import partial

import pytest
import trio

from motorpool.actors.http.errors import DeliveryRefused, Unreachable
from motorpool.actors.http.http import OutgoingHttp

LOOPBACK = ("127.0.0.0/8",)
EMPTY = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


class Peer:
    """Serves each connection with `answer(stream)` after one request with the content "1", and closes it."""

    def __init__(self, answer, *, reads_request=True):
        self.answer = answer
        self.reads_request = reads_request
        self.requests = 0
        self.was_asked = trio.Event()
        self.ended = trio.Event()

    async def serve(self, stream):
        with suppress(trio.BrokenResourceError):
            async with stream:
                if await self.asked(stream):
                    self.requests += 1
                    self.was_asked.set()
                    await self.answer(stream)
        self.ended.set()

    async def asked(self, stream):
        received = b""
        while self.reads_request and not received.endswith(b"\r\n\r\n1"):
            piece = await stream.receive_some(65536)
            if not piece:
                return False
            received += piece
        return True


@pytest.fixture
async def peer(nursery):
    async def start(answer, host="127.0.0.1", port=0, **options):
        made = Peer(answer, **options)
        (listener,) = await nursery.start(partial(trio.serve_tcp, made.serve, port, host=host))
        made.port = listener.socket.getsockname()[1]
        made.url = f"http://{host}:{made.port}/"
        return made

    return start


async def silent(stream):
    """Read until the other end closes the connection, and answer nothing."""
    while await stream.receive_some(65536):
        pass


def saying(*pieces):
    async def answer(stream):
        for piece in pieces:
            await stream.send_all(piece)

    return answer


def repeating(first, piece, pause=0.0):
    async def answer(stream):
        await stream.send_all(first)
        while True:
            await stream.send_all(piece)
            await trio.sleep(pause)

    return answer


@pytest.fixture(params=["request", "session"])
async def post(request):
    """`post(url, …)`: a POST on a connection of its own, and in a session."""

    async def send(url, http=None, **options):
        http = http or OutgoingHttp(LOOPBACK)
        if request.param == "request":
            return await http.request("POST", url, **{"content": b"1", **options})
        async with http.session() as session:
            return await session.request("POST", url, **{"content": b"1", **options})

    return send


async def test_an_answer_that_does_not_come_in_time_names_the_host(peer, post, names):
    names({"fleet.example": [["127.0.0.1"]]})
    server = await peer(silent)
    with pytest.raises(Unreachable, match=r"^fleet\.example gave no answer within 0\.5 s$") as caught:
        await post(f"http://fleet.example:{server.port}/?key=secret", seconds=0.5)
    assert (caught.value.cause, caught.value.address) == ("timeout", "127.0.0.1")
    with trio.fail_after(120):
        await server.ended.wait()


async def test_the_wait_for_a_slot_is_a_part_of_the_time_that_is_named(peer):
    server = await peer(silent)
    http = OutgoingHttp(LOOPBACK, max_concurrent=1)
    errors = []

    async def ask():
        with pytest.raises(Unreachable) as caught:
            await http.request("POST", server.url, content=b"1", seconds=0.4)
        errors.append(str(caught.value))

    begun = trio.current_time()
    async with trio.open_nursery() as nursery:
        for _ in range(5):
            nursery.start_soon(ask)
    assert errors == ["127.0.0.1 gave no answer within 0.4 s"] * 5
    # One after another would take five times as long.
    assert trio.current_time() - begun < 1.6


async def test_what_cannot_be_asked_is_refused_although_all_slots_are_taken():
    http = OutgoingHttp(LOOPBACK, max_concurrent=0)
    with pytest.raises(DeliveryRefused, match="with a host"):
        await http.request("GET", "ftp://fleet.example/", seconds=0.1)


@pytest.mark.parametrize(
    ("first", "piece"),
    [
        (b"HTTP/1.1 200 OK\r\nX: ", b"y"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n", b"x"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    ],
)
async def test_an_answer_that_comes_byte_by_byte_has_no_more_time(peer, post, first, piece):
    server = await peer(repeating(first, piece, pause=0.02))
    begun = trio.current_time()
    with pytest.raises(Unreachable, match=r"gave no answer within 0\.2 s"):
        await post(server.url, seconds=0.2)
    assert trio.current_time() - begun < 5
    with trio.fail_after(120):
        await server.ended.wait()


@pytest.mark.parametrize(
    ("first", "piece"),
    [
        (b"HTTP/1.1 200 OK\r\n", b"X: y\r\n" * 1000),
        (b"HTTP/1.1 200 OK\r\nX: ", b"y" * 10_000),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;", b"y" * 10_000),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", b"X: y\r\n" * 1000),
    ],
)
async def test_a_head_without_an_end_is_no_answer(peer, post, first, piece):
    server = await peer(repeating(first, piece))
    with pytest.raises(Unreachable, match=r"127\.0\.0\.1 broke off, or its answer is not HTTP") as caught:
        await post(server.url, seconds=30)
    assert (caught.value.cause, caught.value.address) == ("connect", "127.0.0.1")
    with trio.fail_after(120):
        await server.ended.wait()


@pytest.mark.parametrize(
    "first", [b"HTTP/1.1 200 OK\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n"]
)
async def test_content_without_an_end_is_read_to_the_limit(peer, post, first):
    server = await peer(repeating(first, b"x" * 10_000))
    with pytest.raises(DeliveryRefused, match=r"127\.0\.0\.1 answered more than 50000 bytes"):
        await post(server.url, seconds=30, max_bytes=50_000)
    with trio.fail_after(120):
        await server.ended.wait()


@pytest.mark.parametrize(
    "chunks", [b"zz\r\nabc\r\n", b"3\r\nabcdef\r\n0\r\n\r\n", b"-1\r\n\r\n", b"5\r\nabc", b"3\r\nabc\r\n"]
)
async def test_a_broken_chunk_is_an_error(peer, post, chunks):
    server = await peer(saying(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", chunks))
    with pytest.raises(Unreachable, match=r"127\.0\.0\.1 broke off") as caught:
        await post(server.url, seconds=30)
    assert caught.value.address == "127.0.0.1"


async def test_content_of_http_1_0_ends_with_the_connection(peer, post):
    server = await peer(saying(b"HTTP/1.0 200 OK\r\nServer: old\r\n\r\n", b"ab", b"cd"))
    answer = await post(server.url)
    assert (answer.status, answer.content, answer.headers["server"]) == (200, b"abcd", "old")


async def test_a_request_on_a_new_connection_is_sent_once(peer, post):
    server = await peer(saying())
    with pytest.raises(Unreachable, match=r"127\.0\.0\.1 broke off"):
        await post(server.url, seconds=30)
    assert server.requests == 1


async def test_a_redirect_of_a_session_is_not_followed(peer, post):
    inside = await peer(saying(EMPTY))
    head = f"HTTP/1.1 307 Elsewhere\r\nLocation: {inside.url}\r\nContent-Length: 0\r\n\r\n"
    outside = await peer(saying(head.encode()))
    assert (await post(outside.url)).status == 307
    assert inside.requests == 0


async def test_a_handshake_that_does_not_come_in_time_ends_with_its_connection(peer, post, authority):
    server = await peer(silent, reads_request=False)
    http = OutgoingHttp(LOOPBACK, tls=authority.trusting)
    with pytest.raises(Unreachable, match=r"127\.0\.0\.1 gave no answer within 0\.1 s"):
        await post(f"https://127.0.0.1:{server.port}/", http, seconds=0.1)
    with trio.fail_after(120):
        await server.ended.wait()


async def test_a_server_that_reads_nothing_costs_its_time_too(peer, post, names, authority):
    async def shake_hands_only(stream):
        tls = trio.SSLStream(stream, authority.server("fleet.example"), server_side=True)
        with suppress(trio.BrokenResourceError):
            await tls.do_handshake()
        await trio.sleep_forever()

    names({"fleet.example": [["127.0.0.1"]]})
    server = await peer(shake_hands_only, reads_request=False)
    with pytest.raises(Unreachable, match=r"fleet\.example gave no answer within 1 s") as caught:
        await post(
            f"https://fleet.example:{server.port}/",
            OutgoingHttp(LOOPBACK, tls=authority.trusting),
            content=bytes(20_000_000),
            seconds=1.0,
        )
    assert caught.value.address == "127.0.0.1"


@pytest.mark.parametrize("first", ["silent", "not TLS", "another name"])
async def test_the_next_address_is_tried_where_tls_fails(peer, names, authority, nursery, first):
    async def behind_tls(stream, name):
        tls = trio.SSLStream(stream, authority.server(name), server_side=True, https_compatible=True)
        with suppress(trio.BrokenResourceError):
            await tls.receive_some(65536)
            await tls.send_all(EMPTY)

    answers = {
        "silent": silent,
        "not TLS": saying(b"SSH-2.0\r\n"),
        "another name": partial(behind_tls, name="other.example"),
    }
    wrong = await peer(answers[first], reads_request=False)
    await peer(
        partial(behind_tls, name="fleet.example"), host="127.0.0.2", port=wrong.port, reads_request=False
    )
    names({"fleet.example": [["127.0.0.1", "127.0.0.2"]], "wrong.example": [["127.0.0.1", "127.0.0.2"]]})
    http = OutgoingHttp(LOOPBACK, tls=authority.trusting)
    async with http.session(connect_seconds=1.0) as session:
        answer = await session.request("POST", f"https://fleet.example:{wrong.port}/")
        assert (answer.status, answer.address) == (200, "127.0.0.2")
        with pytest.raises(Unreachable, match=r"wrong\.example cannot be connected to: .*") as caught:
            await session.request("POST", f"https://wrong.example:{wrong.port}/")
    assert (caught.value.cause, caught.value.address) == ("tls", "127.0.0.2")


async def test_a_failure_of_tls_is_told_though_the_next_address_is_no_help(peer, names, authority):
    wrong = await peer(saying(b"SSH-2.0\r\n"), reads_request=False)
    names({"fleet.example": [["127.0.0.1", "127.0.0.2"]]})
    async with OutgoingHttp(LOOPBACK, tls=authority.trusting).session(connect_seconds=1.0) as session:
        with pytest.raises(Unreachable) as caught:
            await session.request("POST", f"https://fleet.example:{wrong.port}/")
    assert (caught.value.cause, caught.value.address) == ("tls", "127.0.0.1")


async def test_an_error_names_the_address_of_its_own_connection(peer, names):
    slow = await peer(silent)
    broken = await peer(saying(b"HTTP/1.1 "), host="127.0.0.2", port=slow.port)
    names({"slow.example": [["127.0.0.1"]], "broken.example": [["127.0.0.2"]]})
    found = {}

    async def ask(session, host):
        with pytest.raises(Unreachable) as caught:
            await session.request("POST", f"http://{host}:{slow.port}/", content=b"1", seconds=1.0)
        found[host] = caught.value.address

    async with OutgoingHttp(LOOPBACK).session() as session, trio.open_nursery() as nursery:
        nursery.start_soon(ask, session, "slow.example")
        await slow.was_asked.wait()
        nursery.start_soon(ask, session, "broken.example")
    assert found == {"slow.example": "127.0.0.1", "broken.example": "127.0.0.2"}
    assert broken.requests == 1


async def test_a_name_in_another_script_is_shown_as_it_was_written(peer, names):
    server = await peer(silent)
    names({"xn--mnchen-3ya.example": [["127.0.0.1"]]})
    for url, shown, seconds in (
        (f"http://münchen.example:{server.port}/", "münchen.example gave no answer", 0.1),
        ("http://münchen.example:1/", "münchen.example cannot be connected to", 30.0),
        ("http://straße.example/", "straße.example has no address", 30.0),
    ):
        with pytest.raises(Unreachable, match=shown):
            await OutgoingHttp(LOOPBACK).request("POST", url, content=b"1", seconds=seconds)
