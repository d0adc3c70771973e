"""Hypercorn's connection for HTTP/1.1 alone, with less overhead for each request, which dominates the cost of
short answers.

Hypercorn itself changes to HTTP/2 on a plain connection whenever a client asks for it, and then waits without
a limit for clients that grant no window (docs/decisions/0132).
"""

import re
import zlib
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from math import inf
from time import perf_counter
from typing import Any, cast
from urllib.parse import unquote

import h11
import trio
from h11._receivebuffer import ReceiveBuffer
from hypercorn.config import Config
from hypercorn.events import Closed, Event, RawData, Updated
from hypercorn.protocol import ws_stream
from hypercorn.protocol.h11 import STREAM_ID, H11Protocol
from hypercorn.protocol.http_stream import HTTPStream
from hypercorn.protocol.ws_stream import WSStream
from hypercorn.trio.task_group import TaskGroup
from hypercorn.trio.task_group import _handle as serve_request
from hypercorn.trio.tcp_server import TCPServer
from hypercorn.trio.worker_context import WorkerContext
from hypercorn.typing import (
    AppWrapper,
    ASGIReceiveEvent,
    ASGISendEvent,
    ConnectionState,
    HTTPResponseStartEvent,
    HTTPScope,
    Scope,
)
from hypercorn.utils import parse_socket_addr
from wsproto.extensions import PerMessageDeflate
from wsproto.frame_protocol import CloseReason, FrameDecoder, FrameProtocol

from motorpool.api.http.connection_timer import ConnectionTimer
from motorpool.api.http.fast_path import FirstWait, Head, read_head, write_head
from motorpool.api.http.listening_sockets import AbortableStream
from motorpool.api.http.origins import path_of
from motorpool.api.http.time_slices import TimeSlices

_HEAD_START = b"HTTP/1.1 2"
"""First bytes of a head that is always followed by a body or an end of the answer."""
_VERSIONS = (b"1.1", b"1.0")
_WRONG_LINE = re.compile(rb"(?<!\r)\n|\n[ \t]")
"""A line that ends without a CR, or one that begins with a space and so continues the line before."""
_BAD_REQUEST, _VERSION_NOT_SUPPORTED = 400, 505
_INFLATED_BYTES = 16 * 1024
"""What one read of a compressed message of a WebSocket is inflated to."""
_RECEIVE_BYTES = 16 * 1024
"""Bytes of one read; what a client sends ahead stays in the operating system's buffer."""
_COPIED_BYTES = 64 * 1024
"""A longer body is not copied behind its head to send both in one call."""
_LINGER_SECONDS = 1.0
"""How much longer a client may send that is refused while it sends its body: if the connection were closed at
once, it would be reset, and the client might never read why. A proxy would answer 502, and might take the
server for one that fails."""
_LINGER_BYTES = 1 << 20
"""How much of the body is read in this time; the rest waits in the socket."""


_SCOPE_KEY = "motorpool.disconnect"


def disconnect_scope(scope: Scope) -> trio.CancelScope:
    """Return the cancel scope of a request, which is cancelled when the client disconnects.

    It may be entered once, and not around the end of the answer: Hypercorn reports that as a disconnection.
    """
    found: trio.CancelScope | None = cast("dict[str, Any]", scope).get(_SCOPE_KEY)
    return trio.CancelScope() if found is None else found


class _RequestTasks(TaskGroup):
    """Starts a connection's requests, and cancels the scope of one when its client disconnects."""

    async def spawn_app(
        self,
        app: AppWrapper,
        config: Config,
        scope: Scope,
        send: Callable[[ASGISendEvent | None], Awaitable[None]],
    ) -> Callable[[ASGIReceiveEvent], Awaitable[None]]:
        """Start a request; return the function that takes what its client sends."""
        events, receiver = trio.open_memory_channel[ASGIReceiveEvent](config.max_app_queue_size)
        connected = cast("dict[str, Any]", scope)[_SCOPE_KEY] = trio.CancelScope()
        threads = trio.to_thread.run_sync, trio.from_thread.run
        self.spawn(serve_request, app, config, scope, receiver.receive, send, *threads)

        async def put(event: ASGIReceiveEvent) -> None:
            if event["type"] == "http.disconnect":
                connected.cancel()
            try:
                events.send_nowait(event)  # without a pass of Trio's loop
            except trio.WouldBlock:
                await events.send(event)

        return put


class ConnectionConfig(Config):
    """Hypercorn's configuration, and what it lacks."""

    head_timeout = 20.0
    """Seconds from the first byte of a request to the end of its headers."""

    def __init__(self) -> None:
        super().__init__()
        self.slices = TimeSlices()
        """Shared by all connections."""
        self._added_headers: list[tuple[bytes, bytes]] = []
        self._added_until = -inf

    def response_headers(self, protocol: str) -> list[tuple[bytes, bytes]]:
        """Return the headers that are added to each answer, Date among them, as they were within a second."""
        now = perf_counter()
        if now >= self._added_until:
            self._added_headers, self._added_until = super().response_headers(protocol), now + 1
        return self._added_headers


class _Refused(Exception):
    """A request that is answered with a status, and after which the connection is closed."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class _StrictLines(ReceiveBuffer):
    """Takes no LF without a CR for the end of a line, and no line for a part of the one before, as h11 does.

    A proxy in front that reads them otherwise would see other requests in the same bytes (RFC 9112, sections
    2.2 and 5.2).
    """

    def maybe_extract_lines(self) -> list[bytearray] | None:
        """Return the lines up to the first empty one: the head of a request, or the trailers of its body.

        Raises:
            LocalProtocolError: A line ends without a CR, or continues another.
        """
        before = bytes(self)
        lines = super().maybe_extract_lines()
        if lines is not None and _WRONG_LINE.search(before, 0, len(before) - len(self)):
            raise h11.LocalProtocolError("a line ends without a CR, or continues another")
        return lines


class _BoundedDeflate(PerMessageDeflate):
    """Inflates a few KiB of a message at once: what a client sends may stand for a thousand times as much."""

    def frame_inbound_payload_data(
        self, proto: FrameDecoder | FrameProtocol, data: bytes
    ) -> bytes | CloseReason:
        """Return the next piece of a message, or why the connection ends."""
        if not (self._inbound_compressed and self._inbound_is_compressible and self._decompressor):
            return super().frame_inbound_payload_data(proto, data)
        try:
            inflated = self._decompressor.decompress(bytes(data), _INFLATED_BYTES)
        except zlib.error:
            return CloseReason.INVALID_FRAME_PAYLOAD_DATA
        return CloseReason.MESSAGE_TOO_BIG if self._decompressor.unconsumed_tail else inflated


# Hypercorn makes the extension itself, and has no setting for it.
ws_stream.PerMessageDeflate = _BoundedDeflate  # type: ignore[attr-defined]


class Http1Protocol(H11Protocol):
    """Reads and writes HTTP/1.1. An offer to upgrade to HTTP/2 is ignored (RFC 9110, section 7.8)."""

    def __init__(self, *arguments: Any) -> None:  # noqa: ANN401 - as the class above has them
        super().__init__(*arguments)
        self.connection._receive_buffer = _StrictLines()  # type: ignore[union-attr]  # of h11
        self._has_refused = False

    async def handle(self, event: Event) -> None:
        """Handle bytes, or the end of the connection."""
        if self._has_refused and isinstance(event, RawData):
            return
        try:
            await super().handle(event)
        except _Refused as refused:
            await self._send_error_response(refused.status)
            self._refuse()
        if not isinstance(self.stream, WSStream):
            return
        if self.stream.closed:
            # Hypercorn has answered a wrong handshake, and would keep connection and application.
            self.stream.closed = False
            await self.send(Closed())
        elif self.stream.buffer.length > self.stream.buffer.max_length:
            # Hypercorn has told the client that its message is too long, and would keep the rest of it.
            self._refuse()

    def read_head(self, data: bytes) -> Head | None:
        """Read a request that may be answered without h11; None where h11 is to handle the bytes."""
        connection = self.connection
        if (
            self.stream is not None
            or self._has_refused
            or not isinstance(connection, h11.Connection)
            or connection.our_state is not h11.IDLE
            or connection.their_state is not h11.IDLE
            or len(connection._receive_buffer)  # the beginning of a request
            or self.keep_alive_requests + 1 >= self.config.keep_alive_max_requests
            or self.context.terminated.is_set()
        ):
            return None
        return read_head(data)

    def scope_of(self, head: Head) -> HTTPScope:
        """Return the scope of a request, as Hypercorn makes it."""
        path, _, query_string = head.target.partition(b"?")
        return {
            "type": "http",
            "http_version": "1.1",
            "asgi": {"spec_version": "2.1", "version": "3.0"},
            "method": "GET",
            "scheme": "https" if self.ssl else "http",
            "path": unquote(path.decode("ascii")),
            "raw_path": path,
            "query_string": query_string,
            "root_path": self.config.root_path,
            "headers": head.headers,
            "client": self.client,
            "server": self.server,
            "state": self.connection_state.copy(),  # type: ignore[typeddict-item]  # as Hypercorn has it
            "extensions": {},
        }

    def take_over(self, data: bytes, scope: HTTPScope, put: Callable[[ASGIReceiveEvent], Any]) -> HTTPStream:
        """Have Hypercorn answer a request of these bytes, which is being served, as if h11 had read it."""
        self.connection.receive_data(data)
        while self.connection.next_event() is not h11.NEED_DATA:
            pass  # the request and its end
        self.keep_alive_requests += 1
        self.stream = stream = HTTPStream(
            self.app,
            self.config,
            self.context,
            self.task_group,
            self.ssl,
            self.client,
            self.server,
            self.stream_send,
            STREAM_ID,
        )
        # The start is for a log of requests, which there is none of.
        stream.scope, stream.start_time, stream.app_put = scope, 0.0, put
        return stream

    def _refuse(self) -> None:
        """Handle no more bytes, and close the connection.

        In a task of its own, so that what the client still sends is read meanwhile.
        """
        self._has_refused = True
        self.task_group.spawn(self.send, Closed())

    async def _check_protocol(self, event: h11.Request) -> None:
        if event.http_version not in _VERSIONS:
            raise _Refused(_VERSION_NOT_SUPPORTED)
        names = {name for name, _ in event.headers}
        if b"transfer-encoding" in names and b"content-length" in names:
            # Who of those in front of us took the other one sees another end (RFC 9112, section 6.3).
            raise _Refused(_BAD_REQUEST)
        target = event.target
        if not target.startswith(b"/") and not path_of(unquote(target.partition(b"?")[0].decode())):
            raise _Refused(_BAD_REQUEST)


class _ConnectionContext(WorkerContext):
    """The server's context for one connection: a `sleep` ends with it.

    Hypercorn sleeps between the pings of a WebSocket, and would keep an ended one until the next ping.
    """

    def __init__(self, server: WorkerContext) -> None:
        self._server = server
        self.terminate, self.terminated = server.terminate, server.terminated
        self.ended = trio.Event()

    async def mark_request(self) -> None:
        """Count a request."""
        await self._server.mark_request()

    async def sleep(self, wait: float) -> None:  # type: ignore[override]  # of an instance
        """Sleep, at most until the connection has ended."""
        with trio.move_on_after(wait):
            await self.ended.wait()


class _FastRequest:
    """A request that was read without h11, and its answer; served in the task that reads the connection."""

    def __init__(self, connection: "HttpConnection", data: bytes, head: Head) -> None:
        self._connection = connection
        self._data = data
        self.scope = connection.protocol.scope_of(head)
        self._connected = cast("dict[str, Any]", self.scope)[_SCOPE_KEY] = trio.CancelScope()
        self._start: HTTPResponseStartEvent | None = None
        self._is_answered = False
        self._stream: HTTPStream | None = None
        """Hypercorn's, where that sends the answer."""
        self._has_received = False
        self._gone: trio.Event | None = None

    async def receive(self) -> ASGIReceiveEvent:
        """Return that there is no body, then that the client has disconnected."""
        if not self._has_received:
            self._has_received = True
            return {"type": "http.request", "body": b"", "more_body": False}
        if not self._connected.cancel_called:
            self._gone = self._gone or trio.Event()
            await self._gone.wait()
        return {"type": "http.disconnect"}

    def disconnect(self) -> None:
        """End the request: the client has disconnected."""
        self._connected.cancel()
        if self._gone is not None:
            self._gone.set()

    async def send(self, event: ASGISendEvent | None) -> None:
        """Send the answer if it is whole, else have Hypercorn send it; None: the application has ended."""
        if self._stream is not None:
            await self._stream.app_send(event)
            return
        if event is None:
            if not (self._is_answered or self._connected.cancel_called):
                self._stream = self._take_over()
                await self._stream.app_send(None)
            return
        if event["type"] == "http.response.start" and self._start is None:
            self._start = event
            return
        if self._is_answered:
            return
        if event["type"] == "http.response.body" and self._start is not None and not event.get("more_body"):
            config, body = self._connection.config, event["body"]
            headers = (*self._start["headers"], *config.response_headers("h11"))
            head = write_head(self._start["status"], headers, len(body))
            if head is not None:
                self._is_answered = True
                await self._connection.send_answer(head, body)
                return
        self._stream = self._take_over()
        if self._start is not None:
            await self._stream.app_send(self._start)
        await self._stream.app_send(event)

    def _take_over(self) -> HTTPStream:
        self._connection.note_request()

        async def put(event: ASGIReceiveEvent) -> None:
            if event["type"] == "http.disconnect":
                self.disconnect()

        return self._connection.protocol.take_over(self._data, self.scope, put)


class HttpConnection(TCPServer):
    """One HTTP connection."""

    config: ConnectionConfig
    protocol: Http1Protocol  # type: ignore[assignment]  # of the same two methods

    def __init__(self, *arguments: Any) -> None:  # noqa: ANN401 - as the class above has them
        super().__init__(*arguments)
        self._connection_context = _ConnectionContext(self.context)
        config = self.config
        self._timer = ConnectionTimer(
            close=self._close_idle,
            terminated=self.context.terminated,
            keep_alive_seconds=config.keep_alive_timeout,
            head_seconds=config.head_timeout,
            read_seconds=config.read_timeout or inf,
        )
        self._head = b""
        self._ahead: bytes | None = None
        """What was received while a request was served; empty: the client has disconnected."""
        self._watch: trio.CancelScope | None = None
        """That of the task that receives while a request is served."""
        self._watch_ended = trio.Event()
        self._transport: AbortableStream
        """The stream below TLS."""
        self._is_tls = isinstance(self.stream, trio.SSLStream)
        self._read_ended = trio.Event()
        self._linger_ended = trio.Event()
        self._unwanted: int | None = None
        """Bytes that came after the answer; None before."""

    async def run(self) -> None:
        """Serve the connection until either side ends it."""
        stream, is_tls = self.stream, self._is_tls
        try:
            if is_tls:
                with trio.fail_after(self.config.ssl_handshake_timeout):
                    await stream.do_handshake()
            self._transport = cast("AbortableStream", stream.transport_stream if is_tls else stream)
            socket = self._transport.socket
            client = parse_socket_addr(socket.family, socket.getpeername())
            server = parse_socket_addr(socket.family, socket.getsockname())
        except (OSError, trio.BrokenResourceError, trio.ClosedResourceError, trio.TooSlowError):
            return  # the client is gone, speaks no TLS, or was given up for another one
        try:
            async with _RequestTasks() as task_group:
                self._task_group = task_group
                self.protocol = Http1Protocol(
                    self.app,
                    self.config,
                    self._connection_context,
                    task_group,
                    ConnectionState(self.state.copy()),
                    is_tls,
                    client,
                    server,
                    self.protocol_send,
                )
                self._timer.begin_idle()
                task_group.spawn(self._timer.run)
                await self._read_data()
        except (OSError, trio.BrokenResourceError):
            pass  # the client is gone
        finally:
            await self._close()
            # What was received is freed now; in cycles of this object and the requests that it served it
            # would stay until garbage is collected.
            del self.protocol.connection
            del self.protocol, self._timer

    async def protocol_send(self, event: Event) -> None:
        """Send; the head of an answer goes out in one call with the bytes that follow it."""
        if isinstance(event, RawData):
            if event.data.startswith(_HEAD_START):
                self._head += event.data
                return
            head, self._head = self._head, b""
            if len(event.data) > _COPIED_BYTES:
                await self._send_bytes(head)
                await self._send_bytes(event.data)
            else:
                await self._send_bytes(head + event.data)
            return
        if not isinstance(event, Updated):
            await super().protocol_send(event)
        elif event.idle:
            self._note_idle()
        else:
            self.note_request()

    def note_request(self) -> None:
        """Note that a request is in progress."""
        self._transport.note_request()
        self._timer.end_idle()

    def _note_idle(self) -> None:
        self._transport.note_idle()
        self._timer.begin_idle()

    async def send_answer(self, head: bytes, body: bytes) -> None:
        """Send the whole answer to a request that was not read by h11."""
        if len(body) > _COPIED_BYTES:
            await self._send_bytes(head)
            await self._send_bytes(body)
        else:
            await self._send_bytes(head + body)
        self.protocol.keep_alive_requests += 1
        if self.context.terminated.is_set():
            await self.protocol_send(Closed())
        else:
            self._transport.note_request()
            self._note_idle()

    async def _send_bytes(self, data: bytes) -> None:
        """Send without a checkpoint if the client takes the bytes at once and no other task is sending."""
        if not data:
            return
        lock = self.send_lock
        if not (self._is_tls or lock.locked()):
            sent = self._transport.send_now(data)
            if sent == len(data):
                return
            data = data[sent:]
        if lock.locked():
            await lock.acquire()
        else:
            lock.acquire_nowait()
        try:
            with trio.CancelScope(shield=True):
                await self.stream.send_all(data)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            await self.protocol.handle(Closed())
        finally:
            lock.release()

    async def _read_data(self) -> None:
        protocol, slices = self.protocol, self.config.slices
        with trio.CancelScope() as patience:
            while True:
                data, self._ahead = self._ahead, None
                if data is None:
                    data = await self._receive(patience)
                if self._unwanted is not None:
                    self._unwanted += len(data)
                    if self._unwanted > _LINGER_BYTES:
                        await self._linger_ended.wait()
                        break
                    if not data:
                        break
                    continue
                await slices.begin()
                head = protocol.read_head(data)
                if head is not None:
                    await self._serve(_FastRequest(self, data, head))
                    slices.end()
                    continue
                await protocol.handle(RawData(data))
                slices.end()
                if not data:
                    break
                self._timer.note_bytes()
        self._read_ended.set()
        await protocol.handle(Closed())
        self._connection_context.ended.set()
        self._timer.end()

    async def _receive(self, scope: trio.CancelScope) -> bytes:
        """Return what comes; nothing: the client has disconnected. `scope` is cancelled after too long."""
        timer = self._timer
        timer.begin_read(scope)
        try:
            return bytes(await self.stream.receive_some(_RECEIVE_BYTES))
        except (trio.ClosedResourceError, trio.BrokenResourceError):
            return b""
        finally:
            timer.end_read()

    async def _serve(self, request: _FastRequest) -> None:
        """Serve a request in this task; once it waits, another one sees whether its client disconnects."""
        threads = trio.to_thread.run_sync, trio.from_thread.run
        served = serve_request(self.app, self.config, request.scope, request.receive, request.send, *threads)
        await FirstWait(served, partial(self._begin_watch, request))
        watch, self._watch = self._watch, None
        if watch is not None:
            watch.cancel()
            await self._watch_ended.wait()

    def _begin_watch(self, request: _FastRequest) -> None:
        self.note_request()
        self._watch, self._watch_ended = trio.CancelScope(), trio.Event()
        self._task_group.spawn(self._receive_ahead, request, self._watch)

    async def _receive_ahead(self, request: _FastRequest, scope: trio.CancelScope) -> None:
        """Receive once while a request is served: the next request, or that the client disconnects."""
        try:
            with scope:
                self._ahead = await self._receive(scope)
            if self._ahead is None and self._watch is scope:
                self._ahead = b""  # no byte came for too long
            if self._ahead == b"":
                request.disconnect()
        finally:
            self._watch_ended.set()

    async def _close(self) -> None:
        connection = self.protocol.connection
        if connection.their_state is h11.SEND_BODY and not self._read_ended.is_set():
            self._unwanted = 0
            with suppress(OSError, AttributeError, trio.BrokenResourceError, trio.ClosedResourceError):
                await self.stream.send_eof()
            try:
                with trio.move_on_after(_LINGER_SECONDS):
                    await self._read_ended.wait()
            finally:
                self._linger_ended.set()
        await super()._close()

    async def _close_idle(self) -> None:
        slices = self.config.slices
        await slices.begin()
        with trio.CancelScope(shield=True):
            await self._initiate_server_close()
        slices.end()
