"""Many JT/T 808 terminals that register in the same moment, in one process, and then send nothing.

`python -m motorpool.bench.load.registrations` reads a RegistrationLoad from standard input. It writes a Mark
when all are connected and a RegistrationResult when all were answered, and keeps the connections until it
reads another line.
"""

import gc
import select
import socket
import sys
import time

import msgspec

from motorpool.bench.latencies import Latencies
from motorpool.bench.load.logins import connect_terminals, is_modern
from motorpool.bench.load.output import raise_file_limit, write_message
from motorpool.bench.load.plan import Mark, RegistrationLoad, RegistrationResult
from motorpool.bench.vehicles.jt808.platform_messages import RegistrationResponse
from motorpool.bench.vehicles.jt808.terminal import Terminal

TIMEOUT_SECONDS = 120.0
"""For the last answer."""


class Registrations:
    """The terminals of one load, and when they were answered."""

    def __init__(self, load: RegistrationLoad) -> None:
        self._load = load
        self._poll = select.epoll()
        self._terminals: dict[int, Terminal] = {}
        self._sockets: dict[int, socket.socket] = {}
        self._open: set[int] = set()
        """Descriptors of terminals that were not answered yet."""
        self._latencies: list[float] = []
        self._refused = 0

    def connect(self) -> None:
        """Connect all terminals.

        Raises:
            OSError: the server refuses a connection.
        """
        load = self._load
        connections = connect_terminals(load.host, load.port, load.phones, logged_in=False)
        for index, (connected, phone) in enumerate(zip(connections, load.phones, strict=True)):
            connected.setblocking(False)
            descriptor = connected.fileno()
            self._sockets[descriptor] = connected
            self._terminals[descriptor] = Terminal(phone, 2019 if is_modern(index, phone) else 2013)
            self._open.add(descriptor)
            self._poll.register(descriptor, select.EPOLLIN)

    def run(self) -> RegistrationResult:
        """Register all, and wait for the answers."""
        frames = [(self._sockets[each], self._terminals[each].register()) for each in self._terminals]
        at_once = self._load.at_once or len(frames)
        begin = time.perf_counter()
        for first in range(0, len(frames), at_once):
            batch = frames[first : first + at_once]
            for connected, frame in batch:
                # Some hundred bytes into an empty buffer: they always fit.
                connected.send(frame)
            while len(self._open) > len(frames) - first - len(batch):
                if time.perf_counter() > begin + TIMEOUT_SECONDS:
                    break
                for descriptor, _ in self._poll.poll(1.0):
                    self._receive(descriptor, begin)
        seconds = time.perf_counter() - begin
        return RegistrationResult(
            seconds=seconds,
            accepted=len(self._latencies),
            refused=self._refused,
            unanswered=len(self._open),
            latencies=Latencies.of(self._latencies),
        )

    def _receive(self, descriptor: int, begin: float) -> None:
        try:
            content = self._sockets[descriptor].recv(4096)
        except ConnectionError:
            content = b""
        if not content:
            self._poll.unregister(descriptor)
            self._refused += descriptor in self._open
            self._open.discard(descriptor)
            return
        for message in self._terminals[descriptor].receive(content):
            if isinstance(message, RegistrationResponse) and descriptor in self._open:
                self._open.discard(descriptor)
                if message.result == 0:
                    self._latencies.append(time.perf_counter() - begin)
                else:
                    self._refused += 1


def main() -> None:
    """Read the load, connect, register, write the result, and keep the connections until a line comes."""
    load = msgspec.json.decode(sys.stdin.readline(), type=RegistrationLoad)
    raise_file_limit()
    registrations = Registrations(load)
    registrations.connect()
    # There are no reference cycles here, and a collection would count as the server's latency.
    gc.collect()
    gc.disable()
    write_message(Mark("ready"))
    write_message(registrations.run())
    sys.stdin.readline()


if __name__ == "__main__":
    main()
