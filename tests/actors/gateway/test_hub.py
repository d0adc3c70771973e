"""One epoll for many sockets: who is called, when, and what becomes of a connection that it serves."""

import socket
import struct

import pytest
import trio
import trio.testing

from motorpool.actors.gateway.hub import Hub, open_hub
from motorpool.actors.gateway.wire import Wire

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
    """Reads whenever it is called, as a connection does."""

    def __init__(self, wire):
        self.wire = wire
        self.received = b""
        self.ended = False
        self.news = trio.Event()
        wire.follow(self.called)

    def called(self):
        if self.wire.closed:
            self.ended = True
        else:
            self.received += self.wire.read()
        self.news.set()

    async def until(self, probe):
        with trio.fail_after(5):
            while not probe():
                self.news = trio.Event()
                await self.news.wait()


async def test_each_wire_is_called_for_its_own_bytes_and_its_end(hub, pairs):
    readers = [Reader(Wire(ours, hub=hub)) for ours, _ in pairs]
    for number, (_, theirs) in enumerate(pairs):
        theirs.sendall(b"%d" % number)
    for number, reader in enumerate(readers):
        await reader.until(lambda reader=reader, number=number: reader.received == b"%d" % number)
    pairs[1][1].close()
    await readers[1].until(lambda: readers[1].ended)
    assert readers[1].wire.reason == "closed by the device"
    assert not readers[0].ended


async def test_a_resting_wire_is_not_called_not_even_for_a_reset_and_hears_of_it_afterwards(hub, pairs):
    ours, theirs = pairs[0]
    reader = Reader(Wire(ours, hub=hub))
    reader.wire.rest(resting=True)
    theirs.sendall(b"later")
    other = Reader(Wire(pairs[1][0], hub=hub))
    pairs[1][1].sendall(b"now")
    await other.until(lambda: other.received == b"now")
    assert reader.received == b""
    reader.wire.rest(resting=False)
    await reader.until(lambda: reader.received == b"later")
    reader.wire.rest(resting=True)
    theirs.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    theirs.close()
    pairs[1][1].sendall(b"!")
    await other.until(lambda: other.received == b"now!")
    assert not reader.ended
    reader.wire.rest(resting=False)
    await reader.until(lambda: reader.ended)
    assert reader.wire.reason.startswith("connection lost")


async def test_a_backlog_is_sent_as_the_peer_reads_and_reading_goes_on_after_it(hub, pairs):
    ours, theirs = pairs[0]
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    reader = Reader(Wire(ours, hub=hub, backlog_limit=8 << 20))
    sent = bytes(range(256)) * 8192
    reader.wire.send(sent)
    assert reader.wire.backlog > 0
    theirs.sendall(b"asked meanwhile")
    received = b""
    peer = trio.socket.from_stdlib_socket(theirs)
    theirs.setblocking(False)
    with trio.fail_after(20):
        while len(received) < len(sent):
            received += await peer.recv(65536)
    assert received == sent
    await reader.until(lambda: reader.received == b"asked meanwhile")
    assert reader.wire.backlog == 0


async def test_a_wire_closed_by_us_tells_once_and_is_forgotten(hub, pairs):
    ours, theirs = pairs[0]
    reader = Reader(Wire(ours, hub=hub))
    reader.wire.close("enough")
    assert reader.ended
    reader.ended = False
    reader.wire.close("again")
    assert not reader.ended
    # The number of its file may belong to another socket now: nothing of the old one is left.
    again = Reader(Wire(pairs[1][0], hub=hub))
    pairs[1][1].sendall(b"fine")
    await again.until(lambda: again.received == b"fine")
    theirs.close()


async def test_a_wire_that_has_ended_before_it_is_followed_tells_at_once(hub, pairs):
    wire = Wire(pairs[0][0], hub=hub)
    wire.close("too early")
    assert Reader(wire).ended
