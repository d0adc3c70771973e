"""What an author of actors writes: a class with `handle`, and where needed `start`, `run` and `stop`."""

import logging
from datetime import datetime
from typing import TYPE_CHECKING, Any, Generic

from motorpool.runtime.kind import M
from motorpool.runtime.timer_heap import Timer

if TYPE_CHECKING:
    from motorpool.runtime.cell import Cell
    from motorpool.runtime.clock import Clock
    from motorpool.runtime.ref import Ref
    from motorpool.runtime.system import System
    from motorpool.runtime.timers import Timers


class Actor(Generic[M]):
    """State that one message at a time may touch. Override what you need; no `super()` calls are wanted.

    A crash, in whatever method, costs this object: a new one is built by its spec, and what is to be known
    then is loaded again in `start`. `stop` is not called after a crash; what must be released in any case
    belongs into an `async with` inside `run`.
    """

    __slots__ = ("context",)

    context: "Context[M]"
    """Set before `start`; not yet there in `__init__`."""

    async def start(self) -> None:
        """Load what is to be known. Messages wait meanwhile."""

    def handle(self, message: M) -> object:
        """Handle one message; what is returned answers an ask.

        A plain function runs to completion, often in the sender's task: it must be quick and cannot wait.
        An `async def`, or a plain function that returns a coroutine when it has to wait (for one
        `other.tell(message)` after `tell_nowait` found it full), keeps the following messages waiting. An
        answer that depends on a later message is a `Deferred`.
        """
        raise TypeError(f"{type(self).__name__} takes no messages, and got a {type(message).__name__}")

    async def run(self) -> None:
        """The actor's own task, if overridden; messages are handled beside it. Its return ends the actor."""

    async def stop(self) -> None:
        """End in order, within the spec's `shutdown_seconds`; also after `leave`.

        What `run` does goes on meanwhile, and is cancelled when this has returned.
        """

    def may_leave(self) -> bool:
        """Whether an actor on demand may go now that no message came for long; its timers go with it."""
        return True


class Context(Generic[M]):
    """What the runtime gives an actor: who it is, time, and the wish to leave. One for each actor object."""

    __slots__ = ("_cell", "_log")

    def __init__(self, cell: "Cell[M]") -> None:
        self._cell = cell
        self._log: ActorLog | None = None

    @property
    def ref(self) -> "Ref[M]":
        """The actor's own ref, to give away."""
        return self._cell.group.ref(self._cell.key)

    @property
    def path(self) -> str:
        """Where the actor stands in the tree: `devices/42`."""
        return self._cell.path

    @property
    def key(self) -> Any:  # noqa: ANN401 - its kind knows the type, an actor only the messages
        """What tells it from others of its kind; None where there is only one."""
        return self._cell.key

    @property
    def system(self) -> "System":
        """The way to other actors and topics."""
        return self._cell.group.runtime.system

    @property
    def clock(self) -> "Clock":
        """The system's clock."""
        return self._cell.group.runtime.clock

    @property
    def timers(self) -> "Timers":
        """The system's timers, for callbacks that are to outlive this actor; else see `after` and `every`."""
        return self._cell.group.runtime.timers

    @property
    def log(self) -> "ActorLog":
        """A logger that says who speaks."""
        if self._log is None:
            self._log = ActorLog(logging.getLogger(type(self._cell.actor).__module__), {"actor": self.path})
        return self._log

    def after(self, seconds: float, message: M) -> Timer:
        """Tell oneself `message` after so long, full mailbox or not. Ends with the actor."""
        timer = self._cell.own(self, message)
        self.timers.arm(timer, seconds)
        return timer

    def every(self, seconds: float, message: M) -> Timer:
        """Tell oneself `message` each so often; skipped while the mailbox is full. Ends with the actor."""
        timer = self._cell.own(self, message, seconds)
        self.timers.arm(timer, seconds)
        return timer

    def at(self, instant: datetime, message: M) -> Timer:
        """Tell oneself `message` once the wall clock shows `instant`. Ends with the actor."""
        timer = self._cell.own(self, message)
        self.timers.arm_at(timer, instant)
        return timer

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
