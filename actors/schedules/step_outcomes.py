"""Commits the outcomes of steps that were sent, in batches, and schedules the steps that follow."""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from typing import Any

import trio

from motorpool.actors.messages.command_log import announce_commands
from motorpool.actors.messages.counters import STEPS_SETTLED
from motorpool.actors.messages.scheduling import QueueExpired
from motorpool.actors.messages.uplink import HANDOVER_MINUTES
from motorpool.actors.work.storage_retry import StorageRetry
from motorpool.runtime import Context, Signal
from motorpool.storage.database.database import Database
from motorpool.storage.devices import command_log
from motorpool.storage.devices.command_log import Handover
from motorpool.storage.schedules import runs
from motorpool.storage.schedules.edge_occurrences import MISSED_AFTER, StartedStep
from motorpool.storage.schedules.runs import DelayedStep, Outcome

BATCH_ROWS = 500
"""Outcomes of one transaction."""
RECONNECT_RETRY = timedelta(seconds=15)
"""Until a step is tried again whose device has not reconnected after a start of the server."""


class StepOutcomes:
    """Part of the dispatcher: outcomes are queued here and committed by a task of its own.

    Args:
        database: where the run records are.
        reconnect_grace_seconds: the period after a start in which a step of an edge is retried later instead
            of being skipped if its device is offline but was connected when the server stopped.
        commit_lock: held during every transaction.
        retry: repeats a transaction while the database is away.
        on_delayed: called with the steps that follow.
    """

    def __init__(
        self,
        database: Database,
        *,
        reconnect_grace_seconds: float,
        commit_lock: trio.Lock,
        retry: StorageRetry,
        on_delayed: Callable[[Sequence[DelayedStep]], None],
    ) -> None:
        self._database = database
        self._reconnect_grace_seconds = reconnect_grace_seconds
        self._commit_lock = commit_lock
        self._retry = retry
        self._on_delayed = on_delayed
        self._queue: deque[tuple[StartedStep, Outcome]] = deque()
        self._filled = Signal()
        self._reconnect_until = 0.0
        """On the monotonic clock."""
        self._recently_connected: frozenset[int] = frozenset()
        """Devices that were connected when a server ended; emptied after the grace."""
        self.in_flight: set[int] = set()
        """Steps that are `sending` and whose outcome will be committed here."""
        self.changed = Signal()
        """Set whenever steps have left `in_flight`."""

    def start(self, context: Context[Any]) -> None:
        """Note the actor that this is a part of; the grace begins by `begin_grace`."""
        self._context = context

    def begin_grace(self, device_ids: frozenset[int]) -> None:
        """Expect that these devices reconnect within the grace."""
        self._recently_connected = device_ids
        self._reconnect_until = self._context.clock.monotonic() + self._reconnect_grace_seconds

    def add(self, step: StartedStep, outcome: Outcome) -> None:
        """Queue the outcome of a step that was handed to its device."""
        if outcome.reason == "offline" and self._may_reconnect(step):
            outcome = Outcome(step.run_id, "pending")
        self._queue.append((step, outcome))
        self._filled.set()

    def withdraw(self, run_ids: Iterable[int]) -> None:
        """Expect no outcome of these steps: they were handed to no device."""
        self.in_flight.difference_update(run_ids)
        self.changed.set()

    async def wait_until_done(self) -> None:
        """Wait until every outcome is committed."""
        while self.in_flight:
            await self.changed.wait()

    async def run(self) -> None:
        """Commit outcomes until cancelled."""
        while True:
            while not self._queue:
                await self._filled.wait()
            batch = [self._queue.popleft() for _ in range(min(len(self._queue), BATCH_ROWS))]
            async with self._commit_lock:
                await self._retry.store(batch, self._commit)

    def _may_reconnect(self, step: StartedStep) -> bool:
        """Whether to try again later: a restart of the server disconnects every device for a moment."""
        clock = self._context.clock
        if clock.monotonic() >= self._reconnect_until:
            self._recently_connected = frozenset()
        if step.phase == "manual" or step.device_id not in self._recently_connected:
            return False
        return clock.now() + RECONNECT_RETRY <= step.due + MISSED_AFTER

    async def _commit(self, batch: Sequence[tuple[StartedStep, Outcome]]) -> None:
        now = self._context.clock.now()
        followed = [step.run_id for step, outcome in batch if step.followed and outcome.status != "pending"]
        async with self._database.transaction() as transaction:
            if followed:
                await runs.lock_with_later_steps(transaction, [step.run_id for step, _ in batch])
            await runs.store_outcomes(transaction, [outcome for _, outcome in batch], now)
            handovers = [each for step, outcome in batch if (each := _handover(step, outcome)) is not None]
            if handovers:
                await command_log.settle(transaction, handovers, now)
            if any(outcome.status == "pending" for _, outcome in batch):
                await command_log.forget_unsent(transaction)
            delayed = await runs.schedule_next_steps(transaction, followed) if followed else []
        for step, outcome in batch:
            self.in_flight.discard(step.run_id)
            if outcome.status == "pending":
                delayed.append(DelayedStep(step.schedule_id, step.run_id, now + RECONNECT_RETRY))
                continue
            STEPS_SETTLED.labels(outcome.status).inc()
            if outcome.status == "queued":
                minutes = max(step.queue_minutes, HANDOVER_MINUTES)
                self._context.after(minutes * 60, QueueExpired(step.run_id))
        announce_commands(self._context.system, (step.log_id for step, _ in batch))
        self.changed.set()
        if delayed:
            self._on_delayed(delayed)


def _handover(step: StartedStep, outcome: Outcome) -> Handover | None:
    """Return what the log of commands says of an outcome.

    None if the queue has said it, or the step is tried again.
    """
    match outcome.status:
        case "sent":
            return Handover(step.log_id, "SENT", answer_node=outcome.answer_node)
        case "skipped":
            reason = "the device is offline" if outcome.reason == "offline" else outcome.detail
            return Handover(step.log_id, "REFUSED", reason)
        case "failed":
            return Handover(step.log_id, "UNKNOWN", outcome.reason)
        case _:
            return None
