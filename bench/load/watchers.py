"""Many WebSockets of the API that are told of the positions that terminals send meanwhile.

`python -m motorpool.bench.load.watchers` reads a WatcherLoad from standard input and writes a Mark when all
are open. A WatchedSpan on the next line is answered by a WatcherResult once all its positions have come.
"""

import gc
import os
import select
import socket
import sys
import time
from datetime import datetime

import msgspec
from wsproto import ConnectionType, WSConnection
from wsproto.connection import ConnectionState
from wsproto.events import CloseConnection, Ping, RejectConnection, Request, TextMessage

from motorpool.bench.latencies import Latencies
from motorpool.bench.load.http_answers import authority
from motorpool.bench.load.output import raise_file_limit, write_message
from motorpool.bench.load.plan import Mark, WatchedSpan, WatcherLoad, WatcherResult

OPEN_SECONDS = 60.0
LATE_SECONDS = 20.0
"""How long the last positions of a span are awaited."""
_RECEIVE_BYTES = 1 << 18


class _Position(msgspec.Struct, rename="camel"):
    device_id: int
    device_time: datetime


class _Update(msgspec.Struct):
    positions: list[_Position] = []


class _Arriving:
    """When the positions of a span came at each WebSocket.

    A server may pass over a position that is no longer the latest of its device: it counts until a later one
    came.
    """

    def __init__(self, span: WatchedSpan) -> None:
        self._span = span
        self._places = {device_id: place for place, device_id in enumerate(span.device_ids)}
        self._next: dict[tuple[int, int], int] = {}
        """For each WebSocket and place the number of the next position."""
        self.waits: list[float] = []
        self.passed_over = 0

    def add(self, instant: float, descriptor: int, device_id: int, device_time: float) -> None:
        """Take a position; one of another device or time is ignored."""
        span = self._span
        place = self._places.get(device_id)
        if place is None:
            return
        number = round(device_time - span.first_epoch)
        following = self._next.get((descriptor, place), span.first_numbers[place])
        if not following <= number < span.numbers[place]:
            return
        self._next[descriptor, place] = number + 1
        self.passed_over += number - following
        # In an open loop terminals take turns, so the number of a position tells when it was due.
        turn = (place - span.first_place) % len(self._places)
        for each in range(following - span.first_numbers[place], number + 1 - span.first_numbers[place]):
            self.waits.append(instant - span.start - (each * len(self._places) + turn) / span.rate)

    def missing(self, sockets: int) -> int:
        """Return how many positions, or later ones in their place, have not come to the WebSockets."""
        return sockets * (sum(self._span.numbers) - sum(self._span.first_numbers)) - len(self.waits)


class Watchers:
    """Open WebSockets, each of which keeps what it has received, and when."""

    def __init__(self, load: WatcherLoad) -> None:
        self._load = load
        self._poll = select.epoll()
        self._sockets: dict[int, socket.socket] = {}
        self._connections: dict[int, WSConnection] = {}
        self._parts: dict[int, list[str]] = {}
        self.lost = 0
        """WebSockets that the server has ended."""
        self._arrivals: list[tuple[float, int, int, float]] = []
        """Of positions: when they came, at which descriptor, the ids of their devices, their device times."""

    def open(self) -> None:
        """Open all WebSockets.

        Raises:
            OSError: the server refuses one.
        """
        load = self._load
        for _ in range(load.sockets):
            connected = socket.create_connection((load.host, load.port), OPEN_SECONDS)
            connection = WSConnection(ConnectionType.CLIENT)
            request = Request(
                authority(load.host, load.port),
                "/api/socket",
                extra_headers=[(b"Cookie", load.cookie.encode())],
            )
            connected.sendall(connection.send(request))
            descriptor = connected.fileno()
            self._sockets[descriptor], self._connections[descriptor] = connected, connection
            self._parts[descriptor] = []
            while connection.state is ConnectionState.CONNECTING:
                self._read(descriptor)
            if descriptor not in self._sockets:
                raise ConnectionError("the server accepts no WebSocket")
            self._poll.register(descriptor, select.EPOLLIN)

    def run(self) -> WatcherResult:
        """Read until a span is told, and then until its positions have come, or it is too late for them."""
        begun, cpu = time.perf_counter(), time.process_time()
        line = bytearray()
        asked = sys.stdin.fileno()
        self._poll.register(asked, select.EPOLLIN)
        while not line.endswith(b"\n"):
            for descriptor, _ in self._poll.poll():
                if descriptor == asked:
                    # Not through Python's buffer, from which the load was read.
                    line += os.read(asked, 1 << 20) or b"\n"
                else:
                    self._read(descriptor)
        cpu_share = (time.process_time() - cpu) / (time.perf_counter() - begun)
        self._poll.unregister(asked)
        span = msgspec.json.decode(line, type=WatchedSpan)
        arriving = _Arriving(span)
        until = time.perf_counter() + LATE_SECONDS
        while True:
            for arrival in self._arrivals:
                arriving.add(*arrival)
            self._arrivals.clear()
            missing = arriving.missing(self._load.sockets)
            if not missing or time.perf_counter() > until:
                break
            for descriptor, _ in self._poll.poll(0.2):
                self._read(descriptor)
        return WatcherResult(
            latencies=Latencies.of(arriving.waits),
            passed_over=arriving.passed_over,
            missing=missing,
            lost=self.lost,
            cpu_share=cpu_share,
        )

    def _read(self, descriptor: int) -> None:
        connected, connection = self._sockets[descriptor], self._connections[descriptor]
        try:
            data = connected.recv(_RECEIVE_BYTES)
        except ConnectionError:
            data = b""
        now = time.perf_counter()
        if not data:
            self._end(descriptor)
            return
        connection.receive_data(data)
        for event in connection.events():
            match event:
                case Ping():
                    connected.sendall(connection.send(event.response()))
                case TextMessage():
                    parts = self._parts[descriptor]
                    parts.append(event.data)
                    if event.message_finished:
                        self._keep(now, descriptor, "".join(parts))
                        parts.clear()
                case CloseConnection() | RejectConnection():
                    self._end(descriptor)
                    return

    def _keep(self, now: float, descriptor: int, text: str) -> None:
        if '"positions"' in text:
            self._arrivals += [
                (now, descriptor, position.device_id, position.device_time.timestamp())
                for position in msgspec.json.decode(text, type=_Update).positions
            ]

    def _end(self, descriptor: int) -> None:
        self.lost += 1
        # Closed it leaves the poll, too.
        self._sockets.pop(descriptor).close()


def main() -> None:
    """Read the load, open the WebSockets, and answer a span."""
    load = msgspec.json.decode(sys.stdin.readline(), type=WatcherLoad)
    raise_file_limit()
    # A collection would count as the server's latency.
    gc.disable()
    watchers = Watchers(load)
    watchers.open()
    write_message(Mark("ready"))
    write_message(watchers.run())


if __name__ == "__main__":
    main()
