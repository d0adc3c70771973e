"""A fleet whose connections end all at once, and that comes back with what it has recorded meanwhile.

`python -m motorpool.bench.load.storm` reads a StormLoad from standard input, logs all terminals in and writes
the Mark "ready". At the next line all connect again in the same moment, log in, and send the positions they
have recorded, one after the other as each is acknowledged; then it writes a StormResult.
"""

import errno
import gc
import heapq
import select
import socket
import sys
import time
from array import array
from datetime import UTC, datetime

import msgspec

from motorpool.bench.latencies import Latencies
from motorpool.bench.load.logins import authentication, connect_terminals, is_modern, source_of
from motorpool.bench.load.messages import LocationMessages, general_answers
from motorpool.bench.load.output import raise_file_limit, write_message
from motorpool.bench.load.plan import Mark, StormLoad, StormResult
from motorpool.codecs.devices.jt808.terminal_messages import AUTHENTICATE, LOCATION

AGAIN_SECONDS = 0.5
"""From a refused or lost connection to the next try of its terminal."""


class Storm:
    """The terminals of one load."""

    def __init__(self, load: StormLoad, before: socket.socket) -> None:
        """`before` is a connection before the outage, to the address that all come back to."""
        self._load = load
        self._family, self._address = before.family, before.getpeername()
        self._messages = LocationMessages(datetime.fromtimestamp(load.first_epoch, UTC))
        self._heads = [
            self._messages.head(phone, modern=is_modern(index, phone))
            for index, phone in enumerate(load.phones)
        ]
        self._poll = select.epoll()
        self._sockets: dict[int, tuple[int, socket.socket]] = {}
        """By descriptor: the index of the terminal, and its socket."""
        self._received: dict[int, bytes] = {}
        self._again: list[tuple[float, int]] = []
        """Terminals that try again, and when."""
        count = len(load.phones)
        self._logged_in = [False] * count
        self._acknowledged = [0] * count
        self.attempts = 0
        self.rejected = 0
        self._begun = 0.0
        self.logins = array("d")
        self.backlogs = array("d")

    def run(self) -> StormResult:
        """Connect all, and wait until every recorded position is acknowledged, or the time is over."""
        begun = time.perf_counter()
        self._begun = begun
        cpu = time.process_time()
        until = begun + self._load.seconds
        self._again = [(begun, index) for index in range(len(self._load.phones))]
        while len(self.backlogs) < len(self._load.phones) and (now := time.perf_counter()) < until:
            while self._again and self._again[0][0] <= now:
                self._connect(heapq.heappop(self._again)[1])
            pause = self._again[0][0] - time.perf_counter() if self._again else 0.5
            for descriptor, event in self._poll.poll(max(0.0, min(0.5, pause))):
                self._serve(descriptor, event)
        seconds = time.perf_counter() - begun
        return StormResult(
            seconds=seconds,
            latencies=Latencies.of(self.logins),
            backlogs=Latencies.of(self.backlogs),
            attempts=self.attempts,
            rejected=self.rejected,
            acknowledged=tuple(self._acknowledged),
            cpu_share=(time.process_time() - cpu) / seconds,
        )

    def _connect(self, index: int) -> None:
        self.attempts += 1
        connected = socket.socket(self._family)
        connected.setblocking(False)
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        source = source_of(self._load.host, index)
        if source is not None:
            connected.bind(source)
        if connected.connect_ex(self._address) not in (0, errno.EINPROGRESS):
            connected.close()
            self._try_again(index)
            return
        descriptor = connected.fileno()
        self._sockets[descriptor] = index, connected
        self._received[descriptor] = b""
        self._poll.register(descriptor, select.EPOLLOUT)

    def _try_again(self, index: int) -> None:
        heapq.heappush(self._again, (time.perf_counter() + AGAIN_SECONDS, index))

    def _serve(self, descriptor: int, event: int) -> None:
        index, connected = self._sockets[descriptor]
        try:
            if event & select.EPOLLOUT:
                # Connected, or refused, which sending tells.
                phone = self._load.phones[index]
                connected.send(authentication(phone, is_2019=is_modern(index, phone)))
                self._poll.modify(descriptor, select.EPOLLIN)
                return
            content = connected.recv(65536)
            if not content:
                raise ConnectionResetError
            answers, self._received[descriptor] = general_answers(self._received[descriptor] + content)
            for message_id, result in answers:
                self._take(index, connected, message_id, result)
        except OSError:
            self._sockets.pop(descriptor)
            # Closed it leaves the poll, too.
            connected.close()
            if self._acknowledged[index] < self._load.recorded:
                self._try_again(index)

    def _take(self, index: int, connected: socket.socket, message_id: int, result: int) -> None:
        """Go on after an answer to the login, or to a position."""
        now = time.perf_counter() - self._begun
        self.rejected += result != 0
        if message_id == AUTHENTICATE and not self._logged_in[index]:
            self._logged_in[index] = True
            self.logins.append(now)
        elif message_id == LOCATION:
            self._acknowledged[index] += 1
            if self._acknowledged[index] == self._load.recorded:
                self.backlogs.append(now)
        if self._acknowledged[index] < self._load.recorded:
            connected.send(self._messages.frame(self._heads[index], self._acknowledged[index]))


def main() -> None:
    """Read the load, log in, lose all connections at the next line, and come back."""
    load = msgspec.json.decode(sys.stdin.readline(), type=StormLoad)
    raise_file_limit()
    connected = connect_terminals(load.host, load.port, load.phones)
    storm = Storm(load, connected[0])
    # There are no reference cycles here, and a collection would count as the server's latency.
    gc.collect()
    gc.disable()
    write_message(Mark("ready"))
    sys.stdin.readline()
    for each in connected:
        each.close()
    write_message(Mark("begin"))
    write_message(storm.run())


if __name__ == "__main__":
    main()
