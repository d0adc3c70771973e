"""Those who asked for a run now, and wait to see what came of its first steps."""

import itertools
import math
from collections.abc import Iterable

import trio

from motorpool.runtime import Deferred, Failure
from motorpool.storage import runs
from motorpool.storage.database import Database
from motorpool.storage.errors import StorageError
from motorpool.storage.records import ScheduledCommandRun

__all__ = ["Answer", "PendingRunReplies"]

Answer = Deferred[list[ScheduledCommandRun] | Failure]


class _Wanted:
    """One who waits."""

    __slots__ = ("answer", "open", "run_ids")

    def __init__(self, answer: Answer, run_ids: list[int], still_open: set[int]) -> None:
        self.answer = answer
        self.run_ids = run_ids
        self.open = still_open


class PendingRunReplies:
    """Part of the dispatcher: gives the answers, each read from the records when it is time."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._numbers = itertools.count(1)
        self._waiting: dict[int, _Wanted] = {}
        self._of_run: dict[int, int] = {}
        self._send, self._receive = trio.open_memory_channel[_Wanted](math.inf)

    def add(self, answer: Answer, run_ids: Iterable[int], being_sent: Iterable[int]) -> int:
        """Answer with these records as soon as those that are being sent are settled; its number."""
        number = next(self._numbers)
        wanted = self._waiting[number] = _Wanted(answer, list(run_ids), set(being_sent))
        for run_id in wanted.open:
            self._of_run[run_id] = number
        if not wanted.open:
            self.expire(number)
        return number

    def settled(self, run_id: int) -> None:
        """Note that a step is settled, and that this is committed."""
        number = self._of_run.pop(run_id, 0)
        if number:
            still_open = self._waiting[number].open
            still_open.discard(run_id)
            if not still_open:
                self.expire(number)

    def expire(self, number: int) -> None:
        """Answer as it stands; nothing where that has been done."""
        wanted = self._waiting.pop(number, None)
        if wanted is not None:
            for run_id in wanted.open:
                self._of_run.pop(run_id, None)
            self._send.send_nowait(wanted)

    async def run(self) -> None:
        """Read what they asked for, one after the other."""
        async for wanted in self._receive:
            try:
                wanted.answer.answer(await runs.fetch(self._database, wanted.run_ids))
            except StorageError as error:
                wanted.answer.answer(Failure(error))
