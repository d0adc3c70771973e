"""Carries out scheduled commands: edges become run records, and steps become commands to devices, once each.

Everything is a row before it acts (docs/decisions/0002). For an edge the records of all its steps are
committed, the first ones marked `sending`; only then are these handed to the devices. Where there are
thousands, this is done for some devices after the others, and scheduled commands take turns. Outcomes are
committed in batches, with the times of the steps that follow. Edges wait while the database is away; a run
that a user asks for does not: it fails with Overloaded.

In a cluster every server has one, for the runs that its users ask for. Edges, what a dead server left, and
what is overdue are the matter of the one that holds the duty `schedule` (docs/servers.md#duties).
"""

from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import TypeVar, assert_never

import trio

from motorpool.actors.cluster.duties import Duty
from motorpool.actors.messages.counters import STEPS_SETTLED
from motorpool.actors.messages.scheduling import (
    CheckDue,
    DispatcherMessage,
    EdgeReached,
    QueueExpired,
    RunNow,
)
from motorpool.actors.schedules.delayed_steps import DelayedSteps
from motorpool.actors.schedules.edge_queue import EdgeQueue
from motorpool.actors.schedules.firing_queue import FiringQueue
from motorpool.actors.schedules.manual_runs import ManualRun, ManualRuns
from motorpool.actors.schedules.step_outcomes import StepOutcomes
from motorpool.actors.schedules.step_recovery import (
    fail_interrupted,
    fail_lost_steps,
    recently_connected,
)
from motorpool.actors.schedules.step_sender import StepSender
from motorpool.actors.work.storage_retry import StorageRetry
from motorpool.runtime import Actor, Failure, Signal
from motorpool.storage.accounts import server
from motorpool.storage.database.database import Database
from motorpool.storage.database.queries import Queries
from motorpool.storage.devices import commands
from motorpool.storage.errors import DutyLost, Overloaded, StatementRejected, StorageError
from motorpool.storage.schedules import edge_occurrences, runs
from motorpool.storage.schedules.edge_occurrences import EdgeOccurrence, MadeRuns, Portion, StartedStep
from motorpool.storage.schedules.runs import DelayedStep

T = TypeVar("T")

BATCH_ROWS = 500
"""Edge occurrences or steps of one transaction."""
MAX_UNFINISHED = 50
"""Most firings of a scheduled command whose records are still being made: as many edges as may pass while no
server runs. The oldest are left out, whose steps would be late by hours."""
MAX_MANUAL_STEPS = 20_000
"""Records that a run may have that a user asks for, since they are all made at once."""
MANUAL_RUN_SECONDS = 5.0
"""A manual run that has waited longer is not begun: its caller has given up."""
MAX_UNSENT_STEPS = 2_000
"""Steps that wait for the sender, beyond which no further edge is processed."""
CHECK_SECONDS = 30.0
"""Between two searches for overdue steps."""
STOP_SECONDS = 4.0
"""For the steps that are being sent when the server stops."""


class Dispatcher(Actor[DispatcherMessage]):
    """One task commits edges and starts steps; the sender, the outcomes and each reply have their own."""

    def __init__(
        self,
        database: Database,
        reconnect_grace_seconds: float = 0.0,
        status_seconds: float = 0.0,
        node: int = 0,
        duty: Duty | None = None,
    ) -> None:
        """For the grace after a start, devices seen `status_seconds` before the stop may be reconnecting.

        `node` is the number of this server. `duty` is the duty of edges; None: this server is alone.
        """
        self._database = database
        self._node = node
        self._duty = duty
        self._take_over_due = False
        """Whether this server has the duty now, and has not read what the one before it left."""
        self._status_seconds = status_seconds
        self._edges = EdgeQueue()
        self._firings = FiringQueue()
        self._delayed = DelayedSteps()
        self._expired_in_queue: list[int] = []
        self._check_due = False
        self._commit_uncertain = False
        """Whether a transaction may have started steps although its commit was reported as failed."""
        self._commit_lock = trio.Lock()
        """At most one connection of the pool is held for edges, steps and outcomes together."""
        self._retry = StorageRetry(on_retry=self._on_retry, on_dropped=self._on_dropped)
        self._outcomes = StepOutcomes(
            database,
            reconnect_grace_seconds=reconnect_grace_seconds,
            commit_lock=self._commit_lock,
            retry=self._retry,
            on_delayed=self._delay,
        )
        self._manual_runs = ManualRuns(database, self._outcomes)
        self._sender = StepSender(self._outcomes.add)
        self._stopping = False
        self._edges_done = trio.Event()
        self._work_arrived = Signal()

    async def start(self) -> None:
        """Search for overdue steps periodically."""
        self._outcomes.start(self.context)
        self.context.every(CHECK_SECONDS, CheckDue())

    def handle(self, message: DispatcherMessage) -> object:
        """Queue the work; waits, and with it every later sender, while too many edges are queued."""
        match message:
            case EdgeReached():
                if self._edges.is_full:
                    return self._add_edge_later(message)
                self._edges.add(message)
            case RunNow():
                self._work_arrived.set()
                return self._manual_runs.add(message, self.context.clock)
            case QueueExpired():
                self._expired_in_queue.append(message.run_id)
            case CheckDue():
                self._check_due = True
            case _:
                assert_never(message)
        self._work_arrived.set()
        return None

    async def _add_edge_later(self, edge: EdgeReached) -> None:
        await self._edges.wait_for_room()
        self._edges.add(edge)
        self._work_arrived.set()

    async def run(self) -> None:
        """Recover what an earlier life left, then work."""
        await self._retry.call(self._recover)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._outcomes.run)
            nursery.start_soon(self._sender.run, self.context.system)
            if self._duty is not None:
                nursery.start_soon(self._follow_duty, self._duty)
            await self._process(nursery)
            self._edges_done.set()
            await trio.sleep_forever()

    async def stop(self) -> None:
        """Wait for the steps that are being sent; those not handed over yet become pending again."""
        self._stopping = True
        self._work_arrived.set()
        self._outcomes.withdraw(step.run_id for step in self._sender.withdraw())
        with trio.move_on_after(STOP_SECONDS):
            await self._edges_done.wait()
            try:
                await runs.revert_unsent(
                    self._database, list(self._outcomes.in_flight), self.context.clock.now(), self._node
                )
            except StorageError as error:
                self.context.log.warning(
                    "steps that were not sent will be reported as failed after the restart: %s", error
                )
            await self._outcomes.wait_until_done()

    # The duty

    async def _follow_duty(self, duty: Duty) -> None:
        while True:
            holding = await duty.held()
            self._take_over_due = True
            self._work_arrived.set()
            await holding.lost.wait()
            # Another server has taken over the edges and steps.
            self._edges.clear()
            self._firings.replace(())
            self._delayed = DelayedSteps()
            self._work_arrived.set()

    def _held_database(self) -> Database | None:
        """Return the database for what the duty decides; None if another server has the duty."""
        if self._duty is None:
            return self._database
        holding = self._duty.holding
        return None if holding is None else holding.database

    async def _take_over(self) -> None:
        """Settle what the holder of the duty before this one left, and take up the delayed steps."""
        self._take_over_due = False
        database = self._held_database()
        if database is None:
            return
        try:
            with suppress(DutyLost):
                self._delay(await fail_interrupted(database, self.context, self._node, sending=False))
                self._firings.replace(await edge_occurrences.unfinished(database))
                await self._expect_reconnections()
        except StorageError:
            self._take_over_due = True
            raise

    # Edges, delayed steps and manual runs

    async def _process(self, nursery: trio.Nursery) -> None:
        while not self._stopping:
            self._work_arrived.clear()
            if self._take_over_due:
                await self._retry.call(self._take_over)
            if self._check_due or self._commit_uncertain:
                await self._retry.call(self._check)
            if self._expired_in_queue:
                expired, self._expired_in_queue = self._expired_in_queue, []
                await self._retry.call(partial(self._expire, expired))
            if self._sender.waiting >= MAX_UNSENT_STEPS:
                await self._outcomes.changed.wait()
            elif not await self._work(nursery) and not self._commit_uncertain:
                due_in = self._delayed.next_due - self.context.clock.monotonic()
                await self._work_arrived.wait(max(0.0, due_in))

    async def _work(self, nursery: trio.Nursery) -> bool:
        """Do some of each kind of work, so that none waits long for another; return whether there was any."""
        found = False
        if self._manual_runs:
            found = True
            await self._run_now(self._manual_runs.take(), nursery)
        if not self._stopping and (due := self._delayed.pop_due(self.context.clock.monotonic(), BATCH_ROWS)):
            found = True
            await self._store(due, self._start_delayed)
        if not self._stopping and self._edges:
            found = True
            await self._store(self._edges.take(BATCH_ROWS), self._fire_edges)
        if not self._stopping and self._firings:
            found = True
            await self._store(self._firings.take(), self._make_runs)
        return found

    async def _store(self, batch: Sequence[T], store: Callable[[Sequence[T]], Awaitable[object]]) -> None:
        """Store the batch however long it takes."""
        async with self._commit_lock:
            try:
                await store(batch)
            except Exception as error:
                await self._retry.resume(batch, store, error)

    async def _run_now(self, run: ManualRun, nursery: trio.Nursery) -> None:
        """Begin a manual run. It is not retried: nothing would keep a retry from sending everything twice."""
        try:
            async with self._commit_lock:
                if self.context.clock.monotonic() - run.requested > MANUAL_RUN_SECONDS:
                    run.reply.answer(Failure(Overloaded("too late: the database was busy or away")))
                    return
                run_ids = await self._fire_manually(run.occurrence)
        except StorageError as error:
            self._commit_uncertain = True
            run.reply.answer(Failure(error))
        else:
            nursery.start_soon(self._manual_runs.answer, run.reply, run_ids)

    async def _fire_manually(self, occurrence: EdgeOccurrence) -> list[int]:
        """Create the run records and send the first steps; return the ids of all records."""
        async with self._database.transaction() as transaction:
            made = MadeRuns([], [], frozenset())
            for firing in await edge_occurrences.fire(transaction, (occurrence,)):
                portion = Portion(firing, MAX_MANUAL_STEPS // firing.steps)
                made = await edge_occurrences.make_runs(transaction, (portion,), self.context.clock.now())
            if made.unfinished:
                raise StatementRejected(
                    f"there would be more than {MAX_MANUAL_STEPS} steps for all devices together"
                )
            started, delayed = await self._start_steps(transaction, made.first_steps[:BATCH_ROWS])
        self._send(started, delayed)
        for run_id in made.first_steps[BATCH_ROWS:]:
            self._delayed.add(self.context.clock.monotonic(), run_id)
        return made.run_ids

    async def _fire_edges(self, occurrences: Sequence[EdgeOccurrence]) -> None:
        database = self._held_database()
        if database is None:
            # The server that has the duty now finds these edges in the rows.
            return
        with suppress(DutyLost):
            async with database.transaction() as transaction:
                fired = await edge_occurrences.fire(transaction, occurrences)
            if self._firings:
                await self._leave_out({each.schedule_id for each in fired}, database)
            self._firings.add(fired)

    async def _leave_out(self, schedule_ids: Collection[int], database: Database) -> None:
        left_out = await edge_occurrences.leave_out(database, schedule_ids, MAX_UNFINISHED)
        for schedule_id in sorted(set(left_out.values())):
            self.context.log.warning(
                "scheduled command %d fires faster than its steps can be made: of a firing some devices are"
                " left out",
                schedule_id,
            )
        self._firings.discard(left_out)

    async def _make_runs(self, portions: Sequence[Portion]) -> None:
        """Create run records of some devices, and send their first steps."""
        database = self._held_database()
        if database is None:
            self._firings.replace(())
            return
        with suppress(DutyLost):
            async with database.transaction() as transaction:
                made = await edge_occurrences.make_runs(transaction, portions, self.context.clock.now())
                started, delayed = await self._start_steps(transaction, made.first_steps)
            self._send(started, delayed)
            self._firings.made(portions, made.unfinished)

    async def _start_delayed(self, run_ids: Sequence[int]) -> None:
        # A server without the duty has the steps of runs that its users asked for.
        database = self._held_database() or self._database
        with suppress(DutyLost):
            async with database.transaction() as transaction:
                started, delayed = await self._start_steps(transaction, run_ids)
            self._send(started, delayed)

    async def _start_steps(
        self, q: Queries, run_ids: Sequence[int]
    ) -> tuple[list[StartedStep], list[DelayedStep]]:
        """Mark steps as `sending`, or skip them; also due steps that follow skipped ones."""
        now = self.context.clock.now()
        started: list[StartedStep] = []
        delayed: list[DelayedStep] = []
        while run_ids:
            latest = await edge_occurrences.start_steps(q, run_ids, now, self._node)
            skipped = [step.run_id for step in latest if step.reason is not None and step.followed]
            following = await runs.schedule_next_steps(q, skipped) if skipped else []
            started += latest
            delayed += [step for step in following if step.due > now]
            run_ids = [step.run_id for step in following if step.due <= now]
        return started, delayed

    def _send(self, started: Sequence[StartedStep], delayed: Sequence[DelayedStep]) -> None:
        """Pass steps to the sender, once their transaction is committed."""
        for step in started:
            if step.reason is not None:
                STEPS_SETTLED.labels("skipped").inc()
            elif not self._stopping:
                self._outcomes.in_flight.add(step.run_id)
                self._sender.put(step)
        if delayed:
            self._delay(delayed)

    def _delay(self, steps: Sequence[DelayedStep]) -> None:
        """Schedule steps for the time at which they are due."""
        clock = self.context.clock
        now, moment = clock.now(), clock.monotonic()
        for step in steps:
            self._delayed.add(moment + (step.due - now).total_seconds(), step.run_id)
        self._work_arrived.set()

    # Recovery

    async def _recover(self) -> None:
        """Settle what an earlier life of the server left, and take up its delayed steps."""
        delayed = await fail_interrupted(self._database, self.context, self._node)
        if self._duty is None:
            self._delay(delayed)
            self._firings.replace(await edge_occurrences.unfinished(self._database))
        await self._expect_reconnections()
        await server.mark_alive(self._database, self.context.clock.now())

    async def _expect_reconnections(self) -> None:
        """Begin the grace for the devices that were connected lately."""
        self._outcomes.begin_grace(await recently_connected(self._database, self._status_seconds))

    async def _check(self) -> None:
        """Start the steps that are overdue: the wall clock has jumped, or a commit was uncertain."""
        now = overdue_since = self.context.clock.now()
        if self._commit_uncertain:
            # Only here, between two transactions: no other step that is `sending` was handed over.
            await runs.revert_unsent(self._database, list(self._outcomes.in_flight), now, self._node)
        else:
            overdue_since -= timedelta(seconds=CHECK_SECONDS)
        await server.mark_alive(self._database, now)
        database = self._held_database()
        if database is None and not self._commit_uncertain:
            self._check_due = False
            return
        with suppress(DutyLost):
            await fail_lost_steps(database or self._database, self.context, self._node)
            if database is not None:
                self._firings.replace(await edge_occurrences.unfinished(database))
        await self._expire(())
        overdue = await runs.overdue(self._database, overdue_since, BATCH_ROWS)
        for run_id in overdue:
            self._delayed.add(self.context.clock.monotonic(), run_id)
        self._commit_uncertain, self._check_due = False, len(overdue) == BATCH_ROWS

    async def _expire(self, run_ids: Sequence[int]) -> None:
        await commands.expire(self._database, self.context.clock.now(), run_ids)

    def _on_retry(self, error: StorageError) -> None:
        self._commit_uncertain = True
        self._work_arrived.set()
        self._manual_runs.fail_all(error)
        self.context.log.warning("not stored yet, another attempt follows: %s", error)

    def _on_dropped(self, item: object, error: Exception) -> None:
        if isinstance(item, Portion):
            # Until the next check.
            self._firings.discard({item.firing.id})
        self.context.log.error("dropped what cannot be stored: %s: %r", error, item)
