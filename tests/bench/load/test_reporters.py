"""Reporting terminals against the server's codec: what was answered before an instant and after it."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import NamedTuple

import pytest

from motorpool.bench.load.plan import Mark, ReporterLoad, ReporterResult, TerminalLoad
from motorpool.bench.load.program import run_program
from motorpool.codecs.devices.jt808.codec import Jt808
from motorpool.codecs.reports import PositionReport
from motorpool.runtime.clock import SystemClock

CLOCK = SystemClock()
PHONES = tuple(f"1380000000{number}" for number in range(1, 6))
RATE = 100.0
Answer = Callable[[Jt808, PositionReport], bytes]


@pytest.fixture
def platform() -> Iterator[Callable[[Answer], int]]:
    """Starts a platform of threads that answers each position as configured; gives its port."""
    listener = socket.create_server(("127.0.0.1", 0))

    def hear(connection: socket.socket, answer: Answer) -> None:
        codec = Jt808()
        # The load closes sockets without reading what is still on its way.
        with suppress(ConnectionError), connection:
            while content := connection.recv(65536):
                for report in codec.receive(content):
                    if isinstance(report, PositionReport):
                        connection.sendall(answer(codec, report))
                    elif receipt := getattr(report, "receipt", None):
                        connection.sendall(codec.acknowledge([receipt]))

    def serve(answer: Answer) -> None:
        while True:
            try:
                connection = listener.accept()[0]
            except OSError:
                return
            threading.Thread(target=hear, args=(connection, answer), daemon=True).start()

    def start(answer: Answer) -> int:
        threading.Thread(target=serve, args=(answer,), daemon=True).start()
        return listener.getsockname()[1]

    yield start
    # Wakes the accept as well.
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()


def load(port: int, edge: float) -> ReporterLoad:
    return ReporterLoad(
        terminals=TerminalLoad(
            host="127.0.0.1",
            port=port,
            phones=PHONES,
            mode="paced",
            rate=RATE,
            seconds=0,
            first_epoch=1_770_000_000,
        ),
        edge_epoch=edge,
        before_seconds=0.5,
        during_seconds=0.3,
    )


class Run(NamedTuple):
    """A run of the program in which no mark was late."""

    edge: float
    marks: dict[str, float]
    """When each was heard."""
    result: ReporterResult


def run_load(port: int, begin: Callable[[float], None] = lambda _: None) -> Run:
    """Run the program, and again where a busy machine held it up; `begin` gets each edge."""
    for lead in (3.0, 3.0, 5.0, 10.0, 20.0, 30.0):
        edge = CLOCK.now().timestamp() + lead
        begin(edge)
        marks = {}
        with run_program("reporters", load(port, edge)) as program:
            while not isinstance(message := program.next(60), ReporterResult):
                assert isinstance(message, Mark)
                marks[message.name] = CLOCK.now().timestamp()
        planned = {"ready": edge - 0.5, "begin": edge - 0.5, "edge": edge, "end": edge + 0.3}
        if all(marks[name] - instant < 0.15 for name, instant in planned.items()):
            break
    return Run(edge, marks, message)


def test_both_spans_have_their_place_on_the_clock_and_all_their_answers(
    platform: Callable[[Answer], int],
) -> None:
    port = platform(lambda codec, report: codec.acknowledge([report.receipt]))
    edge, marks, result = run_load(port)
    assert list(marks) == ["ready", "begin", "edge", "end"]
    assert marks["begin"] >= edge - 0.5
    assert marks["edge"] >= edge
    assert marks["end"] >= edge + 0.3
    assert 0 < result.before.p50_ms <= result.before.p99_ms <= result.before.worst_ms
    assert result.sent > result.before.answers + result.during.answers
    assert (result.lost, result.rejected) == (0, 0)


def test_a_server_that_slows_down_at_the_edge_shows_in_the_second_span_alone(
    platform: Callable[[Answer], int],
) -> None:
    edges = []

    def answer(codec: Jt808, report: PositionReport) -> bytes:
        if CLOCK.now().timestamp() > edges[-1]:
            # Longer than a terminal has until its next message.
            time.sleep(0.07)
        return codec.acknowledge([report.receipt])

    _, _, result = run_load(platform(answer), edges.append)
    assert result.during.p50_ms >= 60
    assert result.late > 0
    assert result.lost == 0


def test_refusals_are_counted(
    platform: Callable[[Answer], int],
) -> None:
    edges = []
    port = platform(
        lambda codec, report: (
            codec.acknowledge([report.receipt])
            if CLOCK.now().timestamp() < edges[-1]
            else codec.refuse(report.receipt)
        )
    )
    _, _, result = run_load(port, edges.append)
    assert result.rejected > 0
    assert result.lost == 0
