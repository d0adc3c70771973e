"""A device port: real sockets, connections that only hold theirs."""

import errno
import os
import resource
import socket
from contextlib import ExitStack

import pytest
import trio
from tests.runtime.actor_testing import Probe

from motorpool.actors.gateway import port_guard
from motorpool.actors.gateway.listener import MAX_FAILURES, DevicePort, Listener
from motorpool.actors.gateway.port_guard import (
    DEVICE_SHARE,
    HTTP_SHARE,
    MEDIA_SHARE,
    PortGuard,
    descriptor_share,
    device_guard,
)
from motorpool.actors.gateway.recorder import RECORDER
from motorpool.actors.gateway.settings import DeviceSettings
from motorpool.actors.gateway.shared_ports import bind_shared_ports
from motorpool.actors.messages.conditions import OPEN_FILES
from motorpool.actors.messages.downlink import CONNECTION
from motorpool.actors.work.connection_limits import ConnectionLimits
from motorpool.bench.traffic_recording import Opened, TrafficRecordingReader
from motorpool.codecs.devices import CODECS
from motorpool.runtime import Actor, ActorFailed, ChildSpec, TaskSpec


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
        def __init__(
            self,
            host="127.0.0.1",
            per_address=100,
            total=100,
            reserve=0,
            is_recorded=False,
            port=None,
            guard=None,
            shared=None,
        ):
            self.wires = []
            self.port = port or own_port
            self.recorder = Probe()
            self.guard = guard or PortGuard(
                ConnectionLimits(total=total, per_client=per_address, reserve=reserve)
            )
            port = DevicePort(
                name="jt808",
                host=host,
                number=self.port,
                make_connection=self.make,
                guard=self.guard,
                is_recorded=is_recorded,
                shared=shared,
            )
            self.spec = TaskSpec(name="listener:jt808", factory=lambda: Listener(port))

        def make(self, device_socket, tap):
            self.wires.append((device_socket, tap))
            return Holding(device_socket)

        async def __aenter__(self):
            recorder = ChildSpec(kind=RECORDER, factory=lambda: self.recorder)
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
        one, two, *more = [port.call() for _ in range(16)]
        await time.settle()
        assert [is_closed(peer) for peer in (one, two, *more)] == [False, False] + [True] * 14
        assert port.system.count(CONNECTION) == 2
        # A flood of peers is not one of log lines.
        assert sum("refused" in record.getMessage() for record in caplog.records) == 10
        one.close()
        await time.settle()
        with port.call() as again:
            await time.settle()
            assert not is_closed(again)
        for peer in (two, *more):
            peer.close()


async def test_servers_that_share_a_socket_accept_from_one_queue(listening, until, own_port):
    settings = DeviceSettings(host="127.0.0.1")
    shared = bind_shared_ports(settings, own_port - CODECS["jt808"].port, ("jt808",))[own_port]
    with shared, ExitStack() as stack:
        async with listening(shared=shared) as first:
            stack.enter_context(first.call())
            await until(lambda: len(first.wires) == 1)
        # Nobody accepts now, and nothing is refused.
        waiting = stack.enter_context(first.call())
        assert not is_closed(waiting)
        async with listening(shared=shared) as second:
            await until(lambda: len(second.wires) == 1)
            assert not is_closed(waiting)


def test_a_shared_port_that_is_taken_is_named(own_port):
    settings = DeviceSettings(host="127.0.0.1")
    offset = own_port - CODECS["jt808"].port
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
        datagrams.bind(("127.0.0.1", own_port))
        with pytest.raises(OSError, match=rf"for jt808 on UDP 127.0.0.1:{own_port}: the address is in use"):
            bind_shared_ports(settings, offset, ("jt808",))
    text = rf"for jt808 on 127.0.0.1:{own_port}: the address is in use"
    with socket.create_server(("127.0.0.1", own_port)), pytest.raises(OSError, match=text):
        bind_shared_ports(settings, offset, ("jt808",))
    with pytest.raises(ValueError, match="no such protocol: smoke"):
        bind_shared_ports(settings, offset, ("smoke",))


async def test_a_port_that_is_taken_ends_the_start_with_one_sentence(listening, own_port):
    with socket.create_server(("127.0.0.1", own_port)), pytest.raises(ActorFailed) as failed:
        async with listening():
            pass
    assert str(failed.value.__cause__).endswith(
        f"cannot listen for jt808 on 127.0.0.1:{own_port}: the address is in use:"
        " end the program that uses it, or change [device] host and [port] offset"
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


async def test_out_of_files_it_says_so_and_accepts_later(listening, time, out_of_files):
    async with listening() as port:
        with socket.socket() as peer:
            with out_of_files():
                peer.connect(("127.0.0.1", port.port))
                await time.settle()
                assert port.wires == []
            cause = port.system.conditions.find(OPEN_FILES).cause
            assert cause.endswith(": connections to the port of jt808 wait")
            await time.passes(0.11)
            assert port.system.count(CONNECTION) == 1


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


async def test_a_port_that_is_nearly_full_keeps_its_last_places_for_other_addresses(listening, time):
    async with listening(total=6, reserve=2) as port:
        peers = [port.call() for _ in range(6)]
        await time.settle()
        assert [is_closed(peer) for peer in peers] == [False] * 4 + [True] * 2
        for other in ("127.0.0.2", "127.0.0.3"):
            peer = socket.create_connection(("127.0.0.1", port.port), 10, (other, 0))
            peers.append(peer)
            await time.settle()
            assert not is_closed(peer)
        for peer in peers:
            peer.close()


class BrokenSocket:
    """A listening socket whose `accept` fails as often as asked."""

    def __init__(self, listening, errors):
        self.listening, self.errors = listening, errors
        self.tries = 0

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.listening.close()

    async def accept(self):
        self.tries += 1
        if self.errors:
            await trio.lowlevel.checkpoint()
            raise OSError(self.errors.pop(), "Broken on purpose")
        return await self.listening.accept()


@pytest.fixture
def broken(monkeypatch):
    """`broken([errno, …])`: the first listener fails so to accept; its sockets, as they are made."""
    start = Listener.start

    def arrange(errors):
        made = []

        async def start_broken(self):
            await start(self)
            if not made:
                self._socket = BrokenSocket(self._socket, list(errors))
            made.append(self._socket)

        monkeypatch.setattr(Listener, "start", start_broken)
        return made

    return arrange


async def test_after_each_failure_in_a_row_it_waits_longer_before_it_accepts_again(
    listening, time, caplog, broken
):
    made = broken([errno.EPERM] * 5)
    async with listening() as port:
        (sock,) = made
        for passed, tries in ((0.05, 1), (0.1, 2), (0.2, 3), (0.4, 4), (0.8, 5), (1.6, 6)):
            await time.passes(passed)
            assert sock.tries == tries
        failures = [record for record in caplog.records if "cannot accept" in record.getMessage()]
        assert len(failures) == 3  # at the first, second and fourth
        with port.call():
            await time.settle()
            assert port.system.count(CONNECTION) == 1


async def test_a_socket_that_never_accepts_again_is_replaced(listening, time, broken):
    made = broken([errno.EBADF] * 1000)
    async with listening() as port:
        await time.passes(60, step=1)
        assert made[0].tries == MAX_FAILURES + 1
        assert len(made) == 2
        with port.call():
            await time.settle()
            assert port.system.count(CONNECTION) == 1


async def test_out_of_files_it_waits_for_as_long_as_it_takes(listening, time, broken, caplog):
    made = broken([errno.EMFILE] * 100)
    async with listening() as port:
        await time.passes(1000, step=1)
        assert len(made) == 1
        assert sum("open_files" in record.getMessage() for record in caplog.records) == 1
        with port.call():
            await time.settle()
            assert port.system.count(CONNECTION) == 1


@pytest.fixture
def few_descriptors(monkeypatch):
    """A process that may open 256 files beside those that the test run has open."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256 + len(os.listdir("/proc/self/fd")), limits[1]))
    monkeypatch.setattr(resource, "getrlimit", lambda _: (256, limits[1]))
    yield 256
    resource.setrlimit(resource.RLIMIT_NOFILE, limits)


async def test_device_connections_leave_descriptors_to_the_rest(
    listening, time, few_descriptors, monkeypatch
):
    # The peers are in this process and take as many.
    monkeypatch.setattr(port_guard, "DEVICE_SHARE", 4)
    share = descriptor_share(4)
    assert share == 96
    with ExitStack() as opened:
        async with listening(guard=device_guard(100_000, 100_000)) as port:
            peers = [opened.enter_context(port.call()) for _ in range(110)]
            await time.settle()
            admitted = [peer for peer in peers if not is_closed(peer)]
            assert len(admitted) == share - share // 10
            assert len([opened.enter_context(socket.socket()) for _ in range(20)]) == 20
            other = socket.create_connection(("127.0.0.1", port.port), 10, ("127.0.0.2", 0))
            opened.enter_context(other)
            await time.settle()
            assert not is_closed(other)


def test_shares_of_the_limit_of_open_files_leave_a_reserve(monkeypatch):
    for limit, http, devices, media in (
        (1024, 192, 480, 96),
        (4096, 768, 1920, 384),
        (524_288, 130_816, 327_040, 65_408),
        (resource.RLIM_INFINITY, 1 << 30, 1 << 30, 1 << 30),
    ):
        monkeypatch.setattr(resource, "getrlimit", lambda _, limit=limit: (limit, limit))
        assert [descriptor_share(each) for each in (HTTP_SHARE, DEVICE_SHARE, MEDIA_SHARE)] == [
            http,
            devices,
            media,
        ]
