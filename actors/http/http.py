"""Outgoing HTTP requests, each with a deadline, a limit of the response, and a check of the address."""

import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import msgspec
import trio

from motorpool.actors.http.address_guard import AddressGuard, OwnServer
from motorpool.actors.http.errors import DeliveryRefused, Unreachable


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
    was checked, and TLS is verified against the name. Redirects are returned, not followed. Each request has
    a connection of its own: nothing is kept open, nothing must be closed. HttpConnection keeps one open.
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
        """The trusted certificates: those of certifi, or of SSL_CERT_FILE."""
        if self._given_tls is not None:
            return self._given_tls
        from motorpool.actors.http import http_exchange  # noqa: PLC0415 - as in request()

        return http_exchange.default_tls()

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
        """Send a request and return the answer, whatever its status.

        `params` are added to the URL's own; `form` is sent urlencoded, `content` as it is. `seconds`
        includes the wait for one of the `max_concurrent` slots; `connect_seconds`, if given, limits the
        connection to each address; `max_bytes` limits the content. With `truncate` a longer or compressed
        content is no error, and what was read of it is returned. `listed_only` as for `AddressGuard.resolve`.

        Raises:
            Unreachable: no address, no connection, no response in time, or it is not HTTP.
            DeliveryRefused: the URL is invalid or not permitted, or the response is too large.
        """
        # Not before it is needed: httpx is a tenth of what a start of the server imports, because of its
        # command line, and most servers send no request.
        from motorpool.actors.http import http_exchange  # noqa: PLC0415

        request = http_exchange.build_request(method, url, params, headers, form, content)
        host, port = http_exchange.destination(request)
        try:
            with trio.fail_after(seconds):
                async with self.slots[trusted]:
                    addresses = await self.guard.resolve(host, port, trusted=trusted, listed_only=listed_only)
                    answer = await http_exchange.send(
                        request,
                        addresses,
                        self.tls,
                        max_bytes,
                        connect_seconds=connect_seconds,
                        truncate=truncate,
                    )
                    return HttpResponse(*answer)
        except trio.TooSlowError:
            raise Unreachable(f"{host} gave no answer within {seconds:g} s", cause="timeout") from None
