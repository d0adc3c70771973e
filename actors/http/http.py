"""Outgoing HTTP requests, each with a deadline, a limit of the response, and a check of the address."""

import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from types import TracebackType
from typing import TYPE_CHECKING, Self

import msgspec
import trio

from motorpool.actors.http.address_guard import AddressGuard, OwnServer
from motorpool.actors.http.errors import DeliveryRefused, Unreachable

if TYPE_CHECKING:
    from httpcore import AsyncConnectionPool

    from motorpool.actors.http.guarded_network import GuardedNetwork


@dataclass(frozen=True)
class HttpResponse:
    """A response with its whole content."""

    status: int
    headers: Mapping[str, str]
    content: bytes
    address: str = ""
    """The IP address that answered."""

    @property
    def ok(self) -> bool:
        """Whether the status is 2xx."""
        return 200 <= self.status < 300

    def json(self) -> object:
        """Return the content parsed as JSON. Raises DeliveryRefused where it is not JSON."""
        try:
            return msgspec.json.decode(self.content)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            raise DeliveryRefused("the answer is not JSON") from None


class OutgoingHttp:
    """An HTTP client that connects to permitted addresses only.

    Addresses in private networks, of this machine, link-local, multicast and the like are refused, unless
    `allow` names their network or the request is `trusted`: its URL comes from the operator's settings (an
    SMS modem, a geocoder or an OpenID provider in the local network). The connection goes to the address that
    was checked, and TLS is verified against the name. Redirects are returned, not followed. Each `request`
    has a connection of its own; a `session` keeps them open.
    """

    def __init__(
        self,
        allow: tuple[str, ...] = (),
        *,
        own: OwnServer | None = None,
        max_concurrent: int = 20,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.guard = AddressGuard(allow, own)
        # Separate, because users may name servers that never respond.
        self.slots = {trusted: trio.Semaphore(max_concurrent) for trusted in (False, True)}
        self._given_tls = tls

    @cached_property
    def tls(self) -> ssl.SSLContext:
        """The trusted certificates, from SSL_CERT_FILE if set, else from certifi."""
        if self._given_tls is not None:
            return self._given_tls
        from motorpool.actors.http import requests  # noqa: PLC0415 - as in HttpSession

        return requests.default_tls()

    def session(
        self,
        *,
        trusted: bool = False,
        listed_only: bool = False,
        connect_seconds: float | None = None,
        idle_seconds: float | None = None,
    ) -> "HttpSession":
        """Return a context manager whose requests keep their connections open for further ones.

        `trusted` and `listed_only` as for `AddressGuard.resolve`; `connect_seconds`, if given, limits the
        connection to each address; a connection is not used again after `idle_seconds`, if given.
        """
        return HttpSession(
            self,
            trusted=trusted,
            listed_only=listed_only,
            connect_seconds=connect_seconds,
            idle_seconds=idle_seconds,
        )

    async def request(
        self,
        method: str,
        url: str,
        *,
        trusted: bool = False,
        listed_only: bool = False,
        params: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        form: Mapping[str, str] | None = None,
        content: bytes | None = None,
        seconds: float = 10.0,
        connect_seconds: float | None = None,
        max_bytes: int = 1024 * 1024,
        truncate: bool = False,
    ) -> HttpResponse:
        """Send a request on a connection of its own, as in a `session`, and return the answer.

        `seconds` includes the wait for one of the `max_concurrent` slots.
        """
        began = trio.current_time()
        with trio.move_on_after(seconds):
            async with (
                self.slots[trusted],
                self.session(
                    trusted=trusted, listed_only=listed_only, connect_seconds=connect_seconds
                ) as session,
            ):
                return await session.request(
                    method,
                    url,
                    params=params,
                    headers=headers,
                    form=form,
                    content=content,
                    seconds=seconds - (trio.current_time() - began),
                    max_bytes=max_bytes,
                    truncate=truncate,
                )
        raise Unreachable(f"no answer within {seconds:g} s", cause="timeout")


class HttpSession:
    """Requests whose connections stay open, each for one request at a time; an async context manager.

    A request on a connection that was open is sent once more, on a new one, where the connection is closed
    without a byte of an answer: the server may receive it twice.
    """

    def __init__(
        self,
        http: OutgoingHttp,
        *,
        trusted: bool,
        listed_only: bool,
        connect_seconds: float | None,
        idle_seconds: float | None,
    ) -> None:
        self._http = http
        self._trusted = trusted
        self._listed_only = listed_only
        self._connect_seconds = connect_seconds
        self._idle_seconds = idle_seconds
        self._network: GuardedNetwork
        self._pool: AsyncConnectionPool

    async def __aenter__(self) -> Self:
        # Not before it is needed: httpx and httpcore are a tenth of what a start of the server imports, and
        # most servers send no request.
        from motorpool.actors.http.guarded_network import GuardedNetwork  # noqa: PLC0415

        self._network = GuardedNetwork(self._http.guard, trusted=self._trusted, listed_only=self._listed_only)
        self._pool = self._new_pool(self._idle_seconds)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._pool.aclose()

    async def request(
        self,
        method: str,
        url: str,
        *,
        params: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        form: Mapping[str, str] | None = None,
        content: bytes | None = None,
        seconds: float = 10.0,
        max_bytes: int = 1024 * 1024,
        truncate: bool = False,
    ) -> HttpResponse:
        """Send a request and return the answer, whatever its status.

        `params` are added to the URL's own; `form` is sent urlencoded, `content` as it is. `max_bytes` limits
        the content of the answer; with `truncate` a longer or compressed content is no error, and what was
        read of it is returned.

        Raises:
            Unreachable: no address, no connection, no response in time, or it is not HTTP.
            DeliveryRefused: the URL is invalid or not permitted, or the response is too large.
        """
        from motorpool.actors.http import requests  # noqa: PLC0415
        from motorpool.actors.http.guarded_network import KeptConnectionClosed  # noqa: PLC0415

        request = requests.build_request(method, url, params, headers, form, content)
        exchange = partial(
            requests.exchange,
            request=request,
            max_bytes=max_bytes,
            connect_seconds=self._connect_seconds,
            truncate=truncate,
        )
        try:
            with trio.fail_after(seconds):
                try:
                    return HttpResponse(*await exchange(self._pool))
                except KeptConnectionClosed:
                    # An idle connection may be closed at any time.
                    async with self._new_pool(0.0) as pool:
                        return HttpResponse(*await exchange(pool))
        except trio.TooSlowError:
            text = f"no answer within {seconds:g} s"
            raise Unreachable(text, cause="timeout", address=self._network.address) from None
        except Unreachable as error:
            error.address = error.address or self._network.address
            raise

    def _new_pool(self, idle_seconds: float | None) -> "AsyncConnectionPool":
        import httpcore  # noqa: PLC0415 - as httpx

        return httpcore.AsyncConnectionPool(
            self._http.tls,
            max_connections=None,
            keepalive_expiry=idle_seconds,
            network_backend=self._network,
        )
