"""Where messages begin and end: what a proxy in front may read in another way is refused, and the connection
closed (RFC 9112, sections 2.2, 5.2 and 6.3).
"""

import logging

import pytest
import trio
from tests.api.cases import on_one_server

HEALTH = b"GET /api/health HTTP/1.1\r\nHost: x\r\n\r\n"
"""A request that would be smuggled."""
FORM = b"POST /api/password/reset HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\n"
UPGRADE = (
    b"GET /api/socket HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
)
VERSION = b"Sec-WebSocket-Version: 13\r\n"


@pytest.fixture
async def served(starting):
    async with starting(listen=True) as running:
        yield running


async def answers(port, *pieces):
    """Send, and read until the server closes the connection; status lines of the answers."""
    with trio.fail_after(120):
        async with await trio.open_tcp_stream("127.0.0.1", port) as stream:
            for piece in pieces:
                await stream.send_all(piece)
            received = b""
            while data := await stream.receive_some():
                received += data
    return [int(each[:3]) for each in received.split(b"HTTP/1.1 ")[1:]]


@on_one_server(
    "headers",
    [
        b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n",
        b"Transfer-Encoding: chunked\r\nContent-Length: 0\r\n",
        b"transfer-encoding: Chunked\r\ncontent-length: 5\r\n",
        # What h11 refuses by itself.
        b"Content-Length: 5\r\nContent-Length: 4\r\n",
        b"Content-Length: +5\r\n",
        b"Content-Length : 5\r\n",
        b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        b"Transfer-Encoding: chunked, identity\r\n",
    ],
)
async def test_a_body_with_two_ends_is_refused_and_nothing_behind_it_is_read(served, headers):
    statuses = await answers(served.port, FORM + headers + b"\r\n0\r\n\r\n" + HEALTH)
    assert statuses in ([400], [501])


@on_one_server(
    "request_bytes",
    [
        b"GET /api/health HTTP/1.1\nHost: x\n\n",
        b"GET /api/health HTTP/1.1\nHost: x\r\n\r\n",
        b"GET /api/health HTTP/1.1\r\nHost: x\nX: y\r\n\r\n",
        b"GET /api/health HTTP/1.1\r\nHost: x\r\n\n",
        FORM + b"Transfer-Encoding: chunked\r\n\r\n7\nemail=x\r\n0\r\n\r\n",
        FORM + b"Transfer-Encoding: chunked\r\n\r\n7\r\nemail=x\r\n0\r\n\n",
        FORM + b"Transfer-Encoding: chunked\r\n\r\n7\r\nemail=x\r\n0\r\nX: y\n\r\n",
        FORM + b"Transfer-Encoding: chunked\r\n\r\n7\r\nemail=x\r\n0\r\nX: y\n\n",
    ],
)
async def test_no_line_of_a_head_a_chunk_or_a_trailer_ends_with_a_bare_lf(served, request_bytes):
    assert await answers(served.port, request_bytes + HEALTH) == [400]
    # However the bytes arrive.
    pieces = [request_bytes[begin : begin + 7] for begin in range(0, len(request_bytes), 7)]
    assert await answers(served.port, *pieces, HEALTH) == [400]


@on_one_server(
    "request_bytes",
    [
        b"GET /api/health HTTP/1.1\r\nHost: x\r\nX: y\r\n z\r\n\r\n",
        b"GET /api/health HTTP/1.1\r\n Host: x\r\n\r\n",
        FORM + b"Content-Length:\r\n 0\r\n\r\n",
        FORM + b"Transfer-Encoding:\r\n\tchunked\r\n\r\n7\r\nemail=x\r\n0\r\n\r\n",
        FORM + b"Transfer-Encoding: chunked\r\n\r\n7\r\nemail=x\r\n0\r\nX: y\r\n z\r\n\r\n",
    ],
)
async def test_no_line_continues_the_one_before(served, request_bytes):
    assert await answers(served.port, request_bytes + HEALTH) == [400]


async def test_a_bare_lf_in_a_body_and_trailers_of_whole_lines_are_taken(served):
    close = FORM + b"Connection: close\r\n"
    body = b"email=a\n b"
    assert await answers(served.port, close + b"Content-Length: %d\r\n\r\n" % len(body) + body) == [200]
    chunks = b"Transfer-Encoding: chunked\r\n\r\na\r\n" + body + b"\r\n0\r\nX: y\r\n\r\n"
    assert await answers(served.port, close + chunks) == [200]
    # The next request of the connection stands behind the body.
    kept = FORM + b"Content-Length: %d\r\n\r\n" % len(body) + body
    last = HEALTH.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    assert await answers(served.port, kept + last) == [200, 200]


@pytest.mark.parametrize("target", [b"?x", b"http://[", b"http://[/api/health", b"http://%5b", b"http://x"])
@pytest.mark.parametrize("upgrade", [False, True])
async def test_a_target_without_a_path_is_400(served, caplog, target, upgrade):
    lines = UPGRADE.partition(b"\r\n")[2] + VERSION if upgrade else b"Host: x\r\n"
    assert await answers(served.port, b"GET " + target + b" HTTP/1.1\r\n" + lines + b"\r\n") == [400]
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


@pytest.mark.parametrize("origin", ["http://[", "null"])
async def test_a_socket_of_a_malformed_origin_is_401(served, origin):
    lines = f"Origin: {origin}\r\nCookie: JSESSIONID={served.cookie(served.admin)}\r\n".encode()
    assert await answers(served.port, UPGRADE + VERSION + lines + b"\r\n") == [401]


@pytest.mark.parametrize("wrong", [b"", b"Sec-WebSocket-Version: x\r\n"])
async def test_a_wrong_handshake_ends_the_connection(served, wrong):
    assert await answers(served.port, UPGRADE + wrong + b"\r\n") == [400]


async def test_frames_before_the_handshake_is_answered_end_connection_and_socket(served, monkeypatch):
    began, ended = trio.Event(), trio.Event()

    async def wait(*_):
        began.set()
        try:
            await trio.sleep_forever()
        finally:
            ended.set()

    monkeypatch.setattr("motorpool.api.sockets.websocket.identify_socket_caller", wait)
    with trio.fail_after(120):
        async with await trio.open_tcp_stream("127.0.0.1", served.port) as stream:
            await stream.send_all(UPGRADE + VERSION + b"\r\n")
            await began.wait()
            await stream.send_all(b"\x81\x80abcd")
            received = b"".join([piece async for piece in stream])
        assert received.startswith(b"HTTP/1.1 400 ")
        await ended.wait()
