"""Many JT/T 808 terminals that go to another server when theirs is lost, in one process.

`python -m motorpool.bench.load.roamers` reads a RoamerLoad from standard input, then "where" as a request for
RoamerPlaces, "result" as one for a RoamerResult, and any other line as the request to stop; it writes a Mark
when all have logged in, and a last RoamerResult. A terminal reports as soon as it is logged in, and then in
its turn. A position whose connection was lost before it was answered is not sent again: nobody knows whether
it was stored.
"""

import gc
import os
import random
import select
import socket
import sys
import time
from array import array
from datetime import UTC, datetime

import msgspec

from motorpool.bench.load.logins import is_modern
from motorpool.bench.load.messages import LocationMessages, is_accepted
from motorpool.bench.load.output import percentile_ms, raise_file_limit, write_message
from motorpool.bench.load.plan import (
    Mark,
    RoamerLoad,
    RoamerPlaces,
    RoamerResult,
    TerminalSession,
    TextReceived,
)
from motorpool.bench.vehicles.jt808.platform_messages import GeneralResponse, PlatformMessage, TextMessage
from motorpool.bench.vehicles.jt808.terminal import Terminal
from motorpool.codecs.devices.jt808.terminal_messages import AUTHENTICATE, LOCATION
from motorpool.codecs.errors import CodecError

LOGINS_AT_ONCE = 200
SWEEP_SECONDS = 0.1
"""Between two looks for answers that are overdue and for terminals that are to connect."""
FIRST_PAUSE_SECONDS, MAX_PAUSE_SECONDS = 0.2, 2.0
LEFT_SECONDS = 5.0
"""A terminal that has moved keeps its earlier connection open for this time, unless the server closes it."""
_READ_BYTES = 65536


class Line:
    """One connection of a terminal."""

    __slots__ = ("index", "login_at", "opened", "server", "socket", "terminal")

    def __init__(self, index: int, server: int, connected: socket.socket, terminal: Terminal) -> None:
        self.index = index
        self.server = server
        self.socket = connected
        self.terminal = terminal
        self.opened = time.perf_counter()
        self.login_at = 0.0
        """When the login was answered, in seconds since 1970; 0: not yet."""


class Roamer:
    """One terminal."""

    __slots__ = (
        "due",
        "failures",
        "line",
        "pending",
        "pending_at",
        "preferred",
        "sent",
        "session",
        "unanswered",
    )

    def __init__(self, preferred: int) -> None:
        self.preferred = preferred
        """The server that it connects to next."""
        self.line: Line | None = None
        self.due = 0.0
        """When it connects (`time.perf_counter`), while it has no line."""
        self.failures = 0
        self.sent = 0
        self.pending = False
        """Whether its last position is unanswered."""
        self.pending_at = 0.0
        self.unanswered: list[int] = []
        self.session: TerminalSession | None = None


class Roamers:
    """All terminals of a load."""

    def __init__(self, load: RoamerLoad) -> None:
        self._load = load
        self._messages = LocationMessages(datetime.fromtimestamp(load.first_epoch, UTC))
        self._heads = [
            self._messages.head(phone, modern=is_modern(index, phone))
            for index, phone in enumerate(load.phones)
        ]
        self._roamers = [Roamer(index % len(load.ports)) for index in range(len(load.phones))]
        self._poll = select.epoll()
        self._lines: dict[int, Line] = {}
        self._left: list[tuple[float, Line]] = []
        """Lines of terminals that have moved, and when they close them."""
        self._logging_in = 0
        self._chance = random.Random(1)
        self._sessions: list[TerminalSession] = []
        self._texts: list[TextReceived] = []
        self._latencies = array("d")
        self._rejected = 0
        self._ready = False
        """Whether all have been logged in."""
        self._timed_until = 0.0
        """Until when (`time.perf_counter`) it is noted when positions are sent."""
        self._times: list[list[float]] = [[] for _ in load.phones]

    def run(self) -> RoamerResult:
        """Connect, report and move until the parent requests the stop."""
        self._poll.register(sys.stdin.fileno(), select.EPOLLIN)
        swept = turn_at = moved_at = time.perf_counter()
        turn = 0
        while True:
            now = time.perf_counter()
            if now - swept >= SWEEP_SECONDS:
                swept = now
                self._sweep(now)
                if not self._ready and all(each.session is not None for each in self._roamers):
                    self._ready, turn_at, moved_at = True, now, now
                    self._timed_until = now + self._load.timed_seconds
                    write_message(Mark("ready"))
            if self._ready:
                while turn_at <= now:
                    turn_at += 1 / self._load.rate
                    self._report(turn % len(self._roamers), now)
                    turn += 1
                if self._load.moves and now - moved_at >= 1 / self._load.moves:
                    moved_at = now
                    self._move(self._chance.randrange(len(self._roamers)))
            ahead = turn_at - time.perf_counter() if self._ready else SWEEP_SECONDS
            wait = min(SWEEP_SECONDS, max(0.0, ahead))
            for descriptor, event in self._poll.poll(wait):
                if descriptor == sys.stdin.fileno():
                    # Not through Python's buffer, in which a second line would stay unread.
                    for word in os.read(descriptor, 4096).split() or [b"stop"]:
                        if word == b"where":
                            write_message(self._places())
                        elif word == b"result":
                            write_message(self._result())
                        else:
                            return self._result()
                elif descriptor in self._lines:
                    self._serve(self._lines[descriptor], event)

    def _sweep(self, now: float) -> None:
        """Give up unanswered connections, close ones left behind, and connect terminals that have none."""
        patience = self._load.answer_seconds
        for index, roamer in enumerate(self._roamers):
            line = roamer.line
            if line is None:
                if roamer.due <= now and self._logging_in < LOGINS_AT_ONCE:
                    self._connect(index, roamer.preferred)
            elif (roamer.pending and now - roamer.pending_at > patience) or (
                not line.login_at and now - line.opened > patience
            ):
                self._lose(line)
        while self._left and self._left[0][0] <= now:
            self._close(self._left.pop(0)[1])

    def _connect(self, index: int, server: int) -> None:
        phone = self._load.phones[index]
        terminal = Terminal(phone, 2019 if is_modern(index, phone) else 2013)
        terminal.code = "bench"
        connected = socket.socket()
        connected.setblocking(False)
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connected.connect_ex((self._load.host, self._load.ports[server]))
        line = Line(index, server, connected, terminal)
        self._lines[connected.fileno()] = line
        self._roamers[index].line = line
        self._logging_in += 1
        self._poll.register(connected.fileno(), select.EPOLLOUT)

    def _serve(self, line: Line, event: int) -> None:
        try:
            if event & select.EPOLLOUT:
                line.socket.send(line.terminal.authenticate())
                self._poll.modify(line.socket.fileno(), select.EPOLLIN)
                return
            content = line.socket.recv(_READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            content = b""
        if not content:
            self._lose(line)
        elif is_accepted(content) and content.count(b"~") == 2 and line.login_at:
            self._answered(line, accepted=True)
        else:
            self._receive(line, content)

    def _receive(self, line: Line, content: bytes) -> None:
        instant = time.time()
        try:
            for message in line.terminal.receive(content):
                self._handle(line, message, instant)
        except (CodecError, OSError):
            self._lose(line)

    def _handle(self, line: Line, message: PlatformMessage, instant: float) -> None:
        match message:
            case GeneralResponse(answered_id=answered, result=result):
                if answered == LOCATION:
                    self._answered(line, accepted=result == 0)
                elif answered == AUTHENTICATE and not line.login_at:
                    self._logged_in(line, accepted=result == 0)
            case TextMessage():
                self._texts.append(TextReceived(line.index, line.server, message.text, instant))
                line.socket.send(line.terminal.general_response(message))
            case _:
                line.socket.send(line.terminal.general_response(message))

    def _logged_in(self, line: Line, *, accepted: bool) -> None:
        roamer = self._roamers[line.index]
        if roamer.line is not line or not accepted:
            self._lose(line)
            return
        line.login_at = time.time()
        self._logging_in -= 1
        roamer.failures = 0
        roamer.session = TerminalSession(line.index, line.server, line.login_at)
        self._sessions.append(roamer.session)
        if self._ready:
            self._report(line.index, time.perf_counter())

    def _answered(self, line: Line, *, accepted: bool) -> None:
        roamer = self._roamers[line.index]
        if roamer.line is not line or not roamer.pending:
            # Of a line that it has left: the position counts as unanswered.
            return
        roamer.pending = False
        now = time.perf_counter()
        self._latencies.append(now - roamer.pending_at)
        if not accepted:
            self._rejected += 1
            roamer.unanswered.append(roamer.sent - 1)
        elif roamer.session is not None and not roamer.session.acknowledged:
            roamer.session.acknowledged = time.time()

    def _report(self, index: int, now: float) -> None:
        roamer = self._roamers[index]
        line = roamer.line
        if line is None or not line.login_at or roamer.pending:
            return
        frame = self._messages.frame(self._heads[index], roamer.sent)
        roamer.sent += 1
        roamer.pending, roamer.pending_at = True, now
        if now < self._timed_until:
            self._times[index].append(time.time())
        try:
            line.socket.send(frame)
        except OSError:
            self._lose(line)

    def _move(self, index: int) -> None:
        """Connect a terminal to the next server while its earlier connection is still open."""
        roamer = self._roamers[index]
        line = roamer.line
        if line is None or not line.login_at or roamer.pending or len(self._load.ports) == 1:
            return
        if roamer.session is not None:
            roamer.session.ended = time.time()
        self._left.append((time.perf_counter() + LEFT_SECONDS, line))
        self._connect(index, (line.server + 1) % len(self._load.ports))

    def _lose(self, line: Line) -> None:
        """Give up a line; its terminal connects to another server soon, unless it has left the line."""
        roamer = self._roamers[line.index]
        if roamer.line is line:
            if not line.login_at:
                self._logging_in -= 1
            elif roamer.session is not None:
                roamer.session.ended = time.time()
            roamer.line = None
            if roamer.pending:
                roamer.pending = False
                roamer.unanswered.append(roamer.sent - 1)
            roamer.preferred = (line.server + 1) % len(self._load.ports)
            pause = min(MAX_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 1.5**roamer.failures)
            roamer.failures += 1
            roamer.due = time.perf_counter() + pause * self._chance.uniform(0.5, 1.0)
        self._close(line)

    def _close(self, line: Line) -> None:
        descriptor = line.socket.fileno()
        if descriptor >= 0:
            self._lines.pop(descriptor, None)
            self._poll.unregister(descriptor)
            line.socket.close()

    def _places(self) -> RoamerPlaces:
        servers, since = [], []
        for roamer in self._roamers:
            line = roamer.line
            if line is not None and line.login_at:
                servers.append(line.server)
                since.append(line.login_at)
            else:
                servers.append(-1)
                since.append(0.0 if roamer.session is None else roamer.session.ended)
        return RoamerPlaces(instant=time.time(), servers=tuple(servers), since=tuple(since))

    def _result(self) -> RoamerResult:
        latencies = sorted(self._latencies)
        return RoamerResult(
            sent=tuple(each.sent for each in self._roamers),
            unanswered=tuple(
                (*each.unanswered, each.sent - 1) if each.pending else tuple(each.unanswered)
                for each in self._roamers
            ),
            sessions=tuple(self._sessions),
            times=tuple(map(tuple, self._times)),
            texts=tuple(self._texts),
            answers=len(latencies),
            rejected=self._rejected,
            p50_ms=percentile_ms(latencies, 0.50),
            p99_ms=percentile_ms(latencies, 0.99),
        )


def main() -> None:
    """Read the load, run until the request to stop."""
    load = msgspec.json.decode(sys.stdin.readline(), type=RoamerLoad)
    raise_file_limit()
    # There are no reference cycles here, and a collection would count as the server's latency.
    gc.disable()
    write_message(Roamers(load).run())


if __name__ == "__main__":
    main()
