"""A UDP port: real sockets, connections that record what they are given."""

import socket
from contextlib import suppress
from types import SimpleNamespace

import pytest
import trio

from motorpool.actors.gateway.datagram_listener import MAX_IGNORED, DatagramListener
from motorpool.actors.gateway.datagram_peer import MAX_QUEUED, DatagramPeer
from motorpool.actors.gateway.listener import DevicePort
from motorpool.actors.gateway.port_binding import bind_port
from motorpool.actors.gateway.port_guard import PortGuard
from motorpool.actors.messages.counters import DATAGRAMS_DROPPED
from motorpool.actors.messages.downlink import NOT_KNOWN
from motorpool.actors.work.connection_limits import ConnectionLimits, MemoryBudget
from motorpool.codecs.devices import CODECS
from motorpool.runtime import Actor, TaskSpec

GPS103 = CODECS["gps103"]
LOGIN = b"##,imei:353358017784062,A;"


def port_of(number, make_connection, guard):
    return DevicePort(
        name=GPS103.name, host="127.0.0.1", number=number, make_connection=make_connection, guard=guard
    )


class Recording(Actor):
    """A connection that keeps its datagrams."""

    outlives_run = True

    def __init__(self, peer):
        self.peer = peer
        self.received = []

    async def run(self):
        self.peer.watch(self)

    def on_data(self, data):
        self.received.append(data)

    def forward(self):
        pass

    def on_ended(self):
        self.context.leave()


@pytest.fixture
def datagrams():
    """`datagrams()`: a UDP socket of the loopback address."""
    opened = []

    def make():
        made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        made.bind(("127.0.0.1", 0))
        opened.append(made)
        return made

    yield make
    for each in opened:
        each.close()


@pytest.fixture
def port(tree, neighbours, free_port, until):
    """`async with port(guard) as (number, connections)`"""

    class Opened:
        def __init__(self, guard=None):
            self.guard = guard or PortGuard()
            self.number = free_port()
            self.connections = []

        def connect(self, peer, tap):
            self.connections.append(Recording(peer))
            return self.connections[-1]

        async def __aenter__(self):
            spec = TaskSpec(
                name="listener:datagrams",
                factory=lambda: DatagramListener(GPS103, port_of(self.number, self.connect, self.guard)),
            )
            self.running = tree(neighbours.connections_spec, spec)
            await self.running.__aenter__()
            return self

        async def __aexit__(self, *error):
            return await self.running.__aexit__(*error)

        async def received(self, *expected):
            await until(lambda: [each.received for each in self.connections] == list(expected))

    return Opened


async def test_each_address_gets_a_connection_of_its_own_and_its_answers(port, datagrams):
    async with port() as opened:
        first, second = datagrams(), datagrams()
        to = ("127.0.0.1", opened.number)
        first.sendto(LOGIN, to)
        await opened.received([LOGIN])
        second.sendto(LOGIN, to)
        await opened.received([LOGIN], [LOGIN])
        first.sendto(b"noise of a known address", to)
        await opened.received([LOGIN, b"noise of a known address"], [LOGIN])
        opened.connections[1].peer.send(b"answer")
        second.settimeout(20)
        assert second.recv(100) == b"answer"
        assert opened.connections[0].peer.local_host == "127.0.0.1"
        assert opened.guard.connections.open == 2
    assert opened.guard.connections.open == 0
    assert opened.connections[0].peer.reason == "the port was closed"


async def test_noise_of_a_new_address_starts_nothing(port, datagrams):
    async with port() as opened:
        stranger, device = datagrams(), datagrams()
        for noise in (b"", b"noise", bytes(3000), LOGIN[:8]):
            stranger.sendto(noise, ("127.0.0.1", opened.number))
        device.sendto(LOGIN, ("127.0.0.1", opened.number))
        await opened.received([LOGIN])


async def test_an_address_whose_device_is_unknown_is_ignored_for_some_time(port, datagrams, time):
    async with port() as opened:
        stranger, device = datagrams(), datagrams()
        to = ("127.0.0.1", opened.number)
        stranger.sendto(LOGIN, to)
        await opened.received([LOGIN])
        opened.connections[0].peer.close(NOT_KNOWN)
        stranger.sendto(LOGIN, to)
        device.sendto(LOGIN, to)
        await opened.received([LOGIN], [LOGIN])
        assert opened.connections[1].peer.address == device.getsockname()
        await time.passes(11)
        stranger.sendto(LOGIN, to)
        await opened.received([LOGIN], [LOGIN], [LOGIN])
    assert MAX_IGNORED > 100


async def test_a_host_may_have_only_so_many_addresses(port, datagrams):
    guard = PortGuard(ConnectionLimits(total=10, per_client=2))
    async with port(guard) as opened:
        sockets = [datagrams() for _ in range(3)]
        for each in sockets:
            each.sendto(LOGIN, ("127.0.0.1", opened.number))
        sockets[0].sendto(b"last", ("127.0.0.1", opened.number))
        await opened.received([LOGIN, b"last"], [LOGIN])


def peer(guard, datagrams, closed):
    return DatagramPeer(datagrams(), ("127.0.0.1", 9), "gps103", guard, closed.append)


def test_datagrams_wait_while_others_are_processed_and_too_many_are_dropped(datagrams):
    guard = PortGuard(memory=MemoryBudget(1000, 1000))
    closed, ended, received = [], [], []
    one = peer(guard, datagrams, closed)
    dropped = DATAGRAMS_DROPPED.labels("gps103")._value.get()
    for number in range(MAX_QUEUED + 3):
        one.received(b"%d" % number)
    assert DATAGRAMS_DROPPED.labels("gps103")._value.get() == dropped + 3
    assert guard.memory.held > 0

    def take(datagram):
        received.append(datagram)
        if len(received) % 10 == 0:
            one.pause_reading()

    one.watch(SimpleNamespace(on_data=take, forward=lambda: None, on_ended=lambda: ended.append(one)))
    assert len(received) == 10
    while len(received) < MAX_QUEUED:
        one.resume_reading()
    assert received == [b"%d" % number for number in range(MAX_QUEUED)]
    assert guard.memory.held == 0
    one.pause_reading()
    one.received(bytes(900))
    one.received(bytes(200))
    assert guard.memory.held == 900
    one.close("enough")
    one.close("again")
    assert (closed, ended, one.reason, guard.memory.held) == ([one], [one], "enough", 0)
    one.received(b"late")
    one.send(b"late")


async def test_a_port_that_is_taken_is_named(tree, neighbours, datagrams):
    taken = datagrams().getsockname()[1]
    spec = TaskSpec(
        name="listener:datagrams",
        factory=lambda: DatagramListener(GPS103, port_of(taken, None, PortGuard())),
    )
    with pytest.raises(BaseException) as failed:
        async with tree(neighbours.connections_spec, spec):
            await trio.sleep_forever()
    assert f"gps103 on UDP 127.0.0.1:{taken}" in repr(failed.value) + str(failed.value.__cause__)


def test_servers_of_a_machine_share_out_senders_and_not_datagrams(datagrams, free_port):
    number = free_port()
    bound = [bind_port("gps103", "127.0.0.1", number, socket.SOCK_DGRAM, is_shared=True) for _ in range(2)]
    with bound[0], bound[1]:
        senders = [datagrams() for _ in range(64)]
        for count in range(3):
            for sender in senders:
                sender.sendto(bytes([count]), ("127.0.0.1", number))
        got = []
        for each in bound:
            addresses = []
            with suppress(BlockingIOError):
                while True:
                    addresses.append(each.recvfrom(1)[1])
            got.append(addresses)
        assert sum(map(len, got)) == 3 * len(senders)
        one, other = map(set, got)
        assert one
        assert other
        assert not one & other
    # It is not there for others who do not share it.
    with (
        bind_port("gps103", "127.0.0.1", number, socket.SOCK_DGRAM),
        pytest.raises(OSError, match="the address is in use"),
    ):
        bind_port("gps103", "127.0.0.1", number, socket.SOCK_DGRAM, is_shared=True)
