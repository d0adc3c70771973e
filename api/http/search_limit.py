"""How many requests search and count tickets at the same time, which may take the database seconds each."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import trio

from motorpool.actors.reports.limits import RunningLimit, TooManyRunning
from motorpool.api.http.errors import TooManyRequests, Unavailable

AT_ONCE = 2
"""Searches that are done at the same time: other requests need connections to the database too."""
PER_USER = 4
"""Searches of one user that are done or wait."""
WAIT_SECONDS = 10.0
RETRY_SECONDS = 2.0


class SearchLimit:
    """Lets searches in, in the order in which they come."""

    def __init__(self) -> None:
        self._at_once = trio.Semaphore(AT_ONCE, max_value=AT_ONCE)
        self._of_users = RunningLimit(PER_USER)

    @asynccontextmanager
    async def enter(self, user_id: int) -> AsyncIterator[None]:
        """Search in the block.

        Raises:
            TooManyRequests: The user has many searches that are not done.
            Unavailable: Those of others take too long.
        """
        try:
            with self._of_users.running(user_id):
                with trio.move_on_after(WAIT_SECONDS) as waiting:
                    await self._at_once.acquire()
                if waiting.cancelled_caught:
                    raise Unavailable("too many searches at once; try again")
                try:
                    yield
                finally:
                    self._at_once.release()
        except TooManyRunning:
            raise TooManyRequests("the user has too many searches at once", RETRY_SECONDS) from None
