"""Terminals that register at once against the server's codec: answers, refusals, closed connections."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

from motorpool.bench.load.plan import Mark, RegistrationLoad, RegistrationResult
from motorpool.bench.load.program import run_program
from motorpool.codecs.devices.jt808.codec import Jt808

PHONES = ("13900000001", "13900000002", "13900000003", "13900000004")
Answer = Callable[[int, Jt808, object], bytes | None]
"""From the number of the connection, its codec and the receipt to the answer; None closes."""


@pytest.fixture
def platform() -> Iterator[Callable[[Answer], int]]:
    """Starts a platform that answers registrations as configured; gives its port."""
    listener = socket.create_server(("127.0.0.1", 0))
    threads = []

    def serve(answer: Answer) -> None:
        connections = []
        with suppress(OSError):
            while True:
                connections.append(listener.accept()[0])
                if len(connections) == len(PHONES):
                    for number, connection in enumerate(connections):
                        respond(number, connection, answer)
        for connection in connections:
            connection.close()

    def respond(number: int, connection: socket.socket, answer: Answer) -> None:
        codec = Jt808()
        for report in codec.receive(connection.recv(65536)):
            if (receipt := getattr(report, "receipt", None)) is not None:
                content = answer(number, codec, receipt)
                if content is None:
                    connection.close()
                else:
                    connection.sendall(content)

    def start(answer: Answer) -> int:
        threads.append(threading.Thread(target=serve, args=(answer,)))
        threads[-1].start()
        return int(listener.getsockname()[1])

    yield start
    # Wakes the accept as well.
    listener.shutdown(socket.SHUT_RDWR)
    for thread in threads:
        thread.join()
    listener.close()


def run_load(port: int) -> RegistrationResult:
    with run_program(
        "registrations", RegistrationLoad(host="127.0.0.1", port=port, phones=PHONES)
    ) as program:
        assert program.next(30) == Mark("ready")
        return program.wait_for(RegistrationResult, 30)


def test_all_register_and_are_counted(platform: Callable[[Answer], int]) -> None:
    result = run_load(platform(lambda _, codec, receipt: codec.acknowledge([receipt])))
    assert (result.accepted, result.refused, result.unanswered) == (4, 0, 0)
    assert 0 < result.p50_ms <= result.p99_ms <= result.seconds * 1000


def test_refused_and_closed_terminals_are_counted(platform: Callable[[Answer], int]) -> None:
    def answer(number: int, codec: Jt808, receipt: object) -> bytes | None:
        return (codec.acknowledge([receipt]), codec.refuse(receipt), None, codec.acknowledge([receipt]))[
            number
        ]

    result = run_load(platform(answer))
    assert (result.accepted, result.refused, result.unanswered) == (2, 2, 0)
