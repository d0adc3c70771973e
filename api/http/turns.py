"""Turns at long answers: of those of one user few are worked at in the same moment.

A long answer is made piece by piece, and each piece is some milliseconds of the event loop. Without turns a
user with twenty of them would have twenty pieces made between any two steps of the requests of others.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TypeVar
from weakref import WeakValueDictionary

import trio

T = TypeVar("T")

AT_ONCE = 2
"""Turns of one user at the same time."""


class Turns:
    """Gives turns to each user, in the order in which they are asked for."""

    def __init__(self, at_once: int = AT_ONCE) -> None:
        """`at_once` is how many turns of one user there are at the same time."""
        self._at_once = at_once
        self._of_users: WeakValueDictionary[int, trio.Semaphore] = WeakValueDictionary()

    def of(self, user_id: int) -> trio.Semaphore:
        """Return what is held during a turn of the user."""
        found = self._of_users.get(user_id)
        if found is None:
            found = self._of_users[user_id] = trio.Semaphore(self._at_once, max_value=self._at_once)
        return found

    async def pieces(self, user_id: int, pieces: AsyncGenerator[T, None]) -> AsyncGenerator[T, None]:
        """Yield the pieces of an answer, each made in a turn; sending one to a slow client takes none."""
        turn = self.of(user_id)
        async with aclosing(pieces):
            while True:
                async with turn:
                    try:
                        piece = await anext(pieces)
                    except StopAsyncIteration:
                        return
                yield piece
