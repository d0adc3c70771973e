"""Actors that look for work in the database, and sleep until there may be more.

What they do is decided by rows, so a message that is lost, a crash, and another server on the database cost
at most one sleep.
"""

from abc import abstractmethod
from typing import ClassVar, TypeVar

import trio

from motorpool.actors.work.storage_retry import BACK_OFF
from motorpool.runtime import Actor, ActorError, Signal
from motorpool.storage.errors import StorageError

MessageT = TypeVar("MessageT")


class PollingActor(Actor[MessageT]):
    """Looks, then sleeps until `wake`; after an error of the database or of another actor, with back-off."""

    FAILURE: ClassVar[str]
    """Text logged before the error, such as "tickets are not settled yet"."""

    def __init__(self) -> None:
        self._woken = Signal()

    @abstractmethod
    async def look(self) -> float:
        """Do one round of work; return the seconds to sleep."""

    def wake(self) -> None:
        """Have `look` called now, or again when the present call has ended; a back-off is not cut short."""
        self._woken.set()

    async def run(self) -> None:
        """Look and sleep until cancelled."""
        outages = 0
        while True:
            self._woken.clear()
            try:
                seconds = await self.look()
            except (StorageError, ActorError) as error:
                outages += 1
                self.context.log.warning("%s: %s", self.FAILURE, error)
                await trio.sleep(BACK_OFF.delay(outages))
                continue
            outages = 0
            await self._woken.wait(seconds)
