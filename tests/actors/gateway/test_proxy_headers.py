"""Connections that a proxy passes on, over real sockets: whose address counts, and what is refused."""

import socket

import pytest
from tests.runtime.actor_testing import Probe

from motorpool.actors.gateway.listener import DevicePort, Listener
from motorpool.actors.gateway.port_guard import PortGuard
from motorpool.actors.gateway.proxy_headers import HEADER_SECONDS
from motorpool.actors.gateway.recorder import RECORDER
from motorpool.actors.messages.counters import PROXY_HEADERS_REJECTED
from motorpool.actors.messages.downlink import CONNECTION
from motorpool.actors.work.connection_limits import ConnectionLimits
from motorpool.actors.work.networks import Networks
from motorpool.bench.traffic_recording import Opened, Received, TrafficRecordingReader
from motorpool.runtime import Actor, ChildSpec, TaskSpec

PROXY = "127.0.0.9"
LOCAL = bytes.fromhex("0D0A0D0A000D0A515549540A 20 00 0000")


def header(client, server="203.0.113.5"):
    return f"PROXY TCP4 {client} {server} 40000 5015\r\n".encode()


def binary_header(client):
    body = socket.inet_aton(client) + socket.inet_aton("203.0.113.5") + bytes(4)
    return bytes.fromhex("0D0A0D0A000D0A515549540A 21 11 000C") + body


class Echo(Actor):
    """A connection that keeps what it received."""

    def __init__(self, device_socket, tap):
        self.device_socket, self.tap = device_socket, tap
        self.received = b""

    async def run(self):
        try:
            while data := await self.device_socket.receive():
                self.received += data
                if self.tap:
                    self.tap.received(data)
        finally:
            self.device_socket.close("closed")


class Port:
    def __init__(self, system, number, guard, connections, recorder):
        self.system, self.number, self.guard = system, number, guard
        self.connections, self.recorder = connections, recorder
        self.peers = []

    def call(self, sent=b"", address=PROXY):
        peer = socket.create_connection(("127.0.0.1", self.number), 10, (address, 0))
        self.peers.append(peer)
        peer.sendall(sent)
        return peer

    @property
    def seen(self):
        return [(each.device_socket.peer, each.received) for each in self.connections]


@pytest.fixture
def listening(tree, neighbours, free_port):
    """`async with listening(per_client=…) as port:` a port that trusts the proxy 127.0.0.9."""

    class Opened:
        def __init__(self, *, per_client=100, total=100, is_recorded=False, proxies=(PROXY,)):
            self.number = free_port()
            self.guard = PortGuard(ConnectionLimits(total=total, per_client=per_client))
            self.connections = []
            self.recorder = Probe()
            port = DevicePort(
                name="jt808",
                host="127.0.0.1",
                number=self.number,
                make_connection=self.make,
                guard=self.guard,
                is_recorded=is_recorded,
                proxies=Networks(proxies),
            )
            self.spec = TaskSpec(name="listener:jt808", factory=lambda: Listener(port))

        def make(self, device_socket, tap):
            self.connections.append(Echo(device_socket, tap))
            return self.connections[-1]

        async def __aenter__(self):
            recorder = ChildSpec(kind=RECORDER, factory=lambda: self.recorder)
            self.running = tree(recorder, neighbours.connections_spec, self.spec)
            system = await self.running.__aenter__()
            self.port = Port(system, self.number, self.guard, self.connections, self.recorder)
            return self.port

        async def __aexit__(self, *error):
            for peer in self.port.peers:
                peer.close()
            return await self.running.__aexit__(*error)

    return Opened


def is_closed(peer):
    peer.setblocking(False)
    try:
        return peer.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionError:
        return True


def rejected():
    return PROXY_HEADERS_REJECTED.labels("jt808")._value.get()


@pytest.mark.parametrize("make_header", [header, binary_header])
async def test_the_named_address_counts_and_the_device_s_bytes_are_whole(listening, time, make_header):
    async with listening() as port:
        port.call(make_header("198.51.100.7") + b"login")
        await time.settle()
        assert port.seen == [("198.51.100.7", b"login")]
        (connection,) = port.connections
        # Media is to come by the address that the device has reached, which is the proxy's.
        assert connection.device_socket.local_host == "203.0.113.5"
        assert (port.guard.connections.count("198.51.100.7"), port.guard.connections.count(PROXY)) == (1, 0)


async def test_a_header_may_come_in_pieces(listening, time):
    async with listening() as port:
        for sent in (header("198.51.100.7"), binary_header("198.51.100.7")):
            peer = port.call()
            for byte in sent:
                peer.sendall(bytes([byte]))
                await time.settle()
                assert port.guard.connections.open == 1
            peer.sendall(b"login")
            await time.settle()
            assert port.seen[-1] == ("198.51.100.7", b"login")
            peer.close()
            await time.settle()
        assert port.guard.connections.open == 0


async def test_limits_of_an_address_hold_behind_a_proxy_and_the_proxy_has_none(listening, time):
    async with listening(per_client=2) as port:
        one = [port.call(header("198.51.100.7")) for _ in range(4)]
        await time.settle()
        assert sorted(map(is_closed, one)) == [False, False, True, True]
        others = [port.call(header(f"198.51.100.{number}")) for number in range(10, 20)]
        await time.settle()
        assert not any(map(is_closed, others))
        assert port.guard.connections.open == 12


async def test_connections_without_a_header_yet_count_in_all_and_have_to_send_it_in_time(
    listening, time, caplog
):
    before = rejected()
    async with listening(total=2) as port:
        waiting = [port.call() for _ in range(3)]
        await time.settle()
        assert sorted(map(is_closed, waiting)) == [False, False, True]
        assert port.guard.connections.open == 2
        await time.passes(HEADER_SECONDS + 0.1)
        assert all(map(is_closed, waiting))
        assert port.guard.connections.open == 0
        assert rejected() - before == 2
        assert "closed a connection from the proxy 127.0.0.9: no PROXY header in time" in caplog.text
        assert port.connections == []
        port.call(header("198.51.100.7"))
        await time.settle()
        assert port.system.count(CONNECTION) == 1


async def test_what_a_proxy_sends_instead_of_a_header_ends_the_connection(listening, time):
    before = rejected()
    async with listening() as port:
        too_long = LOCAL[:-2] + b"\xff\xff"
        bad = [port.call(sent) for sent in (b"\x7e login", b"PROXY TCP9 \r\n", too_long)]
        half = port.call(header("198.51.100.7")[:20])
        half.shutdown(socket.SHUT_WR)
        await time.settle()
        assert all(map(is_closed, [*bad, half]))
        assert rejected() - before == 4
        # A check of the port sends nothing, and is no fault.
        port.call().close()
        await time.settle()
        assert rejected() - before == 4
        assert port.guard.connections.open == 0
        assert port.connections == []


async def test_a_header_of_anybody_else_is_what_the_device_sent(listening, time):
    async with listening() as port:
        port.call(header("198.51.100.7"), "127.0.0.1")
        await time.settle()
        assert port.seen == [("127.0.0.1", header("198.51.100.7"))]


async def test_a_connection_of_the_proxy_itself_counts_as_its_own(listening, time):
    async with listening() as port:
        port.call(LOCAL)
        port.call(b"PROXY UNKNOWN\r\n")
        await time.settle()
        assert port.seen == [(PROXY, b"")] * 2
        assert [each.device_socket.local_host for each in port.connections] == ["127.0.0.1"] * 2


async def test_a_recording_has_the_named_address_and_no_header(listening, time):
    async with listening(is_recorded=True) as port:
        port.call(header("198.51.100.7") + b"login")
        await time.settle()
        packed = b"".join(chunk.packed for chunk in port.recorder.messages)
        opened, received = TrafficRecordingReader().receive(packed)
        assert isinstance(opened, Opened)
        assert isinstance(received, Received)
        assert (opened.host, received.content) == ("198.51.100.7", b"login")


async def test_the_end_of_the_port_closes_connections_that_wait_for_a_header(listening, time):
    opened = listening()
    async with opened as port:
        waiting = port.call()
        await time.settle()
        assert port.guard.connections.open == 1
        port.peers.clear()
    with waiting:
        assert is_closed(waiting)
    assert opened.guard.connections.open == 0
