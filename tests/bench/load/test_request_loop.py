"""Requests in a closed loop, and the answers that are read."""

import socket
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from motorpool.bench.load.http_answers import Answer, read_answer
from motorpool.bench.load.plan import RequestLoad
from motorpool.bench.load.request_loop import RequestLoop
from motorpool.bench.load.requests import run_loop

CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;x=y\r\n world\r\n0\r\n\r\n"
PLAIN = b"HTTP/1.1 404 Not Found\r\nContent-Length: 3\r\nConnection: close\r\n\r\nno!"


@pytest.mark.parametrize(
    ("content", "answer"),
    [
        (CHUNKED, Answer(200, "http/1.1 200 ok", 11, is_last=False)),
        (PLAIN, Answer(404, "http/1.1 404 not found", 3, is_last=True)),
    ],
)
def test_an_answer_is_read_once_it_is_whole(content: bytes, answer: Answer) -> None:
    for length in range(len(content)):
        assert read_answer(bytearray(content[:length])) is None
    assert read_answer(bytearray(content)) == answer


def test_what_has_no_length_is_refused() -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        read_answer(bytearray(b"HTTP/1.1 200 OK\r\n\r\n"))


def test_each_connection_asks_as_soon_as_it_was_answered(serve: Any, capsys: Any) -> None:
    asked: list[str] = []

    def answer(request: BaseHTTPRequestHandler) -> tuple[int, dict[str, str], bytes]:
        asked.append(request.path)
        return 200, {}, b"hello"

    with serve(answer) as port:
        load = RequestLoad(
            host="127.0.0.1",
            port=port,
            messages=tuple(f"GET /{name} HTTP/1.1\r\nHost: localhost\r\n\r\n" for name in "ab"),
            connections=2,
            seconds=0.2,
            warm_seconds=0.0,
        )
        result = run_loop(load)
    assert result.failures == 0
    assert 0 < result.answers <= len(asked)
    assert len(result.latencies) == result.answers
    assert result.body_bytes == 5
    assert abs(asked.count("/a") - asked.count("/b")) <= 2
    assert capsys.readouterr().out.count("mark") == 2


def run_against(answer: Callable[[socket.socket], None]) -> RequestLoop:
    """Ask a server of one connection at a time once, and again once it has closed that."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            for _ in range(2):
                with listener.accept()[0] as connection:
                    connection.recv(1000)
                    answer(connection)

        thread = threading.Thread(target=serve)
        thread.start()
        loop = RequestLoop("127.0.0.1", listener.getsockname()[1], [b"GET / HTTP/1.1\r\n\r\n"], 1)
        while len(loop.waits) + loop.failures < 2:
            loop.run(0.01)
        loop.close()
        thread.join()
    return loop


def test_closed_connections_are_opened_again() -> None:
    loop = run_against(lambda connection: connection.sendall(PLAIN))
    assert loop.failures >= 2
    assert loop.reasons[:2] == ["GET /: http/1.1 404 not found"] * 2
    loop = run_against(lambda connection: connection.sendall(PLAIN.replace(b"404 Not Found", b"200 OK")))
    assert len(loop.waits) >= 2


def test_a_server_that_closes_without_an_answer_has_failed() -> None:
    loop = run_against(lambda _: None)
    assert loop.failures >= 2
    assert loop.reasons[0] == "GET /: the server closed the connection"
