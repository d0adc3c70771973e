"""Hypercorn's connection for HTTP/1.1 alone, with less overhead for each request, which dominates the cost of
short answers.

Hypercorn itself changes to HTTP/2 on a plain connection whenever a client asks for it, and then waits without
a limit for clients that grant no window (docs/decisions/0132).
"""

import random
import re
import zlib
from collections.abc import Awaitable, Callable
from contextlib import suppress
from math import inf
from typing import Any, cast
from urllib.parse import unquote

import h11
import trio
from h11._receivebuffer import ReceiveBuffer
from hypercorn.config import Config
from hypercorn.events import Closed, Event, RawData, Updated
from hypercorn.protocol import ws_stream
from hypercorn.protocol.h11 import H11Protocol
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
    Scope,
)
from hypercorn.utils import parse_socket_addr
from wsproto.extensions import PerMessageDeflate
from wsproto.frame_protocol import CloseReason, FrameDecoder, FrameProtocol

from motorpool.api.http.listening_sockets import AbortableStream
from motorpool.api.http.origins import path_of
from motorpool.api.http.time_slices import TimeSlices

_HEAD_START = b"HTTP/1.1 2"
"""First bytes of a head that is always followed by a body or an end of the answer."""
_JITTER = 0.25
"""Fraction by which deadlines vary, so that connections opened together do not expire together."""
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


class _IdleTimer:
    """Closes a connection that is idle or does not finish the headers of a request; one task for all its
    life, not one for each idle period.
    """

    def __init__(self, server: "HttpConnection") -> None:
        self._server = server
        self._scope: trio.CancelScope | None = None
        self._is_over = False
        self._is_in_head = False
        self._jitter = 1 + random.random() * _JITTER  # noqa: S311 - no secret

    async def restart(self, task_group: Any, action: Callable[..., Any]) -> None:  # noqa: ANN401 - Hypercorn's form
        """Start the timer: no request is in progress."""
        self._is_in_head = False
        deadline = trio.current_time() + self._server.config.keep_alive_timeout * self._jitter
        if self._server.context.terminated.is_set():
            deadline = -inf
        if self._scope is None:
            self._scope = trio.CancelScope(deadline=deadline)
            task_group.spawn(self._watch, self._scope)
        else:
            self._scope.deadline = deadline

    async def stop(self) -> None:
        """Stop the timer: a request is in progress, or the connection ends."""
        if self._scope is not None:
            self._scope.deadline = inf

    def note_bytes(self) -> None:
        """Note that bytes came: without a request in progress they begin the headers of one."""
        scope = self._scope
        if scope is None or scope.deadline == inf or self._is_in_head:
            return
        self._is_in_head = True
        seconds = self._server.config.head_timeout * self._jitter
        scope.deadline = min(scope.deadline, trio.current_time() + seconds)

    def end(self) -> None:
        """End the timer's task with the connection."""
        self._is_over = True
        if self._scope is not None:
            self._scope.cancel()

    async def _watch(self, scope: trio.CancelScope) -> None:
        with scope:
            await self._server.context.terminated.wait()
            if scope.deadline == inf:
                await trio.sleep_forever()  # until the request has ended
        if not self._is_over:
            slices = self._server.config.slices
            await slices.begin()
            await self._server.close_idle()
            slices.end()


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


class HttpConnection(TCPServer):
    """One HTTP connection."""

    config: ConnectionConfig

    def __init__(self, *arguments: Any) -> None:  # noqa: ANN401 - as the class above has them
        super().__init__(*arguments)
        self._connection_context = _ConnectionContext(self.context)
        self._idle = _IdleTimer(self)
        self.idle_task = self._idle  # type: ignore[assignment]  # of the same two methods
        self._head = b""
        self._transport: AbortableStream
        """The stream below TLS."""
        self._read_ended = trio.Event()
        self._linger_ended = trio.Event()
        self._unwanted: int | None = None
        """Bytes that came after the answer; None before."""

    async def run(self) -> None:
        """Serve the connection until either side ends it."""
        stream = self.stream
        is_tls = isinstance(stream, trio.SSLStream)
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
                self.protocol = Http1Protocol(  # type: ignore[assignment]  # of the same two methods
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
                await self.idle_task.restart(task_group, self._idle_timeout)
                await self._read_data()
        except (OSError, trio.BrokenResourceError):
            pass  # the client is gone
        finally:
            await self._close()
            # What was received is freed now; in cycles of this object and the requests that it served it
            # would stay until garbage is collected.
            del self.protocol.connection  # type: ignore[attr-defined]  # of Http1Protocol
            del self.protocol, self.idle_task, self._idle

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
        if isinstance(event, Updated):
            if event.idle:
                self._transport.note_idle()
            else:
                self._transport.note_request()
        await super().protocol_send(event)

    async def _send_bytes(self, data: bytes) -> None:
        """Send without a checkpoint if the client takes the bytes at once and no other task is sending."""
        if not data:
            return
        lock = self.send_lock
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
        receive, protocol, slices = self.stream.receive_some, self.protocol, self.config.slices
        seconds = self.config.read_timeout or inf
        with trio.CancelScope() as patience:
            while True:
                patience.deadline = trio.current_time() + seconds
                try:
                    data = await receive(_RECEIVE_BYTES)
                except (trio.ClosedResourceError, trio.BrokenResourceError):
                    break
                patience.deadline = inf
                if self._unwanted is not None:
                    self._unwanted += len(data)
                    if self._unwanted > _LINGER_BYTES:
                        await self._linger_ended.wait()
                        break
                    if not data:
                        break
                    continue
                await slices.begin()
                await protocol.handle(RawData(bytes(data)))
                slices.end()
                if not data:
                    break
                self._idle.note_bytes()
        self._read_ended.set()
        await protocol.handle(Closed())
        self._connection_context.ended.set()
        self._idle.end()

    async def _close(self) -> None:
        connection = self.protocol.connection  # type: ignore[attr-defined]  # of Http1Protocol
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

    async def close_idle(self) -> None:
        """Close the connection from the server's side."""
        with trio.CancelScope(shield=True):
            await self._initiate_server_close()
