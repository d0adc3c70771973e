"""Many JT/T 808 terminals in one process: an epoll loop over plain sockets.

`python -m motorpool.bench.load.terminals` reads a TerminalLoad from standard input and writes Marks and a
TerminalResult to standard output; then it reads Spans, until its standard input is closed, and writes a
TerminalResult for each.
"""

import gc
import os
import select
import socket
import sys
import time
from array import array
from collections import deque
from datetime import UTC, datetime

import msgspec

from motorpool.bench import machine
from motorpool.bench.latencies import Latencies
from motorpool.bench.load.logins import connect_terminals, is_modern
from motorpool.bench.load.messages import LocationMessages, general_answers, is_accepted
from motorpool.bench.load.output import percentile_ms, raise_file_limit, write_message
from motorpool.bench.load.plan import Mark, Span, TerminalLoad, TerminalResult
from motorpool.codecs.devices.jt808.terminal_messages import LOCATION

TIMEOUT_SECONDS = 30.0
"""For the last answers."""
ECHO_BYTES = 100


class Terminals:
    """The terminals of one load, and their measurements."""

    def __init__(self, load: TerminalLoad) -> None:
        self._load = load
        self._messages = LocationMessages(datetime.fromtimestamp(load.first_epoch, UTC))
        self._heads = [
            self._messages.head(phone, modern=is_modern(index, phone))
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
        self.lags = array("d")
        """How late paced messages were sent that no earlier one delayed, in seconds."""
        self.rejected = 0
        self.late = 0
        self._turn = 0
        """How many paced messages have been due; the terminals take turns, across spans."""
        self._first_numbers: tuple[int, ...] = ()
        self._first_turn = 0

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
        answers, self._pending[index] = general_answers(self._pending.pop(index, b"") + piece)
        if (LOCATION, 0) in answers:
            return True
        self.rejected += bool(answers)
        return bool(answers)

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
        begin, first = time.perf_counter(), self._turn
        while (now := time.perf_counter()) < until:
            while (due := begin + (self._turn - first) / rate) <= now:
                index = self._turn % len(self._sockets)
                self._turn += 1
                if self.sent[index] > self.answered[index]:
                    self._waiting[index].append(due)
                    self.late += 1
                else:
                    self.send(index, due)
                    self.lags.append(now - due)
            for index in self.receive(max(0.0, min(until, due) - time.perf_counter())):
                if self._waiting[index]:
                    self.send(index, self._waiting[index].popleft())

    def drop_waiting(self) -> None:
        """Give up the messages that could not be sent; each counts with the time it has waited."""
        now = time.perf_counter()
        for waiting in self._waiting:
            self.latencies.extend(now - due for due in waiting)
            waiting.clear()

    def begin(self) -> None:
        """Forget what was measured before."""
        self.latencies, self.lags = array("d"), array("d")
        self.late = 0
        self._first_numbers, self._first_turn = tuple(self.sent), self._turn

    def finish(self, span: Span, start: float, seconds: float, cpu_share: float) -> TerminalResult:
        """Wait for the last answers, and return what was measured since `begin`."""
        answers = len(self.latencies)
        if span.rate:
            self.drop_waiting()
            self.settle()
        else:
            # Who stops asking in a closed loop would time a server that becomes idle.
            measured, self.latencies = self.latencies, array("d")
            self.settle()
            self.latencies = measured
        return TerminalResult(
            seconds=seconds,
            answers=answers,
            rejected=self.rejected,
            late=self.late,
            lag_ms=percentile_ms(sorted(self.lags), 0.99),
            unanswered=sum(self.sent) - sum(self.answered),
            latencies=Latencies.of(self.latencies),
            cpu_share=cpu_share,
            cpu_seconds=cpu_share * seconds,
            resident_bytes=machine.resident_bytes(os.getpid()),
            answered=tuple(self.answered),
            message_bytes=self.message_bytes,
            start=start,
            first_numbers=self._first_numbers,
            first_place=self._first_turn % len(self._load.phones),
        )

    def settle(self) -> None:
        """Wait for outstanding answers."""
        deadline = time.perf_counter() + TIMEOUT_SECONDS
        while sum(self.sent) > sum(self.answered) and time.perf_counter() < deadline:
            self.receive(0.1)


def run_load(load: TerminalLoad, terminals: Terminals) -> None:
    """Connect, warm up, measure; then measure the spans that standard input asks for."""
    terminals.connect()
    write_message(Mark("ready"))
    if load.seconds:
        paced = load.rate if load.mode == "paced" else 0.0
        run_span(Span(seconds=load.warm_seconds, rate=paced), terminals)
        write_message(Mark("begin"))
        write_message(measure(Span(seconds=load.seconds, rate=paced), terminals))
    for line in sys.stdin:
        write_message(measure(msgspec.json.decode(line, type=Span), terminals))


def run_span(span: Span, terminals: Terminals) -> None:
    """Send for the time of a span, which begins now."""
    until = time.perf_counter() + span.seconds
    if span.rate:
        terminals.pace(until, span.rate)
    else:
        terminals.saturate(until)


def measure(span: Span, terminals: Terminals) -> TerminalResult:
    """Wait for the start of a span, run it, and return what the terminals measured."""
    time.sleep(max(0.0, span.start - time.perf_counter()))
    terminals.begin()
    start, cpu = time.perf_counter(), time.process_time()
    run_span(span, terminals)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    write_message(Mark("end"))
    return terminals.finish(span, start, seconds, cpu / seconds)


def main() -> None:
    """Read the load, run it, write the result."""
    load = msgspec.json.decode(sys.stdin.readline(), type=TerminalLoad)
    raise_file_limit()
    # There are no reference cycles here, and a collection would count as the server's latency.
    gc.disable()
    run_load(load, Terminals(load))


if __name__ == "__main__":
    main()
