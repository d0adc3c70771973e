"""Messages between the nodes of a cluster: requests, tells and fan-out, at most once and with deadlines.

A `Link` is the contract; what carries its bytes is a `Pipe`, and nothing above knows which: NATS
(runtime/nats_pipe.py) or a pipe of tests that delays, loses and cuts.

- A message is handed over at most once. It carries the instant, by the clock that all nodes share, until
  which it may be begun; one that arrives later is dropped and counted.
- Messages from one node to one actor arrive in the order of their sending.
- Of each node at most WINDOW messages, and WINDOW_BYTES, are unanswered; tells are confirmed for this.
- `Unreachable` and `Busy` say that a message was not accepted, so it may be sent again. Without an answer
  nothing is known.
- Only messages of classes that are registered for their kind are sent or accepted, as MessagePack; what is
  unknown, malformed or too long is refused and counted.
- Fan-out reaches the nodes that listen when it is sent. A reader that was too slow is told by `Lagged` how
  much it missed, and one whose node was cut off by `Unreachable` that it may have missed anything.
"""

import secrets
import types
import typing
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, Final, Generic, Never, Protocol

import msgspec
import trio

from motorpool.runtime.clock import SharedTime
from motorpool.runtime.deferred import Envelope, Failure
from motorpool.runtime.errors import (
    ActorFailed,
    ActorStopped,
    AskTimedOut,
    Busy,
    Lagged,
    MailboxFull,
    UnknownKind,
    Unreachable,
)
from motorpool.runtime.kind import K, Kind, M, NodeLocal, Request
from motorpool.runtime.signal import Signal
from motorpool.runtime.system import System

WINDOW: Final = 256
"""Messages to one node that are not answered yet; one more is refused by `Busy`."""
WINDOW_BYTES: Final = 1 << 20
MAX_MESSAGE_BYTES: Final = 128 << 10
"""Longest message or answer."""
MAX_TEXT_BYTES: Final = 64 << 10
"""Longest text of fan-out."""
MAX_UNREAD_BYTES: Final = 8 << 20
"""Bytes that have arrived and wait to be looked at; what comes beyond is dropped and counted."""
MAX_HANDLED: Final = 4_096
"""Requests of all other nodes that are being handled here; one more is answered by `Busy`."""
BEGIN_SECONDS: Final = 4.0
"""A message may be begun until then: less than any asker waits."""
MAX_SKEW_SECONDS: Final = 2.0
"""By how much the clocks of two nodes may differ."""
MAX_REMEMBERED: Final = 200_000
"""Messages of BEGIN_SECONDS and MAX_SKEW_SECONDS that are remembered; beyond them, others are `Busy`."""
ANSWER_SECONDS: Final = 30.0
"""After this nobody waits for an answer any more."""
SWEEP_SECONDS: Final = 1.0
FULL_SECONDS: Final = 0.01
BURST: Final = 64
"""Messages that are handled before other tasks have their turn."""


OUTCOMES: Final = ("sent", "answered", "busy", "late", "lost", "refused", "timed out", "undelivered")
"""The keys of `Link.counts`."""
_MALFORMED = (msgspec.MsgspecError, KeyError, ValueError, RecursionError)
"""What is raised for bytes that are no message, and for classes and kinds that are not registered."""


class Pipe(Protocol):
    """Carries bytes to all who listen at a subject: at most once, in order from one sender to one listener.

    Its methods do not wait, and what it calls is called later, never within one of them.
    """

    @property
    def is_connected(self) -> bool:
        """Whether what is sent now will be carried, as far as is known."""

    def send(self, subject: str, data: bytes, number: int = 0) -> bool:
        """Send to the other nodes that listen at `subject`; return False if there is no connection or room.

        With a number, `undelivered(number)` is called if nobody listens there.
        """

    def listen(self, subject: str, received: Callable[[bytes], None]) -> None:
        """Call `received` with what other nodes send to `subject` from now on."""

    def follow(
        self,
        *,
        undelivered: Callable[[int], None],
        changed: Callable[[bool], None],
        lost: Callable[[int], None],
    ) -> None:
        """Call these: nobody listened; connected or not any more; this many messages were dropped unread."""


class Carried(Generic[K, M]):
    """The messages of one kind that may go to another node, and the type of its keys."""

    def __init__(self, kind: Kind[K, M], key: type[K], messages: Iterable[type[Any]]) -> None:
        self.kind = kind
        self.key: msgspec.msgpack.Decoder[K] = msgspec.msgpack.Decoder(key)
        self.messages = {each.__name__: each for each in messages}
        for each in self.messages.values():
            if issubclass(each, NodeLocal):
                raise TypeError(f"{each.__name__} stays on its node")
        self.decoders = {name: msgspec.msgpack.Decoder(each) for name, each in self.messages.items()}
        self.answers = {each: _answer_decoders(each) for each in self.messages.values()}


def _answer_decoders(message: type[Any]) -> dict[str, msgspec.msgpack.Decoder[Any]]:
    """Return a decoder for each struct that a request is answered with, and one, named "", for all else."""
    shapes = [
        shape
        for base in getattr(message, "__orig_bases__", ())
        if typing.get_origin(base) is Request
        for shape in _members(typing.get_args(base)[0])
    ]
    structs = [each for each in shapes if isinstance(each, type) and issubclass(each, msgspec.Struct)]
    others = tuple(each for each in shapes if each not in structs)
    decoders = {each.__name__: msgspec.msgpack.Decoder(each) for each in structs}
    if others:
        decoders[""] = msgspec.msgpack.Decoder(typing.Union[others])  # noqa: UP007 - of a tuple
    return decoders


def _members(annotation: Any) -> tuple[Any, ...]:  # noqa: ANN401 - a type, of whatever form
    return typing.get_args(annotation) if _is_union(annotation) else (annotation,)


def _is_union(annotation: object) -> bool:
    return isinstance(annotation, types.UnionType) or typing.get_origin(annotation) is typing.Union


class Moved(msgspec.Struct, frozen=True, gc=False):
    """The answer of a node at which the actor does not live: it is at another one, as of this epoch."""

    node: int
    epoch: int


class Arrived(msgspec.Struct, Request[Any], NodeLocal, frozen=True, gc=False):
    """A message from another node, in the mailbox of the actor that it is for.

    An actor of a kind that is carried handles `message`; one that only stands for it answers `Moved`.
    """

    message: Any
    epoch: int
    """The one that the sender knows of the actor's place."""


class _Message(msgspec.Struct, frozen=True, gc=False, array_like=True):
    sender: int
    number: int
    kind: str
    key: msgspec.Raw
    epoch: int
    expires: float
    name: str
    body: msgspec.Raw


class _Answer(msgspec.Struct, frozen=True, gc=False, array_like=True):
    number: int
    status: str
    """"answer", "moved", "busy", "stopped", "failed", "refused", or the name of a registered error."""
    name: str = ""
    body: msgspec.Raw = msgspec.Raw(b"\xc0")


Outcome = Callable[[object], None]
"""Called once with an answer, a Moved, or the Failure of a message."""


class _Pending:
    __slots__ = ("carried", "expires", "message", "node", "outcome", "path", "size")

    def __init__(
        self,
        node: int,
        carried: Carried[Any, Any],
        path: str,
        message: object,
        size: int,
        expires: float,
        outcome: Outcome,
    ) -> None:
        self.node = node
        self.carried = carried
        self.path = path
        self.message = message
        self.size = size
        self.expires = expires
        self.outcome = outcome


class Link:
    """One node's end. Made before the system, whose actor runs `serve`."""

    def __init__(
        self,
        pipe: Pipe,
        node: int,
        time: SharedTime,
        kinds: Iterable[Carried[Any, Any]] = (),
        *,
        cluster: str = "",
        errors: Mapping[type[Exception], Callable[[Any], str]] = MappingProxyType({}),
    ) -> None:
        """`errors` are those that a handler's Failure may raise at another node, and their only argument."""
        self.node: Final = node
        self.counts: Counter[str] = Counter()
        """What became of messages, by OUTCOMES: `late`, `lost` and `refused` also of those of others."""
        self._pipe = pipe
        self._time = time
        self._kinds: dict[str, Carried[Any, Any]] = {each.kind.name: each for each in kinds}
        self._errors = {each.__name__: (each, text) for each, text in errors.items()}
        self._prefix = f"mp.{_token(cluster)}"
        # Who may only send to the answers of a node cannot guess them.
        self._numbers = secrets.randbits(62)
        self._pending: dict[int, _Pending] = {}
        self._open: Counter[int] = Counter()
        self._open_bytes: Counter[int] = Counter()
        self._handled: dict[Envelope, tuple[int, int, float]] = {}
        """Requests of others: sender, number, and until when they are waited for."""
        self._begun: set[tuple[int, int]] = set()
        """Sender and number of messages that must not be handed over again; in `_begun_before` older ones."""
        self._begun_before: set[tuple[int, int]] = set()
        self._forget_at = 0.0
        self._unread: deque[tuple[Callable[[Any], None], Any]] = deque()
        self._unread_bytes = 0
        self._arrived = Signal()
        self._room = Signal()
        self._is_full = False
        """Whether the pipe had no room for the last message."""
        self._system: System | None = None
        self._channels: dict[str, Channel] = {}
        self._changed = trio.Event()
        self._encoder = msgspec.msgpack.Encoder()
        self._messages = msgspec.msgpack.Decoder(_Message)
        self._answers = msgspec.msgpack.Decoder(_Answer)
        pipe.follow(undelivered=self._undelivered, changed=self._connection_changed, lost=self._lost)
        pipe.listen(self._subject(node), self._keep_message)
        pipe.listen(self._subject(node, answers=True), self._keep_answer)

    def __repr__(self) -> str:
        state = "connected" if self.is_connected else "not connected"
        return f"<Link of node {self.node}: {state}, {len(self._pending)} unanswered>"

    @property
    def is_connected(self) -> bool:
        """Whether other nodes can be reached, as far as is known."""
        return self._pipe.is_connected

    async def wait_connected(self) -> None:
        """Wait until other nodes can be reached."""
        while not self.is_connected:
            await self._changed.wait()

    def _subject(self, node: int, *, answers: bool = False) -> str:
        return f"{self._prefix}.node.{node}.answer" if answers else f"{self._prefix}.node.{node}"

    # Sending

    def send(
        self,
        node: int,
        kind: Kind[K, Any],
        key: K,
        message: object,
        outcome: Outcome,
        *,
        epoch: int = 0,
        seconds: float = BEGIN_SECONDS,
    ) -> None:
        """Send a message to the actor of another node; `outcome` is called later, with what came of it.

        A message that is no Request is answered with None once it is in the mailbox. `seconds` may pass until
        the other node begins with it.

        Raises:
            Unreachable: there is no connection, or the message is too long for the link.
            Busy: as many messages to that node as may be are unanswered, or wait to be written.
            TypeError: messages of this class are not carried to this kind.
        """
        carried = self._kinds[kind.name]
        name = type(message).__name__
        if carried.messages.get(name) is not type(message):
            raise TypeError(f"a {name} is not carried to another node")
        if not self._pipe.is_connected:
            raise Unreachable(node, "there is no connection to the other nodes")
        self._numbers += 1
        number, now = self._numbers, self._time.now()
        data = self._encoder.encode((self.node, number, kind.name, key, epoch, now + seconds, name, message))
        if len(data) > MAX_MESSAGE_BYTES:
            self.counts["refused"] += 1
            raise Unreachable(node, f"the {name} is too long")
        if not self._has_room(node, len(data)):
            raise Busy(node, f"{self._open[node]} messages to it are unanswered")
        if not self._pipe.send(self._subject(node), data, number):
            if self._pipe.is_connected:
                self._is_full = True
                raise Busy(node, "too much waits to be sent")
            raise Unreachable(node, "there is no connection to the other nodes")
        self.counts["sent"] += 1
        path = f"{kind.name}/{key} at node {node}"
        self._pending[number] = _Pending(
            node, carried, path, message, len(data), trio.current_time() + ANSWER_SECONDS, outcome
        )
        self._open[node] += 1
        self._open_bytes[node] += len(data)

    def _has_room(self, node: int, size: int) -> bool:
        return self._open[node] < WINDOW and self._open_bytes[node] + size <= WINDOW_BYTES

    async def wait_room(self, node: int) -> None:
        """Wait until another message to this node may be sent, or until there is no connection."""
        if self._is_full:
            # The pipe does not say when it has room.
            await trio.sleep(FULL_SECONDS)
            self._is_full = False
        while self._pipe.is_connected and not self._has_room(node, MAX_MESSAGE_BYTES):
            await self._room.wait()

    async def ask(
        self,
        node: int,
        kind: Kind[K, Any],
        key: K,
        request: Request[Any],
        *,
        epoch: int = 0,
        seconds: float = 5.0,
    ) -> object:
        """Send a request and wait for its answer, which may be a Moved.

        Raises:
            Unreachable: it was not handed over.
            Busy: there was no room for it, here or in the mailbox of the actor.
            AskTimedOut: there is no answer in time.
            ActorFailed: the actor crashed on it, or could not be started.
            ActorStopped: the actor ended before it answered.
        """
        arrived = trio.Event()
        answers: list[object] = []

        def settle(answer: object) -> None:
            answers.append(answer)
            arrived.set()

        self.send(node, kind, key, request, settle, epoch=epoch, seconds=min(seconds, BEGIN_SECONDS))
        with trio.move_on_after(seconds):
            await arrived.wait()
        if not answers:
            raise AskTimedOut(f"{kind.name}/{key} at node {node}", type(request).__name__, seconds)
        (answer,) = answers
        if isinstance(answer, Failure):
            raise answer.error
        return answer

    def channel(self, name: str) -> "Channel":
        """Return this node's end of a channel of fan-out; the same for each name."""
        channel = self._channels.get(name)
        if channel is None:
            channel = self._channels[name] = Channel(self._pipe, f"{self._prefix}.{_token(name)}", name)
        return channel

    # What has arrived

    def _keep(self, handle: Callable[[Any], None], data: bytes) -> None:
        if len(data) > MAX_MESSAGE_BYTES:
            self.counts["refused"] += 1
            return
        if self._unread_bytes + len(data) > MAX_UNREAD_BYTES:
            self.counts["lost"] += 1
            return
        self._unread_bytes += len(data)
        self._unread.append((handle, data))
        self._arrived.set()

    def _keep_message(self, data: bytes) -> None:
        self._keep(self._receive, data)

    def _keep_answer(self, data: bytes) -> None:
        self._keep(self._settle, data)

    def _undelivered(self, number: int) -> None:
        self._unread.append((self._fail_undelivered, number))
        self._arrived.set()

    def _lost(self, count: int) -> None:
        self.counts["lost"] += count
        for channel in self._channels.values():
            channel.lag(count)

    def _connection_changed(self, is_connected: bool) -> None:
        event, self._changed = self._changed, trio.Event()
        event.set()
        self._room.set()
        if not is_connected:
            for channel in self._channels.values():
                channel.cut_off()

    async def serve(self, system: System) -> Never:
        """Hand what other nodes send to the actors of this one, and answers to who waits for them."""
        self._system = system
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._sweep)
                while True:
                    while not self._unread:
                        await self._arrived.wait()
                    for _ in range(min(BURST, len(self._unread))):
                        handle, item = self._unread.popleft()
                        if isinstance(item, bytes):
                            self._unread_bytes -= len(item)
                        handle(item)
                    await trio.lowlevel.checkpoint()
        finally:
            self._system = None
            for number in list(self._pending):
                self._finish(number, _timed_out)

    def _receive(self, data: bytes) -> None:
        """Give a message to its actor."""
        try:
            message = self._messages.decode(data)
        except _MALFORMED:
            self.counts["refused"] += 1
            return
        left = message.expires - self._time.now()
        if left < 0:
            self.counts["late"] += 1
            return
        identity = message.sender, message.number
        # NaN is not less than anything.
        if not left <= BEGIN_SECONDS + MAX_SKEW_SECONDS or self._is_begun(identity):
            self.counts["refused"] += 1
            return
        try:
            carried = self._kinds[message.kind]
            key = carried.key.decode(message.key)
            body = carried.decoders[message.name].decode(message.body)
        except _MALFORMED:
            self.counts["refused"] += 1
            self._answer(message.sender, message.number, "refused")
            return
        if len(self._handled) >= MAX_HANDLED or len(self._begun) >= MAX_REMEMBERED:
            self._answer(message.sender, message.number, "busy")
            return
        self._begun.add(identity)
        assert self._system is not None
        arrived = Arrived(body, message.epoch)
        try:
            ref = self._system.ref(carried.kind, key)
            if not isinstance(body, Request):
                ref.tell_nowait(arrived)
                self._answer(message.sender, message.number, "answer", "", None)
                return
            envelope = ref.request(arrived, self._handled_here)
        except UnknownKind:
            self._answer(message.sender, message.number, "refused")
        except MailboxFull:
            self._answer(message.sender, message.number, "busy")
        except ActorStopped:
            self._answer(message.sender, message.number, "stopped")
        else:
            self._handled[envelope] = (
                message.sender,
                message.number,
                trio.current_time() + ANSWER_SECONDS,
            )
            if not envelope.pending:
                self._handled_here(envelope)

    def _is_begun(self, identity: tuple[int, int]) -> bool:
        return identity in self._begun or identity in self._begun_before

    def _forget_begun(self, now: float) -> None:
        """Forget messages that are too late by now if they come again."""
        if now >= self._forget_at:
            self._begun_before, self._begun = self._begun, set()
            self._forget_at = now + BEGIN_SECONDS + MAX_SKEW_SECONDS

    def _handled_here(self, envelope: Envelope) -> None:
        """Send the outcome of a request to who asked."""
        asked = self._handled.pop(envelope, None)
        if asked is None:
            return  # it was waited for too long, or ended within the call that hands it over
        sender, number, _ = asked
        error, value = envelope.error, envelope.value
        if error is None:
            if type(value) is Moved:
                self._answer(sender, number, "moved", "", value)
            else:
                name = type(value).__name__ if isinstance(value, msgspec.Struct) else ""
                self._answer(sender, number, "answer", name, value)
        elif type(error).__name__ in self._errors:
            _, text = self._errors[type(error).__name__]
            self._answer(sender, number, type(error).__name__, "", text(error))
        elif isinstance(error, ActorStopped):
            self._answer(sender, number, "stopped")
        elif isinstance(error, Unreachable | Busy):
            self._answer(sender, number, "busy")
        else:
            self._answer(sender, number, "failed", "", str(error))

    def _answer(self, node: int, number: int, status: str, name: str = "", value: object = None) -> None:
        try:
            data = self._encoder.encode((number, status, name, value))
        except (TypeError, ValueError, OverflowError, RecursionError):
            data = self._encoder.encode((number, "failed", "", "the answer cannot be sent"))
        if len(data) > MAX_MESSAGE_BYTES:
            self.counts["refused"] += 1
            data = self._encoder.encode((number, "failed", "", "the answer is too long"))
        if not self._pipe.send(self._subject(node, answers=True), data):
            self.counts["lost"] += 1

    def _settle(self, data: bytes) -> None:
        """Give an answer to who waits for it."""
        try:
            answer = self._answers.decode(data)
            pending = self._pending.get(answer.number)
            if pending is None:
                self.counts["late"] += 1
                return
            outcome = self._outcome(pending, answer)
        except _MALFORMED:
            self.counts["refused"] += 1
            return
        self.counts["answered"] += 1
        self._finish(answer.number, lambda _: outcome)

    def _outcome(self, pending: _Pending, answer: _Answer) -> object:
        match answer.status:
            case "answer":
                if not isinstance(pending.message, Request):
                    return None
                decoder = pending.carried.answers[type(pending.message)][answer.name]
                return decoder.decode(answer.body)
            case "moved":
                return msgspec.msgpack.decode(answer.body, type=Moved)
            case "busy":
                self.counts["busy"] += 1
                return Failure(Busy(pending.node, "the actor or its node has no room"))
            case "refused":
                return Failure(Unreachable(pending.node, "it does not know such a message"))
            case "stopped":
                return Failure(ActorStopped(pending.path))
            case "failed":
                failed = ActorFailed(pending.path)
                failed.__cause__ = RuntimeError(msgspec.msgpack.decode(answer.body, type=str | None))
                return Failure(failed)
            case name:
                error, _ = self._errors[name]
                return Failure(error(msgspec.msgpack.decode(answer.body, type=str)))

    def _fail_undelivered(self, number: int) -> None:
        if number in self._pending:
            self.counts["undelivered"] += 1
            self._finish(
                number, lambda pending: Failure(Unreachable(pending.node, "it is not there, or has no link"))
            )

    def _finish(self, number: int, outcome: Callable[[_Pending], object]) -> None:
        pending = self._pending.pop(number)
        self._open[pending.node] -= 1
        self._open_bytes[pending.node] -= pending.size
        if not self._open[pending.node]:
            del self._open[pending.node], self._open_bytes[pending.node]
        self._room.set()
        pending.outcome(outcome(pending))

    async def _sweep(self) -> Never:
        """Give up what nobody waits for any more."""
        while True:
            await trio.sleep(SWEEP_SECONDS)
            now = trio.current_time()
            self._forget_begun(now)
            for number in [number for number, each in self._pending.items() if each.expires <= now]:
                self.counts["timed out"] += 1
                self._finish(number, _timed_out)
            for envelope in [each for each, asked in self._handled.items() if asked[2] <= now]:
                del self._handled[envelope]
                envelope.fail(AskTimedOut("", type(envelope.message).__name__, ANSWER_SECONDS))


class Channel:
    """Texts to the other nodes that read it at that moment, in the order of each sender."""

    def __init__(self, pipe: Pipe, subject: str, name: str) -> None:
        self.max_bytes: Final = MAX_TEXT_BYTES
        """Longest text, in bytes of UTF-8."""
        self._pipe = pipe
        self._subject = subject
        self._name = name
        self._unread: deque[bytes] = deque()
        self._unread_bytes = 0
        self._lost = 0
        self._is_open = False
        self._is_cut_off = False
        self._arrived = Signal()
        pipe.listen(subject, self._keep)

    @contextmanager
    def open(self) -> Iterator[None]:
        """Keep what arrives during the body, for one reader. Raises Unreachable if there is no connection."""
        if not self._pipe.is_connected:
            raise Unreachable(0, "there is no connection to the other nodes")
        self._unread.clear()
        self._unread_bytes = self._lost = 0
        self._is_cut_off, self._is_open = False, True
        try:
            yield
        finally:
            self._is_open = False

    async def send(self, texts: Sequence[str]) -> None:
        """Send texts of at most `max_bytes` each; a checkpoint.

        Raises:
            Unreachable: they were not sent, or not all of them.
        """
        for text in texts:
            if not self._pipe.send(self._subject, text.encode()):
                raise Unreachable(0, "there is no connection, or too much waits to be sent")
        await trio.lowlevel.checkpoint()

    async def receive(self) -> str:
        """Wait for the next text of another node.

        Raises:
            Lagged: texts were dropped, and how many, because they were not received in time.
            Unreachable: the connection was lost, and with it what was sent meanwhile.
        """
        while not self._unread or self._lost or self._is_cut_off:
            if self._is_cut_off:
                raise Unreachable(0, "the connection to the other nodes was lost")
            if self._lost:
                lost, self._lost = self._lost, 0
                raise Lagged(self._name, lost)
            await self._arrived.wait()
        data = self._unread.popleft()
        self._unread_bytes -= len(data)
        return data.decode(errors="replace")

    def _keep(self, data: bytes) -> None:
        if not self._is_open:
            return
        if self._unread_bytes + len(data) > MAX_UNREAD_BYTES or len(data) > MAX_MESSAGE_BYTES:
            self.lag(1)
            return
        self._unread_bytes += len(data)
        self._unread.append(data)
        self._arrived.set()

    def lag(self, count: int) -> None:
        """Note that texts were dropped."""
        if self._is_open:
            self._lost += count
            self._arrived.set()

    def cut_off(self) -> None:
        """Note that the connection is lost."""
        self._is_cut_off = True
        self._arrived.set()


def _timed_out(pending: _Pending) -> Failure:
    return Failure(AskTimedOut(pending.path, type(pending.message).__name__, ANSWER_SECONDS))


def _token(name: str) -> str:
    """Return a name as one token of a subject."""
    return name.encode().hex() or "0"
