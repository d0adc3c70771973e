"""A connection that stays open for many small requests to one URL.

`OutgoingHttp` connects for each request, which costs eight times as much as a request on an open connection.
"""

import math
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import NamedTuple, Self

import h11
import trio

from motorpool.actors.http.errors import Cause, Unreachable, is_tls, root_cause
from motorpool.actors.http.http import HttpResponse, OutgoingHttp

READ_BYTES = 16 * 1024
MAX_RESPONSE_BYTES = 64 * 1024
"""A longer response of `post` closes the connection: its content is not needed."""
Headers = Sequence[tuple[bytes, bytes]]


class _Endpoint(NamedTuple):
    target: bytes
    headers: list[tuple[bytes, bytes]]
    host: str
    port: int
    is_tls: bool


class HttpConnection:
    """Posts to one URL, one request at a time; connects when needed, to a permitted address only.

    The address is checked at each connection. Use it as an async context manager, which closes it.
    """

    def __init__(
        self,
        http: OutgoingHttp,
        url: str,
        headers: Mapping[str, str],
        *,
        trusted: bool = False,
        listed_only: bool = False,
        connect_seconds: float | None = None,
    ) -> None:
        """`headers` are sent with each request; what else, as of `OutgoingHttp.request`."""
        self._http = http
        self._url = url
        self._headers = headers
        self._trusted = trusted
        self._listed_only = listed_only
        self._connect_seconds = connect_seconds
        self._stream: trio.abc.Stream | None = None
        self._address = ""
        """The IP address that was connected to."""
        self._has_response = False
        """Whether a byte of the response to the present request came."""
        self._protocol = h11.Connection(h11.CLIENT)
        self._parsed: _Endpoint | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    @property
    def is_open(self) -> bool:
        """Whether there is a connection, as far as is known."""
        return self._stream is not None

    async def post(self, content: bytes, *, seconds: float) -> int:
        """Send a request and return the status of the response; its content is ignored.

        Raises as `request`.
        """
        return (await self.request(content, seconds=seconds, max_bytes=MAX_RESPONSE_BYTES)).status

    async def request(
        self, content: bytes, *, seconds: float, headers: Headers = (), max_bytes: int
    ) -> HttpResponse:
        """Send a request, with further headers, and return the response, cut to `max_bytes`.

        A request on a connection that the server has closed meanwhile, without a byte of a response, is sent
        once more on a new one: so the server may receive it twice.

        Raises:
            Unreachable: no address, no connection, no response within `seconds`, or it is not HTTP.
            DeliveryRefused: the URL is invalid or not permitted.
        """
        self._address = self._address if self._stream is not None else ""
        try:
            with trio.fail_after(seconds):
                if self._is_closed_by_server():
                    await self.aclose()
                if self._stream is not None:
                    try:
                        return await self._exchange(content, headers, max_bytes)
                    except (trio.BrokenResourceError, trio.ClosedResourceError, h11.RemoteProtocolError):
                        # An idle connection may be closed at any time.
                        await self.aclose()
                        if self._has_response:
                            raise
                await self._open()
                return await self._exchange(content, headers, max_bytes)
        except trio.TooSlowError:
            await self.aclose()
            raise Unreachable(
                f"no answer within {seconds:g} s", cause="timeout", address=self._address
            ) from None
        except (OSError, trio.BrokenResourceError, trio.ClosedResourceError, h11.ProtocolError) as error:
            await self.aclose()
            raise Unreachable(root_cause(error), cause="connect", address=self._address) from None
        except BaseException:
            await self.aclose()
            raise

    def _is_closed_by_server(self) -> bool:
        """Whether an idle connection has something to read: its end, or what is no response to a request."""
        stream = self._stream
        if isinstance(stream, trio.SSLStream):
            stream = stream.transport_stream
        return isinstance(stream, trio.SocketStream) and stream.socket.is_readable()

    async def _open(self) -> None:
        endpoint = self._endpoint()
        host, port = endpoint.host, endpoint.port
        failure: Unreachable | None = None
        self._address = ""
        for address in await self._http.guard.resolve(
            host, port, trusted=self._trusted, listed_only=self._listed_only
        ):
            seconds = math.inf if self._connect_seconds is None else self._connect_seconds
            try:
                with trio.fail_after(seconds):
                    self._stream = await self._connected(endpoint, address)
            except trio.TooSlowError:
                text = f"{host} cannot be connected to within {seconds:g} s"
                failure = Unreachable(text, cause="timeout", address=address)
            except (OSError, trio.BrokenResourceError) as error:
                text = root_cause(error)
                cause: Cause = "tls" if is_tls(error) else "connect"
                failure = Unreachable(f"{host} cannot be connected to: {text}", cause=cause, address=address)
            else:
                self._address = address
                self._protocol = h11.Connection(h11.CLIENT)
                return
        assert failure is not None
        raise failure

    async def _connected(self, endpoint: _Endpoint, address: str) -> trio.abc.Stream:
        stream = await trio.open_tcp_stream(address, endpoint.port)
        if not endpoint.is_tls:
            return stream
        # The certificate is verified against the name, not against the address.
        tls = trio.SSLStream(stream, self._http.tls, server_hostname=endpoint.host, https_compatible=True)
        try:
            await tls.do_handshake()
        except BaseException:
            await trio.aclose_forcefully(stream)
            raise
        return tls

    async def _exchange(self, content: bytes, headers: Headers, max_bytes: int) -> HttpResponse:
        assert self._stream is not None
        self._has_response = False
        endpoint = self._endpoint()
        protocol = self._protocol
        length = (b"Content-Length", b"%d" % len(content))
        head = protocol.send(
            h11.Request(method=b"POST", target=endpoint.target, headers=[*endpoint.headers, *headers, length])
        )
        body = protocol.send(h11.Data(data=content)) if content else b""
        end = protocol.send(h11.EndOfMessage())
        await self._stream.send_all((head or b"") + (body or b"") + (end or b""))
        response: h11.Response | None = None
        received = b""
        while True:
            event = protocol.next_event()
            if event is h11.NEED_DATA:
                data = bytes(await self._stream.receive_some(READ_BYTES))
                self._has_response = self._has_response or bool(data)
                protocol.receive_data(data)
            elif isinstance(event, h11.Response):
                response = event
            elif isinstance(event, h11.Data):
                received += event.data
                if len(received) > max_bytes:
                    break
            elif isinstance(event, h11.EndOfMessage):
                break
            elif isinstance(event, h11.ConnectionClosed):
                raise h11.RemoteProtocolError("the connection was closed")
        assert response is not None
        is_done = protocol.our_state is h11.DONE and protocol.their_state is h11.DONE
        # What follows a response would be taken for that to the next request.
        if is_done and not protocol.trailing_data[0]:
            protocol.start_next_cycle()
        else:
            await self.aclose()
        answered = {name.decode("ascii"): value.decode("latin-1") for name, value in response.headers}
        return HttpResponse(response.status_code, answered, received[:max_bytes], self._address)

    def _endpoint(self) -> _Endpoint:
        if self._parsed is None:
            # As in OutgoingHttp.request: httpx is imported by the first request.
            from motorpool.actors.http import http_exchange  # noqa: PLC0415

            request = http_exchange.build_request("POST", self._url, None, self._headers, None, b"")
            host, port = http_exchange.destination(request)
            headers = [each for each in request.headers.raw if each[0].lower() != b"content-length"]
            is_tls = request.url.scheme == "https"
            self._parsed = _Endpoint(request.url.raw_path, headers, host, port, is_tls)
        return self._parsed

    async def aclose(self) -> None:
        """Close the connection, if there is one; the next request makes a new one."""
        stream, self._stream = self._stream, None
        if stream is not None:
            await trio.aclose_forcefully(stream)
