"""What device and media connections share: reading one socket through a decoder, and deadlines.

The hub (or, without one, the connection's own task) reads the socket and calls `_on_data`, which decodes and
processes at once what needs no waiting. The rest is left in `_pending` for the connection's task, and the
socket is not read meanwhile. A peer that stalls, floods or sends garbage costs its own connection and nothing
else.
"""

import abc
from collections.abc import Sequence
from typing import Generic, Protocol, TypeVar

import trio

from motorpool.actors.gateway.device_socket import DeviceSocket
from motorpool.actors.gateway.recorder import Tap
from motorpool.actors.messages.downlink import CheckDeadlines, ConnectionMessage
from motorpool.codecs.errors import CodecError
from motorpool.runtime import Actor, Ref

__all__ = ["BaseConnection", "Decoder"]

CHECK_SECONDS = 10.0
"""Longest time between two checks of deadlines, and so their precision."""

Item = TypeVar("Item")
Item_co = TypeVar("Item_co", covariant=True)


class Decoder(Protocol[Item_co]):
    """The reading half of a codec."""

    def receive(self, data: bytes) -> Sequence[Item_co]:
        """Return what these bytes complete; raise CodecError where the stream cannot go on."""
        ...


class BaseConnection(Actor[ConnectionMessage], abc.ABC, Generic[Item]):
    """Reads until either side ends it; started by the listener, gone with its socket."""

    __slots__ = (
        "_decoder",
        "_failure",
        "_idle_seconds",
        "_is_active",
        "_last_active_at",
        "_opened_at",
        "_pending",
        "_ref",
        "_socket",
        "_tap",
        "_wakeup",
    )

    def __init__(self, socket: DeviceSocket, *, idle_seconds: float, tap: Tap | None) -> None:
        self._socket = socket
        self._idle_seconds = idle_seconds
        self._tap = tap
        self._ref: Ref[ConnectionMessage]
        self._is_active = True
        """A whole message came since the last check of deadlines."""
        self._last_active_at = 0.0
        self._opened_at = 0.0
        self._decoder: Decoder[Item]
        self._pending: Sequence[Item] = ()
        """What was decoded and needs waiting."""
        self._failure: Exception | None = None
        """A crash of `_on_data`, raised in the connection's own task."""
        self._wakeup = trio.Event()

    @abc.abstractmethod
    async def _process(self, items: Sequence[Item]) -> None:
        """Process what one read completed, in order; sets `_is_active` if it was a whole message."""

    def _process_now(self, items: Sequence[Item]) -> Sequence[Item]:
        """Process as many as need no waiting; return the rest, from the first that does."""
        return items

    @abc.abstractmethod
    def _on_closed(self) -> None:
        """Called once, when the connection has ended."""

    async def _serve(self, name: str, decoder: Decoder[Item], login_seconds: float) -> None:
        """Read until the end: the body of `run`.

        `name` is for the log, `login_seconds` the time in which the peer must identify itself.
        """
        self._decoder = decoder
        self._ref = self.context.ref
        self._opened_at = self.context.clock.monotonic()
        self.context.every(min(CHECK_SECONDS, login_seconds / 2), CheckDeadlines())
        socket = self._socket
        try:
            if socket.has_hub:
                socket.watch(self._on_data, self._wake)
                await self._process_what_waits()
            else:
                while data := await socket.receive():
                    self._on_data(data)
                    await self._process_pending()
        finally:
            socket.close("the server stops")
            if self._tap is not None:
                self._tap.closed()
            self._on_closed()
            peer = socket.peer or "an unknown address"
            self.context.log.info("%s connection from %s ended: %s", name, peer, socket.reason)

    def _on_data(self, data: bytes) -> None:
        """Decode and process what was read; in the hub's task, so nothing may be raised."""
        try:
            if self._tap is not None:
                self._tap.received(data)
            items = self._decoder.receive(data)
            if items:
                self._pending = self._process_now(items)
        except CodecError as error:
            self._socket.close(f"cannot be decoded: {error}")
        except Exception as error:
            self._failure = error
        if self._pending or self._failure is not None:
            self._socket.pause_reading()
            self._wakeup.set()

    def _wake(self) -> None:
        self._wakeup.set()

    async def _process_what_waits(self) -> None:
        """Sleep while the hub reads; wake for what needs waiting, and for the end."""
        while True:
            await self._process_pending()
            if self._socket.closed:
                return
            self._wakeup = trio.Event()
            await self._wakeup.wait()

    async def _process_pending(self) -> None:
        if self._failure is not None:
            raise self._failure
        if self._pending:
            pending, self._pending = self._pending, ()
            await self._process(pending)
            self._socket.resume_reading()

    def _idle_time(self, now: float) -> float:
        """Return the seconds since the last whole message; noted once a check, not once a message."""
        if self._is_active:
            self._is_active = False
            self._last_active_at = now
        return now - self._last_active_at

    def _is_idle(self, now: float) -> bool:
        """Whether no whole message came within `idle_seconds`."""
        return self._idle_time(now) >= self._idle_seconds
