"""What every connection is: a task that reads one peer through its codec, and deadlines.

A peer that stalls, babbles or lies costs its own connection and nothing else.
"""

import abc
from collections.abc import Sequence
from typing import Generic, Protocol, TypeVar

from motorpool.actors.downlink import CheckTime, ConnectionMessage
from motorpool.actors.recorder import Tap
from motorpool.actors.wire import Wire
from motorpool.codecs.errors import CodecError
from motorpool.runtime import Actor, Ref

__all__ = ["Peer", "Reader"]

CHECK_SECONDS = 10.0
"""How often deadlines are looked at, at most; they are that exact."""

Found = TypeVar("Found")
Found_co = TypeVar("Found_co", covariant=True)


class Reader(Protocol[Found_co]):
    """The reading half of a codec."""

    def receive(self, data: bytes) -> Sequence[Found_co]:
        """What these bytes complete; raises CodecError where the stream cannot go on."""
        ...


class Peer(Actor[ConnectionMessage], abc.ABC, Generic[Found]):
    """Reads until either side ends it; made by the listener, gone with its socket."""

    __slots__ = ("_heard", "_heard_at", "_idle_seconds", "_opened_at", "_ref", "_tap", "_wire")

    def __init__(self, wire: Wire, *, idle_seconds: float, tap: Tap | None) -> None:
        self._wire = wire
        self._idle_seconds = idle_seconds
        self._tap = tap
        self._ref: Ref[ConnectionMessage]
        self._heard = True
        """Something whole came since the last look at the time."""
        self._heard_at = 0.0
        self._opened_at = 0.0

    @abc.abstractmethod
    async def _pass_on(self, found: Sequence[Found]) -> None:
        """What one read brought, in order; sets `_heard` if it was anything whole."""

    @abc.abstractmethod
    def _left(self) -> None:
        """The connection has ended."""

    async def _read(self, name: str, codec: Reader[Found], login_seconds: float) -> None:
        """The body of `run`: `name` is for the log, `login_seconds` the time to say who it is."""
        self._ref = self.context.ref
        self._opened_at = self.context.clock.monotonic()
        self.context.every(min(CHECK_SECONDS, login_seconds / 2), CheckTime())
        wire, tap = self._wire, self._tap
        try:
            while data := await wire.receive():
                if tap is not None:
                    tap.received(data)
                try:
                    found = codec.receive(data)
                except CodecError as error:
                    wire.close(f"cannot be understood: {error}")
                    break
                if found:
                    await self._pass_on(found)
        finally:
            wire.close("the server stops")
            if tap is not None:
                tap.closed()
            self._left()
            whom = wire.peer or "a vanished peer"
            self.context.log.info("%s connection from %s ended: %s", name, whom, wire.reason)

    def _is_silent(self, now: float) -> bool:
        """Whether nothing whole came for too long. Told at each look, so that messages need not tell time."""
        if self._heard:
            self._heard = False
            self._heard_at = now
        return now - self._heard_at >= self._idle_seconds
