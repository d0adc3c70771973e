"""The server on real sockets: its stop must be bounded whatever clients do."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import Any

import pytest
import trio
import trio.testing
from quart import Request, Response, has_request_context, request

from motorpool.api.http import server as http_server
from motorpool.api.http.asgi import Application
from motorpool.api.http.departure import Departure
from motorpool.api.http.listening_sockets import AbortableStream, bind
from motorpool.api.http.request_body import BodyRequest
from motorpool.api.http.server import HttpServer, ServedApp
from motorpool.api.settings import HttpSettings
from motorpool.runtime import SupervisorSpec, System, TaskSpec, open_system

SETTINGS = HttpSettings(stall_seconds=3600)
BIG = bytes(20_000_000)
STOP_SECONDS = 120.0
"""A server that does not end by itself is ended after this time."""
BOUND_SECONDS = 60.0
"""Less than that, and more than a busy machine takes."""


class Waiting:
    """A request that waits until its client is gone."""

    def __init__(self) -> None:
        self.began = trio.Event()
        self.ended = trio.Event()


requests: list[Waiting] = []
"""That of the test that is run."""


async def sleep_until_cancelled() -> None:
    waiting = requests[-1] if requests else Waiting()
    waiting.began.set()
    try:
        await trio.sleep_forever()
    finally:
        waiting.ended.set()


def create_served_app(system: System) -> ServedApp:
    app = Application(__name__)

    @app.get("/big")
    async def big() -> Response:
        return Response(BIG)

    @app.get("/small")
    async def small() -> str:
        return "small"

    @app.get("/slow")
    async def slow() -> str:
        await trio.sleep(float(request.args.get("seconds", "0.2")))
        return "slow"

    @app.get("/never")
    async def never() -> str:
        await sleep_until_cancelled()
        return ""

    @app.get("/broken")
    async def broken() -> str:
        raise RuntimeError("broken on purpose")

    async def quick_number(asked: Request, path: dict[str, int | str]) -> Response:
        assert not has_request_context()
        return Response(f"{path['number']} quickly for {asked.headers['Host']}")

    app.add_operation("GET", "/quick/<int:number>", "number", quick_number)

    async def quick_never(asked: Request, path: dict[str, int | str]) -> Response:
        await sleep_until_cancelled()
        return Response("")

    async def quick_pieces(asked: Request, path: dict[str, int | str]) -> Response:
        async def write() -> AsyncIterator[bytes]:
            for _ in range(3):
                yield BIG[:10_000]
            if "endless" in asked.args:
                await sleep_until_cancelled()

        return Response(write())

    async def echo(asked: Request, path: dict[str, int | str]) -> Response:
        assert not has_request_context()
        assert isinstance(asked, BodyRequest)
        return Response(b"".join([piece async for piece in asked.body]) or b"nothing")

    for name, answer in (("never", quick_never), ("pieces", quick_pieces)):
        app.add_operation("GET", f"/quick/{name}", f"quick-{name}", answer)
    app.add_operation("POST", "/quick/never", "quick-change", quick_never)
    app.add_operation("PUT", "/quick/echo", "quick-echo", echo)
    return ServedApp(app=app, closing=trio.Event())


@asynccontextmanager
async def running(
    settings: HttpSettings = SETTINGS, departure: Departure | None = None
) -> AsyncIterator[tuple[System, int]]:
    sockets = bind("127.0.0.1", 0)
    try:
        spec = TaskSpec(
            name="http",
            factory=lambda: HttpServer(create_served_app, sockets, settings, departure=departure),
            shutdown_seconds=STOP_SECONDS,
        )
        async with open_system(SupervisorSpec(name="system", children=(spec,))) as system:
            yield system, sockets[0].getsockname()[1]
    finally:
        for bound in sockets:
            bound.close()


dialed: list[trio.SocketStream] = []


@pytest.fixture(autouse=True)
def hang_up(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    async def close_all() -> None:
        while dialed:
            await trio.aclose_forcefully(dialed.pop())

    monkeypatch.setattr(http_server, "GRACE_SECONDS", 0.2)
    yield
    trio.run(close_all)


async def dial(port: int) -> trio.SocketStream:
    dialed.append(await trio.open_tcp_stream("127.0.0.1", port))
    return dialed[-1]


async def ask(port: int, path: str) -> trio.SocketStream:
    stream = await dial(port)
    await stream.send_all(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    return stream


async def read_all(stream: trio.SocketStream) -> bytes:
    received = b""
    while data := await stream.receive_some():
        received += data
    return received


async def test_it_serves_and_keeps_connections_alive() -> None:
    async with running() as (_, port):
        stream = await ask(port, "/small")
        await stream.send_all(b"GET /small HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        with trio.fail_after(120):
            answers = await read_all(stream)
        assert answers.count(b"HTTP/1.1 200") == 2
        assert answers.count(b"\r\n\r\nsmall") == 2
        assert b"hypercorn" not in answers.lower()


async def test_a_server_that_departs_answers_once_more_on_each_connection_and_accepts_no_other() -> None:
    departure = Departure()
    async with running(departure=departure) as (_, port):
        kept, slow, idle = await ask(port, "/small"), await ask(port, "/slow?seconds=1"), await dial(port)
        with trio.fail_after(120):
            assert b"small" in await kept.receive_some()
            while departure.in_progress() != 1:  # noqa: ASYNC110 - a number of the server
                await trio.sleep(0.01)
            departure.begun.set()
            # What is accepted no more waits for another server that has the same socket.
            await trio.testing.wait_all_tasks_blocked()
            late = await ask(port, "/small")
            await kept.send_all(b"GET /small HTTP/1.1\r\nHost: localhost\r\n\r\n")
            last = await read_all(kept)
            assert b"connection: close" in last.lower()
            assert last.endswith(b"small")
            assert (await slow.receive_some()).endswith(b"slow")
            assert departure.in_progress() == 0
            await slow.send_all(b"GET /small HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert (await read_all(slow)).endswith(b"small")
            await idle.send_all(b"GET /quick/7 HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert (await read_all(idle)).endswith(b"7 quickly for localhost")
        with trio.move_on_after(0.05) as waiting:
            await late.receive_some()
        assert waiting.cancelled_caught


async def test_a_direct_answer_in_pieces_is_sent_whole_and_the_connection_stays() -> None:
    async with running() as (_, port):
        stream = await ask(port, "/quick/pieces")
        await stream.send_all(b"GET /quick/7 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        with trio.fail_after(120):
            received = await read_all(stream)
        assert received.count(b"\0") == 30_000
        assert received.endswith(b"7 quickly for localhost")


@pytest.mark.parametrize(
    "request_line",
    [
        "GET /quick/never HTTP/1.1\r\n",
        "GET /quick/pieces?endless HTTP/1.1\r\n",
        "GET /never HTTP/1.1\r\n",
        "POST /quick/never HTTP/1.1\r\nContent-Length: 0\r\n",
        "POST /quick/never HTTP/1.1\r\nContent-Length: 100\r\n",
    ],
)
async def test_a_request_ends_when_its_client_disconnects(request_line: str) -> None:
    requests.append(Waiting())
    async with running() as (_, port):
        stream = await dial(port)
        await stream.send_all(f"{request_line}Host: localhost\r\n\r\n".encode())
        with trio.fail_after(120):
            await requests[-1].began.wait()
            assert not requests[-1].ended.is_set()
            await trio.aclose_forcefully(stream)
            await requests[-1].ended.wait()
        stream = await ask(port, "/small")
        await stream.send_all(b"GET /small HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        with trio.fail_after(120):
            assert (await read_all(stream)).count(b"HTTP/1.1 200") == 2


@pytest.mark.parametrize(
    ("request_line", "header", "answer"),
    [
        ("GET /quick/7", "", b"7 quickly for localhost"),
        ("GET /quick/7?x=1", "", b"7 quickly for localhost"),
        ("GET /quick/7", "Content-Length: 0\r\n", b"7 quickly for localhost"),
        ("PUT /quick/echo", "Content-Length: 3\r\n\r\nabc", b"abc"),
        ("PUT /quick/echo", "", b"nothing"),
        ("PUT /quick/echo", "Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n", b"abc"),
        ("HEAD /quick/7", "", b""),
        ("GET /quick/x", "", b"Not Found"),
        ("POST /quick/7", "Content-Length: 0\r\n", b"Method Not Allowed"),
    ],
)
async def test_operations_need_no_context_and_leave_all_else_to_quart(
    request_line: str, header: str, answer: bytes
) -> None:
    async with running() as (_, port):
        stream = await dial(port)
        head = f"{request_line} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{header}"
        await stream.send_all((head if "\r\n\r\n" in header else head + "\r\n").encode())
        with trio.fail_after(120):
            received = await read_all(stream)
        assert answer in received.partition(b"\r\n\r\n")[2]
        if not answer:
            assert received.startswith(b"HTTP/1.1 200")
            assert received.endswith(b"\r\n\r\n")


async def test_a_client_that_hangs_up_gives_its_place_to_the_next_at_once() -> None:
    async with running(replace(SETTINGS, connections=1, keep_alive_seconds=60)) as (_, port):
        for path in ("/small", "/never", "/quick/1"):
            stream = await ask(port, path)
            if path != "/never":
                assert await stream.receive_some()
            await stream.aclose()
        with trio.fail_after(120):
            assert (await (await ask(port, "/small")).receive_some()).endswith(b"small")


async def test_half_requests_of_an_address_shut_nobody_out_there() -> None:
    """Behind one address there may be many people."""
    requests.append(Waiting())
    settings = replace(SETTINGS, connections_per_address=20, head_seconds=3600, keep_alive_seconds=3600)
    async with running(settings) as (_, port):
        in_use = await ask(port, "/never")
        await requests[-1].began.wait()
        kept = await ask(port, "/small")
        assert (await kept.receive_some()).endswith(b"small")
        halves = []
        for _ in range(18):
            halves.append(await dial(port))
            await halves[-1].send_all(b"GET /small HTTP/1.1\r\nHost: loc")
        with trio.fail_after(120):
            for _ in range(18):
                neighbour = await ask(port, "/small")
                assert (await neighbour.receive_some()).endswith(b"small")
            for half in halves:
                with suppress(trio.BrokenResourceError):
                    assert await half.receive_some() == b""
            # What is kept alive is given up after them, and what is in use never.
            await kept.send_all(b"GET /small HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert (await kept.receive_some()).endswith(b"small")
        assert not requests[-1].ended.is_set()
        await in_use.aclose()


@pytest.mark.parametrize("clients", [1, 20])
async def test_clients_that_stop_reading_a_big_body_do_not_delay_the_stop(clients: int) -> None:
    async with running() as (_, port):
        streams = [await ask(port, "/big") for _ in range(clients)]
        for stream in streams:
            assert await stream.receive_some(1000)
        began = trio.current_time()
    assert trio.current_time() - began < BOUND_SECONDS


async def test_a_request_without_end_does_not_delay_the_stop() -> None:
    async with running() as (_, port):
        await ask(port, "/never")
        await trio.testing.wait_all_tasks_blocked(0.05)
        began = trio.current_time()
    assert trio.current_time() - began < BOUND_SECONDS


async def test_idle_connections_and_half_requests_end_with_the_stop() -> None:
    async with running() as (_, port):
        idle = await dial(port)
        half = await dial(port)
        await half.send_all(b"GET /small HTTP/1.1\r\nHos")
        await trio.testing.wait_all_tasks_blocked(0.05)
        began = trio.current_time()
    assert trio.current_time() - began < BOUND_SECONDS
    assert await read_all(idle) == b""


async def test_a_connection_kept_alive_ends_at_once_with_the_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server, "GRACE_SECONDS", 600.0)
    async with running() as (_, port):
        stream = await ask(port, "/small")
        answer = b""
        while not answer.endswith(b"small"):
            answer += await stream.receive_some()
        began = trio.current_time()
    assert trio.current_time() - began < BOUND_SECONDS
    assert await read_all(stream) == b""


async def test_a_connection_kept_alive_ends_when_it_is_not_used_for_its_time() -> None:
    async with running(replace(SETTINGS, keep_alive_seconds=0.2)) as (_, port):
        answer = b""
        with trio.fail_after(120):
            # On a busy machine the time may be over before the request is read.
            while not answer:
                answer = await read_all(await ask(port, "/small"))
        assert answer.endswith(b"small")


async def test_a_request_under_way_is_answered_before_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server, "GRACE_SECONDS", 600.0)
    answers: list[bytes] = []

    async def fetch(port: int, sent: trio.Event) -> None:
        stream = await ask(port, "/slow")
        sent.set()
        answers.append(await read_all(stream))

    async with trio.open_nursery() as nursery, running() as (_, port):
        sent = trio.Event()
        nursery.start_soon(fetch, port, sent)
        await sent.wait()
        await trio.testing.wait_all_tasks_blocked(0.05)
    assert answers[0].endswith(b"slow")


async def test_a_client_that_takes_nothing_is_dropped_after_the_stall_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    abort = AbortableStream.abort
    dropped = trio.Event()

    def drop(self: AbortableStream) -> None:
        dropped.set()
        abort(self)

    monkeypatch.setattr(AbortableStream, "abort", drop)
    async with running(replace(SETTINGS, stall_seconds=0.1)) as (system, port):
        stream = await ask(port, "/big")
        with trio.fail_after(120):
            await dropped.wait()
            received = 0
            with suppress(trio.BrokenResourceError):
                received = len(await read_all(stream))
        assert received < len(BIG)
        (http,) = system.snapshot()[0].children
        assert (http.path, http.alive, http.restarts) == ("http", 1, 0)


async def test_headers_that_never_end_cost_only_their_own_connection() -> None:
    async with running(replace(SETTINGS, keep_alive_seconds=1)) as (_, port):
        slow = await dial(port)
        with trio.fail_after(120), suppress(trio.BrokenResourceError):
            while True:
                await slow.send_all(b"G")
                await trio.sleep(0.1)
        answer = b""
        with trio.fail_after(120):
            # As above: the time may be over before the request is read.
            while not answer:
                answer = await (await ask(port, "/small")).receive_some()
        assert answer.startswith(b"HTTP/1.1 200")


async def test_a_header_past_the_limit_is_refused() -> None:
    async with running() as (_, port):
        stream = await dial(port)
        await stream.send_all(b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 70_000)
        assert (await read_all(stream)).startswith(b"HTTP/1.1 4")


async def test_garbage_is_answered_and_closed() -> None:
    async with running() as (_, port):
        stream = await dial(port)
        await stream.send_all(bytes(range(256)) * 4)
        assert (await read_all(stream)).startswith(b"HTTP/1.1 400")


async def test_after_a_crash_it_serves_on_the_same_port(monkeypatch: pytest.MonkeyPatch) -> None:
    serve = HttpServer.run
    crashes = ["once"]

    async def run(self: HttpServer) -> None:
        if crashes:
            raise RuntimeError(crashes.pop())
        await serve(self)

    monkeypatch.setattr(HttpServer, "run", run)
    async with running() as (_, port):
        stream = await ask(port, "/small")
        with trio.fail_after(120):
            assert (await stream.receive_some()).startswith(b"HTTP/1.1 200")
    assert not crashes


async def test_a_port_that_listens_already_stops_the_start() -> None:
    sockets = bind("127.0.0.1", 0)
    others = bind("127.0.0.1", sockets[0].getsockname()[1])
    try:
        others[0].listen(1)
        tree = SupervisorSpec(
            name="system",
            children=(
                TaskSpec(name="http", factory=lambda: HttpServer(create_served_app, sockets, SETTINGS)),
            ),
        )
        with pytest.raises(BaseException) as caught:
            async with open_system(tree):
                pass
        chain: Any = caught.value
        texts = []
        while chain is not None:
            texts.append(str(chain))
            chain = chain.exceptions[0] if isinstance(chain, BaseExceptionGroup) else chain.__cause__
        assert any("the address is in use" in text for text in texts)
    finally:
        for bound in (*sockets, *others):
            bound.close()


PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\x04\0\0\0\0\0"


async def test_a_client_that_begins_http_2_is_refused_and_closed() -> None:
    async with running() as (_, port):
        stream = await dial(port)
        await stream.send_all(PREFACE)
        with trio.fail_after(120):
            answer = await read_all(stream)
    assert answer.startswith(b"HTTP/1.1 505 ")
    assert b"HTTP/2" not in answer


@pytest.mark.parametrize("version", ["1.1", "1.0"])
async def test_an_offer_to_change_to_http_2_is_ignored(version: str) -> None:
    async with running() as (_, port):
        stream = await dial(port)
        await stream.send_all(
            f"GET /small HTTP/{version}\r\nHost: localhost\r\nConnection: close, Upgrade, HTTP2-Settings\r\n"
            "Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAAAAAAIAAAAA\r\n\r\n".encode()
        )
        with trio.fail_after(120):
            answer = await read_all(stream)
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert answer.endswith(b"\r\n\r\nsmall")


async def test_headers_have_a_deadline_of_their_own() -> None:
    settings = replace(SETTINGS, keep_alive_seconds=3600, head_seconds=0.2)
    async with running(settings) as (_, port):
        stream = await ask(port, "/small")
        assert (await stream.receive_some()).endswith(b"small")
        # Without a byte of the next request the connection stays; with one the time of its headers begins.
        await trio.sleep(0.3)
        await stream.send_all(b"GET /small HTTP/1.1\r\nHost: loc")
        with trio.fail_after(120):
            assert await read_all(stream) == b""


async def test_a_request_in_progress_is_not_ended_by_the_deadline_of_headers() -> None:
    # So long that it does not pass between the two parts of the headers, however busy the machine is.
    async with running(replace(SETTINGS, head_seconds=2.0)) as (_, port):
        stream = await dial(port)
        await stream.send_all(b"GET /slow?seconds=3 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n")
        await stream.send_all(b"\r\n")
        with trio.fail_after(120):
            assert (await read_all(stream)).endswith(b"slow")
