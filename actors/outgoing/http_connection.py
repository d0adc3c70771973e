"""A connection that stays open for many small requests to one URL.

`OutgoingHttp` connects for each request, which costs eight times as much as a request on an open connection.
"""

from collections.abc import Mapping
from types import TracebackType
from typing import NamedTuple, Self

import h11
import trio

from motorpool.actors.outgoing.errors import Unreachable, root_cause
from motorpool.actors.outgoing.http import OutgoingHttp

__all__ = ["HttpConnection"]

READ_BYTES = 16 * 1024
MAX_RESPONSE_BYTES = 64 * 1024
"""A longer response closes the connection: its content is not needed."""


class _Endpoint(NamedTuple):
    target: bytes
    headers: list[tuple[bytes, bytes]]
    host: str
    port: int
    is_tls: bool


class HttpConnection:
    """Posts to one URL, one request at a time; connects when needed, to a permitted address only.

    Use it as an async context manager, which closes it.
    """

    def __init__(
        self, http: OutgoingHttp, url: str, headers: Mapping[str, str], *, trusted: bool = False
    ) -> None:
        """`headers` are sent with each request; `trusted` as of `OutgoingHttp.request`."""
        self._http = http
        self._url = url
        self._headers = headers
        self._trusted = trusted
        self._stream: trio.abc.Stream | None = None
        self._protocol = h11.Connection(h11.CLIENT)
        self._parsed: _Endpoint | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._close()

    async def post(self, content: bytes, *, seconds: float) -> int:
        """Send a request and return the status of the response; its content is ignored.

        A request on a connection that the server has closed meanwhile is sent once more on a new one.

        Raises:
            Unreachable: no address, no connection, no response within `seconds`, or it is not HTTP.
            DeliveryRefused: the URL is invalid or not permitted.
        """
        try:
            with trio.fail_after(seconds):
                if self._stream is not None:
                    try:
                        return await self._exchange(content)
                    except (trio.BrokenResourceError, trio.ClosedResourceError, h11.RemoteProtocolError):
                        # An idle connection may be closed at any time.
                        await self._close()
                await self._open()
                return await self._exchange(content)
        except trio.TooSlowError:
            await self._close()
            raise Unreachable(f"no answer within {seconds:g} s") from None
        except (OSError, trio.BrokenResourceError, h11.ProtocolError) as error:
            await self._close()
            raise Unreachable(root_cause(error)) from None
        except BaseException:
            await self._close()
            raise

    async def _open(self) -> None:
        endpoint = self._endpoint()
        host, port = endpoint.host, endpoint.port
        failure: Exception | None = None
        for address in await self._http.guard.resolve(host, port, trusted=self._trusted):
            stream: trio.abc.Stream
            try:
                stream = await trio.open_tcp_stream(address, port)
            except OSError as error:
                failure = error
                continue
            if endpoint.is_tls:
                tls = trio.SSLStream(stream, self._http.tls, server_hostname=host, https_compatible=True)
                try:
                    await tls.do_handshake()
                except BaseException:
                    await trio.aclose_forcefully(stream)
                    raise
                stream = tls
            self._stream = stream
            self._protocol = h11.Connection(h11.CLIENT)
            return
        raise Unreachable(f"cannot be connected to: {root_cause(failure) if failure else 'no address'}")

    async def _exchange(self, content: bytes) -> int:
        assert self._stream is not None
        endpoint = self._endpoint()
        protocol = self._protocol
        head = protocol.send(
            h11.Request(
                method=b"POST",
                target=endpoint.target,
                headers=[*endpoint.headers, (b"Content-Length", b"%d" % len(content))],
            )
        )
        body = protocol.send(h11.Data(data=content)) if content else b""
        end = protocol.send(h11.EndOfMessage())
        await self._stream.send_all((head or b"") + (body or b"") + (end or b""))
        status, received = 0, 0
        while True:
            event = protocol.next_event()
            if event is h11.NEED_DATA:
                protocol.receive_data(bytes(await self._stream.receive_some(READ_BYTES)))
            elif isinstance(event, h11.Response):
                status = event.status_code
            elif isinstance(event, h11.Data):
                received += len(event.data)
                if received > MAX_RESPONSE_BYTES:
                    await self._close()
                    return status
            elif isinstance(event, h11.EndOfMessage):
                break
            elif isinstance(event, h11.ConnectionClosed):
                raise h11.RemoteProtocolError("the connection was closed")
        if protocol.our_state is h11.DONE and protocol.their_state is h11.DONE:
            protocol.start_next_cycle()
        else:
            await self._close()
        return status

    def _endpoint(self) -> _Endpoint:
        if self._parsed is None:
            # As in OutgoingHttp.request: httpx is imported by the first request.
            from motorpool.actors.outgoing import http_exchange  # noqa: PLC0415

            request = http_exchange.build_request("POST", self._url, None, self._headers, None, b"")
            host, port = http_exchange.destination(request)
            headers = [each for each in request.headers.raw if each[0].lower() != b"content-length"]
            is_tls = request.url.scheme == "https"
            self._parsed = _Endpoint(request.url.raw_path, headers, host, port, is_tls)
        return self._parsed

    async def _close(self) -> None:
        stream, self._stream = self._stream, None
        if stream is not None:
            await trio.aclose_forcefully(stream)
