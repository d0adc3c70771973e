"""A receiver to which this server sends (docs/decisions/0210)."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import trio

from motorpool.actors.deliveries.lane import Lane
from motorpool.actors.http.errors import OutgoingError, Unreachable
from motorpool.runtime import BackOff, Context
from motorpool.storage.database.database import Database
from motorpool.storage.deliveries import queue, receivers
from motorpool.storage.deliveries.attempts import Failing, Failure
from motorpool.storage.deliveries.queue import UNADOPTED, DueMessages, QueuedMessage
from motorpool.storage.deliveries.receivers import LeasedReceiver

BATCH = 32
"""Maximum messages fetched at once."""
REFRESH_SECONDS = 5.0
"""Age of the lease at which it is renewed and the attributes are read again, before an attempt."""
PAUSES = BackOff(first_seconds=10.0, max_seconds=600.0, jitter=0.0)
"""Pauses of a lane whose service cannot be reached."""


class ServicePause:
    """How the service of a lane fails for this server; kept in memory, so a restart tries again."""

    def __init__(self, lane: str, context: Context[Any]) -> None:
        self._lane = lane
        self._context = context
        self.failures = 0
        """Consecutive failures to reach it."""
        self._until = 0.0
        """Monotonic time, in seconds."""

    @property
    def seconds(self) -> float:
        """Remaining time of the pause; 0 or less if there is none."""
        return self._until - self._context.clock.monotonic()

    def failed(self, error: Unreachable) -> None:
        """Begin a pause, unless one has begun with another message of the batch."""
        if self.seconds > 0:
            return
        self.failures += 1
        seconds = max(PAUSES.delay(self.failures), error.retry_seconds)
        self._until = self._context.clock.monotonic() + seconds
        self._context.log.warning("not sending %s for %g s: %s", self._lane, seconds, error)


class LeasedSource:
    """Messages to one receiver, while this server holds its lease. The methods raise StorageError.

    A negative receiver stands for the service of the lane; its messages are adopted before they are taken.
    """

    def __init__(
        self,
        lane: Lane,
        receiver: int,
        holder: str,
        pause: ServicePause,
        database: Database,
        context: Context[Any],
    ) -> None:
        """`holder` names this server; `pause` belongs to the service."""
        self._lane = lane
        self._receiver = receiver
        self._holder = holder
        self._pause = pause
        self._database = database
        self._clock = context.clock
        self._lease: LeasedReceiver | None = None
        self._refresh_at = 0.0
        self._refreshing = trio.Lock()
        self._is_foreign = False
        """Whether another server has the lease, or the receiver no longer exists."""

    @property
    def is_service(self) -> bool:
        """Whether the receiver is the service of the lane."""
        return self._receiver < 0

    async def take(self) -> DueMessages | None:
        """Return the messages to send now, only one while the receiver fails; None ends the turn."""
        lease = await self._refresh()
        if lease is None:
            self._is_foreign = True
            return None
        now = self._clock.now()
        if lease.paused is not None and self._lane.reopens and self._lane.is_active(lease):
            async with self._database.transaction() as transaction:
                await receivers.reopen(transaction, self._lane.name, self._receiver, now=now)
            self._lease = None
            if (lease := await self._refresh()) is None:
                return None
        if self._pause.seconds > 0 or not await self._lane.may_send(
            self._database, self._receiver, lease, now
        ):
            return None
        fails = self._pause.failures or lease.failures >= self._lane.closed_failures
        limit = 1 if fails else BATCH
        if self.is_service:
            await queue.adopt(self._database, self._lane.name, self._receiver, now=now, limit=limit)
        return await queue.take(
            self._database,
            self._lane.name,
            self._receiver,
            now=now,
            limit=limit,
            with_account=self._lane.with_account,
        )

    async def _refresh(self) -> LeasedReceiver | None:
        """Return the lease, renewed if it is old; None if this server does not have it."""
        async with self._refreshing:
            if self._lease is None or self._clock.monotonic() >= self._refresh_at:
                now = self._clock.now()
                self._lease = await receivers.acquire(
                    self._database,
                    self._lane.name,
                    self._receiver,
                    self._holder,
                    now=now,
                    until=now + self._lane.lease,
                )
                self._refresh_at = self._clock.monotonic() + REFRESH_SECONDS
            return self._lease

    async def admit(self, message: QueuedMessage) -> Mapping[str, Any] | None:
        """Return the attributes to send a message with; None: neither it nor the rest is sent now."""
        lease = await self._refresh()
        if lease is None or self._pause.seconds > 0 or not self._lane.is_active(lease):
            return None
        return message.account if self.is_service else lease.attributes

    def delivered(self) -> None:
        """Note that deliveries were recorded; the lease is read again if the receiver was failing."""
        self._pause.failures = 0
        if self._lease is not None and self._lease.failures:
            self._lease = None

    def failed(self, error: OutgoingError, failure: Failure, failing: Failing | None) -> bool:
        """Note that a failure was recorded; return whether the rest of the batch may be sent."""
        if self.is_service:
            if isinstance(error, Unreachable):
                self._pause.failed(error)
            return True
        # The lease holds the failures of its receiver.
        self._lease = None
        return failing is None or (
            failure.held_until is None and failing.failures < self._lane.closed_failures
        )

    async def release(self) -> datetime | None:
        """End the lease; return when this server should look again, None if nothing waits."""
        now = self._clock.now()
        if self._is_foreign:
            return now + self._lane.lease / 6
        lane = self._lane.name
        await receivers.release(self._database, lane, self._receiver, self._holder)
        waiting = (self._receiver, UNADOPTED) if self.is_service else (self._receiver,)
        due = await receivers.next_due(self._database, lane, waiting, self._holder, now=now)
        return None if due is None else max(due, now + timedelta(seconds=max(self._pause.seconds, 0.0)))
