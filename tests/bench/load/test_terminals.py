"""The load program against the server's codec: counts, latencies, cut answers."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

from motorpool.bench.load.plan import Mark, TerminalLoad, TerminalResult
from motorpool.bench.load.program import LoadFailed, run_program
from motorpool.codecs.devices.jt808.codec import Jt808

PHONES = ("13900000001", "13900000002", "13900000003")
Answer = Callable[[socket.socket, bytes], None]


@pytest.fixture
def platform() -> Iterator[Callable[[Answer], int]]:
    """Starts a platform of threads that answers each message as configured; gives its port."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve(answer: Answer) -> None:
        def hear(connection: socket.socket) -> None:
            codec = Jt808()
            # The load closes sockets without reading what is still on its way.
            with suppress(ConnectionError), connection:
                while content := connection.recv(65536):
                    for report in codec.receive(content):
                        if getattr(report, "receipt", None) is not None:
                            answer(connection, codec.acknowledge([report.receipt]))

        while True:
            try:
                connection = listener.accept()[0]
            except OSError:
                return
            threading.Thread(target=hear, args=(connection,), daemon=True).start()

    def start(answer: Answer) -> int:
        threading.Thread(target=serve, args=(answer,), daemon=True).start()
        return listener.getsockname()[1]

    yield start
    # Wakes the accept as well.
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()


def load(port: int, mode: str, **more: float) -> TerminalLoad:
    return TerminalLoad(
        host="127.0.0.1",
        port=port,
        phones=PHONES,
        mode=mode,
        seconds=0.3,
        warm_seconds=0.05,
        first_epoch=1_770_000_000,
        **more,
    )


def run_load(
    asked: TerminalLoad, begin: Callable[[], None] = lambda: None
) -> tuple[list[str], TerminalResult]:
    """The marks and the result; runs again where a busy machine left no answer to so short a span.

    `begin` is called before each run.
    """
    for _ in range(5):
        begin()
        marks = []
        with run_program("terminals", asked) as program:
            while not isinstance(message := program.next(60), TerminalResult):
                assert isinstance(message, Mark)
                marks.append(message.name)
        if message.answers:
            break
    return marks, message


def test_every_terminal_sends_as_soon_as_it_was_answered(platform: Callable[[Answer], int]) -> None:
    marks, result = run_load(load(platform(socket.socket.sendall), "saturate"))
    assert marks == ["ready", "begin", "end"]
    assert min(result.answered) > 0
    assert 0 < result.answers <= sum(result.answered)
    assert 0 < result.p50_ms <= result.p99_ms <= result.worst_ms
    assert result.rejected == 0
    assert 0 < result.cpu_share <= 1.1


def test_answers_that_come_in_pieces_count_once(platform: Callable[[Answer], int]) -> None:
    def in_pieces(connection: socket.socket, answer: bytes) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for start in range(0, len(answer), 4):
            connection.sendall(answer[start : start + 4])

    received = []

    def counting(connection: socket.socket, answer: bytes) -> None:
        received.append(answer)
        in_pieces(connection, answer)

    _, result = run_load(load(platform(counting), "saturate"), received.clear)
    logins = len(PHONES)
    assert sum(result.answered) == len(received) - logins


def test_paced_terminals_keep_the_rate(
    platform: Callable[[Answer], int],
) -> None:
    _, result = run_load(load(platform(socket.socket.sendall), "paced", rate=200))
    rate = result.answers / result.seconds
    assert 0 < rate < 240


def test_a_server_that_hangs_up_fails_the_load(platform: Callable[[Answer], int]) -> None:
    port = platform(lambda connection, _: connection.shutdown(socket.SHUT_RDWR))
    with pytest.raises(LoadFailed, match="the server closed terminal 13900000001"):
        run_load(load(port, "saturate"))
