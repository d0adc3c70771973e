"""Carries out scheduled commands: turns become run records, steps become commands to devices, once each.

Everything is a row before it acts (docs/decisions/0002): a turn commits the records of all its steps and
marks the
first ones `sending`; only then are they handed to the devices, each on its own; what came of them is
committed for many at once, and with it the time of the steps that follow. Turns wait while the database is
away. Who wants a run now does not: he hears of it.
"""

import random
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import timedelta
from functools import partial
from typing import TypeVar, assert_never

import trio

from motorpool.actors.messages.counters import STEPS_SETTLED
from motorpool.actors.messages.scheduling import (
    DISPATCHER,
    AnswerDue,
    DispatcherMessage,
    EdgeReached,
    LookDue,
    QueueExpired,
    RunNow,
    StepsDue,
)
from motorpool.actors.schedules.delayed_steps import DelayedSteps
from motorpool.actors.schedules.pending_run_replies import Answer, PendingRunReplies
from motorpool.actors.schedules.step_sender import StepSender
from motorpool.runtime import Actor, ChildSpec, Deferred, Failure, Timer
from motorpool.storage import commands, edge_occurrences, runs
from motorpool.storage.database import Database
from motorpool.storage.edge_occurrences import EdgeOccurrence, StartedStep
from motorpool.storage.errors import StorageError, StorageUnavailable
from motorpool.storage.queries import Queries
from motorpool.storage.runs import Outcome, Planned

__all__ = ["Dispatcher", "dispatcher_spec"]

T = TypeVar("T")

BATCH = 500
"""Turns, steps or outcomes of one transaction."""
QUEUED = 20_000
"""Turns that wait for a transaction; beyond it the timetable waits."""
WISHES = 100
"""Runs that people want now, and that wait."""
WISH_SECONDS = 5.0
"""After which nobody waits for them any more."""
UNSENT = 2_000
"""Steps that wait for a sender, beyond which no further turn is taken."""
ANSWER_SECONDS = 3.0
"""Who wants a run now waits so long for its first steps."""
RETRY_SECONDS = (0.1, 5.0)
"""First and longest pause between tries while the database is away."""
NEXT_TRY = timedelta(seconds=15)
"""At a device that has not come back yet."""
LOOK_SECONDS = 30.0
DELIVERY_SECONDS = 60.0
"""A device that has taken a step from its queue says within this what came of it, or has crashed."""
STOP_SECONDS = 4.0
"""For what is being sent when the server stops."""
UNKNOWN = "the server ended while it was being sent: the device may have it or not"


class Dispatcher(Actor[DispatcherMessage]):
    """One task for turns, one that sends, one for outcomes."""

    def __init__(self, database: Database, reconnect_grace_seconds: float = 0.0) -> None:
        """For so long after a start devices that are not there may still be on their way back."""
        self._database = database
        self._reconnect_grace = reconnect_grace_seconds
        self._turns: deque[EdgeOccurrence] = deque()
        self._wishes: deque[tuple[EdgeOccurrence, Answer, float]] = deque()
        """With the moment of each."""
        self._delayed = DelayedSteps()
        self._delay_timer: Timer | None = None
        self._outcomes: deque[tuple[StartedStep, Outcome]] = deque()
        self._expired: list[int] = []
        self._look_due = False
        self._in_hand: set[int] = set()
        """Steps that are `sending` and will be settled here."""
        self._sender = StepSender(self._note)
        """`_take_turns` keeps its queue short."""
        self._one_at_a_time = trio.Lock()
        self._wanted = PendingRunReplies(database)
        self._commit_uncertain = False
        """Whether a transaction may have begun steps that we know nothing of."""
        self._ending = False
        self._turns_ended = trio.Event()
        self._came = trio.Event()
        self._room = trio.Event()
        self._settled = trio.Event()
        self._outcome_came = trio.Event()

    async def start(self) -> None:
        """Look around now and then."""
        self._reconnect_until = self.context.clock.monotonic() + self._reconnect_grace
        self.context.every(LOOK_SECONDS, LookDue())

    def handle(self, message: DispatcherMessage) -> object:
        """Queue it; waits, and with it every later teller, while the queue is full."""
        match message:
            case EdgeReached():
                if len(self._turns) >= QUEUED:
                    return self._wait_for_room(message)
                self._add_turns(message)
            case StepsDue():
                self._delay_timer = None
            case RunNow():
                return self._run_now(message)
            case QueueExpired():
                self._expired.append(message.run_id)
            case LookDue():
                self._look_due = True
            case AnswerDue():
                self._wanted.expire(message.number)
            case _:
                assert_never(message)
        self._came.set()
        return None

    def _run_now(self, message: RunNow) -> Answer | Failure:
        if len(self._wishes) >= WISHES:
            return Failure(StorageUnavailable("too many runs wait for the database"))
        answer: Answer = Deferred()
        clock = self.context.clock
        firing = EdgeOccurrence(message.schedule_id, 0, clock.now(), "manual", message.steps)
        self._wishes.append((firing, answer, clock.monotonic()))
        self._came.set()
        return answer

    def _add_turns(self, edge: EdgeReached) -> None:
        for schedule_id in edge.schedule_ids:
            self._turns.append(EdgeOccurrence(schedule_id, edge.calendar_id, edge.at, edge.phase, edge.phase))

    async def _wait_for_room(self, edge: EdgeReached) -> None:
        while len(self._turns) >= QUEUED:
            await self._room.wait()
        self._add_turns(edge)
        self._came.set()

    async def run(self) -> None:
        """Settle what an earlier life left, then work."""
        await self._patiently(self._recover)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._settle_outcomes)
            nursery.start_soon(self._wanted.run)
            nursery.start_soon(self._sender.run, self.context.system)
            await self._take_turns()
            self._turns_ended.set()
            await trio.sleep_forever()

    async def stop(self) -> None:
        """Settle what is being sent; what is not yet, is pending again for the next start."""
        self._ending = True
        self._came.set()
        self._in_hand.difference_update(step.run_id for step in self._sender.take_back())
        self._wake_waiters()
        with trio.move_on_after(STOP_SECONDS):
            await self._turns_ended.wait()
            try:
                await runs.take_back(self._database, list(self._in_hand), self.context.clock.now())
            except StorageError as error:
                self.context.log.warning("steps that were not sent will be told as failed: %s", error)
            while self._in_hand:
                await self._settled.wait()

    # Turns

    async def _take_turns(self) -> None:
        while not self._ending:
            self._room.set()
            self._came, self._room = trio.Event(), trio.Event()
            if self._look_due or self._commit_uncertain:
                await self._patiently(self._look)
            if self._expired:
                expired, self._expired = self._expired, []
                await self._patiently(partial(self._expire, expired))
            if self._sender.waiting >= UNSENT:
                await self._settled.wait()
            elif self._wishes:
                await self._grant(*self._wishes.popleft())
            elif due := self._delayed.pop_due(self.context.clock.monotonic(), BATCH):
                await self._commit(due, self._begin)
            elif self._turns:
                await self._commit(self._next_turns(), self._fire)
            elif not self._commit_uncertain:
                self._arm()
                await self._came.wait()

    def _next_turns(self) -> list[EdgeOccurrence]:
        """The first turns, one of each scheduled command."""
        chosen: dict[int, EdgeOccurrence] = {}
        while self._turns and len(chosen) < BATCH and self._turns[0].schedule_id not in chosen:
            firing = self._turns.popleft()
            chosen[firing.schedule_id] = firing
        return list(chosen.values())

    async def _grant(self, firing: EdgeOccurrence, answer: Answer, wished_at: float) -> None:
        """Run one now. Not tried again: nothing would keep a second try from sending everything twice."""
        try:
            async with self._one_at_a_time:
                if self.context.clock.monotonic() - wished_at > WISH_SECONDS:
                    answer.answer(Failure(StorageUnavailable("too late: the database was busy or away")))
                    return
                made = await self._fire((firing,))
        except StorageError as error:
            self._commit_uncertain = True
            answer.answer(Failure(error))
        else:
            number = self._wanted.add(answer, made, self._in_hand.intersection(made))
            self.context.after(ANSWER_SECONDS, AnswerDue(number))

    async def _fire(self, turns: Sequence[EdgeOccurrence]) -> list[int]:
        async with self._database.transaction() as transaction:
            made = await edge_occurrences.fire(transaction, turns, self.context.clock.now())
            first = [record.id for record, number in made if number == 0]
            begun, planned = await self._start_steps(transaction, first)
        self._hand_out(begun, planned)
        return [record.id for record, _ in made]

    async def _begin(self, run_ids: Sequence[int]) -> None:
        async with self._database.transaction() as transaction:
            begun, planned = await self._start_steps(transaction, run_ids)
        self._hand_out(begun, planned)

    async def _start_steps(
        self, q: Queries, run_ids: Sequence[int]
    ) -> tuple[list[StartedStep], list[Planned]]:
        """Mark steps as being sent, or skip them, and what follows those if its time has come as well."""
        now = self.context.clock.now()
        begun: list[StartedStep] = []
        planned: list[Planned] = []
        while run_ids:
            some = await edge_occurrences.begin(q, run_ids, now)
            passed = [step.run_id for step in some if step.reason is not None and step.followed]
            following = await runs.plan(q, passed) if passed else []
            begun += some
            planned += [step for step in following if step.due > now]
            run_ids = [step.run_id for step in following if step.due <= now]
        return begun, planned

    def _hand_out(self, begun: Iterable[StartedStep], planned: Sequence[Planned]) -> None:
        for step in begun:
            if step.reason is not None:
                STEPS_SETTLED.labels("skipped").inc()
            elif not self._ending:
                self._in_hand.add(step.run_id)
                self._sender.put(step)
        self._delay(planned)

    def _delay(self, planned: Sequence[Planned]) -> None:
        """Let these steps begin when they are due."""
        clock = self.context.clock
        now, moment = clock.now(), clock.monotonic()
        for step in planned:
            self._delayed.add(moment + (step.due - now).total_seconds(), step.run_id)
        if planned:
            self._came.set()

    def _arm(self) -> None:
        """Set the timer to the first delayed step."""
        if self._delay_timer is not None:
            self._delay_timer.cancel()
            self._delay_timer = None
        if self._delayed:
            seconds = self._delayed.next_due - self.context.clock.monotonic()
            self._delay_timer = self.context.after(max(0.0, seconds), StepsDue())

    # Outcomes

    def _note(self, step: StartedStep, outcome: Outcome) -> None:
        if outcome.reason == "offline" and self._may_come(step):
            outcome = Outcome(step.run_id, "pending")
        self._outcomes.append((step, outcome))
        self._outcome_came.set()

    def _may_come(self, step: StartedStep) -> bool:
        """Whether to try again a while later. A restart has cut off every device: they need a moment."""
        clock = self.context.clock
        if step.phase == "manual" or clock.monotonic() >= self._reconnect_until:
            return False
        return clock.now() + NEXT_TRY <= step.due + edge_occurrences.LATE

    async def _settle_outcomes(self) -> None:
        while True:
            self._outcome_came = trio.Event()
            if not self._outcomes:
                await self._outcome_came.wait()
            await self._commit(_some(self._outcomes), self._settle)

    async def _settle(self, came: Sequence[tuple[StartedStep, Outcome]]) -> None:
        now = self.context.clock.now()
        followed = [step.run_id for step, outcome in came if step.followed and outcome.status != "pending"]
        async with self._database.transaction() as transaction:
            await runs.settle(transaction, [outcome for _, outcome in came], now)
            planned = await runs.plan(transaction, followed) if followed else []
        for step, outcome in came:
            self._in_hand.discard(step.run_id)
            if outcome.status == "pending":
                planned.append(Planned(step.schedule_id, step.run_id, now + NEXT_TRY))
                continue
            STEPS_SETTLED.labels(outcome.status).inc()
            self._wanted.settled(step.run_id)
            if outcome.status == "queued":
                self.context.after(step.queue_minutes * 60, QueueExpired(step.run_id))
        self._wake_waiters()
        self._delay(planned)

    def _wake_waiters(self) -> None:
        self._settled.set()
        self._settled = trio.Event()

    # What keeps it whole

    async def _recover(self) -> None:
        now = self.context.clock.now()
        async with self._database.transaction() as transaction:
            failed = await runs.fail_unknown(
                transaction, now, UNKNOWN, delivering_before=self.context.system.began, sending=True
            )
            await runs.plan(transaction, [run_id for run_id, was_sent in failed.items() if was_sent])
            await commands.expire(transaction, now)
            waiting = await runs.waiting(transaction)
        self._tell_failed(failed)
        self._delay(waiting)

    def _tell_failed(self, run_ids: Iterable[int]) -> None:
        for run_id in run_ids:
            STEPS_SETTLED.labels("failed").inc()
            self.context.log.warning("step %d failed: %s", run_id, UNKNOWN)

    async def _look(self) -> None:
        """Begin the steps that are overdue: the wall clock has jumped, or their delay was lost."""
        now = before = self.context.clock.now()
        if self._commit_uncertain:
            # Only here, between two turns: all else that is `sending` has been handed to nobody.
            await runs.take_back(self._database, list(self._in_hand), now)
        else:
            before -= timedelta(seconds=LOOK_SECONDS)
        lost = now - timedelta(seconds=DELIVERY_SECONDS)
        self._tell_failed(
            await runs.fail_unknown(self._database, now, UNKNOWN, delivering_before=lost, sending=False)
        )
        await commands.expire(self._database, now)
        late = await runs.overdue(self._database, before, BATCH)
        for run_id in late:
            self._delayed.add(self.context.clock.monotonic(), run_id)
        self._commit_uncertain, self._look_due = False, len(late) == BATCH

    async def _expire(self, run_ids: Sequence[int]) -> None:
        await commands.expire(self._database, self.context.clock.now(), run_ids)

    async def _commit(self, batch: Sequence[T], store: Callable[[Sequence[T]], Awaitable[object]]) -> None:
        """Store the batch however long it takes; halve one that is refused until the culprit is alone."""
        try:
            async with self._one_at_a_time:
                await self._patiently(partial(store, batch))
        except StorageError as error:
            if len(batch) > 1:
                half = len(batch) // 2
                await self._commit(batch[:half], store)
                await self._commit(batch[half:], store)
            else:
                self.context.log.error("dropped what cannot be stored: %s: %r", error, batch[0])

    async def _patiently(self, store: Callable[[], Awaitable[object]]) -> None:
        """Try until the database answers; doing it twice must do no harm."""
        pause = RETRY_SECONDS[0]
        while True:
            try:
                await store()
            except StorageUnavailable as error:
                self._commit_uncertain = True
                self._came.set()
                while self._wishes:
                    self._wishes.popleft()[1].answer(Failure(error))
                self.context.log.warning("not stored yet, tried again: %s", error)
                await trio.sleep(pause * random.uniform(0.5, 1.0))  # noqa: S311 - jitter, not a secret
                pause = min(pause * 2, RETRY_SECONDS[1])
            else:
                return


def _some(queue: deque[T]) -> list[T]:
    return [queue.popleft() for _ in range(min(len(queue), BATCH))]


def dispatcher_spec(
    database: Database, *, reconnect_grace_seconds: float = 0.0
) -> ChildSpec[DispatcherMessage]:
    """Its place in the tree."""
    return ChildSpec(
        kind=DISPATCHER,
        factory=lambda: Dispatcher(database, reconnect_grace_seconds),
        resident=False,
        mailbox_size=1_000,
        shutdown_seconds=STOP_SECONDS + 2.0,
    )
