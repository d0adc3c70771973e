"""Creates the tickets of requests, many in one transaction (docs/decisions/0218-tickets-in-batches.md).

Requests queue while a transaction runs and share the next one. What would hold up the others is left out of
it: tickets of a company whose row another transaction has locked, such as one that is being deleted, or
whose business hours have to be computed. These are created by a second worker, one company after the other.
"""

from collections import OrderedDict, deque
from collections.abc import Sequence
from typing import NamedTuple

import trio

from motorpool.actors.helpdesk.business_calendars import BusinessCalendars
from motorpool.actors.helpdesk.draft import to_milliseconds
from motorpool.actors.helpdesk.facts import Change, TicketRefused
from motorpool.actors.helpdesk.ticket_creation import CreateTicket, create_tickets
from motorpool.actors.helpdesk.ticket_writer import announce
from motorpool.actors.mailings.ticket_mails import TicketMails
from motorpool.runtime import Actor, Deferred, Failure, Kind, Signal
from motorpool.storage.database.database import Database
from motorpool.storage.errors import LockNotAvailable, Overloaded, StorageUnavailable

BATCH = 64
"""Most tickets of one transaction."""
BATCH_LETTERS = 500_000
"""A transaction takes no further ticket once the descriptions of its tickets are longer."""
MAX_WAITING = 1_000
"""Requests that wait; further ones fail with Overloaded."""
WAIT_SECONDS = 20.0
"""A request that was not begun after this time fails with Overloaded."""
ANSWER_SECONDS = 60.0
"""How long to ask the creator: by then it has answered."""
LOCK_SECONDS = 0.2
"""How long the shared transaction waits for each lock; only locks of companies are often taken."""
LOCK_SECONDS_APART = 0.5
"""How long a transaction of one company waits for a lock before the next company has its turn."""

TICKET_CREATOR: Kind[None, CreateTicket] = Kind("ticket_creator")


class _Waiting(NamedTuple):
    request: CreateTicket
    reply: Deferred[Change | None]
    since: float
    """Monotonic time."""

    @property
    def company_id(self) -> int:
        return self.request.ticket.company_id


class TicketCreator(Actor[CreateTicket]):
    """Answers each request after the commit of its ticket; one that fails does not fail others."""

    def __init__(
        self, database: Database, calendars: BusinessCalendars, mails: TicketMails, most_per_hour: int
    ) -> None:
        """`most_per_hour` is how many tickets a company may get within an hour; 0: any number."""
        self._database = database
        self._most_per_hour = most_per_hour
        self._calendars = calendars
        self._mails = mails
        self._queue: deque[_Waiting] = deque()
        self._filled = Signal()
        self._apart: OrderedDict[int, deque[_Waiting]] = OrderedDict()
        """Requests of companies whose lock was not free, by company; the next one first."""
        self._filled_apart = Signal()
        self._waiting = 0
        """Requests that are not answered."""

    def handle(self, message: CreateTicket) -> object:
        """Queue a request."""
        if self._waiting >= MAX_WAITING:
            return Failure(Overloaded("too many tickets are being created"))
        reply: Deferred[Change | None] = Deferred()
        self._waiting += 1
        self._queue.append(_Waiting(message, reply, self.context.clock.monotonic()))
        self._filled.set()
        return reply

    async def run(self) -> None:
        """Create tickets until cancelled."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._run_apart)
            while True:
                while not self._queue:
                    await self._filled.wait()
                await self._create(self._take(self._queue), apart=False)

    async def _run_apart(self) -> None:
        while True:
            while not self._apart:
                await self._filled_apart.wait()
            company_id, queue = self._apart.popitem(last=False)
            batch = self._take(queue)
            if queue:
                self._apart[company_id] = queue
            await self._create(batch, apart=True)

    def _take(self, queue: deque[_Waiting]) -> list[_Waiting]:
        """Take a batch from a queue; requests that waited too long are answered."""
        batch: list[_Waiting] = []
        letters = 0
        oldest = self.context.clock.monotonic() - WAIT_SECONDS
        while queue and len(batch) < BATCH and letters <= BATCH_LETTERS:
            waiting = queue.popleft()
            if waiting.since < oldest:
                self._answer(waiting, Failure(Overloaded("the company's tickets are locked")))
                continue
            letters += len(waiting.request.ticket.description)
            batch.append(waiting)
        return batch

    async def _create(self, batch: Sequence[_Waiting], *, apart: bool) -> None:
        """Create tickets and answer, or put aside what has to wait for a lock."""
        if not batch:
            return
        try:
            results = await self._store([waiting.request for waiting in batch], apart=apart)
        except LockNotAvailable:
            if apart and len(batch) > 1:
                await self._create_halves(batch, apart=apart)
            else:
                self._put_aside(batch)
        except StorageUnavailable as error:
            # Perhaps it was committed.
            for waiting in batch:
                self._answer(waiting, Failure(error))
        except Exception as error:
            if len(batch) > 1:
                await self._create_halves(batch, apart=apart)
            else:
                self._answer(batch[0], Failure(error))
        else:
            for waiting, result in zip(batch, results, strict=True):
                if result is None and not apart:
                    # It has to wait, or there is no such company.
                    self._put_aside([waiting])
                elif isinstance(result, TicketRefused):
                    self._answer(waiting, Failure(result))
                else:
                    self._answer(waiting, result)

    async def _create_halves(self, batch: Sequence[_Waiting], *, apart: bool) -> None:
        half = len(batch) // 2
        await self._create(batch[:half], apart=apart)
        await self._create(batch[half:], apart=apart)

    async def _store(
        self, requests: Sequence[CreateTicket], *, apart: bool
    ) -> list[Change | TicketRefused | None]:
        now = to_milliseconds(self.context.clock.now())
        seconds = LOCK_SECONDS_APART if apart else LOCK_SECONDS
        async with self._database.transaction() as transaction:
            await transaction.execute_with_next(f"set local lock_timeout = {round(seconds * 1000)}")
            results = await create_tickets(
                transaction,
                requests,
                self._calendars,
                now=now,
                mails=self._mails,
                without_waiting=not apart,
                most_per_hour=self._most_per_hour,
            )
        await announce(self.context.system, [each for each in results if isinstance(each, Change)])
        return results

    def _put_aside(self, batch: Sequence[_Waiting]) -> None:
        for waiting in batch:
            self._apart.setdefault(waiting.company_id, deque()).append(waiting)
        self._filled_apart.set()

    def _answer(self, waiting: _Waiting, answer: Change | Failure | None) -> None:
        self._waiting -= 1
        waiting.reply.answer(answer)
