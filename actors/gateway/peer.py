"""What every connection is: a task that reads one peer through its codec, and deadlines.

A peer that stalls, babbles or lies costs its own connection and nothing else.
"""

import abc
from collections.abc import Sequence
from typing import Generic, Protocol, TypeVar

import trio

from motorpool.actors.gateway.recorder import Tap
from motorpool.actors.gateway.wire import Wire
from motorpool.actors.messages.downlink import CheckDeadlines, ConnectionMessage
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

    __slots__ = (
        "_codec_in",
        "_failure",
        "_heard",
        "_heard_at",
        "_idle_seconds",
        "_opened_at",
        "_ref",
        "_rest",
        "_tap",
        "_wake",
        "_wire",
    )

    def __init__(self, wire: Wire, *, idle_seconds: float, tap: Tap | None) -> None:
        self._wire = wire
        self._idle_seconds = idle_seconds
        self._tap = tap
        self._ref: Ref[ConnectionMessage]
        self._heard = True
        """Something whole came since the last look at the time."""
        self._heard_at = 0.0
        self._opened_at = 0.0
        self._codec_in: Reader[Found]
        self._rest: Sequence[Found] = ()
        """What came and needs waiting; the hub rests meanwhile."""
        self._failure: Exception | None = None
        self._wake = trio.Event()

    @abc.abstractmethod
    async def _pass_on(self, found: Sequence[Found]) -> None:
        """What one read brought, in order; sets `_heard` if it was anything whole."""

    def _pass_on_now(self, found: Sequence[Found]) -> Sequence[Found]:
        """As much of it as needs no waiting; the rest, from the first that does."""
        return found

    @abc.abstractmethod
    def _left(self) -> None:
        """The connection has ended."""

    async def _read(self, name: str, codec: Reader[Found], login_seconds: float) -> None:
        """The body of `run`: `name` is for the log, `login_seconds` the time to say who it is."""
        self._codec_in = codec
        self._ref = self.context.ref
        self._opened_at = self.context.clock.monotonic()
        self.context.every(min(CHECK_SECONDS, login_seconds / 2), CheckDeadlines())
        wire = self._wire
        try:
            if wire.has_hub:
                await self._follow()
            else:
                while data := await wire.receive():
                    rest = self._understand(data)
                    if rest:
                        await self._pass_on(rest)
        finally:
            wire.close("the server stops")
            if self._tap is not None:
                self._tap.closed()
            self._left()
            whom = wire.peer or "a vanished peer"
            self.context.log.info("%s connection from %s ended: %s", name, whom, wire.reason)

    async def _follow(self) -> None:
        """Sleep while the hub calls, and wake for what needs waiting."""
        wire = self._wire
        wire.follow(self._on_event)
        while True:
            if self._failure is not None:
                raise self._failure
            if self._rest:
                rest, self._rest = self._rest, ()
                await self._pass_on(rest)
                wire.rest(resting=False)
            elif wire.closed:
                return
            else:
                self._wake = trio.Event()
                await self._wake.wait()

    def _on_event(self) -> None:
        """Something came, or the connection has ended; in the hub's task, so nothing may be raised."""
        try:
            data = b"" if self._wire.closed else self._wire.read()
            if data:
                self._rest = self._understand(data)
        except Exception as error:
            self._failure = error
        if self._rest or self._failure is not None:
            self._wire.rest(resting=True)
            self._wake.set()
        elif self._wire.closed:
            self._wake.set()

    def _understand(self, data: bytes) -> Sequence[Found]:
        """Pass on what needs no waiting, and give back the rest."""
        if self._tap is not None:
            self._tap.received(data)
        try:
            found = self._codec_in.receive(data)
        except CodecError as error:
            self._wire.close(f"cannot be understood: {error}")
            return ()
        return self._pass_on_now(found) if found else ()

    def _is_silent(self, now: float) -> bool:
        """Whether nothing whole came for too long. Told at each look, so that messages need not tell time."""
        if self._heard:
            self._heard = False
            self._heard_at = now
        return now - self._heard_at >= self._idle_seconds
