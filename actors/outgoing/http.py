"""Outgoing HTTP requests, each with a deadline, a limit of the response, and a check of the address."""

import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import httpx
import msgspec
import trio

from motorpool.actors.outgoing.errors import DeliveryRefused, OutgoingError, Unreachable, root_cause
from motorpool.actors.outgoing.guard import AddressGuard

__all__ = ["HttpResponse", "OutgoingHttp"]

USER_AGENT = "motorpool"
DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class HttpResponse:
    """A response with its whole content."""

    status: int
    headers: httpx.Headers
    content: bytes

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
    a connection of its own: nothing is kept open, nothing must be closed.
    """

    def __init__(
        self, allow: tuple[str, ...] = (), *, max_concurrent: int = 20, tls: ssl.SSLContext | None = None
    ) -> None:
        self.guard = AddressGuard(allow)
        # Separate, because users may name servers that never respond.
        self._slots = {trusted: trio.Semaphore(max_concurrent) for trusted in (False, True)}
        self._given_tls = tls

    @cached_property
    def tls(self) -> ssl.SSLContext:
        """The trusted certificates: those of certifi, or of SSL_CERT_FILE."""
        return self._given_tls or httpx.create_ssl_context()

    async def request(
        self,
        method: str,
        url: str,
        *,
        trusted: bool = False,
        params: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        form: Mapping[str, str] | None = None,
        content: bytes | None = None,
        seconds: float = 10.0,
        max_bytes: int = 1024 * 1024,
    ) -> HttpResponse:
        """Send a request and return the answer, whatever its status.

        `params` are added to the URL's own; `form` is sent urlencoded, `content` as it is. `seconds`
        includes the wait for one of the `max_concurrent` slots; `max_bytes` limits the content.

        Raises:
            Unreachable: no address, no connection, no response in time, or it is not HTTP.
            DeliveryRefused: the URL is invalid or not permitted, or the response is too large.
        """
        request = _request(method, url, params, headers, form, content)
        host = request.url.host
        try:
            with trio.fail_after(seconds):
                async with self._slots[trusted]:
                    return await self._send(request, host, max_bytes, trusted=trusted)
        except trio.TooSlowError:
            raise Unreachable(f"{host} gave no answer within {seconds:g} s") from None

    async def _send(
        self, request: httpx.Request, host: str, max_bytes: int, *, trusted: bool
    ) -> HttpResponse:
        port = request.url.port or DEFAULT_PORTS[request.url.scheme]
        named = request.url
        failure: OutgoingError | None = None
        for address in await self.guard.resolve(host, port, trusted=trusted):
            request.url = named.copy_with(host=address)
            # The certificate is verified against the name, not against the address.
            request.extensions["sni_hostname"] = named.raw_host.decode("ascii")
            try:
                async with httpx.AsyncHTTPTransport(
                    verify=self.tls, trust_env=False, limits=httpx.Limits(max_keepalive_connections=0)
                ) as transport:
                    return await _exchange(transport, request, host, max_bytes)
            except httpx.ConnectError as error:
                failure = Unreachable(f"{host} cannot be connected to: {root_cause(error)}")
            except (httpx.TransportError, httpx.InvalidURL):
                raise Unreachable(f"{host} broke off, or its answer is not HTTP") from None
        assert failure is not None
        raise failure


async def _exchange(
    transport: httpx.AsyncHTTPTransport, request: httpx.Request, host: str, max_bytes: int
) -> HttpResponse:
    response = await transport.handle_async_request(request)
    try:
        # Compression was not requested, and a small response could expand to any size.
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            raise DeliveryRefused(f"{host} answered compressed, which was not asked for")
        content = bytearray()
        with trio.CancelScope() as reading:
            async for piece in response.aiter_raw():
                content += piece
                if len(content) > max_bytes:
                    # Breaking out of the loop would leave its generators open; cancelling ends them.
                    reading.cancel()
        if len(content) > max_bytes:
            raise DeliveryRefused(f"{host} answered more than {max_bytes} bytes")
    finally:
        await response.aclose()
    return HttpResponse(response.status_code, response.headers, bytes(content))


def _request(
    method: str,
    url: str,
    params: Mapping[str, str] | None,
    headers: Mapping[str, str] | None,
    form: Mapping[str, str] | None,
    content: bytes | None,
) -> httpx.Request:
    try:
        parsed = httpx.URL(url)
        if params:
            parsed = parsed.copy_merge_params(dict(params))
        sent = {"User-Agent": USER_AGENT, "Accept": "*/*", **(headers or {}), "Accept-Encoding": "identity"}
        request = httpx.Request(
            method, parsed, headers=sent, data=dict(form) if form else None, content=content
        )
    except (httpx.InvalidURL, ValueError, UnicodeError):
        # The URL may contain a key, so it is not part of the text.
        raise DeliveryRefused("this is not a URL, or a header cannot be sent", permanent=True) from None
    if request.url.scheme not in DEFAULT_PORTS or not request.url.host:
        raise DeliveryRefused("the URL is not http:// or https:// with a host", permanent=True)
    if request.url.userinfo:
        raise DeliveryRefused("the URL holds a user name or password", permanent=True)
    return request
