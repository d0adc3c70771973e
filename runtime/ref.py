"""A handle to an actor: tell, ask, stop.

Back-pressure. A mailbox is bounded, and `tell` waits for room, so that a fast producer is slowed
down to the pace of the slowest reader, through as many actors as lie between, down to the socket that is not
read meanwhile. For this a handler that has to wait says so:

    def handle(self, message):
        try:
            self.writer.tell_nowait(message)
        except MailboxFull:
            return self.writer.tell(message)  # busy until there is room; the own mailbox fills

Where waiting is wrong (live pictures, datagrams), use `tell_nowait` and count what is refused.

Deadlocks. Two actors that wait for each other wait for ever: A asks B while B asks A, or each sends to the
other with both mailboxes full. So:

- ask and wait only in one direction, towards those who never ask you back: the order of the supervision tree
  is a good one, later children depend on earlier ones;
- inside an actor prefer `tell` and a later message to `ask`. An actor that asks itself, or awaits its own
  `stop`, waits in vain; it has `Context.leave`;
- in the other direction use `tell_nowait`, or a topic, which never waits.

An ask always ends: by its deadline at the latest, which shows as AskTimedOut and, in a snapshot,
as two actors with a growing mailbox. A tell has no deadline; wrap it in `trio.fail_after` where it needs one.

Fairness. A tell that finds room, or an idle actor, is no checkpoint. A producer in an endless loop
without another wait must put in a `trio.lowlevel.checkpoint()`.
"""

from collections.abc import Callable, Coroutine
from types import CoroutineType
from typing import Any, Generic, cast

from motorpool.runtime.cell import Cell, Group, M_contra, handle_now
from motorpool.runtime.deferred import Envelope
from motorpool.runtime.errors import ActorStopped, AskTimedOut, MailboxFull
from motorpool.runtime.kind import Kind, Request, T
from motorpool.runtime.lifecycle import EndReason, State
from motorpool.runtime.mailbox import MailboxStatistics


class Ref(Generic[M_contra]):
    """A light handle on the actor of one kind and key, whether or not it is there now.

    Refs compare and hash by kind and key. A ref survives crashes and restarts, as the mailbox does.
    """

    __slots__ = ("_cell", "_group", "key")

    def __init__(self, group: Group[Any], key: object) -> None:
        self._group = group
        self._cell: Cell[Any] | None = None
        self.key = key
        """Tells actors of one kind apart; None where there is only one."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ref) and self.kind is other.kind and bool(self.key == other.key)

    def __hash__(self) -> int:
        return hash((self.kind, self.key))

    def __repr__(self) -> str:
        return f"<Ref {self.path}>"

    @property
    def kind(self) -> Kind[Any, Any]:
        """Its group."""
        return self._group.kind

    @property
    def path(self) -> str:
        """Its path in the tree: `devices/42`."""
        return self._group.path_of(self.key)

    @property
    def alive(self) -> bool:
        """Whether an actor exists and accepts messages now. Starts no actor."""
        cell = self._group.cells.get(self.key)
        return cell is not None and cell.state in (State.STARTING, State.RUNNING) and not cell.mailbox.sealed

    async def tell(self, message: M_contra) -> None:
        """Hand over `message`; wait in line while the mailbox is full. No checkpoint when there is room.

        Cancelled while waiting: the message has not been accepted. ActorStopped: nor will it ever be.
        """
        cell = self._cell or self._find()
        if cell.idle:
            handle_now(cell, message)
        elif not cell.mailbox.put(message):
            if self._is_replaced(cell):
                await self.tell(message)
            else:
                await cell.mailbox.put_waiting(message)

    def tell_nowait(self, message: M_contra) -> None:
        """Hand over `message` now, or raise MailboxFull or ActorStopped; it has not been accepted then."""
        cell = self._cell or self._find()
        if cell.idle:
            handle_now(cell, message)
        elif not cell.mailbox.put(message):
            if not self._is_replaced(cell):
                raise MailboxFull(self.path, cell.mailbox.size)
            self.tell_nowait(message)

    def offer(self, message: M_contra) -> bool:
        """As `tell_nowait`, but say whether it was accepted: for an actor that may well be gone or full."""
        try:
            self.tell_nowait(message)
        except (ActorStopped, MailboxFull):
            return False
        return True

    async def ask(self, request: Request[T], seconds: float = 5.0) -> T:
        """Hand over `request` and wait for the answer, `seconds` in all, the wait for room included.

        Raises AskTimedOut; ActorStopped, when the actor ended first; ActorFailed, caused by the crash, when
        it failed on this request. Cancelled or timed out: a request that was accepted is handled all the
        same, and its answer dropped. No checkpoint when an idle actor answers at once.
        """
        answer: Any = self.ask_now(request, seconds)
        return cast("T", await answer if type(answer) is CoroutineType else answer)

    def ask_now(self, request: Request[T], seconds: float = 5.0) -> T | Coroutine[Any, Any, T]:
        """As `ask`, for callers that cannot wait: the answer itself if it is available at once.

        Else a coroutine that waits for it, and that must be awaited: `seconds` count from then. An idle actor
        with a plain handler always answers at once. Raises what `ask` does.
        """
        cell = self._cell or self._find()
        envelope = Envelope(request)
        if cell.idle:
            handle_now(cell, envelope)
        elif not cell.mailbox.put(envelope):
            if self._is_replaced(cell):
                return self.ask_now(request, seconds)
            cell.mailbox.enqueue_waiter(envelope, envelope)
        if envelope.pending:
            return cast("Coroutine[Any, Any, T]", self._answer(cell, envelope, seconds))
        if envelope.error is not None:
            raise envelope.error
        return cast("T", envelope.value)

    def request(self, request: Request[Any], settled: Callable[[Envelope], None]) -> Envelope:
        """Hand over `request` now, without a task that waits for the answer.

        If the envelope is pending still, `settled` is called with it once there is an outcome. Raises
        MailboxFull or ActorStopped: it has not been accepted.
        """
        cell = self._cell or self._find()
        envelope = Envelope(request)
        if cell.idle:
            handle_now(cell, envelope)
        elif not cell.mailbox.put(envelope):
            if self._is_replaced(cell):
                return self.request(request, settled)
            raise MailboxFull(self.path, cell.mailbox.size)
        if envelope.pending:
            envelope.notify(settled)
        return envelope

    async def _answer(self, cell: Cell[Any], envelope: Envelope, seconds: float) -> object:
        def expire() -> None:
            envelope.fail(AskTimedOut(cell.path, type(envelope.message).__name__, seconds))

        # The shared heap: a cancel scope of its own would cost each ask more than all the rest of it.
        timer = cell.group.runtime.timers.after(seconds, expire)
        try:
            if envelope.pending:
                await envelope.wait()
        finally:
            timer.cancel()
            cell.mailbox.forget(envelope)
        if envelope.error is not None:
            raise envelope.error
        return envelope.value

    async def stop(self) -> None:
        """Ask the actor to end in order, and wait until it has: at most its `shutdown_seconds`.

        What was accepted before is handled first; nothing is accepted meanwhile. If a message can start the
        actor, `tell` and `ask` wait for the fresh one; else they raise ActorStopped. Messages that were not
        handled in time are dead letters. Cancelled: the end goes on by itself.
        """
        cell = self._group.cells.get(self.key)
        if cell is not None and cell.state is not State.STOPPED:
            gone = cell.stopped_event()
            cell.request(EndReason.STOP)
            await gone.wait()

    async def wait_stopped(self) -> None:
        """Wait until the actor has ended and will not be restarted; at once when there is none."""
        cell = self._group.cells.get(self.key)
        if cell is not None:
            await cell.wait_stopped()

    def statistics(self) -> MailboxStatistics:
        """The mailbox at this moment; empty when there is no actor."""
        cell = self._group.cells.get(self.key)
        return cell.mailbox.statistics() if cell else MailboxStatistics(0, self._group.mailbox_size, 0)

    def _is_replaced(self, cell: Cell[Any]) -> bool:
        """After a refusal, say whether another actor has taken the place. Raises ActorStopped if none can."""
        if cell.state is State.STOPPED:
            self._find()
            return True
        if cell.mailbox.sealed and not cell.group.starts_on_message:
            raise ActorStopped(self.path)
        return False

    def _find(self) -> Cell[Any]:
        self._cell = self._group.find(self.key)
        return self._cell
