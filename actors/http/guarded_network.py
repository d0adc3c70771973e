"""The network of httpcore, with connections to permitted addresses only."""

import ssl
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass

import httpcore
import trio

from motorpool.actors.http.address_guard import AddressGuard
from motorpool.actors.http.errors import Cause, Unreachable, is_tls, root_cause

COMPARED_BYTES = 256
"""Of the end of what was received, to tell whether more came than an answer."""


@dataclass
class Progress:
    """How far a request has come."""

    host: str
    """Where it goes, as errors name it."""
    is_kept: bool = True
    """Whether it uses a connection of an earlier request."""
    address: str = ""
    """The IP address that it was written to."""
    received: bytes = b""
    """The last bytes that were received since then."""

    def is_end(self, content: bytes | bytearray, *, is_chunked: bool) -> bool:
        """Whether nothing was received after an answer with this content."""
        if is_chunked or not content:
            return self.received.endswith((b"\n\r\n", b"\n\n"))
        size = min(len(self.received), len(content))
        return self.received[-size:] == content[-size:]


PROGRESS: ContextVar[Progress] = ContextVar("PROGRESS")
"""That of the present task's request: httpcore does not tell its network which request it connects for."""


class GuardedStream(httpcore.AsyncNetworkStream):
    """A connection to the first of some addresses that accepts one, and with TLS proves to be the host."""

    def __init__(self, host: str, addresses: Iterator[str], port: int) -> None:
        self._host = host
        self._addresses = addresses
        self._port = port
        self._address = ""
        self._failure: Unreachable | None = None
        self._stream: httpcore.AsyncNetworkStream
        self._began = 0.0
        self.is_spent = False
        """Whether the pool is to close it instead of using it again."""

    async def connect(self, seconds: float | None) -> None:
        """Connect to the next address that accepts it. Raises Unreachable."""
        for address in self._addresses:
            self._address, self._began = address, trio.current_time()
            try:
                self._stream = await httpcore.TrioBackend().connect_tcp(address, self._port, seconds)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                self._note(error, seconds)
            else:
                return
        assert self._failure is not None
        raise self._failure

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> "GuardedStream":
        """Verify the certificate against the name; connect to the next address where that fails.

        `timeout` includes the connection. Raises Unreachable.
        """
        while True:
            left = None if timeout is None else max(0.0, self._began + timeout - trio.current_time())
            plain = self._stream
            try:
                self._stream = await plain.start_tls(ssl_context, server_hostname, left)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                self._note(error, timeout)
            except BaseException:
                # httpcore does not close it where the handshake is cancelled.
                with trio.CancelScope(shield=True):
                    await plain.aclose()
                raise
            else:
                return self
            await self.connect(timeout)

    def _note(self, error: Exception, seconds: float | None) -> None:
        cause: Cause = "tls" if is_tls(error) else "connect"
        why = f": {root_cause(error)}"
        if isinstance(error, httpcore.ConnectTimeout):
            cause, why = "timeout", f" within {seconds:g} s"
        if self._failure is not None and self._failure.cause == "tls" and cause != "tls":
            # What TLS says of one address tells more than that the next one is no help.
            return
        text = f"{self._host} cannot be connected to{why}"
        self._failure = Unreachable(text, cause=cause, address=self._address)

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Return what comes next, empty at the end."""
        data = await self._stream.read(max_bytes, timeout)
        progress = PROGRESS.get()
        progress.received = (progress.received + data)[-COMPARED_BYTES:]
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send a part of a request."""
        PROGRESS.get().address = self._address
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        """Close the connection."""
        await self._stream.aclose()

    def get_extra_info(self, info: str) -> object:
        """Return what httpcore asks; an idle connection that "is_readable" is closed."""
        return (self.is_spent and info == "is_readable") or self._stream.get_extra_info(info)


class GuardedNetwork(httpcore.AsyncNetworkBackend):
    """Connects to the addresses of a host that a guard permits."""

    def __init__(self, guard: AddressGuard, *, trusted: bool, listed_only: bool) -> None:
        """`trusted` and `listed_only` as for `AddressGuard.resolve`."""
        self._guard = guard
        self._trusted = trusted
        self._listed_only = listed_only

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> GuardedStream:
        """Connect within `timeout` seconds for each address; None: any time.

        Raises Unreachable or DeliveryRefused.
        """
        progress = PROGRESS.get()
        progress.is_kept, progress.address = False, ""
        addresses = await self._guard.resolve(
            progress.host, port, trusted=self._trusted, listed_only=self._listed_only
        )
        stream = GuardedStream(progress.host, iter(addresses), port)
        await stream.connect(timeout)
        return stream
