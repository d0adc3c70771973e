"""Records the outcomes of commands of tickets in the history of the tickets (docs/tickets.md#commands).

All of it stands in the tables of `storage/helpdesk/ticket_commands.py`; only answers of devices come as
messages, and are stored first.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from motorpool.actors.helpdesk.batches import TicketBatches
from motorpool.actors.helpdesk.draft import to_milliseconds
from motorpool.actors.helpdesk.evidence import add_evidence
from motorpool.actors.helpdesk.facts import Author, Outcome, TicketFacts
from motorpool.actors.helpdesk.ticket_writer import announce
from motorpool.actors.messages.tickets import TicketCommandAnswered, TicketCommandsChanged
from motorpool.actors.words.record_json import format_time
from motorpool.actors.work.polling import PollingActor
from motorpool.storage.database.database import Database
from motorpool.storage.helpdesk import ticket_commands
from motorpool.storage.helpdesk.ticket_commands import CommandUpdate

POLL_SECONDS = 30.0
LOCKED_SECONDS = 1.0
"""Sleep while another server works."""
BATCH = 200
MAX_ANSWERS = 1000
"""Answers that wait for the database; further ones are not entered."""
SENDING = timedelta(seconds=60)
"""Longer than it takes to hand a command to a device: its server has ended."""
ANSWERED = timedelta(hours=1)
"""A later answer is not entered."""
UNKNOWN = {"status": "unknown", "reason": "the server ended while it was sending it"}
REMOVED = {"status": "removed", "reason": "it left the queue of the device without being sent"}


class TicketCommands(PollingActor[TicketCommandAnswered | TicketCommandsChanged]):
    """Takes updates, one batch after the other."""

    FAILURE = "commands of tickets are not entered yet"

    def __init__(self, database: Database, batches: TicketBatches) -> None:
        super().__init__()
        self._database = database
        self._batches = batches
        self._answers: list[tuple[TicketCommandAnswered, datetime]] = []
        self._lost_at = 0.0
        """When to look for commands without news next, in monotonic seconds."""

    def handle(self, message: TicketCommandAnswered | TicketCommandsChanged) -> None:
        """Look now."""
        if isinstance(message, TicketCommandAnswered):
            if len(self._answers) < MAX_ANSWERS:
                self._answers.append((message, self.context.clock.now()))
            else:
                self.context.log.warning("an answer to a command of a ticket is not entered: too many wait")
        self.wake()

    async def look(self) -> float:
        """Enter updates while there are any."""
        await self._store_answers()
        await self._note_lost()
        entered: int | None = 1
        while entered and await ticket_commands.is_any_update(self._database):
            entered = await self._enter()
        return LOCKED_SECONDS if entered is None else POLL_SECONDS

    async def _store_answers(self) -> None:
        while self._answers:
            answer, at = self._answers[0]
            said = {"status": "answered", "ok": answer.ok, "result": answer.text, "time": format_time(at)}
            await ticket_commands.note(self._database, answer.id, said, becomes="same", now=at)
            self._answers.pop(0)

    async def _note_lost(self) -> None:
        clock = self.context.clock
        if clock.monotonic() < self._lost_at:
            return
        self._lost_at = clock.monotonic() + POLL_SECONDS
        now = clock.now()
        await ticket_commands.note_lost(
            self._database,
            sent_before=now - SENDING,
            unknown={**UNKNOWN, "time": format_time(now)},
            removed={**REMOVED, "time": format_time(now)},
            silent_before=now - ANSWERED,
        )

    async def _enter(self) -> int | None:
        """Enter updates; return how many, None if another server works."""
        now = to_milliseconds(self.context.clock.now())
        async with self._database.transaction() as transaction:
            if not await ticket_commands.try_lock(transaction):
                return None
            found = {each.ticket_id: each for each in await ticket_commands.updates(transaction, limit=BATCH)}
            outcome = await self._batches.decide(transaction, sorted(found), partial(_enter, found), now=now)
            await ticket_commands.remove_updates(transaction, [each.id for each in found.values()])
        for ticket_id, error in outcome.failed.items():
            self.context.log.error("a command of ticket %d is not entered", ticket_id, exc_info=error)
        await announce(self.context.system, outcome.changes)
        return len(found)


def _enter(found: Mapping[int, CommandUpdate], facts: TicketFacts, now: datetime) -> Outcome:
    update = found[facts.ticket.id]
    attributes: dict[str, Any] = dict(update.attributes)
    author = Author(kind="device")
    if update.user_id:
        author = Author(
            kind="user", user_id=update.user_id, attributes={"userName": attributes.pop("userName", "")}
        )
    return add_evidence(facts, author, now, attributes)
