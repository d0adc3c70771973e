"""NATS as the pipe between nodes: nats-py on the asyncio loop that the database uses.

The client is a pipe only: one task of the loop publishes what is queued, and what arrives is handed to
callbacks. The client keeps what it was told to publish while it is disconnected, and sends it later; here
nothing is given to it then.
"""

import asyncio
import logging
import ssl
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import msgspec
import nats
import nats.errors
import trio
import trio_asyncio  # type: ignore[import-untyped]  # it ships no types
from nats.aio.client import Client
from nats.aio.msg import Msg

PING_SECONDS: Final = 2
MAX_PINGS: Final = 2
"""Pings without an answer after which the connection counts as lost."""
CONNECT_SECONDS: Final = 2
RETRY_SECONDS: Final = 1
MAX_UNSENT_BYTES: Final = 8 << 20
"""What waits to be written; beyond it nothing more is taken."""
CLOSE_SECONDS: Final = 1.0
_log = logging.getLogger(__name__)


class NatsAddress(msgspec.Struct, frozen=True):
    """Where NATS is, and how to log in."""

    urls: tuple[str, ...]
    """`nats://host:4222` or `tls://host:4222`."""
    credentials: Path | None = None
    """A file with `user:password` or a token."""
    ca: Path | None = None
    """Certificates in PEM that the server's is checked with, in place of the system's."""

    def __repr__(self) -> str:
        return f"<NatsAddress {', '.join(shown(each) for each in self.urls)}>"


class NatsPipe:
    """A connection to NATS that is opened again whenever it is lost."""

    def __init__(self) -> None:
        self._client = Client()
        self._listeners: dict[str, Callable[[bytes], None]] = {}
        self._unsubscribed: list[str] = []
        self._unsent: deque[tuple[str, bytes, str]] = deque()
        self._unsent_bytes = 0
        self._added = asyncio.Event()
        self._undelivered: Callable[[int], None] = lambda _: None
        self._changed: Callable[[bool], None] = lambda _: None
        self._lost: Callable[[int], None] = lambda _: None
        # Nobody else listens there: what the server says of messages that had no listener.
        self._returns = f"{self._client.new_inbox()}."
        self._is_ready = False
        """Whether the server has been told what is listened to."""
        self._said: set[str] = set()
        self._is_closing = False

    @property
    def is_connected(self) -> bool:
        """Whether what is sent now will be carried, as far as is known."""
        return self._is_ready and self._client.is_connected

    def send(self, subject: str, data: bytes, number: int = 0) -> bool:
        """Send to others that listen at `subject` (runtime/link.py: Pipe)."""
        if not self.is_connected or self._unsent_bytes + len(data) > MAX_UNSENT_BYTES:
            return False
        self._unsent.append((subject, data, f"{self._returns}{number}" if number else ""))
        self._unsent_bytes += len(data)
        self._added.set()
        return True

    def listen(self, subject: str, received: Callable[[bytes], None]) -> None:
        """Call `received` with what others send to `subject`."""
        self._listeners[subject] = received
        self._unsubscribed.append(subject)
        self._added.set()

    def follow(
        self,
        *,
        undelivered: Callable[[int], None],
        changed: Callable[[bool], None],
        lost: Callable[[int], None],
    ) -> None:
        """Call these when nobody listened, the connection changed, or messages were dropped."""
        self._undelivered, self._changed, self._lost = undelivered, changed, lost

    def close(self) -> None:
        """End `run`, which is to be cancelled too: the client may swallow a cancellation."""
        self._is_closing = True
        self._added.set()

    async def run(self, address: NatsAddress) -> None:
        """Keep a connection, and publish what is queued, until closed; a coroutine of asyncio."""
        while not self._is_closing:
            try:
                await self._connect(address)
                await self._publish()
            except (nats.errors.Error, OSError) as error:
                self._warn(error)
            finally:
                await self._disconnected()
                with suppress(Exception):
                    await asyncio.wait_for(self._client.close(), CLOSE_SECONDS)
            # The client gives up by itself where the server refuses the login.
            await asyncio.sleep(RETRY_SECONDS)
            self._client = Client()

    async def _connect(self, address: NatsAddress) -> None:
        path = address.credentials
        # Read at each attempt, so that another password needs no restart.
        has_user = path is not None and ":" in path.read_text()
        await self._client.connect(
            list(address.urls),
            name="motorpool",
            user=(lambda: _login(path)[0]) if has_user else None,
            password=(lambda: _login(path)[1]) if has_user else None,
            token=(lambda: _login(path)[0]) if path is not None and not has_user else None,
            tls=_tls(address),
            # Fan-out is for the other nodes.
            no_echo=True,
            connect_timeout=CONNECT_SECONDS,
            reconnect_time_wait=RETRY_SECONDS,
            max_reconnect_attempts=-1,
            ping_interval=PING_SECONDS,
            max_outstanding_pings=MAX_PINGS,
            error_cb=self._failed,
            disconnected_cb=self._disconnected,
            reconnected_cb=self._reconnected,
            closed_cb=self._closed,
        )
        self._unsubscribed = list(self._listeners)
        await self._client.subscribe(f"{self._returns}*", cb=self._returned)
        await self._subscribe()
        await self._reconnected()

    async def _publish(self) -> None:
        while True:
            await self._added.wait()
            self._added.clear()
            if self._client.is_closed or self._is_closing:
                return
            await self._subscribe()
            while self._unsent and not self._is_closing:
                subject, data, reply = self._unsent.popleft()
                self._unsent_bytes -= len(data)
                if self._client.is_connected:
                    with suppress(nats.errors.Error):
                        await self._client.publish(subject, data, reply)

    async def _subscribe(self) -> None:
        while self._unsubscribed:
            subject = self._unsubscribed.pop()
            received = self._listeners[subject]

            async def receive(message: Msg, received: Callable[[bytes], None] = received) -> None:
                received(message.data)

            await self._client.subscribe(subject, cb=receive, pending_bytes_limit=MAX_UNSENT_BYTES)

    async def _returned(self, message: Msg) -> None:
        if (message.headers or {}).get("Status") == "503":
            with suppress(ValueError):
                self._undelivered(int(message.subject.rpartition(".")[2]))

    async def _failed(self, error: Exception) -> None:
        if isinstance(error, nats.errors.SlowConsumerError):
            self._lost(1)
        else:
            self._warn(error)

    def _warn(self, error: Exception) -> None:
        """Log why there is no connection, once until there is one again."""
        text = str(error) or type(error).__name__
        if text not in self._said:
            self._said.add(text)
            _log.warning("NATS: %s", text)

    async def _closed(self) -> None:
        self._added.set()

    async def _disconnected(self) -> None:
        if self._is_ready:
            self._is_ready = False
            # What waits would come too late.
            self._unsent.clear()
            self._unsent_bytes = 0
            _log.warning("the connection to NATS is lost, trying again")
            self._changed(False)

    async def _reconnected(self) -> None:
        # The server has all subscriptions once it has answered.
        await self._client.flush()
        self._is_ready = True
        self._said.clear()
        url = self._client.connected_url
        _log.info("connected to NATS at %s", "" if url is None else shown(url.geturl()))
        self._changed(True)


@asynccontextmanager
async def open_nats(address: NatsAddress) -> AsyncIterator[NatsPipe]:
    """Keep a connection to NATS for the body, within an asyncio loop of trio-asyncio; does not wait for it.

    Raises:
        OSError: the files of the address cannot be read.
    """
    _login(address.credentials)
    _tls(address)
    pipe = NatsPipe()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_run, pipe, address)
        try:
            yield pipe
        finally:
            pipe.close()
            nursery.cancel_scope.cancel()


async def _run(pipe: NatsPipe, address: NatsAddress) -> None:
    await trio_asyncio.run_aio_coroutine(pipe.run(address))


def _tls(address: NatsAddress) -> ssl.SSLContext | None:
    if address.ca is None and not any(each.startswith("tls:") for each in address.urls):
        return None
    return ssl.create_default_context(cafile=address.ca)


def _login(path: Path | None) -> tuple[str, str]:
    """Return the user, or the token, and the password of a file."""
    user, _, password = ("" if path is None else path.read_text().strip()).partition(":")
    return user, password


def shown(url: str) -> str:
    """Return the URL without its user and password."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname}:{parts.port or 4222}"
