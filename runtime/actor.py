"""The base class of actors: override `handle`, and where needed `start`, `run` and `stop`."""

import logging
from collections.abc import Callable
from datetime import datetime
from typing import Any, Generic

from motorpool.runtime.cell import Cell
from motorpool.runtime.clock import Clock
from motorpool.runtime.deferred import Deferred
from motorpool.runtime.kind import M, T
from motorpool.runtime.ref import Ref
from motorpool.runtime.system import System
from motorpool.runtime.timer_heap import Timer
from motorpool.runtime.timers import Timers
from motorpool.runtime.topic import TopicName


class Actor(Generic[M]):
    """State that is touched by one message at a time. Override what you need, without `super()` calls.

    An actor that is only a task, and has a TaskSpec, is an `Actor[Never]` with a `run` and no `handle`.

    A crash in any method discards this object: the spec builds a new one, which loads its state again in
    `start`. `stop` is not called after a crash; what must be released in any case belongs into `release`, or
    into an `async with` inside `run`.
    """

    __slots__ = ("context",)

    context: "Context[M]"
    """Set before `start`; not yet there in `__init__`."""

    async def start(self) -> None:
        """Load the initial state. Messages wait meanwhile."""

    def handle(self, message: M) -> object:
        """Handle one message; what is returned answers an ask.

        A plain function runs to completion, often in the sender's task: it must be quick and cannot wait.
        An `async def`, or a plain function that returns a coroutine when it has to wait (for one
        `other.tell(message)` after `tell_nowait` found it full), keeps the following messages waiting. An
        answer that depends on a later message is a `Deferred`.
        """
        raise TypeError(f"{type(self).__name__} takes no messages, and got a {type(message).__name__}")

    async def run(self) -> None:
        """The actor's own task, if overridden; messages are handled beside it.

        Its return ends the actor, unless `outlives_run`.
        """

    @property
    def outlives_run(self) -> bool:
        """Whether the actor goes on without a task after `run` has returned, until `begin_run` or `leave`."""
        return False

    def release(self) -> None:
        """Release resources such as sockets. The last call, also after a crash."""

    async def stop(self) -> None:
        """End in order, within the spec's `shutdown_seconds`; also after `leave`.

        What `run` does goes on meanwhile, and is cancelled when this has returned.
        """

    def overrides(self, method: str) -> bool:
        """Whether this class has a `start`, `run` or `stop` of its own; asked by the runtime."""
        return getattr(type(self), method) is not getattr(Actor, method)

    def may_leave(self) -> bool:
        """Whether an actor on demand may end after `idle_seconds` without a message; its timers end too."""
        return True


class Context(Generic[M]):
    """The runtime as an actor sees it: its identity, time, and a way to end. One for each actor object."""

    __slots__ = ("_cell",)

    def __init__(self, cell: Cell[M]) -> None:
        self._cell = cell

    @property
    def ref(self) -> Ref[M]:
        """The actor's own ref, to pass to others."""
        return Ref(self._cell.group, self._cell.key)

    @property
    def path(self) -> str:
        """Path of the actor in the tree: `devices/42`."""
        return self._cell.path

    @property
    def key(self) -> Any:  # noqa: ANN401 - its kind knows the type, an actor only the messages
        """The key that identifies it among actors of its kind; None for a singleton."""
        return self._cell.key

    @property
    def system(self) -> System:
        """The system, for refs and topics."""
        system: System = self._cell.group.system
        return system

    @property
    def clock(self) -> Clock:
        """The system's clock."""
        return self._cell.group.runtime.clock

    @property
    def timers(self) -> Timers:
        """The system's timers, for callbacks that are to outlive this actor; else see `after` and `every`."""
        return self._cell.group.runtime.timers

    @property
    def log(self) -> "ActorLog":
        """A logger that adds the actor's path.

        Made each time: most actors log a line or two, and one that is kept takes 360 bytes of each.
        """
        return ActorLog(logging.getLogger(type(self._cell.actor).__module__), {"actor": self.path})

    def after(self, seconds: float, message: M) -> Timer:
        """Send `message` to this actor after `seconds`, even to a full mailbox. Ends with the actor."""
        timer = self._cell.create_timer(self, message)
        self.timers.arm(timer, seconds)
        return timer

    def every(self, seconds: float, message: M) -> Timer:
        """Send `message` to this actor every `seconds`; skipped while the mailbox is full. Ends with it."""
        timer = self._cell.create_timer(self, message, seconds)
        self.timers.arm(timer, seconds)
        return timer

    def at(self, instant: datetime, message: M) -> Timer:
        """Send `message` to this actor once the wall clock reaches `instant`. Ends with the actor."""
        timer = self._cell.create_timer(self, message)
        self.timers.arm_at(timer, instant)
        return timer

    def listen(self, topic: TopicName[T], function: Callable[[T], object]) -> None:
        """Call `function(value)` for each value of a topic, as `Topic.listen` does. Ends with the actor."""
        self._cell.scope_of(self).add_timer(self.system.topic(topic).listen(function))

    def begin_run(self) -> None:
        """Call `run` again in a task of its own, unless it still runs. For actors that outlive it."""
        self._cell.begin_run(self)

    async def become(self, actor: "Actor[M]") -> None:
        """Let another actor object go on in this one's place, within `start` or a handler that waits.

        The mailbox, requests that are not answered yet, timers and the context stay; messages wait until the
        `start` of the other is over, whose failure is that of the caller. Not for actors with a `run`.
        """
        actor.context = self
        await self._cell.become(self, actor)

    def handle_again(self, message: M, reply: Deferred[Any]) -> None:
        """Put a message back into the mailbox, with the request that `reply` was to answer, if there is one.

        For a message that was not handled after all: whichever actor is here then handles it.
        """
        self._cell.put_back(message if reply.envelope is None else reply.envelope)

    def leave(self) -> None:
        """End in order after the current message.

        What queues behind it goes to a fresh actor, if its spec says that there will be one and this one has
        handled anything at all; otherwise it becomes dead letters.
        """
        self._cell.leave(self)


class ActorLog(logging.LoggerAdapter[logging.Logger]):
    """Puts the actor's path in front of the text, and into the record as `actor`."""

    def log(self, level: int, msg: object, *args: object, **kwargs: Any) -> None:  # noqa: ANN401 - as the standard library has it
        """Log as the standard adapter does."""
        if not self.isEnabledFor(level):
            return
        assert self.extra is not None
        kwargs["extra"] = {**self.extra, **(kwargs.get("extra") or {})}
        kwargs["stacklevel"] = kwargs.get("stacklevel", 1) + 1  # the line that logs is our caller's
        path = self.extra["actor"]
        if args:
            self.logger.log(level, f"%s: {msg}", path, *args, **kwargs)  # noqa: G004 - the path is an argument
        else:
            self.logger.log(level, "%s: %s", path, msg, **kwargs)
