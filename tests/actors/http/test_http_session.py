"""Requests on connections that stay open, to real servers on the loopback."""

from contextlib import asynccontextmanager, suppress
from functools import partial

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from motorpool.actors.http.errors import DeliveryRefused, Unreachable
from motorpool.actors.http.http import OutgoingHttp

OK = b"HTTP/1.1 204 No Content\r\n\r\n"
LAST = b"HTTP/1.1 204 No Content\r\nServer: leaves\r\n\r\n"


class Server:
    """Answers request number n with the n-th of the answers; None and LAST close the connection."""

    def __init__(self, answers):
        self.answers = iter(answers)
        self.connections = 0
        self.requests = []

    async def serve(self, stream):
        self.connections += 1
        with suppress(trio.BrokenResourceError):
            await self.answer(stream)

    async def answer(self, stream):
        received = b""
        async with stream:
            while True:
                while b"\r\n\r\n" not in received:
                    piece = await stream.receive_some(65536)
                    if not piece:
                        return
                    received += piece
                head, _, received = received.partition(b"\r\n\r\n")
                length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
                while len(received) < length:
                    received += await stream.receive_some(65536)
                self.requests.append((head, received[:length]))
                received = received[length:]
                answer = next(self.answers)
                if answer is None:
                    return
                await stream.send_all(answer)
                if answer is LAST:
                    return


@pytest.fixture
async def serving(nursery):
    async def start(*answers):
        server = Server(answers)
        (listener,) = await nursery.start(partial(trio.serve_tcp, server.serve, 0, host="127.0.0.1"))
        server.url = f"http://127.0.0.1:{listener.socket.getsockname()[1]}/in"
        return server

    return start


class Posting:
    """Posts to one URL in a session, and reads no more than 64 KiB of an answer."""

    def __init__(self, session, url, headers):
        self.session, self.url, self.headers = session, url, headers

    async def request(self, content, *, seconds, headers=None, max_bytes=64 * 1024):
        return await self.session.request(
            "POST",
            self.url,
            headers={**self.headers, **(headers or {})},
            content=content,
            seconds=seconds,
            max_bytes=max_bytes,
            truncate=True,
        )

    async def post(self, content, *, seconds):
        return (await self.request(content, seconds=seconds)).status


@asynccontextmanager
async def connection(url, *, trusted=True, tls=None, **headers):
    async with OutgoingHttp(tls=tls).session(trusted=trusted) as session:
        yield Posting(session, url, headers)


async def test_requests_share_a_connection(serving):
    server = await serving(OK, b"HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nbusy", OK)
    async with connection(server.url + "?a=1", Authorization="Bearer 1") as posting:
        assert [await posting.post(content, seconds=60) for content in (b"one", b"", b"three")] == [
            204,
            503,
            204,
        ]
    assert server.connections == 1
    assert [content for _, content in server.requests] == [b"one", b"", b"three"]
    head = server.requests[0][0].decode()
    assert head.startswith("POST /in?a=1 HTTP/1.1\r\n")
    assert "Authorization: Bearer 1" in head
    assert head.lower().count("content-length") == 1


async def test_a_connection_that_was_closed_meanwhile_is_replaced(serving):
    server = await serving(OK, None, OK)
    async with connection(server.url) as posting:
        assert await posting.post(b"1", seconds=60) == 204
        assert await posting.post(b"2", seconds=60) == 204
    assert server.connections == 2
    assert [content for _, content in server.requests] == [b"1", b"2", b"2"]


async def test_a_request_that_was_answered_in_part_is_not_sent_again(serving):
    server = await serving(OK, b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", OK)
    async with connection(server.url) as posting:
        assert await posting.post(b"1", seconds=60) == 204
        with pytest.raises(Unreachable):
            await posting.post(b"2", seconds=60)
    assert [content for _, content in server.requests] == [b"1", b"2"]


async def test_what_came_before_a_request_is_no_answer_to_it(serving):
    stale = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n"
    server = await serving(OK + stale, None, OK)
    async with connection(server.url) as posting:
        assert await posting.post(b"1", seconds=60) == 204
        answer = await posting.request(b"2", seconds=60, headers={"A": "b"}, max_bytes=10)
    assert (answer.status, answer.address) == (204, "127.0.0.1")
    assert b"\r\nA: b\r\n" in server.requests[1][0]
    assert [content for _, content in server.requests] == [b"1", b"2", b"2"]


@pytest.mark.parametrize(
    "answer",
    [
        OK + b"<html>",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok and more",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\nand more",
    ],
)
async def test_a_connection_with_more_than_an_answer_is_not_used_again(serving, answer):
    server = await serving(answer, answer, OK)
    async with connection(server.url) as posting:
        statuses = [await posting.post(content, seconds=60) for content in (b"1", b"2", b"3")]
    assert (statuses[2], server.connections) == (204, 3)
    assert [content for _, content in server.requests] == [b"1", b"2", b"3"]


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 300\r\n\r\n" + b"x" * 300,
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\nContent-Length: 0\n\n",
    ],
)
async def test_a_connection_is_used_again_after_any_content(serving, answer):
    server = await serving(answer, answer, OK)
    async with connection(server.url) as posting:
        assert [await posting.post(content, seconds=60) for content in (b"1", b"2", b"3")] == [200, 200, 204]
    assert server.connections == 1


async def test_a_connection_that_was_closed_while_idle_is_not_used(serving):
    server = await serving(LAST, OK)
    async with connection(server.url) as posting:
        assert await posting.post(b"1", seconds=60) == 204
        await wait_all_tasks_blocked(0.01)
        assert await posting.post(b"2", seconds=60) == 204
    assert [content for _, content in server.requests] == [b"1", b"2"]


async def test_a_server_that_wants_to_close_is_left(serving):
    server = await serving(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", OK)
    async with connection(server.url) as posting:
        assert await posting.post(b"1", seconds=60) == 200
        assert await posting.post(b"2", seconds=60) == 204
    assert server.connections == 2


@pytest.mark.parametrize(
    "answer", [None, b"SSH-2.0\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"]
)
async def test_what_is_no_answer_is_an_error_and_the_next_request_connects_again(serving, answer):
    server = await serving(answer, OK)
    async with connection(server.url) as posting:
        with pytest.raises(Unreachable):
            await posting.post(b"1", seconds=60)
        assert await posting.post(b"2", seconds=60) == 204


async def test_a_long_answer_is_not_read_to_its_end(serving):
    endless = b"HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\n" + bytes(100_000)
    server = await serving(endless, OK)
    async with connection(server.url) as posting:
        assert await posting.post(b"1", seconds=60) == 200
        assert await posting.post(b"2", seconds=60) == 204


async def test_a_server_that_hangs_costs_its_time(hanging_port):
    async with connection(f"http://127.0.0.1:{hanging_port}/?key=secret") as posting:
        with pytest.raises(Unreachable, match=r"no answer within 0\.05 s"):
            await posting.post(b"1", seconds=0.05)


async def test_private_networks_are_for_the_operator_alone(serving):
    server = await serving(OK)
    async with connection(server.url, trusted=False) as posting:
        with pytest.raises(DeliveryRefused, match="private network"):
            await posting.post(b"1", seconds=60)


@pytest.mark.parametrize("url", ["ftp://example.org", "http://", "https://user:secret@example.org", "no url"])
async def test_what_is_no_url_is_refused(url):
    async with connection(url) as posting:
        with pytest.raises(DeliveryRefused) as caught:
            await posting.post(b"1", seconds=60)
    assert "secret" not in str(caught.value)


async def test_the_certificate_is_checked_against_the_name(web_server, authority, names):
    names({"fleet.example": [["127.0.0.1"]], "other.example": [["127.0.0.1"]]})
    server = web_server(lambda _: (200, b""), authority.server("fleet.example"))
    async with connection(f"https://fleet.example:{server.port}/", tls=authority.trusting) as posting:
        assert await posting.post(b"1", seconds=60) == 200
    async with connection(f"https://other.example:{server.port}/", tls=authority.trusting) as posting:
        with pytest.raises(Unreachable, match=r"(?i)certificate|hostname"):
            await posting.post(b"1", seconds=60)
