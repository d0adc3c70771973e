"""Many trackers of one protocol in one process, each of which reports again as soon as it was answered.

`python -m motorpool.bench.load.trackers` reads a TerminalLoad with a `protocol` from standard input and
writes what `bench.load.terminals` does.
"""

import gc
import select
import socket
import sys
import time
from datetime import UTC, datetime

import msgspec

from motorpool.bench.load.logins import LOGINS_AT_ONCE, TIMEOUT_SECONDS
from motorpool.bench.load.messages import LocationMessages
from motorpool.bench.load.output import raise_file_limit
from motorpool.bench.load.plan import TerminalLoad
from motorpool.bench.load.terminals import Terminals, run_load
from motorpool.bench.vehicles.route import VehicleState
from motorpool.bench.vehicles.trackers import TRACKERS

RESEND_SECONDS = 2.0
"""After which a datagram that was not answered is sent again."""


class TrackerMessages:
    """The messages 0, 1, 2 … of every tracker, one second apart in device time.

    Where the messages of two trackers differ by their ids alone they are made once for all, since the client
    must not limit the measurement.
    """

    def __init__(self, load: TerminalLoad) -> None:
        self._ids = [unique_id.encode() for unique_id in load.phones]
        self._trackers = [TRACKERS[load.protocol](unique_id) for unique_id in load.phones]
        self._locations = LocationMessages(datetime.fromtimestamp(load.first_epoch, UTC))
        self._udp = load.udp
        self._made: list[bytes] = []
        self._is_shared = True
        last = len(self._ids) - 1
        self._is_shared = self.message(last, 0) == self._make(last, 0)

    def login(self, index: int) -> bytes:
        """Return what the tracker sends first; empty where that is a position."""
        login = self._trackers[index].login()
        return self._trackers[index].datagram(login) if self._udp and login else login

    def message(self, index: int, number: int) -> bytes:
        """Return message `number` of a tracker."""
        if not self._is_shared:
            return self._make(index, number)
        while number >= len(self._made):
            self._made.append(self._make(0, len(self._made)))
        return self._made[number].replace(self._ids[0], self._ids[index])

    def _make(self, index: int, number: int) -> bytes:
        latitude, longitude = self._locations.place(number)
        state = VehicleState(latitude, longitude, 10.0, 38.0, 1234.0, 0.0, 0.0)
        tracker = self._trackers[index]
        message = tracker.position(self._locations.device_time(number), state)
        return tracker.datagram(message) if self._udp else message


class Trackers(Terminals):
    """The trackers of one load, and their measurements."""

    def __init__(self, load: TerminalLoad) -> None:
        super().__init__(load)
        self._prepared = TrackerMessages(load)
        self._looked_at = 0.0

    @property
    def message_bytes(self) -> int:
        """Bytes of the first message."""
        return len(self._prepared.message(0, 0))

    def connect(self) -> None:
        """Connect all trackers and log them in.

        Raises:
            OSError: the server refuses, closes, or does not answer a login in time.
        """
        count = len(self._load.phones)
        for first in range(0, count, LOGINS_AT_ONCE):
            batch = range(first, min(first + LOGINS_AT_ONCE, count))
            for index in batch:
                self._open(index)
            self._await_logins({index for index in batch if self._log_in(index)})

    def close(self) -> None:
        """Close all sockets."""
        self._poll.close()
        for connected in self._sockets:
            connected.close()

    def _open(self, index: int) -> None:
        address = self._load.host, self._load.port
        if self._load.udp:
            family = socket.AF_INET6 if ":" in self._load.host else socket.AF_INET
            connected = socket.socket(family, socket.SOCK_DGRAM)
            connected.connect(address)
        else:
            connected = socket.create_connection(address, TIMEOUT_SECONDS)
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connected.setblocking(False)
        self._sockets.append(connected)
        self._index_of[connected.fileno()] = index
        self._poll.register(connected.fileno(), select.EPOLLIN)

    def _log_in(self, index: int) -> bool:
        login = self._prepared.login(index)
        if login:
            self._sockets[index].send(login)
        return bool(login)

    def _await_logins(self, waiting: set[int]) -> None:
        deadline = time.perf_counter() + TIMEOUT_SECONDS
        while waiting:
            if time.perf_counter() > deadline:
                raise TimeoutError(f"{len(waiting)} logins were not answered")
            for descriptor, _ in self._poll.poll(0.1):
                index = self._index_of[descriptor]
                if not self._sockets[index].recv(65536):
                    raise ConnectionError(f"the server closed tracker {self._load.phones[index]}")
                waiting.discard(index)

    def send(self, index: int, instant: float) -> None:
        """Send the tracker's next message; its latency counts from `instant`."""
        self._sockets[index].send(self._prepared.message(index, self.sent[index]))
        self.sent[index] += 1
        self._sent_at[index] = instant

    def receive(self, seconds: float) -> list[int]:
        """Wait up to `seconds` for answers, and return the trackers that were answered."""
        done = []
        for descriptor, _ in self._poll.poll(seconds):
            index = self._index_of[descriptor]
            if not self._sockets[index].recv(65536) and not self._load.udp:
                raise ConnectionError(f"the server closed tracker {self._load.phones[index]}")
            if self.sent[index] > self.answered[index]:  # one message is outstanding at most
                self.latencies.append(time.perf_counter() - self._sent_at[index])
                self.answered[index] += 1
                done.append(index)
        if self._load.udp:
            self._send_again()
        return done

    def _send_again(self) -> None:
        """Repeat the datagrams that were lost on the way or dropped."""
        now = time.perf_counter()
        if now < self._looked_at + RESEND_SECONDS / 4:
            return
        self._looked_at = now
        for index, sent in enumerate(self.sent):
            if sent > self.answered[index] and now - self._sent_at[index] > RESEND_SECONDS:
                self._sockets[index].send(self._prepared.message(index, sent - 1))
                self._sent_at[index] = now
                self.late += 1


def main() -> None:
    """Read the load, run it, write the result."""
    load = msgspec.json.decode(sys.stdin.readline(), type=TerminalLoad)
    raise_file_limit()
    # There are no reference cycles here, and a collection would count as the server's latency.
    gc.disable()
    trackers = Trackers(load)
    run_load(load, trackers)
    trackers.close()


if __name__ == "__main__":
    main()
