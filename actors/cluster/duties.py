"""What one server of a cluster does for all of them (docs/servers.md#duties, docs/decisions/0288).

An actor of `Duties.only` runs at the server that holds its duty, with a database whose
transactions end with a check that it still does. A server that is alone has no duties: its actors run as they
are.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Any, Generic, TypeVar

import trio

from motorpool.actors.change_feed import publish_changes
from motorpool.actors.messages.changes import ApplyChanges, DutyReleased
from motorpool.actors.messages.conditions import NO_DUTIES
from motorpool.actors.messages.duties import DUTY_KEEPER
from motorpool.runtime import Actor, ChildSpec, Kind, Signal, System, TaskSpec
from motorpool.storage.cluster import duties
from motorpool.storage.database import nodes
from motorpool.storage.database.database import Database
from motorpool.storage.database.queries import Queries
from motorpool.storage.errors import DutyLost, StorageError

M = TypeVar("M")

LOOK_SECONDS = 1.0
"""Between two looks at who holds the duties."""
RELEASE_SECONDS = 2.0
"""For the database to note that a duty is left to others; else they take it once this server is dead."""


class Holding:
    """A duty in the hands of this server, from taking it until it is lost."""

    def __init__(self, database: Database, node: int, name: str, epoch: int) -> None:
        self._node = node
        self._name = name
        self.epoch = epoch
        """Counts the holders of the duty."""
        self.lost = trio.Event()
        """Set when another server holds the duty, or may hold it."""
        self.database = database.fenced(self._check, duties.IDLE_SECONDS)
        """Its transactions are rolled back, with DutyLost, when the duty is lost."""

    async def _check(self, transaction: Queries) -> None:
        try:
            await duties.check(transaction, self._node, self._name, self.epoch)
        except DutyLost:
            self.lost.set()
            raise


class Duty:
    """One duty, as this server knows it."""

    def __init__(self, duties: "Duties", name: str) -> None:
        self._duties = duties
        self.name = name
        self.is_wanted = False
        """Whether this server takes the duty when no other has it."""
        self._holding: Holding | None = None
        self._taken = Signal()

    @property
    def holding(self) -> Holding | None:
        """What this server holds; None if it does not hold the duty."""
        if self._holding is not None and self._holding.lost.is_set():
            return None
        return self._holding

    async def held(self) -> Holding:
        """Wait until this server holds the duty."""
        while (holding := self.holding) is None:
            await self._taken.wait()
        return holding

    async def take(self) -> Holding:
        """Take the duty as soon as no other server has it; never while this server leaves."""
        if self.leaving.is_set() or not self._duties.is_holder:
            await trio.sleep_forever()
        if not self.is_wanted:
            self.is_wanted = True
            self._duties.look_now()
        return await self.held()

    @property
    def leaving(self) -> trio.Event:
        """Set when this server leaves."""
        return self._duties.leaving

    async def release(self, system: System) -> None:
        """Leave the duty to the other servers, which learn of it."""
        self.is_wanted = False
        with trio.move_on_after(RELEASE_SECONDS), suppress(StorageError):
            if await self._duties.release(self):
                await publish_changes(system, DutyReleased(self.name))

    def note(self, holding: Holding | None) -> None:
        """Hold the duty under another epoch, or not any more."""
        if self._holding is not None:
            self._holding.lost.set()
        self._holding = holding
        if holding is not None:
            self._taken.set()


class Duties:
    """The duties of one server of a cluster.

    Args:
        database: where the rows are.
        node: the number of this server; None: it is alone, and does everything.
        leaving: set to leave all duties to the others.
        is_holder: whether this server takes any, by its roles.
    """

    def __init__(
        self,
        database: Database,
        node: int | None,
        leaving: trio.Event | None = None,
        *,
        is_holder: bool = True,
    ) -> None:
        self._database = database
        self._node = node
        self.is_holder = is_holder
        self.leaving = trio.Event() if leaving is None else leaving
        self._duties: dict[str, Duty] = {}
        self._look_due = Signal()
        self._lock = trio.Lock()
        """Held while rows are read or written, so that an older read does not retake a released duty."""

    def duty(self, name: str) -> Duty | None:
        """Return the duty of this name; None if this server is alone."""
        if self._node is None:
            return None
        return self._duties.setdefault(name, Duty(self, name))

    def only(
        self, name: str, make: Callable[[Database], Actor[M]], kind: Kind[None, M] | None = None
    ) -> ChildSpec[Any]:
        """Return the spec of the actor that `make(database)` returns, which only the holder of the duty runs.

        Elsewhere its messages are ignored: an actor that begins to run reads its state from the rows. A duty
        has one such actor. Its `handle` must bear messages before `start` has returned. Without a `kind` it
        gets no messages, and has the name of the duty.
        """
        duty = self.duty(name)

        def factory() -> Actor[Any]:
            return make(self._database) if duty is None else _OnDuty(duty, make)

        if kind is None:
            return TaskSpec(name=name, factory=factory)
        return ChildSpec(kind=kind, factory=factory)

    def keeper_specs(self) -> tuple[ChildSpec[ApplyChanges], ...]:
        """Return the child spec of the actor that takes duties, above all that have one; none if alone."""
        if self._node is None:
            return ()
        return (ChildSpec(kind=DUTY_KEEPER, factory=lambda: DutyKeeper(self)),)

    def look_now(self) -> None:
        """Have the rows read without delay."""
        self._look_due.set()

    async def wait_for_look(self) -> None:
        """Wait until the rows are to be read: after LOOK_SECONDS, or earlier if asked to."""
        await self._look_due.wait(LOOK_SECONDS)

    async def has_holder(self) -> bool:
        """Whether a server lives that takes duties, which may be this one. Raises StorageError."""
        return self.is_holder or await nodes.has_role(self._database, "duties")

    async def look(self) -> None:
        """Take what no live server holds, and note what this one does not hold any more.

        Raises:
            StorageError: it is not known; what this server held, it goes on holding.
        """
        assert self._node is not None
        async with self._lock:
            wanted = [duty for duty in self._duties.values() if duty.is_wanted]
            if not wanted:
                return
            held = await duties.take(self._database, self._node, [duty.name for duty in wanted])
            for duty in wanted:
                epoch, holding = held.get(duty.name), duty.holding
                if epoch is None:
                    duty.note(None)
                elif holding is None or holding.epoch != epoch:
                    duty.note(Holding(self._database, self._node, duty.name, epoch))

    async def release(self, duty: Duty) -> bool:
        """Write that this server does not hold the duty any more; return whether it did.

        Raises:
            StorageError: the others take it once this server is dead.
        """
        assert self._node is not None
        async with self._lock:
            holding = duty.holding
            duty.note(None)
            if holding is None:
                return False
            await duties.release(self._database, self._node, duty.name, holding.epoch)
            return True


class DutyKeeper(Actor[ApplyChanges]):
    """Looks for duties that no server holds, or that this one has lost.

    At a server that takes none it looks whether there is one that does.
    """

    def __init__(self, duties: Duties) -> None:
        self._duties = duties

    def handle(self, message: ApplyChanges) -> None:
        """Look at once: another server has released a duty."""
        del message
        self._duties.look_now()

    async def run(self) -> None:
        """Look until cancelled."""
        is_known = True
        while True:
            try:
                await self._duties.look()
                self._note_holder(has_one=await self._duties.has_holder())
                is_known = True
            except StorageError as error:
                if is_known:
                    self.context.log.warning("who holds which duty cannot be read, trying again: %s", error)
                is_known = False
            await self._duties.wait_for_look()

    def _note_holder(self, *, has_one: bool) -> None:
        conditions = self.context.system.conditions
        if has_one:
            conditions.leave(NO_DUTIES)
        else:
            conditions.enter(
                NO_DUTIES,
                "no server with the role `duties` runs ([node] roles): nothing begins by a calendar, nothing"
                " old is deleted, and there are no events without a position",
            )


class _OnDuty(Actor[M], Generic[M]):
    """Runs another actor while this server holds a duty. One life of it is at most one holding."""

    def __init__(self, duty: Duty, make: Callable[[Database], Actor[M]]) -> None:
        self._duty = duty
        self._make = make
        self._actor: Actor[M] | None = None
        self._holding: Holding | None = None

    def handle(self, message: M) -> object:
        """Pass the message on, if the actor runs here."""
        if self._actor is None or self._duty.leaving.is_set():
            return None
        return self._actor.handle(message)

    async def run(self) -> None:
        """Wait for the duty, then run the actor until the duty is lost."""
        holding = self._holding = await self._duty.take()
        self.context.log.info("this server has the duty %s (epoch %d)", self._duty.name, holding.epoch)
        actor = self._make(holding.database)
        actor.context = self.context
        self._actor = actor
        await actor.start()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._leave_when_lost, holding)
            nursery.start_soon(self._stop_when_leaving, nursery.cancel_scope)
            await actor.run()
            await holding.lost.wait()
        if self._duty.leaving.is_set():
            # It must not begin again.
            await trio.sleep_forever()

    async def _leave_when_lost(self, holding: Holding) -> None:
        await holding.lost.wait()
        if self._duty.leaving.is_set():
            return
        if self._duty.is_wanted:
            self.context.log.warning("another server has the duty %s", self._duty.name)
        self.context.leave()

    async def _stop_when_leaving(self, running: trio.CancelScope) -> None:
        await self._duty.leaving.wait()
        await self.stop()
        running.cancel()

    async def stop(self) -> None:
        """End the actor in order, and leave the duty to others."""
        if self._holding is not None and not self._holding.lost.is_set() and self._actor is not None:
            await self._actor.stop()
        await self._duty.release(self.context.system)

    def release(self) -> None:
        """Release the resources of the actor."""
        if self._actor is not None:
            self._actor.release()
