"""Requests that are read without h11 are those that it reads, and their answers the bytes that it writes."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import unquote

import h11
import pytest
import trio
import trio.lowlevel
import trio.testing
from hypothesis import event, given
from hypothesis import strategies as st
from quart import Request, Response

from motorpool.api.http.asgi import Application
from motorpool.api.http.fast_path import FirstWait, RequestHeaders, read_head, write_head
from motorpool.api.http.listening_sockets import bind
from motorpool.api.http.server import HttpServer, ServedApp
from motorpool.api.http.tcp_server import Http1Protocol, _StrictLines
from motorpool.api.settings import HttpSettings
from motorpool.runtime import SupervisorSpec, System, TaskSpec, open_system

HEADER_NAMES = [
    "Host",
    "host",
    "Accept",
    "Cookie",
    "Connection",
    "Content-Length",
    "Transfer-Encoding",
    "Upgrade",
]
HEADER_NAMES += ["Expect", "X-A", "Origin", "Bad Name", "", "Naïve", "User-Agent"]
VALUES = [
    "a",
    "keep-alive",
    "close",
    "0",
    "3",
    "chunked",
    "h2c",
    "100-continue",
    "",
    " a",
    "a ",
    "a  b",
    "a\tb",
]
VALUES += ["é", "a\x00b", "a\x7fb", "a\x01", "localhost:8082", "JSESSIONID=x; b=c", "a\rb", "a\nb", "a\n b"]
TARGETS = [
    "/",
    "/api/devices/1",
    "/api/devices?id=1&x=%C3%A9",
    "//a",
    "/%2e",
    "/a b",
    "*",
    "http://x/a",
    "/é",
    "",
]
ENDS = ["\r\n", "\r\n\r\n", "\n", "", "\r\nabc", "\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"]

lines = st.tuples(
    st.sampled_from(HEADER_NAMES), st.sampled_from([": ", ":", " : ", ":  "]), st.sampled_from(VALUES)
)
usual = st.tuples(
    st.sampled_from(["Accept", "Cookie", "X-A", "Connection"]),
    st.sampled_from([": ", ":"]),
    st.sampled_from(["a", "keep-alive", "a  b", "JSESSIONID=x; b=c"]),
)


@st.composite
def requests(draw: st.DrawFn) -> bytes:
    """Return a request, often one that is fit for the fast path, or nearly."""
    method = draw(st.sampled_from(["GET"] * 8 + ["HEAD", "get", "POST", "G T"]))
    target = draw(st.sampled_from(TARGETS[:5] * 4 + TARGETS))
    version = draw(st.sampled_from(["HTTP/1.1"] * 8 + ["HTTP/1.0", "HTTP/2.0", "http/1.1", "HTTP/1.1 "]))
    headers = [("Host", ": ", "localhost"), *draw(st.lists(usual | lines, max_size=4))]
    headers = draw(st.permutations(headers))
    end = draw(st.sampled_from(ENDS[:1] * 6 + ENDS))
    text = f"{method} {target} {version}\r\n" + "".join(f"{n}{c}{v}\r\n" for n, c, v in headers) + end
    data = text.encode("latin-1", "replace")
    return data[: draw(st.integers(0, len(data)))] if draw(st.integers(0, 9)) == 0 else data


def read_by_h11(data: bytes) -> list[Any]:
    connection = h11.Connection(h11.SERVER)
    connection._receive_buffer = _StrictLines()
    connection.receive_data(data)
    events: list[Any] = []
    while not events or events[-1] not in (h11.NEED_DATA, h11.PAUSED):
        try:
            events.append(connection.next_event())
        except h11.RemoteProtocolError as error:
            return [*events, error]
    assert connection.they_are_waiting_for_100_continue is False or len(events) > 1
    return [*events, bytes(connection._receive_buffer)]


@given(requests())
def test_what_is_read_h11_reads_likewise(data: bytes) -> None:
    head = read_head(data)
    event("fast" if head is not None else "by h11")
    if head is None:
        return
    asked, end, wait, rest = read_by_h11(data)
    assert isinstance(asked, h11.Request)
    assert isinstance(end, h11.EndOfMessage)
    assert (wait, rest) == (h11.NEED_DATA, b"")
    assert (asked.method, asked.http_version) == (b"GET", b"1.1")
    assert (asked.target, list(asked.headers)) == (head.target, list(head.headers))
    assert not {name for name, _ in asked.headers} & {b"upgrade", b"expect", b"content-length"}
    assert unquote(head.target.decode()).startswith("/")


@pytest.mark.parametrize("connection", ["", "Connection: keep-alive\r\n", "Connection: Keep-Alive\r\n"])
def test_usual_requests_are_read(connection: str) -> None:
    data = f"GET /api/devices?id=1 HTTP/1.1\r\nHost: a\r\nAccept:*/*\r\n{connection}Cookie: b=c; d=e\r\n\r\n"
    head = read_head(data.encode())
    assert head is not None
    assert head.target == b"/api/devices?id=1"
    assert head.headers.shared["accept"] == "*/*"
    assert head.headers.shared.cookies.to_dict() == {"b": "c", "d": "e"}


def test_headers_are_found_as_werkzeug_finds_them() -> None:
    headers = RequestHeaders([(b"x-a", b"1"), (b"x-a", b"2"), (b"cookie", b"a=1"), (b"cookie", b"b=2")])
    assert (headers.get("X-A"), headers.get("x-a", type=int), headers["X-a"]) == ("1", 1, "1")
    assert headers.getlist("x-A") == ["1", "2"]
    assert "X-A" in headers
    assert "X-B" not in headers
    assert (headers.get("X-B"), headers.get("X-B", "none")) == (None, "none")
    assert headers.cookies.to_dict() == {"a": "1", "b": "2"}


names = st.sampled_from(
    [b"content-type", b"etag", b"x-a", b"date", b"connection", b"transfer-encoding", b"a b", b"vary"]
)
values = st.sampled_from(
    [b"a", b"", b" a", b"a b", b"text/plain; charset=utf-8", b"close", b"chunked", b"a\r\nb: c", b"\xe9"]
)
lengths = st.sampled_from([b"5", b"5", b"5", b"4", b"05", b"x"])


@given(
    st.integers(200, 505) | st.sampled_from([200, 204, 304, 404]),
    st.lists(st.tuples(names, values), max_size=5),
    st.lists(st.tuples(st.just(b"content-length"), lengths), min_size=1, max_size=2),
)
def test_what_is_written_h11_writes_likewise(
    status: int, headers: list[tuple[bytes, bytes]], length: list[tuple[bytes, bytes]]
) -> None:
    head = write_head(status, (*headers, *length), 5)
    event("fast" if head is not None else "by h11")
    if head is None:
        return
    connection = h11.Connection(h11.SERVER)
    connection.receive_data(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    connection.next_event()
    connection.next_event()
    sent = connection.send(h11.Response(status_code=status, headers=[*headers, *length]))
    sent = (sent or b"") + (connection.send(h11.Data(data=b"12345")) or b"")
    sent += connection.send(h11.EndOfMessage()) or b""
    assert head + b"12345" == sent
    connection.start_next_cycle()


ANSWERS = {
    "text": lambda: Response("text"),
    "big": lambda: Response(bytes(300_000)),
    "empty": lambda: Response(b"", 204),
    "nothing": lambda: Response(b""),
    "kept": lambda: Response(b"", 304),
    "refused": lambda: Response("no", 404, {"X-A": "1"}),
    "last": lambda: Response("the end", 200, {"Connection": "close"}),
    "tab": lambda: Response("tab", 200, {"X-A": "a\tb"}),
}


def create_served_app(system: System) -> ServedApp:
    app = Application(__name__)

    def add(name: str) -> None:
        async def answer(asked: Request, path: dict[str, int | str]) -> Response:
            return ANSWERS[name]()

        async def answer_late(asked: Request, path: dict[str, int | str]) -> Response:
            await trio.lowlevel.checkpoint()
            return ANSWERS[name]()

        app.add_operation("GET", f"/{name}", name, answer)
        app.add_operation("GET", f"/late/{name}", f"late-{name}", answer_late)

    for name in ANSWERS:
        add(name)

    async def broken(asked: Request, path: dict[str, int | str]) -> Response:
        raise RuntimeError("broken on purpose")

    async def pieces(asked: Request, path: dict[str, int | str]) -> Response:
        async def write() -> AsyncIterator[bytes]:
            for piece in (b"one", b"two"):
                await trio.lowlevel.checkpoint()
                yield piece

        return Response(write())

    app.add_operation("GET", "/broken", "broken", broken)
    app.add_operation("GET", "/pieces", "pieces", pieces)

    @app.get("/quart")
    async def quart() -> str:
        return "by Quart"

    return ServedApp(app=app, closing=trio.Event())


PATHS = [
    *ANSWERS,
    *(f"late/{name}" for name in ANSWERS),
    "broken",
    "pieces",
    "quart",
    "missing",
    "text?a=%20",
]


@asynccontextmanager
async def dialed() -> AsyncIterator[trio.SocketStream]:
    sockets = bind("127.0.0.1", 0)
    settings = HttpSettings(stall_seconds=3600)
    spec = TaskSpec(name="http", factory=lambda: HttpServer(create_served_app, sockets, settings))
    async with (
        open_system(SupervisorSpec(name="system", children=(spec,))),
        await trio.open_tcp_stream("127.0.0.1", sockets[0].getsockname()[1]) as stream,
    ):
        with trio.fail_after(120):
            yield stream
    for bound in sockets:
        bound.close()


def without_date(received: bytes) -> bytes:
    return re.sub(rb"date: [^\r]*", b"date: now", received)


async def ask(stream: trio.SocketStream, path: str, times: int) -> bytes:
    """Send a request again when it was answered, unless the connection ends; return all answers."""
    client, received = h11.Connection(h11.CLIENT), b""
    for _ in range(times):
        asked = h11.Request(method="GET", target=f"/{path}", headers=[("Host", "localhost")])
        data = (client.send(asked) or b"") + (client.send(h11.EndOfMessage()) or b"")
        await stream.send_all(data)
        while not isinstance(read := client.next_event(), h11.EndOfMessage):
            if read is h11.NEED_DATA:
                data = await stream.receive_some()
                received += data
                client.receive_data(data)
        if client.our_state is h11.MUST_CLOSE:
            assert await stream.receive_some() == b""
            break
        client.start_next_cycle()
    return without_date(received)


@pytest.mark.parametrize("path", PATHS)
async def test_both_ways_answer_with_the_same_bytes(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    taken = []
    read = Http1Protocol.read_head

    def note(self: Http1Protocol, data: bytes) -> Any:
        head = read(self, data)
        taken.append(head is not None)
        return head

    monkeypatch.setattr(Http1Protocol, "read_head", note)
    async with dialed() as stream:
        fast = await ask(stream, path, 3)
    assert any(taken)
    monkeypatch.setattr(Http1Protocol, "read_head", lambda self, data: None)
    async with dialed() as stream:
        assert fast == await ask(stream, path, 3)
    assert fast.startswith(b"HTTP/1.1 ")


async def test_requests_sent_ahead_are_answered_in_their_order() -> None:
    text = b"GET /late/text HTTP/1.1\r\nHost: localhost\r\n\r\n"
    refused = text.replace(b"text", b"refused")
    last = text.replace(b"localhost", b"localhost\r\nConnection: close")
    async with dialed() as stream:
        received = b""
        for data in (text, refused + text, refused, last):
            await stream.send_all(data)
            await trio.testing.wait_all_tasks_blocked()
        while data := await stream.receive_some():
            received += data
    statuses = [each[:4] for each in received.split(b"HTTP/1.1")[1:]]
    assert statuses == [b" 200", b" 404", b" 200", b" 404", b" 200"]


async def test_what_does_not_wait_is_not_watched() -> None:
    calls: list[str] = []

    async def at_once() -> int:
        return 7

    async def later(seconds: float) -> int:
        for _ in range(3):
            await trio.sleep(seconds)
        return 8

    async def failing() -> int:
        await trio.lowlevel.checkpoint()
        raise ValueError("on purpose")

    assert await FirstWait(at_once(), lambda: calls.append("at once")) == 7
    assert calls == []
    assert await FirstWait(later(0), lambda: calls.append("later")) == 8
    assert calls == ["later"]
    with pytest.raises(ValueError, match="on purpose"):
        await FirstWait(failing(), lambda: calls.append("failing"))
    with trio.CancelScope() as scope:
        scope.cancel()
        await FirstWait(later(0), lambda: calls.append("cancelled"))
    assert scope.cancelled_caught
    assert calls == ["later", "failing", "cancelled"]
