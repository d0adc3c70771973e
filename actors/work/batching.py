"""Requests that queue while a statement runs and share the next one.

What thousands of devices need in the same moment, such as a row of theirs after an outage, costs a few
statements in place of thousands.
"""

from collections import deque
from collections.abc import Sequence
from typing import Any, Generic, TypeVar

from motorpool.runtime import Actor, Deferred, Failure, Request, Signal
from motorpool.storage.errors import StatementRejected, StorageError

BATCH = 250
"""Limit of the requests that share a statement."""

Q = TypeVar("Q", bound=Request[Any])
A = TypeVar("A")


class BatchingActor(Actor[Q], Generic[Q, A]):
    """Answers requests in batches, in their order, one batch at a time; a lone request waits for nothing.

    The queue is as long as there are askers: connections, or devices that start.
    """

    def __init__(self) -> None:
        self._queue: deque[tuple[Q, Deferred[A]]] = deque()
        self._wake = Signal()

    async def answer_all(self, requests: Sequence[Q]) -> Sequence[A]:
        """Return an answer for each request. To be implemented.

        Raises:
            StatementRejected: The database refuses one of them; they are tried again in halves.
            StorageError: The asks of all of them raise it.
        """
        raise NotImplementedError

    def handle(self, message: Q) -> object:
        """Queue a request."""
        reply: Deferred[A] = Deferred()
        self._queue.append((message, reply))
        self._wake.set()
        return reply

    async def run(self) -> None:
        """Answer batches until cancelled."""
        while True:
            while not self._queue:
                await self._wake.wait()
            await self._answer([self._queue.popleft() for _ in range(min(BATCH, len(self._queue)))])

    async def _answer(self, batch: Sequence[tuple[Q, Deferred[A]]]) -> None:
        try:
            answers = await self.answer_all([request for request, _ in batch])
        except StatementRejected as error:
            if len(batch) == 1:
                batch[0][1].answer(Failure(error))
                return
            # The others do not pay for a value that no column can hold.
            half = len(batch) // 2
            await self._answer(batch[:half])
            await self._answer(batch[half:])
        except StorageError as error:
            for _, reply in batch:
                reply.answer(Failure(error))
        else:
            for (_, reply), answer in zip(batch, answers, strict=True):
                reply.answer(answer)
