"""Takes stored events that wait in a table, in batches, each in one transaction.

The transaction also ends their waiting, so each event is handled once, over crashes and outages. Nothing here
is awaited by those who store events.
"""

from contextlib import suppress
from typing import Protocol

import trio

from motorpool.actors.work.storage_retry import BACK_OFF
from motorpool.runtime import ActorLog, Signal
from motorpool.storage.errors import StatementRejected, StorageError

BATCH = 100
"""Most events that are taken at once."""
MAX_ATTEMPTS = 3
"""Attempts after which an event that fails alone is discarded."""
LOCKED_SECONDS = 1.0
"""Sleep while another server works."""


class WaitingEvents(Protocol):
    """The events of one table, and what is made of them."""

    async def is_waiting(self) -> bool:
        """Return whether there may be any. Raises StorageError."""

    async def take(self, limit: int) -> int | None:
        """Handle up to `limit` events in one transaction, and whatever follows its commit.

        Return how many were handled; None if another server works at them. What it raises says that the first
        of them may be at fault, unless it is a StorageError other than StatementRejected.
        """

    async def discard_first(self) -> None:
        """Remove the first event, which cannot be handled, and log that. Raises StorageError."""


class EventConsumer:
    """Handles events while any wait, then sleeps until `wake`, or until `poll_seconds` have passed.

    Args:
        events: what is consumed.
        undone: what is logged before an error, such as "tickets not made".
        poll_seconds: interval of looking for events that another server stored or left.
    """

    def __init__(self, events: WaitingEvents, *, undone: str, poll_seconds: float) -> None:
        self._events = events
        self._undone = undone
        self._poll_seconds = poll_seconds
        self._stored = Signal()

    def wake(self) -> None:
        """Have events taken now: some have been stored."""
        self._stored.set()

    async def run(self, log: ActorLog) -> None:
        """Handle events until cancelled."""
        failures = outages = 0
        is_stored = False
        while True:
            taken: int | None = 0
            try:
                # What is known to be stored is not looked for first: that would delay it.
                if is_stored or await self._events.is_waiting():
                    # After a failure one at a time, so that an event that fails does not hold back others.
                    taken = await self._events.take(1 if failures else BATCH)
            except StatementRejected as error:
                # Such as a user or device that was deleted meanwhile.
                failures += 1
                log.warning("%s, another attempt follows: %s", self._undone, error)
            except StorageError as error:
                outages += 1
                log.warning("%s yet: %s", self._undone, error)
                await trio.sleep(BACK_OFF.delay(outages))
                continue
            except Exception:
                failures += 1
                log.exception("%s", self._undone)
            else:
                outages = 0
                failures = 0 if taken else failures
                idle_seconds = LOCKED_SECONDS if taken is None else self._poll_seconds
                is_stored = await self._stored.wait(0 if taken else idle_seconds)
                continue
            if failures > MAX_ATTEMPTS:
                failures = 0
                with suppress(StorageError):
                    await self._events.discard_first()
