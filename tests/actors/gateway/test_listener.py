"""A device port: real sockets, connections that only hold theirs."""

import os
import resource
import socket

import pytest
import trio

from motorpool.actors.gateway.listener import listener_spec
from motorpool.actors.gateway.recorder import RECORDER
from motorpool.actors.messages.downlink import CONNECTION
from motorpool.codecs.traffic_recording import Opened, TrafficRecordingReader
from motorpool.runtime import Actor, ActorFailed, ChildSpec
from motorpool.runtime.testing import Probe


class Holding(Actor):
    """A connection that waits for its end."""

    def __init__(self, device_socket):
        self.device_socket = device_socket

    async def run(self):
        try:
            while await self.device_socket.receive():
                pass
        finally:
            self.device_socket.close("closed")


class Port:
    def __init__(self, system, port, wires):
        self.system, self.port, self.wires = system, port, wires

    def call(self, host="127.0.0.1"):
        return socket.create_connection((host, self.port), timeout=10)


@pytest.fixture
def listening(tree, neighbours, own_port):
    """`async with listening(per_address=…) as port:`"""

    class Opened:
        def __init__(self, host="127.0.0.1", per_address=100, is_recorded=False, port=None):
            self.wires = []
            self.port = port or own_port
            self.recorder = Probe()
            self.spec = listener_spec(
                "jt808", host, self.port, self.make, per_address=per_address, is_recorded=is_recorded
            )

        def make(self, device_socket, tap):
            self.wires.append((device_socket, tap))
            return Holding(device_socket)

        async def __aenter__(self):
            recorder = ChildSpec(kind=RECORDER, factory=lambda: self.recorder, resident=False)
            self.running = tree(recorder, neighbours.connections_spec, self.spec)
            system = await self.running.__aenter__()
            found = Port(system, self.port, self.wires)
            found.recorder = self.recorder
            return found

        async def __aexit__(self, *error):
            return await self.running.__aexit__(*error)

    return Opened


@pytest.fixture
def own_port(free_port):
    """The port of this test's listeners."""
    return free_port()


def is_closed(peer):
    peer.setblocking(False)
    try:
        return peer.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionError:
        return True


async def test_each_peer_gets_a_connection_of_its_own_that_ends_with_it(listening, time):
    async with listening() as port:
        peers = [port.call() for _ in range(5)]
        await time.settle()
        assert port.system.count(CONNECTION) == 5
        assert len(set(port.system.keys(CONNECTION))) == 5
        assert [device_socket.peer for device_socket, _ in port.wires] == ["127.0.0.1"] * 5
        assert [tap for _, tap in port.wires] == [None] * 5
        peers[0].close()
        await time.settle()
        assert port.system.count(CONNECTION) == 4
        for peer in peers:
            peer.close()
        await time.settle()
        assert port.system.count(CONNECTION) == 0


async def test_an_address_gets_so_many_connections_and_a_closed_one_makes_room(listening, time, caplog):
    async with listening(per_address=2) as port:
        one, two, *more = [port.call() for _ in range(6)]
        await time.settle()
        assert [is_closed(peer) for peer in (one, two, *more)] == [False, False, True, True, True, True]
        assert port.system.count(CONNECTION) == 2
        # Said at the first, second and fourth: a flood of peers is none of log lines.
        assert sum("refused" in record.getMessage() for record in caplog.records) == 3
        one.close()
        await time.settle()
        with port.call() as again:
            await time.settle()
            assert not is_closed(again)
        for peer in (two, *more):
            peer.close()


async def test_a_port_that_is_taken_ends_the_start_with_one_sentence(listening, own_port):
    with socket.create_server(("127.0.0.1", own_port)), pytest.raises(ActorFailed) as failed:
        async with listening():
            pass
    assert f"cannot listen for jt808 on 127.0.0.1:{own_port}: Address already in use" in str(
        failed.value.__cause__
    )


async def test_the_port_is_closed_at_the_end(listening, time):
    async with listening() as port:
        peer = port.call()
        await time.settle()
    with peer:
        assert is_closed(peer)
    with pytest.raises(ConnectionRefusedError):
        port.call()


async def test_a_recorded_port_gives_each_connection_a_tap(listening, time):
    async with listening(is_recorded=True) as port:
        with port.call():
            await time.settle()
            ((_, tap),) = port.wires
            assert tap is not None
            packed = b"".join(chunk.packed for chunk in port.recorder.messages)
            (entry,) = TrafficRecordingReader().receive(packed)
            assert isinstance(entry, Opened)
            assert (entry.protocol, entry.host) == ("jt808", "127.0.0.1")


async def test_it_listens_on_an_address_of_the_sixth_version(listening, time):
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no IPv6")
    async with listening(host="::1") as port:
        with port.call("::1"):
            await time.settle()
            ((device_socket, _),) = port.wires
            assert device_socket.peer == "::1"


async def test_out_of_files_it_says_so_and_accepts_later(listening, time, caplog):
    async with listening() as port:
        peer = socket.socket()
        next_free = os.dup(0)
        os.close(next_free)
        limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (next_free, limits[1]))
        try:
            peer.connect(("127.0.0.1", port.port))
            await time.settle()
            assert port.wires == []
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        assert "cannot accept: Too many open files" in caplog.text
        await time.passes(0.11)
        assert port.system.count(CONNECTION) == 1
        peer.close()


async def test_a_peer_that_left_before_it_was_accepted_harms_nobody(listening, time):
    async with listening() as port:
        for _ in range(20):
            hasty = port.call()
            hasty.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
            hasty.close()
        with port.call():
            await time.settle()
            assert port.system.count(CONNECTION) == 1
        await trio.testing.wait_all_tasks_blocked(0.001)
