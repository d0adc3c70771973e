"""Stores what became of commands (docs/commands.md#log), and tells it to those who look at the log.

What is about to be sent is stored by those who send it. Outcomes that devices tell wait here and share
statements, so no device waits for the database.
"""

from collections import deque
from collections.abc import Iterable
from itertools import islice

import trio

from motorpool.actors.messages.command_log import (
    COMMAND_LOG_ROWS,
    COMMANDS,
    Answered,
    CommandLogMessage,
    CommandsChanged,
    CommandsLost,
    Disconnected,
    HandedOver,
    RowsChanged,
    announce_commands,
)
from motorpool.actors.work.polling import PollingActor
from motorpool.runtime import Lagged
from motorpool.storage.database.database import Database
from motorpool.storage.devices import command_log
from motorpool.storage.errors import StorageError

POLL_SECONDS = 30.0
MAX_WAITING = 10_000
"""Outcomes that wait for the database; further ones are not stored."""
BATCH = 500
PAUSE_SECONDS = 0.1
"""Between two readings of rows for those who look at the log."""
QUEUE = 1000
"""Changes that wait for such a reading; of more, clients fetch the list."""


class CommandLog(PollingActor[CommandLogMessage]):
    """Takes outcomes, one batch after the other."""

    FAILURE = "the log of commands is not written yet"

    def __init__(self, database: Database, node: int) -> None:
        """`node` is the number of this server."""
        super().__init__()
        self._database = database
        self._node = node
        self._waiting: deque[CommandLogMessage] = deque()
        self._lost_at = 0.0
        """When to look for what nobody else settles next, in monotonic seconds."""

    def handle(self, message: CommandLogMessage) -> None:
        """Take an outcome."""
        if len(self._waiting) >= MAX_WAITING:
            self.context.log.warning("an outcome of a command is not logged: too many wait")
            return
        self._waiting.append(message)
        self.wake()

    async def run(self) -> None:
        """Write and tell until cancelled."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._tell)
            await super().run()

    async def look(self) -> float:
        """Store what has come, and settle what nobody else settles."""
        while self._waiting:
            batch = list(islice(self._waiting, BATCH))
            await self._store(batch)
            for _ in batch:
                self._waiting.popleft()
        await self._settle_lost()
        return POLL_SECONDS

    async def _store(self, batch: Iterable[CommandLogMessage]) -> None:
        """Store outcomes in their natural order: handed over, answered, and not answered any more."""
        handovers = [each.result for each in batch if isinstance(each, HandedOver)]
        answers = [each.answer for each in batch if isinstance(each, Answered)]
        unanswered = [row_id for each in batch if isinstance(each, Disconnected) for row_id in each.ids]
        if handovers:
            await command_log.settle(self._database, handovers, self.context.clock.now())
        if answers:
            await command_log.answer(self._database, answers)
        if unanswered:
            unanswered = await command_log.note_disconnected(self._database, unanswered)
        ids = [*(each.id for each in handovers), *(each.id for each in answers), *unanswered]
        announce_commands(self.context.system, ids)

    async def _settle_lost(self) -> None:
        clock = self.context.clock
        if clock.monotonic() < self._lost_at:
            return
        self._lost_at = clock.monotonic() + POLL_SECONDS
        began = self.context.system.began
        changed = await command_log.note_lost(self._database, clock.now(), self._node, began=began)
        announce_commands(self.context.system, changed)

    async def _tell(self) -> None:
        """Read rows that have changed once for all who look at the log."""
        topic = self.context.system.topic(COMMANDS)
        async with self.context.system.topic(COMMAND_LOG_ROWS).subscribe(QUEUE) as subscription:
            while True:
                try:
                    published = await subscription.receive_batch()
                    if not topic.is_followed:
                        # Who comes later reads the list.
                        continue
                    changed = [each.ids for each in published if isinstance(each, RowsChanged)]
                    found = await command_log.fetch(
                        self._database, {row_id for ids in changed for row_id in ids}
                    )
                except (Lagged, StorageError):
                    topic.publish(CommandsLost())
                else:
                    topic.publish(CommandsChanged(tuple(found)))
                    if len(changed) < len(published):
                        topic.publish(CommandsLost())
                await trio.sleep(PAUSE_SECONDS)
