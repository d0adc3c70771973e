"""Many JT/T 808 terminals in one process: an epoll loop over plain sockets.

`python -m motorpool.bench.load.terminals` reads a TerminalLoad from standard input and writes Marks and a
TerminalResult to standard output.
"""

import gc
import select
import socket
import sys
import time
from array import array
from collections import deque
from datetime import UTC, datetime

import msgspec

from motorpool.bench.load.logins import connect_terminals, is_modern
from motorpool.bench.load.messages import LocationMessages, is_accepted
from motorpool.bench.load.output import percentile_ms, raise_file_limit, write_message
from motorpool.bench.load.plan import Mark, TerminalLoad, TerminalResult

TIMEOUT_SECONDS = 30.0
"""For the last answers."""
ECHO_BYTES = 100


class Terminals:
    """The terminals of one load, and their measurements."""

    def __init__(self, load: TerminalLoad) -> None:
        self._load = load
        self._messages = LocationMessages(datetime.fromtimestamp(load.first_epoch, UTC))
        self._heads = [
            self._messages.head(phone, modern=is_modern(index))
            for index, phone in enumerate(load.phones)
            if load.protocol == "jt808"
        ]
        count = len(load.phones)
        self._poll = select.epoll()
        self._sockets: list[socket.socket] = []
        self._index_of: dict[int, int] = {}
        self._pending: dict[int, bytes] = {}
        self._is_echo = load.mode == "echo"
        self._echo = bytes(range(ECHO_BYTES))
        self.sent = [0] * count
        self.answered = [0] * count
        self._sent_at = [0.0] * count
        self._waiting: list[deque[float]] = [deque() for _ in range(count)]
        self.latencies = array("d")
        self.rejected = 0
        self.late = 0

    @property
    def message_bytes(self) -> int:
        """Bytes of the first message."""
        if self._is_echo:
            return ECHO_BYTES
        return len(self._messages.frame(self._messages.head(self._load.phones[0], modern=True), 0))

    def connect(self) -> None:
        """Connect all terminals and log them in.

        Raises:
            OSError: the server refuses, closes, or does not answer a login in time.
        """
        load = self._load
        self._sockets = connect_terminals(load.host, load.port, load.phones, logged_in=not self._is_echo)
        for index, connected in enumerate(self._sockets):
            connected.setblocking(False)
            self._poll.register(connected.fileno(), select.EPOLLIN)
            self._index_of[connected.fileno()] = index

    def send(self, index: int, instant: float) -> None:
        """Send the terminal's next message; its latency counts from `instant`."""
        frame = self._echo if self._is_echo else self._frame(index)
        # One message outstanding never fills a socket's buffer.
        self._sockets[index].send(frame)
        self.sent[index] += 1
        self._sent_at[index] = instant

    def _frame(self, index: int) -> bytes:
        origins = self._load.origins
        origin = origins[index] if origins else None
        return self._messages.frame(self._heads[index], self.sent[index], origin)

    def receive(self, seconds: float) -> list[int]:
        """Wait up to `seconds` for answers, and return the terminals that were answered."""
        done = []
        for descriptor, _ in self._poll.poll(seconds):
            index = self._index_of[descriptor]
            answer = self._sockets[index].recv(65536)
            if self._is_echo:
                accepted = len(answer) == ECHO_BYTES or self._is_whole_echo(index, answer)
            else:
                accepted = is_accepted(answer) or self._is_among(index, answer)
            if accepted:
                self.latencies.append(time.perf_counter() - self._sent_at[index])
                self.answered[index] += 1
                done.append(index)
            elif not answer:
                raise ConnectionError(f"the server closed terminal {self._load.phones[index]}")
        return done

    def _is_whole_echo(self, index: int, piece: bytes) -> bool:
        collected = self._pending.pop(index, b"") + piece
        if len(collected) < ECHO_BYTES:
            self._pending[index] = collected
            return False
        return True

    def _is_among(self, index: int, piece: bytes) -> bool:
        """Find the answer in partial or joined frames; other messages are ignored."""
        *whole, rest = (self._pending.pop(index, b"") + piece).split(b"~")
        self._pending[index] = b"~" + rest if rest else b""
        frames = [b"~" + content + b"~" for content in whole if content]
        if any(is_accepted(frame) for frame in frames):
            return True
        if any(frame[1:3] == b"\x80\x01" for frame in frames):
            self.rejected += 1
            return True
        return False

    def saturate(self, until: float) -> None:
        """Send from each terminal as soon as it was answered, until `until`."""
        for index in range(len(self._sockets)):
            if self.sent[index] == self.answered[index]:
                self.send(index, time.perf_counter())
        while time.perf_counter() < until:
            for index in self.receive(0.1):
                self.send(index, time.perf_counter())

    def pace(self, until: float, rate: float) -> None:
        """Send `rate` messages a second, the terminals in turn.

        A message that is due while the previous one is unanswered waits, and its latency counts from its due
        time: otherwise a slow server would hide its latency by slowing the clients down.
        """
        begin = time.perf_counter()
        turn = 0
        while (now := time.perf_counter()) < until:
            while (due := begin + turn / rate) <= now:
                index = turn % len(self._sockets)
                turn += 1
                if self.sent[index] > self.answered[index]:
                    self._waiting[index].append(due)
                    self.late += 1
                else:
                    self.send(index, now)
            for index in self.receive(max(0.0, begin + turn / rate - time.perf_counter())):
                if self._waiting[index]:
                    self.send(index, self._waiting[index].popleft())

    def settle(self) -> None:
        """Wait for outstanding answers."""
        deadline = time.perf_counter() + TIMEOUT_SECONDS
        while sum(self.sent) > sum(self.answered) and time.perf_counter() < deadline:
            self.receive(0.1)


def run_load(load: TerminalLoad, terminals: Terminals) -> TerminalResult:
    """Connect, warm up, measure."""
    terminals.connect()
    write_message(Mark("ready"))
    run_span(load, terminals, load.warm_seconds)
    terminals.latencies = array("d")
    terminals.late = 0
    write_message(Mark("begin"))
    begin, cpu = time.perf_counter(), time.process_time()
    run_span(load, terminals, load.seconds)
    seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
    write_message(Mark("end"))
    measured, terminals.latencies = terminals.latencies, array("d")
    terminals.settle()
    terminals.latencies = measured
    return result_of(load, terminals, seconds, cpu / seconds)


def run_span(load: TerminalLoad, terminals: Terminals, seconds: float) -> None:
    """Send for `seconds`, as the load says."""
    until = time.perf_counter() + seconds
    if load.mode == "paced":
        terminals.pace(until, load.rate)
    else:
        terminals.saturate(until)


def result_of(load: TerminalLoad, terminals: Terminals, seconds: float, cpu_share: float) -> TerminalResult:
    """Return what the terminals measured."""
    latencies = sorted(terminals.latencies)
    return TerminalResult(
        seconds=seconds,
        answers=len(latencies),
        rejected=terminals.rejected,
        late=terminals.late,
        p50_ms=percentile_ms(latencies, 0.50),
        p99_ms=percentile_ms(latencies, 0.99),
        worst_ms=percentile_ms(latencies, 1.0),
        cpu_share=cpu_share,
        answered=tuple(terminals.answered),
        message_bytes=terminals.message_bytes,
    )


def main() -> None:
    """Read the load, run it, write the result."""
    load = msgspec.json.decode(sys.stdin.readline(), type=TerminalLoad)
    raise_file_limit()
    # There are no reference cycles here, and a collection would count as the server's latency.
    gc.disable()
    write_message(run_load(load, Terminals(load)))


if __name__ == "__main__":
    main()
