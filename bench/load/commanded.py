"""Many JT/T 808 terminals that wait for a command, in one process.

`python -m motorpool.bench.load.commanded` reads a CommandedLoad from standard input and any later line as the
request to stop; it writes a Mark when all are logged in, and a CommandedResult.
"""

import gc
import os
import select
import socket
import sys
import time
from collections.abc import Iterable

import msgspec

from motorpool.bench.load.logins import connect_terminals, is_modern
from motorpool.bench.load.output import raise_file_limit, write_message
from motorpool.bench.load.plan import CommandedLoad, CommandedResult, Mark
from motorpool.bench.vehicles.jt808.platform_messages import GeneralResponse
from motorpool.bench.vehicles.jt808.terminal import Terminal

_READ_BYTES = 65536


class CommandedTerminals:
    """The terminals of one load, and when their commands arrived."""

    def __init__(self, load: CommandedLoad) -> None:
        self._load = load
        self._poll = select.epoll()
        self._sockets: dict[int, socket.socket] = {}
        self._index_of: dict[int, int] = {}
        self._terminals = [
            Terminal(phone, 2019 if is_modern(index, phone) else 2013)
            for index, phone in enumerate(load.phones)
        ]
        self._arrivals = [0.0] * len(load.phones)
        self._repeated = 0

    def connect(self) -> None:
        """Connect all terminals and log them in.

        Raises:
            OSError: the server refuses, closes, or does not answer a login in time.
        """
        load = self._load
        for index, connected in enumerate(connect_terminals(load.host, load.port, load.phones)):
            connected.setblocking(False)
            descriptor = connected.fileno()
            self._sockets[descriptor], self._index_of[descriptor] = connected, index
            self._poll.register(descriptor, select.EPOLLIN)

    def run(self) -> CommandedResult:
        """Record and acknowledge commands until the parent requests the stop.

        Raises:
            OSError: the server closes a terminal.
        """
        stop_request = sys.stdin.fileno()
        self._poll.register(stop_request, select.EPOLLIN)
        while True:
            ready = [descriptor for descriptor, _ in self._poll.poll()]
            self._serve(descriptor for descriptor in ready if descriptor != stop_request)
            if stop_request in ready:
                # Not through Python's buffer, from which the first line was read.
                os.read(stop_request, 4096)
                return CommandedResult(arrivals=tuple(self._arrivals), repeated=self._repeated)

    def _serve(self, descriptors: Iterable[int]) -> None:
        """Read all sockets before answering any: arrival is the time of reading."""
        received = []
        for descriptor in descriptors:
            content = self._sockets[descriptor].recv(_READ_BYTES)
            if not content:
                raise ConnectionError(
                    f"the server closed terminal {self._load.phones[self._index_of[descriptor]]}"
                )
            received.append((descriptor, content, time.time()))
        for descriptor, content, instant in received:
            self._handle_messages(descriptor, content, instant)

    def _handle_messages(self, descriptor: int, content: bytes, instant: float) -> None:
        index = self._index_of[descriptor]
        terminal = self._terminals[index]
        for message in terminal.receive(content):
            if message.message_id == self._load.message_id:
                if self._arrivals[index]:
                    self._repeated += 1
                else:
                    self._arrivals[index] = instant
            if not isinstance(message, GeneralResponse):
                # A few bytes into an empty buffer: they always fit.
                self._sockets[descriptor].send(terminal.general_response(message))


def main() -> None:
    """Read the load, log in, serve until the request to stop."""
    load = msgspec.json.decode(sys.stdin.readline(), type=CommandedLoad)
    raise_file_limit()
    commanded = CommandedTerminals(load)
    commanded.connect()
    # There are no reference cycles here, and a collection would make commands look late.
    gc.collect()
    gc.disable()
    write_message(Mark("ready"))
    write_message(commanded.run())


if __name__ == "__main__":
    main()
