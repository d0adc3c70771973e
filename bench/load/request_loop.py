"""HTTP requests in a closed loop: each connection asks again as soon as it was answered."""

import select
import socket
import time
from array import array
from collections.abc import Sequence

from motorpool.bench.load.http_answers import read_answer

ANSWER_SECONDS = 30.0
"""For the last answers."""
MAX_REASONS = 5
_RECEIVE_BYTES = 256 * 1024


class RequestLoop:
    """Connections, each with one request outstanding: an epoll loop over plain sockets."""

    def __init__(self, host: str, port: int, messages: Sequence[bytes], connections: int) -> None:
        """Raises OSError if the server refuses a connection."""
        self._address = host, port
        self._messages = messages
        self._poll = select.epoll()
        self._sockets: dict[int, socket.socket] = {}
        self._received: dict[int, bytearray] = {}
        self._asked: dict[int, tuple[float, int]] = {}
        """When each connection that waits for an answer asked, and the number of its request."""
        self._number = 0
        self.waits = array("d")
        self.failures = 0
        self.reasons: list[str] = []
        self.body_bytes = 0
        for _ in range(connections):
            self._connect()

    def run(self, seconds: float) -> None:
        """Ask for the time."""
        until = time.perf_counter() + seconds
        for descriptor in list(self._sockets):
            if descriptor not in self._asked:
                self._ask(descriptor)
        while time.perf_counter() < until:
            for descriptor in self._receive(0.1):
                self._ask(descriptor)

    def settle(self) -> None:
        """Wait for the last answers; those that do not come are failures."""
        until = time.perf_counter() + ANSWER_SECONDS
        while self._asked and time.perf_counter() < until:
            self._receive(0.1)
        for _, number in self._asked.values():
            self._fail(number, "no answer")
        self._asked.clear()

    def close(self) -> None:
        """Close all connections."""
        self._poll.close()
        for connected in self._sockets.values():
            connected.close()

    def _connect(self) -> int:
        connected = socket.create_connection(self._address, ANSWER_SECONDS)
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        descriptor = connected.fileno()
        self._sockets[descriptor] = connected
        self._received[descriptor] = bytearray()
        self._poll.register(descriptor, select.EPOLLIN)
        return descriptor

    def _ask(self, descriptor: int) -> None:
        number, self._number = self._number, self._number + 1
        self._asked[descriptor] = time.perf_counter(), number
        try:
            self._sockets[descriptor].sendall(self._messages[number % len(self._messages)])
        except OSError:
            # What has happened to the connection is read from it.
            return

    def _receive(self, seconds: float) -> list[int]:
        """Wait up to `seconds`, and return the connections that were answered."""
        done = []
        for descriptor, _ in self._poll.poll(seconds):
            received = self._received[descriptor]
            try:
                content = self._sockets[descriptor].recv(_RECEIVE_BYTES)
                received += content
                answer = read_answer(received)
                problem = "" if content else "the server closed the connection"
            except (OSError, ValueError) as error:
                answer, problem = None, str(error)
            if answer is None and not problem:
                continue
            asked = self._asked.pop(descriptor, None)
            received.clear()
            if answer is not None and asked is not None:
                if answer.status == 200:
                    self.waits.append(time.perf_counter() - asked[0])
                    self.body_bytes = answer.body_bytes
                else:
                    self._fail(asked[1], answer.status_line)
            elif asked is not None:
                self._fail(asked[1], problem)
            is_over = problem or answer is None or answer.is_last
            open_one = self._reconnect(descriptor) if is_over else descriptor
            if asked is not None:
                done.append(open_one)
        return done

    def _reconnect(self, descriptor: int) -> int:
        self._poll.unregister(descriptor)
        self._sockets.pop(descriptor).close()
        del self._received[descriptor]
        return self._connect()

    def _fail(self, number: int, reason: str) -> None:
        self.failures += 1
        if len(self.reasons) < MAX_REASONS:
            asked = self._messages[number % len(self._messages)].split(b" HTTP", 1)[0].decode()
            self.reasons.append(f"{asked}: {reason}")
