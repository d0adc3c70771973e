"""One HTTP request and its response with httpx: built, sent to given addresses, and read up to a limit."""

import ssl
from collections.abc import Iterable, Mapping
from functools import cache

import httpx
import trio

from motorpool.actors.http.errors import DeliveryRefused, OutgoingError, Unreachable, is_tls, root_cause

USER_AGENT = "motorpool"
DEFAULT_PORTS = {"http": 80, "https": 443}

Answer = tuple[int, Mapping[str, str], bytes, str]
"""Status, headers, content, and the address that answered."""


@cache
def default_tls() -> ssl.SSLContext:
    """Return the context that trusts the certificates of certifi, or of SSL_CERT_FILE; they are read once."""
    return httpx.create_ssl_context()


def build_request(
    method: str,
    url: str,
    params: Mapping[str, str] | None,
    headers: Mapping[str, str] | None,
    form: Mapping[str, str] | None,
    content: bytes | None,
) -> httpx.Request:
    """Return a request with `params` added to the URL's own, `form` urlencoded or `content` as it is.

    Raises DeliveryRefused where the URL is not one that may be requested.
    """
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


def destination(request: httpx.Request) -> tuple[str, int]:
    """Return the host and the port of the request's URL."""
    return request.url.host, request.url.port or DEFAULT_PORTS[request.url.scheme]


async def send(
    request: httpx.Request,
    addresses: Iterable[str],
    tls: ssl.SSLContext,
    max_bytes: int,
    *,
    connect_seconds: float | None = None,
    truncate: bool = False,
) -> Answer:
    """Send the request to the first of the addresses that accepts a connection.

    Each has `connect_seconds` for that, None any time. With `truncate` the content of a large or compressed
    response is cut to `max_bytes`.

    Raises Unreachable, or DeliveryRefused where the response is too large or compressed.
    """
    named = request.url
    failure: OutgoingError | None = None
    if connect_seconds is not None:
        request.extensions["timeout"] = {"connect": connect_seconds}
    for address in addresses:
        request.url = named.copy_with(host=address)
        # The certificate is verified against the name, not against the address.
        request.extensions["sni_hostname"] = named.raw_host.decode("ascii")
        try:
            async with httpx.AsyncHTTPTransport(
                verify=tls, trust_env=False, limits=httpx.Limits(max_keepalive_connections=0)
            ) as transport:
                answer = await _exchange(transport, request, named.host, max_bytes, truncate=truncate)
                return (*answer, address)
        except httpx.ConnectError as error:
            failure = Unreachable(
                f"{named.host} cannot be connected to: {root_cause(error)}",
                cause="tls" if is_tls(error) else "connect",
                address=address,
            )
        except httpx.ConnectTimeout:
            failure = Unreachable(
                f"{named.host} cannot be connected to within {connect_seconds:g} s",
                cause="timeout",
                address=address,
            )
        except (httpx.TransportError, httpx.InvalidURL):
            raise Unreachable(
                f"{named.host} broke off, or its answer is not HTTP", cause="connect", address=address
            ) from None
    assert failure is not None
    raise failure


async def _exchange(
    transport: httpx.AsyncHTTPTransport,
    request: httpx.Request,
    host: str,
    max_bytes: int,
    *,
    truncate: bool,
) -> tuple[int, Mapping[str, str], bytes]:
    response = await transport.handle_async_request(request)
    try:
        # Compression was not requested, and a small response could expand to any size.
        encoding = response.headers.get("content-encoding", "identity").lower()
        if encoding != "identity" and not truncate:
            raise DeliveryRefused(f"{host} answered compressed, which was not asked for")
        content = bytearray()
        with trio.CancelScope() as reading:
            async for piece in response.aiter_raw():
                content += piece
                if len(content) > max_bytes:
                    # Breaking out of the loop would leave its generators open; cancelling ends them.
                    reading.cancel()
        if len(content) > max_bytes and not truncate:
            raise DeliveryRefused(f"{host} answered more than {max_bytes} bytes")
    finally:
        await response.aclose()
    return response.status_code, response.headers, bytes(content[:max_bytes])
