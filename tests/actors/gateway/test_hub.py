"""One epoll for many sockets: who is called, when, and what becomes of a connection that it serves."""

import socket
import struct

import pytest
import trio
import trio.testing

from motorpool.actors.gateway import device_socket as device_socket_module
from motorpool.actors.gateway.device_socket import DeviceSocket
from motorpool.actors.gateway.hub import Hub, open_hub

pytestmark = pytest.mark.skipif(open_hub() is None, reason="no epoll on this system")


@pytest.fixture
def pairs():
    """Pairs of connected sockets: ours, theirs."""
    made = []
    with socket.create_server(("127.0.0.1", 0)) as listening:
        for _ in range(3):
            theirs = socket.create_connection(listening.getsockname())
            ours, _ = listening.accept()
            made.append((ours, theirs))
    yield made
    for pair in made:
        for end in pair:
            end.close()


@pytest.fixture
async def hub(nursery):
    served = Hub()
    nursery.start_soon(served.run)
    return served


class Reader:
    """Collects what it is called with, as a connection does."""

    def __init__(self, device_socket):
        self.device_socket = device_socket
        self.received = b""
        self.ended = False
        self.news = trio.Event()
        device_socket.watch(self)

    def on_data(self, data):
        assert not self.device_socket.closed
        self.received += data
        self.news.set()

    def forward(self):
        pass

    def on_ended(self):
        self.ended = True
        self.news.set()

    async def until(self, probe):
        with trio.fail_after(120):
            while not probe():
                self.news = trio.Event()
                await self.news.wait()


async def test_each_socket_gets_its_own_bytes_and_its_end(hub, pairs):
    readers = [Reader(DeviceSocket(ours, hub=hub)) for ours, _ in pairs]
    for number, (_, theirs) in enumerate(pairs):
        theirs.sendall(b"%d" % number)
    for number, reader in enumerate(readers):
        await reader.until(lambda reader=reader, number=number: reader.received == b"%d" % number)
    pairs[1][1].close()
    await readers[1].until(lambda: readers[1].ended)
    assert readers[1].device_socket.reason == "closed by the device"
    assert not readers[0].ended


async def test_a_paused_socket_is_not_called_even_for_a_reset_and_sees_it_once_resumed(hub, pairs):
    ours, theirs = pairs[0]
    reader = Reader(DeviceSocket(ours, hub=hub))
    reader.device_socket.pause_reading()
    theirs.sendall(b"later")
    other = Reader(DeviceSocket(pairs[1][0], hub=hub))
    pairs[1][1].sendall(b"now")
    await other.until(lambda: other.received == b"now")
    assert reader.received == b""
    reader.device_socket.resume_reading()
    await reader.until(lambda: reader.received == b"later")
    reader.device_socket.pause_reading()
    theirs.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    theirs.close()
    pairs[1][1].sendall(b"!")
    await other.until(lambda: other.received == b"now!")
    assert not reader.ended
    reader.device_socket.resume_reading()
    await reader.until(lambda: reader.ended)
    assert reader.device_socket.reason.startswith("connection lost")


async def test_a_backlog_is_sent_as_the_peer_reads_and_reading_goes_on_after_it(hub, pairs, monkeypatch):
    monkeypatch.setattr(device_socket_module, "BACKLOG_BYTES", 8 << 20)
    ours, theirs = pairs[0]
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    reader = Reader(DeviceSocket(ours, hub=hub))
    sent = bytes(range(256)) * 8192
    reader.device_socket.send(sent)
    assert reader.device_socket.backlog > 0
    theirs.sendall(b"asked meanwhile")
    received = b""
    peer = trio.socket.from_stdlib_socket(theirs)
    theirs.setblocking(False)
    with trio.fail_after(120):
        while len(received) < len(sent):
            received += await peer.recv(65536)
    assert received == sent
    await reader.until(lambda: reader.received == b"asked meanwhile")
    assert reader.device_socket.backlog == 0


async def test_a_socket_closed_by_the_server_ends_once_and_is_unwatched(hub, pairs):
    ours, theirs = pairs[0]
    reader = Reader(DeviceSocket(ours, hub=hub))
    reader.device_socket.close("enough")
    assert reader.ended
    reader.ended = False
    reader.device_socket.close("again")
    assert not reader.ended
    # The number of its file may belong to another socket now: nothing of the old one is left.
    again = Reader(DeviceSocket(pairs[1][0], hub=hub))
    pairs[1][1].sendall(b"fine")
    await again.until(lambda: again.received == b"fine")
    theirs.close()


async def test_what_was_read_from_a_socket_that_another_of_the_turn_has_closed_is_nobodys(nursery, pairs):
    hub = Hub()
    readers = [Reader(DeviceSocket(ours, hub=hub)) for ours, _ in pairs[:2]]

    def close_the_other(reader, other):
        def on_data(data):
            reader.received += data
            other.device_socket.close("told so")

        return on_data

    for reader, other in (readers, reversed(readers)):
        reader.on_data = close_the_other(reader, other)
    for _, theirs in pairs[:2]:
        theirs.sendall(b"now")
    # Both are ready when the hub begins, so that one turn reads both.
    nursery.start_soon(hub.run)
    await trio.testing.wait_all_tasks_blocked(0.05)
    assert sorted(reader.received for reader in readers) == [b"", b"now"]
    assert sorted(reader.ended for reader in readers) == [False, True]


async def test_all_sockets_of_a_turn_are_decoded_before_the_first_is_forwarded(nursery, pairs):
    hub = Hub()
    readers = [Reader(DeviceSocket(ours, hub=hub)) for ours, _ in pairs[:2]]
    seen = []

    def close_both():
        seen.append([reader.received for reader in readers])
        for reader in readers:
            reader.device_socket.close("told so")

    for reader in readers:
        reader.forward = close_both
    for _, theirs in pairs[:2]:
        theirs.sendall(b"now")
    nursery.start_soon(hub.run)
    await trio.testing.wait_all_tasks_blocked(0.05)
    # Also that which the first has closed.
    assert seen == [[b"now", b"now"]] * 2


async def test_a_socket_that_has_ended_before_it_is_watched_says_so_at_once(hub, pairs):
    device_socket = DeviceSocket(pairs[0][0], hub=hub)
    device_socket.close("too early")
    assert Reader(device_socket).ended
