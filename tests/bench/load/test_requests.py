"""An open loop: what a slow server makes wait counts from when it was due."""

from contextlib import suppress

import trio

from motorpool.bench.load.plan import RequestLoad
from motorpool.bench.load.requests import Requests

MESSAGE = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


async def run_against(answer, *, rate=50.0, seconds=0.6, closes=False):
    """Run a load against a server that answers each request with what `answer(number)` gives."""
    numbers = iter(range(10_000))

    async def serve(stream):
        # The load leaves without reading what it takes for junk.
        with suppress(trio.BrokenResourceError):
            while await stream.receive_some():
                await stream.send_all(await answer(next(numbers)))
                if closes:
                    break

    async with trio.open_nursery() as nursery:
        listeners = await nursery.start(trio.serve_tcp, serve, 0)
        port = listeners[0].socket.getsockname()[1]
        load = RequestLoad(
            host="127.0.0.1", port=port, messages=(MESSAGE,), rate=rate, seconds=seconds, warm_seconds=0.211
        )
        result = await Requests(load).run()
        nursery.cancel_scope.cancel()
    return result


def response(status, body):
    return f"HTTP/1.1 {status} X\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


async def test_every_request_of_the_span_is_answered_and_timed():
    async def answer(_):
        return response(200, b"hello")

    result = await run_against(answer)
    assert (result.answers, result.failures, result.body_bytes) == (30, 0, 5)
    assert 0 < result.p50_ms <= result.p99_ms <= result.worst_ms


async def test_other_answers_and_broken_connections_are_failures():
    async def answer(number):
        return response(500 if number % 2 else 200, b"")

    result = await run_against(answer)
    assert result.answers + result.failures == 30
    assert 10 <= result.failures <= 20
    assert result.reasons == ("GET /: http/1.1 500 x",) * 5

    async def junk(_):
        return b"HTTP/1.1 200 OK\r\nno length here\r\n\r\n"

    assert (await run_against(junk)).failures == 30


async def test_a_connection_that_the_server_closes_with_an_answer_is_opened_again():
    async def answer(_):
        return b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

    result = await run_against(answer, closes=True)
    assert (result.answers, result.failures, result.reasons) == (30, 0, ())


async def test_requests_are_sent_on_other_connections_while_one_waits_for_its_answer():
    others = trio.Event()

    async def answer(number):
        if number == 15:
            await others.wait()
        elif number == 30:
            others.set()
        return response(200, b"")

    result = await run_against(answer)
    assert (result.answers, result.failures) == (30, 0)
    # It was due fifteen requests before the one that releases it, at 50 a second.
    assert result.worst_ms >= 290


async def test_answers_in_chunks_are_read_whole():
    async def answer(number):
        if number % 2:
            return response(200, b"hello")
        head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        return head + b"5\r\nhel\r\n\r\nA\r\n0123456789\r\n0\r\n\r\n"

    result = await run_against(answer)
    assert (result.answers, result.failures, result.reasons) == (30, 0, ())
    assert result.body_bytes in (5, 15)
