import socket
from contextlib import ExitStack

import pytest
import trio
import trio.testing

from motorpool.actors.messages.conditions import OPEN_FILES
from motorpool.actors.work.networks import Networks
from motorpool.api.http import listening_sockets
from motorpool.api.http.listening_sockets import Admission, ConnectionListener, bind
from motorpool.runtime import Conditions, SystemClock


def open_listener(
    *, slots: int = 4, per_client: int = 4, proxies: tuple[str, ...] = (), stall_seconds: float = 5.0
) -> tuple[ConnectionListener, int]:
    admission = Admission(total=slots, per_client=per_client, proxies=Networks(proxies))
    (bound,) = bind("127.0.0.1", 0)
    bound.listen(8)
    return ConnectionListener(bound, admission=admission, stall_seconds=stall_seconds), bound.getsockname()[1]


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


async def test_without_files_clients_are_accepted_by_spare_ones_and_then_wait(
    out_of_files, monkeypatch, caplog
):
    monkeypatch.setattr(listening_sockets, "SPARE_FILES", 2)
    monkeypatch.setattr(listening_sockets, "PAUSE_SECONDS", 0.01)
    conditions = Conditions(SystemClock())
    admission = Admission(total=8, per_client=8, proxies=Networks(()), conditions=conditions)
    (bound,) = bind("127.0.0.1", 0)
    bound.listen(8)
    listener = ConnectionListener(bound, admission=admission, stall_seconds=5.0)
    with ExitStack() as opened:
        clients = [opened.enter_context(socket.socket()) for _ in range(3)]
        async with listener:
            with out_of_files():
                for client in clients:
                    client.connect(bound.getsockname())
                with trio.fail_after(120):
                    streams = [await listener.accept() for _ in range(2)]
                assert conditions.find(OPEN_FILES) is not None
                with trio.move_on_after(0.1) as waiting:
                    await listener.accept()
                assert waiting.cancelled_caught
                # The next one comes as one goes.
                await streams.pop().aclose()
                with trio.fail_after(120):
                    streams.append(await listener.accept())
                # Nothing but the beginning was told.
                assert len(caplog.records) == 1
            for stream in streams:
                await stream.aclose()
    admission.spare_files.close()


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
        with trio.fail_after(120):
            other = await listener.accept()
        assert listener.connections == 1
        other.abort()
        assert listener.connections == 0


async def accept_three(listener, port, sources=("127.0.0.1",) * 3):
    """Three clients at once; which of them are accepted, in the order of their calls."""
    clients = [socket.create_connection(("127.0.0.1", port), 10, (source, 0)) for source in sources]
    accepted = []

    async def accept():
        while True:
            accepted.append(await listener.accept())

    async with trio.open_nursery() as nursery:
        nursery.start_soon(accept)
        await trio.testing.wait_all_tasks_blocked(0.01)
        nursery.cancel_scope.cancel()
    ports = {stream.socket.getpeername()[1] for stream in accepted}
    return clients, [client.getsockname()[1] in ports for client in clients], accepted


async def test_a_client_has_only_so_many_connections_in_use_and_is_told_so():
    listener, port = open_listener(slots=10, per_client=2)
    async with listener:
        clients, accepted = [], []
        for _ in range(2):
            clients.append(socket.create_connection(("127.0.0.1", port)))
            accepted.append(await listener.accept())
            accepted[-1].note_request()
        refused, were_accepted, _ = await accept_three(listener, port)
        assert were_accepted == [False] * 3
        refused[0].settimeout(30)
        assert refused[0].recv(1000).startswith(b"HTTP/1.1 503 ")
        assert refused[0].recv(1000) == b""
        assert listener.connections == 2
        accepted[0].abort()
        again = socket.create_connection(("127.0.0.1", port))
        with trio.fail_after(120):
            accepted.append(await listener.accept())
        for each in (*clients, *refused, again):
            each.close()
        for stream in accepted:
            await trio.aclose_forcefully(stream)


class Neighbours:
    """Clients of one address, of which each accepted connection is known by a letter."""

    def __init__(self, listener, port):
        self.listener, self.port = listener, port
        self.streams = {}
        self.clients = []

    async def call(self, name, source="127.0.0.1"):
        self.clients.append(socket.create_connection(("127.0.0.1", self.port), 10, (source, 0)))
        with trio.move_on_after(0.05):
            self.streams[name] = await self.listener.accept()

    @property
    def open(self):
        return "".join(name for name, stream in self.streams.items() if stream.socket.fileno() >= 0)

    async def close(self):
        for each in self.clients:
            each.close()
        for stream in self.streams.values():
            await trio.aclose_forcefully(stream)


async def test_connections_without_a_request_make_room_for_new_ones_of_their_address():
    listener, port = open_listener(slots=20, per_client=4)
    async with listener:
        neighbours = Neighbours(listener, port)
        for name in "abcd":
            await neighbours.call(name)
        await neighbours.call("z", "127.0.0.2")
        # b and c have sent a request; c's is being answered, b waits for the next one.
        for name in "bc":
            neighbours.streams[name].note_request()
        neighbours.streams["b"].note_idle()
        for name, left in (
            # Those that have never sent a request go first, in the order in which they came.
            ("e", "bcdze"),
            ("f", "bczef"),
        ):
            await neighbours.call(name)
            assert neighbours.open == left
        for name in "ef":
            neighbours.streams[name].note_request()
        # Then those kept alive: the one that has been idle for the longest time.
        neighbours.streams["e"].note_idle()
        await neighbours.call("g")
        assert neighbours.open == "czefg"
        neighbours.streams["g"].note_request()
        await neighbours.call("h")
        assert neighbours.open == "czfgh"
        neighbours.streams["h"].note_request()
        # All are in use.
        await neighbours.call("i")
        assert neighbours.open == "czfgh"
        await neighbours.close()


async def test_where_few_places_are_left_in_all_a_client_replaces_its_own():
    listener, port = open_listener(slots=20, per_client=20)
    async with listener:
        neighbours = Neighbours(listener, port)
        for number in range(18):
            await neighbours.call(chr(ord("a") + number))
        # The last tenth is for others.
        await neighbours.call("y")
        assert neighbours.open == "bcdefghijklmnopqry"
        await neighbours.call("z", "127.0.0.2")
        assert listener.connections == 19
        await neighbours.close()


async def test_who_opens_very_many_is_refused_since_each_costs_more_than_a_refusal(monkeypatch):
    monkeypatch.setattr(listening_sockets, "GIVEN_UP_AT_ONCE", 3)
    monkeypatch.setattr(listening_sockets, "GIVEN_UP_PER_SECOND", 0.001)
    listener, port = open_listener(slots=10, per_client=2)
    async with listener:
        neighbours = Neighbours(listener, port)
        for name in "abcdefghi":
            await neighbours.call(name)
        assert neighbours.open == "ef"
        await neighbours.close()
        assert listener.connections == 0


async def test_so_is_who_has_just_one_idle_connection_to_replace(monkeypatch):
    monkeypatch.setattr(listening_sockets, "GIVEN_UP_AT_ONCE", 3)
    monkeypatch.setattr(listening_sockets, "GIVEN_UP_PER_SECOND", 0.001)
    listener, port = open_listener(slots=10, per_client=2)
    async with listener:
        neighbours = Neighbours(listener, port)
        await neighbours.call("a")
        neighbours.streams["a"].note_request()
        for name in "bcdefghi":
            await neighbours.call(name)
        assert neighbours.open == "af"
        await neighbours.close()


async def test_other_clients_and_proxies_are_not_concerned():
    for options, sources in (
        ({"per_client": 1}, ("127.0.0.1", "127.0.0.2", "127.0.0.3")),
        ({"per_client": 1, "proxies": ("127.0.0.0/8",)}, ("127.0.0.1",) * 3),
    ):
        listener, port = open_listener(slots=10, **options)
        async with listener:
            clients, were_accepted, accepted = await accept_three(listener, port, sources)
            assert were_accepted == [True] * 3
            for each in clients:
                each.close()
            for stream in accepted:
                await trio.aclose_forcefully(stream)
