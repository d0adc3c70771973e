"""Replies to manual runs, given once their first steps have an outcome."""

import itertools
import math
from collections.abc import Iterable

import trio

from motorpool.runtime import Deferred, Failure
from motorpool.storage.database.database import Database
from motorpool.storage.errors import StorageError
from motorpool.storage.records import ScheduledCommandRun
from motorpool.storage.schedules import runs

Reply = Deferred[list[ScheduledCommandRun] | Failure]


class _Pending:
    """A reply that waits for the outcomes of steps."""

    __slots__ = ("in_flight", "reply", "run_ids")

    def __init__(self, reply: Reply, run_ids: list[int], in_flight: set[int]) -> None:
        self.reply = reply
        self.run_ids = run_ids
        self.in_flight = in_flight


class PendingRunReplies:
    """Part of the dispatcher: each reply is read from the run records when its time has come."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._numbers = itertools.count(1)
        self._pending: dict[int, _Pending] = {}
        self._number_of_run: dict[int, int] = {}
        self._send, self._receive = trio.open_memory_channel[_Pending](math.inf)

    def add(self, reply: Reply, run_ids: Iterable[int], in_flight: Iterable[int]) -> int:
        """Reply with these records once the outcomes of those in flight are committed; return a number."""
        number = next(self._numbers)
        pending = self._pending[number] = _Pending(reply, list(run_ids), set(in_flight))
        for run_id in pending.in_flight:
            self._number_of_run[run_id] = number
        if not pending.in_flight:
            self.expire(number)
        return number

    def step_committed(self, run_id: int) -> None:
        """Note that the outcome of a step is committed."""
        number = self._number_of_run.pop(run_id, 0)
        if number:
            in_flight = self._pending[number].in_flight
            in_flight.discard(run_id)
            if not in_flight:
                self.expire(number)

    def expire(self, number: int) -> None:
        """Reply with the records as they are; does nothing where the reply was given."""
        pending = self._pending.pop(number, None)
        if pending is not None:
            for run_id in pending.in_flight:
                self._number_of_run.pop(run_id, None)
            self._send.send_nowait(pending)

    async def run(self) -> None:
        """Read the records and reply, one after the other."""
        async for pending in self._receive:
            try:
                pending.reply.answer(await runs.fetch(self._database, pending.run_ids))
            except StorageError as error:
                pending.reply.answer(Failure(error))
