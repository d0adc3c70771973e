"""What device and media connections share: reading one socket through a decoder, and deadlines.

The hub (or, without one, the connection's own task) reads the socket and calls `_on_data`, which decodes and
processes at once what needs no waiting. The rest is left in `_pending` for the connection's task, and the
socket is not read meanwhile. With a hub there is a task only while something is pending: it would be a third
of the memory of an idle connection. A peer that stalls, floods or sends garbage costs its own connection and
nothing else.
"""

import abc
import logging
from collections.abc import Sequence
from typing import Generic, Protocol, TypeVar

from motorpool.actors.gateway.peer_socket import PeerSocket
from motorpool.actors.gateway.recorder import Tap
from motorpool.actors.messages.downlink import CheckDeadlines, ConnectionMessage
from motorpool.codecs.errors import CodecError
from motorpool.runtime import Actor, Ref

CHECK_SECONDS = 10.0
"""Longest time between two checks of deadlines, and so their precision."""

Item = TypeVar("Item")
Item_co = TypeVar("Item_co", covariant=True)


class Decoder(Protocol[Item_co]):
    """The reading half of a codec."""

    @property
    def buffered(self) -> int:
        """Bytes held for incomplete messages."""
        ...

    def receive(self, data: bytes) -> Sequence[Item_co]:
        """Return what these bytes complete; raise CodecError where the stream cannot go on."""
        ...


class BaseConnection(Actor[ConnectionMessage], abc.ABC, Generic[Item]):
    """Reads until either side ends it; started by the listener, gone with its socket."""

    __slots__ = (
        "_counted_bytes",
        "_decoder",
        "_failure",
        "_idle_seconds",
        "_is_active",
        "_is_processing",
        "_is_serving",
        "_last_active_at",
        "_opened_at",
        "_pending",
        "_ref",
        "_socket",
        "_tap",
    )

    def __init__(self, socket: PeerSocket, *, idle_seconds: float, tap: Tap | None) -> None:
        self._socket = socket
        self._idle_seconds = idle_seconds
        self._tap = tap
        self._ref: Ref[ConnectionMessage]
        self._is_active = True
        """A whole message came since the last check of deadlines."""
        self._last_active_at = 0.0
        self._opened_at = 0.0
        self._decoder: Decoder[Item]
        self._counted_bytes = 0
        """What the decoder holds, as counted in the memory of the port."""
        self._pending: Sequence[Item] = ()
        """What was decoded and needs waiting."""
        self._failure: Exception | None = None
        """A crash of `_on_data`, raised in the connection's own task."""
        self._is_processing = False
        self._is_serving = False

    @property
    @abc.abstractmethod
    def _log_name(self) -> str:
        """What kind of connection it is, for the log."""

    @abc.abstractmethod
    async def _process(self, items: Sequence[Item]) -> None:
        """Process what one read completed, in order; sets `_is_active` if it was a whole message."""

    def _process_now(self, items: Sequence[Item]) -> Sequence[Item]:
        """Process as many as need no waiting; return the rest, from the first that does."""
        return items

    @abc.abstractmethod
    def _on_closed(self) -> None:
        """Called once, when the connection has ended."""

    @property
    def outlives_run(self) -> bool:
        """Whether there is no task while the connection is idle: the hub reads for it."""
        return self._socket.has_hub

    async def _serve(self, decoder: Decoder[Item], login_seconds: float) -> None:
        """Read until the end, or with a hub until nothing is pending: the body of `run`.

        `login_seconds` is the time in which the peer must identify itself.
        """
        socket = self._socket
        if not self._is_serving:
            self._is_serving = True
            self._decoder = decoder
            self._ref = self.context.ref
            self._opened_at = self.context.clock.monotonic()
            self.context.every(min(CHECK_SECONDS, login_seconds / 2), CheckDeadlines())
            if socket.has_hub:
                socket.watch(self._on_data, self._on_ended)
        if socket.has_hub:
            await self._process_pending()
            if socket.closed:
                self.context.leave()
        else:
            while data := await socket.receive():
                self._on_data(data)
                await self._process_pending()

    def release(self) -> None:
        """Close the socket if it is still open, and report the end."""
        socket = self._socket
        socket.close("the server stops")
        if self._tap is not None:
            self._tap.closed()
        was_identified = self._is_identified
        if self._is_serving:
            self._on_closed()
        socket.guard.memory.take(socket.peer, -self._counted_bytes)
        line = (self._log_name, socket.peer or "an unknown address", socket.reason)
        if was_identified:
            self.context.log.info("%s connection from %s ended: %s", *line)
        else:
            self._log_peer(logging.INFO, "%s connection from %s ended: %s", *line)

    def _on_data(self, data: bytes) -> None:
        """Decode and process what was read; in the hub's task, so nothing may be raised."""
        try:
            if self._tap is not None:
                self._tap.received(data)
            items = self._decoder.receive(data)
            if items:
                self._pending = self._process_now(items)
            if self._counted_bytes or not items:
                self._count_memory()
        except CodecError as error:
            self._socket.close(f"cannot be decoded: {error}")
        except Exception as error:
            self._failure = error
        if self._pending or self._failure is not None:
            self._socket.pause_reading()
            if self._socket.has_hub:
                self.context.begin_run()

    def _count_memory(self) -> None:
        """Count what the decoder holds of incomplete messages; close the connection if that is too much."""
        held = self._decoder.buffered
        socket = self._socket
        if socket.guard.memory.take(socket.peer, held - self._counted_bytes):
            self._counted_bytes = held
        else:
            socket.close("incomplete messages hold too much memory")

    def _log_peer(self, level: int, text: str, *values: object) -> None:
        """Log a line that any peer can cause; there are only so many for each address."""
        context, socket = self.context, self._socket
        socket.guard.log.write(context.log, level, context.clock.monotonic(), socket.peer, text, *values)

    @property
    @abc.abstractmethod
    def _is_identified(self) -> bool:
        """Whether the peer is a known device."""

    def _on_ended(self) -> None:
        """Leave once what is pending was processed: `run` does it if it is still at work."""
        if not (self._is_processing or self._pending or self._failure is not None):
            self.context.leave()

    async def _process_pending(self) -> None:
        self._is_processing = True
        try:
            while self._pending or self._failure is not None:
                if self._failure is not None:
                    raise self._failure
                pending, self._pending = self._pending, ()
                await self._process(pending)
                self._socket.resume_reading()
        finally:
            self._is_processing = False

    def _idle_time(self, now: float) -> float:
        """Return the seconds since the last whole message; noted once a check, not once a message."""
        if self._is_active:
            self._is_active = False
            self._last_active_at = now
        return now - self._last_active_at

    def _is_idle(self, now: float) -> bool:
        """Whether no whole message came within `idle_seconds`."""
        return self._idle_time(now) >= self._idle_seconds
