"""Requests over an httpcore pool whose connections stay open; httpx builds them and checks their URLs."""

import ssl
from collections.abc import Mapping
from contextlib import nullcontext
from functools import cache
from types import TracebackType
from typing import Self

import httpcore
import httpx
import trio

from motorpool.actors.http.errors import DeliveryRefused, Unreachable
from motorpool.actors.http.guarded_network import PROGRESS, GuardedNetwork, Progress
from motorpool.actors.http.response import HttpResponse

USER_AGENT = "motorpool"
_BROKEN = (httpcore.NetworkError, httpcore.ProtocolError)


@cache
def default_tls() -> ssl.SSLContext:
    """Return the context that trusts the certificates of certifi, or of SSL_CERT_FILE; they are read once."""
    return httpx.create_ssl_context()


class HttpSession:
    """Requests whose connections stay open, each for one request at a time; an async context manager.

    A request on a connection that was open is sent once more, on a new one, where the connection is closed
    without a byte of an answer: the server may receive it twice.
    """

    def __init__(
        self,
        network: GuardedNetwork,
        tls: ssl.SSLContext,
        connect_seconds: float | None,
        idle_seconds: float | None,
        slots: trio.Semaphore | None,
    ) -> None:
        """As `OutgoingHttp.session`."""
        self._network = network
        self._tls = tls
        self._timeouts = {"connect": connect_seconds}
        self._slots = slots or nullcontext()
        self._pool = self._new_pool(idle_seconds)

    def _new_pool(self, idle_seconds: float | None) -> httpcore.AsyncConnectionPool:
        return httpcore.AsyncConnectionPool(
            self._tls, max_connections=None, keepalive_expiry=idle_seconds, network_backend=self._network
        )

    async def __aenter__(self) -> Self:
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
        request = _build_request(method, url, params, headers, form, content)
        host = request.url.host
        progress = Progress(host)
        PROGRESS.set(progress)
        try:
            with trio.fail_after(seconds):
                async with self._slots:
                    try:
                        return await self._exchange(
                            self._pool, request, progress, max_bytes, truncate=truncate
                        )
                    except _BROKEN:
                        # The server may close a connection that is kept at any time.
                        if not progress.is_kept or progress.received:
                            raise
                    async with self._new_pool(0.0) as pool:
                        return await self._exchange(pool, request, progress, max_bytes, truncate=truncate)
        except trio.TooSlowError:
            text = f"{host} gave no answer within {seconds:g} s"
            raise Unreachable(text, cause="timeout", address=progress.address) from None
        except _BROKEN:
            text = f"{host} broke off, or its answer is not HTTP"
            raise Unreachable(text, cause="connect", address=progress.address) from None

    async def _exchange(
        self,
        pool: httpcore.AsyncConnectionPool,
        request: httpx.Request,
        progress: Progress,
        max_bytes: int,
        *,
        truncate: bool,
    ) -> HttpResponse:
        url = request.url
        sent = httpcore.Request(
            request.method,
            httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
            headers=request.headers.raw,
            content=_Body(request.content) if request.content else None,
            extensions={"timeout": self._timeouts},
        )
        response = await pool.handle_async_request(sent)
        try:
            if not progress.received:
                raise httpcore.RemoteProtocolError("this came with the answer to the request before")
            headers = httpx.Headers(response.headers)
            # Compression was not requested, and a small response could expand to any size.
            if headers.get("content-encoding", "identity").lower() != "identity" and not truncate:
                raise DeliveryRefused(f"{url.host} answered compressed, which was not asked for")
            content = bytearray()
            with trio.CancelScope() as reading:
                async for piece in response.aiter_stream():
                    content += piece
                    if len(content) > max_bytes:
                        # Breaking out of the loop would leave its generators open; cancelling ends them.
                        reading.cancel()
            if not progress.is_end(content, is_chunked="transfer-encoding" in headers):
                # What came with it would be taken for the answer to the next request.
                response.extensions["network_stream"].is_spent = True
            if len(content) > max_bytes and not truncate:
                raise DeliveryRefused(f"{url.host} answered more than {max_bytes} bytes")
        finally:
            await response.aclose()
        return HttpResponse(response.status, headers, bytes(content[:max_bytes]), progress.address)


class _Body:
    """The content of a request in one piece; a generator would be left unfinished by a cancellation."""

    def __init__(self, content: bytes) -> None:
        self._left = [content]

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        if not self._left:
            raise StopAsyncIteration
        return self._left.pop()


def _build_request(
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
    if request.url.scheme not in ("http", "https") or not request.url.host:
        raise DeliveryRefused("the URL is not http:// or https:// with a host", permanent=True)
    if request.url.userinfo:
        raise DeliveryRefused("the URL holds a user name or password", permanent=True)
    return request
