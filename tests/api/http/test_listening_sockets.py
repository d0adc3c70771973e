import socket

import pytest
import trio
import trio.testing

from motorpool.api.http.listening_sockets import ConnectionListener, bind


def open_listener(*, slots: int = 4, stall_seconds: float = 5.0) -> tuple[ConnectionListener, int]:
    (bound,) = bind("127.0.0.1", 0)
    bound.listen(8)
    return ConnectionListener(
        bound, slots=trio.Semaphore(slots), stall_seconds=stall_seconds
    ), bound.getsockname()[1]


def test_a_port_in_use_is_named_in_one_line():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(OSError, match=rf"cannot listen on 127\.0\.0\.1:{port}: the address is in use"):
            bind("127.0.0.1", port)


def test_a_name_that_nobody_knows_is_named():
    with pytest.raises(OSError, match=r"cannot listen on no-such-host\.invalid:80"):
        bind("no-such-host.invalid", 80)


async def test_bytes_go_both_ways():
    listener, port = open_listener()
    client = await trio.open_tcp_stream("127.0.0.1", port)
    async with listener, client:
        stream = await listener.accept()
        await client.send_all(b"question")
        assert await stream.receive_some() == b"question"
        await stream.wait_send_all_might_not_block()
        await stream.send_all(b"answer")
        await stream.send_eof()
        assert await client.receive_some() == b"answer"
        assert await client.receive_some() == b""
        await stream.aclose()


async def test_a_client_that_takes_no_bytes_is_dropped_after_the_stall_time():
    listener, port = open_listener(stall_seconds=0.05)
    client = await trio.open_tcp_stream("127.0.0.1", port)
    async with listener, client:
        stream = await listener.accept()
        with pytest.raises(trio.BrokenResourceError):
            await stream.send_all(bytes(50_000_000))
        assert listener.connections == 0


async def test_abort_ends_a_send_that_is_shielded_from_cancellation():
    listener, port = open_listener(stall_seconds=3600)
    client = await trio.open_tcp_stream("127.0.0.1", port)
    async with listener, client:
        stream = await listener.accept()
        ended = trio.Event()

        async def send() -> None:
            broken = pytest.raises((trio.ClosedResourceError, trio.BrokenResourceError))
            with trio.CancelScope(shield=True), broken:
                await stream.send_all(bytes(50_000_000))
            ended.set()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(send)
            await trio.testing.wait_all_tasks_blocked(0.01)
            nursery.cancel_scope.cancel()
            listener.abort_all()
        assert ended.is_set()


async def test_no_more_connections_are_let_in_than_there_are_places():
    listener, port = open_listener(slots=1)
    first = await trio.open_tcp_stream("127.0.0.1", port)
    second = await trio.open_tcp_stream("127.0.0.1", port)
    async with listener, first, second:
        stream = await listener.accept()
        with trio.move_on_after(0.05) as patience:
            await listener.accept()
        assert patience.cancelled_caught
        await stream.aclose()
        await stream.aclose()
        with trio.fail_after(30):
            other = await listener.accept()
        assert listener.connections == 1
        other.abort()
        assert listener.connections == 0
