"""HTTP requests: built by httpx from what a URL may be, sent by an httpcore pool, and read up to a limit."""

import ssl
from collections.abc import Mapping
from functools import cache
from typing import Self

import httpcore
import httpx
import trio

from motorpool.actors.http.errors import DeliveryRefused, Unreachable
from motorpool.actors.http.guarded_network import KeptConnectionClosed

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


class _Body:
    """The content of a request in one piece; a generator would be left unfinished by a cancellation."""

    def __init__(self, content: bytes) -> None:
        self._pieces = iter((content,))

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        for piece in self._pieces:
            return piece
        raise StopAsyncIteration


async def exchange(
    pool: httpcore.AsyncConnectionPool,
    request: httpx.Request,
    max_bytes: int,
    *,
    connect_seconds: float | None,
    truncate: bool,
) -> Answer:
    """Send the request on a connection of the pool, and return the answer.

    `connect_seconds` limits the connection to each address; None: no limit. With `truncate` the content of a
    large or compressed response is cut to `max_bytes`.

    Raises:
        KeptConnectionClosed: a connection of an earlier request brought no byte of an answer.
        Unreachable: no connection, or the answer is not HTTP.
        DeliveryRefused: the URL is not permitted, or the response is too large or compressed.
    """
    url = request.url
    sent = httpcore.Request(
        request.method,
        httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
        headers=request.headers.raw,
        content=_Body(request.content) if request.content else None,
        extensions={"timeout": {"connect": connect_seconds}},
    )
    try:
        response = await pool.handle_async_request(sent)
    except KeptConnectionClosed:
        raise
    except (httpcore.NetworkError, httpcore.ProtocolError):
        raise Unreachable(f"{url.host} broke off, or its answer is not HTTP", cause="connect") from None
    try:
        stream = response.extensions["network_stream"]
        if not stream.received:
            # It came with the answer before, so it is no answer to this request.
            raise KeptConnectionClosed
        headers = httpx.Headers(response.headers)
        content = bytearray()
        # Compression was not requested, and a small response could expand to any size.
        if headers.get("content-encoding", "identity").lower() != "identity" and not truncate:
            raise DeliveryRefused(f"{url.host} answered compressed, which was not asked for")
        try:
            with trio.CancelScope() as reading:
                async for piece in response.aiter_stream():
                    content += piece
                    if len(content) > max_bytes:
                        # Breaking out of the loop would leave its generators open; cancelling ends them.
                        reading.cancel()
        except (httpcore.NetworkError, httpcore.ProtocolError):
            raise Unreachable(
                f"{url.host} broke off, or its answer is not HTTP", cause="connect", address=stream.address
            ) from None
        if len(content) > max_bytes and not truncate:
            raise DeliveryRefused(f"{url.host} answered more than {max_bytes} bytes")
    finally:
        await response.aclose()
    return response.status, headers, bytes(content[:max_bytes]), stream.address
