"""Terminals of two servers: they go to the other one, and know what was acknowledged and what was not."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

from motorpool.bench.load.plan import Mark, RoamerLoad, RoamerPlaces, RoamerResult, TerminalSession
from motorpool.bench.load.program import run_program
from motorpool.codecs.devices.jt808.codec import Jt808
from motorpool.codecs.reports import DeviceCommand, PositionReport

PHONES = ("13600000001", "13600000002")


class Platform:
    """Answers all messages, until it is told to answer positions no more."""

    def __init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.stores = threading.Event()
        self.stores.set()
        self.positions = 0
        self.connections: list[socket.socket] = []
        self.codecs: list[Jt808] = []
        self._lock = threading.Lock()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection = self.listener.accept()[0]
                self.connections.append(connection)
                self.codecs.append(Jt808())
                threading.Thread(target=self._hear, args=(connection, self.codecs[-1]), daemon=True).start()

    def _hear(self, connection: socket.socket, codec: Jt808) -> None:
        with suppress(OSError), connection:
            while content := connection.recv(65536):
                for report in codec.receive(content):
                    is_position = isinstance(report, PositionReport)
                    if report.receipt is not None and (self.stores.is_set() or not is_position):
                        with self._lock:
                            self.positions += is_position
                        connection.sendall(codec.acknowledge([report.receipt]))

    def close(self) -> None:
        """End the listener and all connections."""
        with suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for connection in self.connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def platforms() -> Iterator[tuple[Platform, Platform]]:
    both = Platform(), Platform()
    yield both
    for each in both:
        each.close()


def load(platforms: tuple[Platform, Platform], **more: float) -> RoamerLoad:
    return RoamerLoad(
        host="127.0.0.1",
        ports=tuple(each.port for each in platforms),
        phones=PHONES,
        rate=40.0,
        first_epoch=1_770_000_000.0,
        **more,
    )


def until(program, wanted: Callable[[RoamerResult], bool]) -> RoamerResult:
    """The first result that satisfies a condition."""
    while True:
        program.send_line("result")
        result = program.wait_for(RoamerResult, 60)
        if wanted(result):
            return result


def moved(result: RoamerResult, terminal: int) -> list[TerminalSession]:
    """The sessions of a terminal at the second server."""
    return [each for each in result.sessions if each.terminal == terminal and each.server == 1]


def test_terminals_go_to_the_other_server_and_come_back(platforms) -> None:
    with run_program("roamers", load(platforms, timed_seconds=60.0)) as program:
        assert program.wait_for(Mark, 60).name == "ready"
        program.send_line("where")
        assert program.wait_for(RoamerPlaces, 60).servers == (0, 1)
        until(program, lambda result: min(result.sent) > 3)
        platforms[0].close()
        result = until(program, lambda result: any(each.acknowledged for each in moved(result, 0)))
        program.send_line("where")
        assert program.wait_for(RoamerPlaces, 60).servers == (1, 1)
        lost = next(each for each in result.sessions if each.server == 0)
        assert lost.terminal == 0
        assert lost.ended <= moved(result, 0)[0].began <= moved(result, 0)[0].acknowledged
        platforms[1].close()
        where = RoamerPlaces(instant=0.0, servers=(1, 1), since=())
        while where.servers != (-1, -1):
            program.send_line("where")
            where = program.wait_for(RoamerPlaces, 60)
        program.stop()
        result = program.wait_for(RoamerResult, 60)
    # Nowhere since they lost it.
    ended = {each.terminal: each.ended for each in result.sessions}
    assert where.since == (ended[0], ended[1])
    acknowledged = sum(result.sent) - sum(map(len, result.unanswered))
    assert acknowledged == result.answers
    assert sum(each.positions for each in platforms) >= result.answers
    assert result.rejected == 0
    # Each position was timed when it was sent.
    assert [len(times) for times in result.times] == list(result.sent)
    assert all(list(times) == sorted(times) for times in result.times)


def test_a_position_without_an_answer_is_not_sent_again(platforms) -> None:
    with run_program("roamers", load(platforms, answer_seconds=0.3)) as program:
        assert program.wait_for(Mark, 60).name == "ready"
        until(program, lambda result: min(result.sent) > 1)
        platforms[0].stores.clear()
        result = until(program, lambda result: len(moved(result, 0)) > 0)
        # Of numbers that were sent, once each; the next one is another.
        lost = result.unanswered[0][0]
        result = until(program, lambda result: result.sent[0] > lost + 2)
        assert lost in result.unanswered[0]
        assert len(set(result.unanswered[0])) == len(result.unanswered[0])


def test_a_text_is_noted_with_its_place(platforms) -> None:
    with run_program("roamers", load(platforms)) as program:
        assert program.wait_for(Mark, 60).name == "ready"
        # One terminal is of the version of 2013, one of that of 2019.
        for each in platforms:
            command = each.codecs[0].encode(DeviceCommand("message", {"message": "hello"}))
            each.connections[0].sendall(command.data)
        result = until(program, lambda result: len(result.texts) > 1)
    received = sorted((each.terminal, each.server, each.text) for each in result.texts)
    assert received == [(0, 0, "hello"), (1, 1, "hello")]
