"""The network of httpcore, with connections to permitted addresses only."""

import ssl
from collections.abc import Iterable

import httpcore
import trio

from motorpool.actors.http.address_guard import AddressGuard
from motorpool.actors.http.errors import Unreachable, is_tls, root_cause


class KeptConnectionClosed(httpcore.ReadError):
    """A connection that was kept from an earlier request ended without a byte of an answer to this one."""


class GuardedStream(httpcore.AsyncNetworkStream):
    """A connection to an address that was checked."""

    def __init__(self, stream: httpcore.AsyncNetworkStream, host: str, address: str) -> None:
        self._stream = stream
        self._host = host
        self.address = address
        """The IP address of the other end."""
        self.received = 0
        """Bytes that were read since the last write."""
        self._is_kept = False
        """Whether an earlier request was answered on it."""

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Return what comes next, empty at the end. Raises KeptConnectionClosed."""
        try:
            data = await self._stream.read(max_bytes, timeout)
        except httpcore.ReadError:
            data = b""
            if not self._lacks_answer:
                raise
        if not data and self._lacks_answer:
            raise KeptConnectionClosed
        self.received += len(data)
        return data

    @property
    def _lacks_answer(self) -> bool:
        return self._is_kept and not self.received

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send a part of a request."""
        self._is_kept = self._is_kept or self.received > 0
        self.received = 0
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        """Close the connection."""
        await self._stream.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> "GuardedStream":
        """Return the connection after the handshake; the certificate is verified against the name.

        Raises Unreachable.
        """
        try:
            stream = await self._stream.start_tls(ssl_context, server_hostname, timeout)
        except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
            raise _unreachable(self._host, self.address, error, timeout) from None
        return GuardedStream(stream, self._host, self.address)

    def get_extra_info(self, info: str) -> object:
        """Return what httpcore asks, such as "is_readable"."""
        return self._stream.get_extra_info(info)


class GuardedNetwork(httpcore.AsyncNetworkBackend):
    """Connects to the first address of a host that accepts a connection, of those that a guard permits."""

    def __init__(self, guard: AddressGuard, *, trusted: bool, listed_only: bool) -> None:
        """`trusted` and `listed_only` as for `AddressGuard.resolve`."""
        self._guard = guard
        self._trusted = trusted
        self._listed_only = listed_only
        self._network = httpcore.TrioBackend()
        self.address = ""
        """The IP address of the latest connection; empty while one is opened."""

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
        failure: Unreachable | None = None
        self.address = ""
        for address in await self._guard.resolve(
            host, port, trusted=self._trusted, listed_only=self._listed_only
        ):
            try:
                stream = await self._network.connect_tcp(
                    address, port, timeout, local_address, socket_options
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = _unreachable(host, address, error, timeout)
            else:
                self.address = address
                return GuardedStream(stream, host, address)
        assert failure is not None
        raise failure

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await trio.sleep(seconds)


def _unreachable(host: str, address: str, error: Exception, seconds: float | None) -> Unreachable:
    if isinstance(error, httpcore.ConnectTimeout):
        text = f"{host} cannot be connected to within {seconds:g} s"
        return Unreachable(text, cause="timeout", address=address)
    return Unreachable(
        f"{host} cannot be connected to: {root_cause(error)}",
        cause="tls" if is_tls(error) else "connect",
        address=address,
    )
