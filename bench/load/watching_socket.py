"""A WebSocket of the API that keeps what it receives, and when."""

import socket
import threading
import time
from contextlib import suppress

from wsproto import ConnectionType, WSConnection
from wsproto.events import AcceptConnection, CloseConnection, Ping, RejectConnection, Request, TextMessage
from wsproto.utilities import ProtocolError

from motorpool.bench.load.http_answers import authority

TIMEOUT_SECONDS = 60.0
_RECEIVE_BYTES = 1 << 18


class WatchingSocket(threading.Thread):
    """Reads a WebSocket until it is closed, and keeps the messages that contain a word."""

    def __init__(self, host: str, port: int, login: tuple[str, str], wanted: str) -> None:
        """`login` is a header that says who watches, `wanted` the word. Raises OSError: no connection."""
        super().__init__(daemon=True)
        self._wanted = wanted
        self._socket = socket.create_connection((host, port), timeout=TIMEOUT_SECONDS)
        self._connection = WSConnection(ConnectionType.CLIENT)
        self._parts: list[str] = []
        self.received: list[tuple[float, str]] = []
        """Messages, each with the time of its arrival (`time.perf_counter`)."""
        self.is_accepted = False
        self._answered = threading.Event()
        self.error = ""
        """Why it ended; empty while it is open."""
        headers = [(login[0].encode(), login[1].encode())]
        request = Request(authority(host, port), "/api/socket", extra_headers=headers)
        self._socket.sendall(self._connection.send(request))

    def run(self) -> None:
        """Read until it is closed, or the process ends."""
        try:
            while data := self._socket.recv(_RECEIVE_BYTES):
                now = time.perf_counter()
                self._connection.receive_data(data)
                for event in self._connection.events():
                    self._take(event, now)
        except (OSError, ProtocolError) as error:
            self.error = str(error)
        finally:
            self._answered.set()
            self._socket.close()

    def await_acceptance(self, seconds: float) -> bool:
        """Wait until the server has accepted or refused it; return whether it has accepted."""
        self._answered.wait(seconds)
        return self.is_accepted

    def close(self) -> None:
        """End the connection and the thread, which has been started."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self.join()

    def _take(self, event: object, now: float) -> None:
        match event:
            case AcceptConnection():
                self.is_accepted = True
                self._answered.set()
            case Ping():
                self._socket.sendall(self._connection.send(event.response()))
            case TextMessage():
                self._parts.append(event.data)
                if event.message_finished:
                    text = "".join(self._parts)
                    self._parts.clear()
                    if self._wanted in text:
                        self.received.append((now, text))
            case RejectConnection():
                raise ConnectionError(f"the server answered {event.status_code}")
            case CloseConnection():
                raise ConnectionError(f"the server ended it with {event.code}: {event.reason or 'no reason'}")
