"""The socket seam, over real sockets."""

import socket

import pytest
import trio
import trio.testing

from motorpool.actors.gateway import device_socket as device_socket_module
from motorpool.actors.gateway.device_socket import DeviceSocket
from motorpool.actors.gateway.shared_pauses import SharedPauses


def tcp_pair():
    listening = socket.create_server(("127.0.0.1", 0))
    theirs = socket.create_connection(listening.getsockname())
    ours, _ = listening.accept()
    listening.close()
    return ours, theirs


@pytest.fixture
def tcp():
    ours, theirs = tcp_pair()
    yield ours, theirs
    ours.close()
    theirs.close()


async def test_receive_gives_what_was_sent_and_then_the_end(tcp):
    ours, theirs = tcp
    device_socket = DeviceSocket(ours)
    theirs.sendall(b"hello")
    with trio.fail_after(30):
        assert await device_socket.receive() == b"hello"
        theirs.close()
        assert await device_socket.receive() == b""
    assert device_socket.reason == "closed by the device"


async def test_a_reset_connection_ends_like_a_closed_one(tcp):
    ours, theirs = tcp
    device_socket = DeviceSocket(ours)
    theirs.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
    theirs.close()
    with trio.fail_after(30):
        assert await device_socket.receive() == b""
    assert device_socket.reason.startswith("connection lost")


async def test_closing_wakes_the_reader_and_tells_once(tcp):
    ours, _ = tcp
    closed = []
    device_socket = DeviceSocket(ours, on_close=closed.append)
    with trio.fail_after(30):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(device_socket.receive)
            await trio.testing.wait_all_tasks_blocked()
            device_socket.close("because")
    device_socket.close("again")
    assert closed == [device_socket]
    assert device_socket.reason == "because"
    device_socket.send(b"into the void")
    assert device_socket.backlog == 0


async def test_what_the_socket_does_not_take_is_kept_and_sent_while_somebody_receives(tcp, monkeypatch):
    monkeypatch.setattr(device_socket_module, "BACKLOG_BYTES", 8 << 20)
    ours, theirs = tcp
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    device_socket = DeviceSocket(ours)
    sent = bytes(range(256)) * 16 * 1024
    received = bytearray()
    theirs.setblocking(False)
    peer = trio.socket.from_stdlib_socket(theirs)
    with trio.fail_after(60):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(device_socket.receive)  # waits to read, must be woken to write
            await trio.testing.wait_all_tasks_blocked()
            device_socket.send(sent[:100])
            device_socket.send(sent[100:])
            assert device_socket.backlog > 0
            while len(received) < len(sent):
                received += await peer.recv(65536)
            nursery.cancel_scope.cancel()
    assert bytes(received) == sent
    assert device_socket.backlog == 0


async def test_a_peer_that_does_not_read_is_closed_at_the_limit(tcp):
    ours, _ = tcp
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    device_socket = DeviceSocket(ours)
    for _ in range(2000):
        device_socket.send(b"x" * 4096)
        assert device_socket.backlog <= 256 * 1024
    assert device_socket.reason == "does not read what it is sent"
    with trio.fail_after(30):
        assert await device_socket.receive() == b""


async def test_cancelling_receive_loses_nothing(tcp):
    ours, theirs = tcp
    device_socket = DeviceSocket(ours)
    with trio.move_on_after(0.01):
        await device_socket.receive()
    theirs.sendall(b"later")
    with trio.fail_after(30):
        assert await device_socket.receive() == b"later"


async def test_a_pause_gathers_what_comes_in_small_pieces(tcp, mock_clock):
    ours, theirs = tcp
    device_socket = DeviceSocket(ours, pauses=SharedPauses(0.1))
    theirs.sendall(b"1")
    assert await device_socket.receive() == b"1"
    received = []

    async def read_on():
        received.append(await device_socket.receive())

    async with trio.open_nursery() as nursery:
        nursery.start_soon(read_on)
        for piece in (b"2", b"3", b"4"):
            theirs.sendall(piece)
            await trio.testing.wait_all_tasks_blocked()
        assert received == []
        mock_clock.jump(0.1)
    assert received == [b"234"]


async def test_a_full_read_is_followed_by_the_next_without_a_pause(tcp, mock_clock):
    ours, theirs = tcp
    device_socket = DeviceSocket(ours, pauses=SharedPauses(1000), read_bytes=4)
    theirs.sendall(b"12345678")
    assert [await device_socket.receive(), await device_socket.receive()] == [b"1234", b"5678"]
