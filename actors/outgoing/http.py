"""HTTP requests to the outside, each with a deadline, a bound, and a check of where it goes."""

import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import httpx
import msgspec
import trio

from motorpool.actors.outgoing.errors import DeliveryRefused, OutgoingError, Unreachable, innermost
from motorpool.actors.outgoing.guard import AddressGuard

__all__ = ["HttpAnswer", "OutgoingHttp"]

AGENT = "motorpool"
DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class HttpAnswer:
    """What came back, whole."""

    status: int
    headers: httpx.Headers
    content: bytes

    @property
    def ok(self) -> bool:
        """2xx."""
        return 200 <= self.status < 300

    def json(self) -> object:
        """The content as JSON; DeliveryRefused where it is none."""
        try:
            return msgspec.json.decode(self.content)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            raise DeliveryRefused("the answer is no JSON") from None


class OutgoingHttp:
    """A client that goes only where it may.

    Addresses in private networks, of this machine, link-local, multicast and the like are refused, unless
    `allow` names their network or the request is `trusted`: its URL stands in the operator's own settings
    (an SMS modem, a geocoder or an OpenID provider in the house). The address that was checked is the one
    connected to, and TLS is verified against the name. Redirects are never followed; they are answers.
    Each request has a connection of its own: nothing is kept open, nothing has to be closed.
    """

    def __init__(
        self, allow: tuple[str, ...] = (), *, at_once: int = 20, tls: ssl.SSLContext | None = None
    ) -> None:
        self.guard = AddressGuard(allow)
        # Apart: users may name servers that answer nobody.
        self._slots = {trusted: trio.Semaphore(at_once) for trusted in (False, True)}
        self._given_tls = tls

    @cached_property
    def tls(self) -> ssl.SSLContext:
        """What certificates are checked against: certifi's list, or what SSL_CERT_FILE names."""
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
        most_bytes: int = 1024 * 1024,
    ) -> HttpAnswer:
        """Send a request and return the answer, whatever its status.

        `params` are added to the URL's own; `form` is sent urlencoded, `content` as it is. `seconds` is for
        all of it, waiting for a place among the requests at once included.

        Raises:
            Unreachable: no address, no connection, no answer in time, or none that is HTTP.
            DeliveryRefused: the URL is none, leads where it may not, or the answer is too large.
        """
        made = _request(method, url, params, headers, form, content)
        host = made.url.host
        try:
            with trio.fail_after(seconds):
                async with self._slots[trusted]:
                    return await self._send(made, host, most_bytes, trusted=trusted)
        except trio.TooSlowError:
            raise Unreachable(f"{host} gave no answer within {seconds:g} s") from None

    async def _send(self, made: httpx.Request, host: str, most_bytes: int, *, trusted: bool) -> HttpAnswer:
        port = made.url.port or DEFAULT_PORTS[made.url.scheme]
        named = made.url
        failure: OutgoingError | None = None
        for address in await self.guard.resolve(host, port, trusted=trusted):
            made.url = named.copy_with(host=address)
            # The certificate must be the name's, whatever address it was found at.
            made.extensions["sni_hostname"] = named.raw_host.decode("ascii")
            try:
                async with httpx.AsyncHTTPTransport(
                    verify=self.tls, trust_env=False, limits=httpx.Limits(max_keepalive_connections=0)
                ) as transport:
                    return await _exchange(transport, made, host, most_bytes)
            except httpx.ConnectError as error:
                failure = Unreachable(f"{host} cannot be connected to: {innermost(error)}")
            except (httpx.TransportError, httpx.InvalidURL):
                raise Unreachable(f"{host} broke off, or its answer is no HTTP") from None
        assert failure is not None
        raise failure


async def _exchange(
    transport: httpx.AsyncHTTPTransport, made: httpx.Request, host: str, most_bytes: int
) -> HttpAnswer:
    response = await transport.handle_async_request(made)
    try:
        # Not asked for, and small packets can unfold to any size.
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            raise DeliveryRefused(f"{host} answered compressed, which was not asked for")
        content = bytearray()
        with trio.CancelScope() as reading:
            async for piece in response.aiter_raw():
                content += piece
                if len(content) > most_bytes:
                    # To leave the loop would leave its generators behind; this ends them from inside.
                    reading.cancel()
        if len(content) > most_bytes:
            raise DeliveryRefused(f"{host} answered more than {most_bytes} bytes")
    finally:
        await response.aclose()
    return HttpAnswer(response.status_code, response.headers, bytes(content))


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
        sent = {"User-Agent": AGENT, "Accept": "*/*", **(headers or {}), "Accept-Encoding": "identity"}
        made = httpx.Request(method, parsed, headers=sent, data=dict(form) if form else None, content=content)
    except (httpx.InvalidURL, ValueError, UnicodeError):
        # The URL itself may hold a key.
        raise DeliveryRefused("this is no URL, or a header cannot be sent", permanent=True) from None
    if made.url.scheme not in DEFAULT_PORTS or not made.url.host:
        raise DeliveryRefused("the URL is not http:// or https:// with a host", permanent=True)
    if made.url.userinfo:
        raise DeliveryRefused("the URL holds a user name or password", permanent=True)
    return made
