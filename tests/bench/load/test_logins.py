"""Terminals are connected and logged in, in both versions, and a refused one is named."""

import socket
import threading
from collections.abc import Callable, Iterator

import pytest

from motorpool.bench.load import logins
from motorpool.bench.load.logins import connect_terminals, source_of
from motorpool.codecs.devices.jt808.codec import Jt808
from motorpool.codecs.reports import Login

PHONES = tuple(f"1370000{number:04d}" for number in range(1, 104))
"""More than are logged in at once."""
Answer = Callable[[socket.socket, bytes], None]


class Door:
    """A platform that lets terminals in, one after the other."""

    def __init__(self, answer: Answer) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=200)
        self.port: int = self.listener.getsockname()[1]
        self.seen: list[tuple[str, bool]] = []
        self._answer = answer
        self._inside: list[socket.socket] = []
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            try:
                connection = self.listener.accept()[0]
            except OSError:
                return
            codec = Jt808()
            self._inside.append(connection)
            for report in codec.receive(connection.recv(4096)):
                if isinstance(report, Login):
                    self.seen.append((report.unique_ids[-1], len(report.unique_ids[0]) == 20))
                if receipt := getattr(report, "receipt", None):
                    self._answer(connection, codec.acknowledge([receipt]))

    def close(self) -> None:
        # Wakes the accept as well.
        self.listener.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self.listener.close()
        for connection in self._inside:
            connection.close()


@pytest.fixture
def doors() -> Iterator[Callable[[Answer], Door]]:
    made: list[Door] = []

    def make(answer: Answer) -> Door:
        made.append(Door(answer))
        return made[-1]

    yield make
    for door in made:
        door.close()


def test_all_are_logged_in_and_every_second_one_speaks_the_2019_form(
    doors: Callable[[Answer], Door],
) -> None:
    door = doors(socket.socket.sendall)
    sockets = connect_terminals("127.0.0.1", door.port, PHONES)
    assert door.seen == [(phone, place % 2 == 1) for place, phone in enumerate(PHONES)]
    for connected in sockets:
        # Nothing of the answer is left to be taken for something else.
        connected.setblocking(False)
        with pytest.raises(BlockingIOError):
            connected.recv(1)
        connected.close()


def test_bytes_behind_the_answer_are_left_unread(
    doors: Callable[[Answer], Door],
) -> None:
    door = doors(lambda connection, answer: connection.sendall(answer + b"~command~"))
    (connected,) = connect_terminals("127.0.0.1", door.port, PHONES[:1])
    with connected:
        assert connected.recv(100) == b"~command~"


def test_a_terminal_that_is_hung_up_on_is_named(doors: Callable[[Answer], Door]) -> None:
    door = doors(lambda connection, _: connection.shutdown(socket.SHUT_RDWR))
    with pytest.raises(ConnectionError, match=PHONES[0]):
        connect_terminals("127.0.0.1", door.port, PHONES[:2])


def test_without_a_login_nothing_is_said() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        (connected,) = connect_terminals("127.0.0.1", listener.getsockname()[1], PHONES[:1], logged_in=False)
        with listener.accept()[0] as platform:
            connected.close()
            assert platform.recv(100) == b""


def test_many_terminals_of_a_server_here_come_from_several_addresses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(logins, "TERMINALS_PER_ADDRESS", 2)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        sockets = connect_terminals("127.0.0.1", listener.getsockname()[1], PHONES[:5], logged_in=False)
        addresses = []
        for connected in sockets:
            platform, (address, _) = listener.accept()
            addresses.append(address)
            platform.close()
            connected.close()
    assert addresses == ["127.0.0.1"] * 2 + ["127.0.0.2"] * 2 + ["127.0.0.3"]
    assert source_of("192.0.2.1", 5) is None
