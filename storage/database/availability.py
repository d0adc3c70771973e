"""Whether the database can be used: what callers find, and a look at it every few seconds.

An outage begins with the first call that fails. Its end is found by looks of our own, since a database that
answers one call may still refuse the next: one whose disk is full answers questions, and one that is
read-only has nothing against them.
"""

from collections.abc import Awaitable, Callable
from contextlib import suppress

import trio

from motorpool.storage.errors import NoAnswer, StorageError, StorageUnavailable

LOOK_SECONDS = 5.0
"""Between two looks while nothing is wrong."""
OUTAGE_SECONDS = 1.0
"""Between two looks during an outage."""
STEADY_LOOKS = 3
"""Successful looks in a row after which an outage is over: broken connections are noticed late."""
PATIENCE_SECONDS = 3.0
"""Time in which a database that works answers a look."""

Look = Callable[[], Awaitable[object]]
Tell = Callable[[StorageUnavailable | None], None]


class Availability:
    """Of one database, for all who use it."""

    def __init__(self, on_outage: Tell | None = None) -> None:
        """`on_outage` is called with each error of an outage, and with None at its end.

        Without it nobody looks: an outage ends with the next call that is answered.
        """
        self.outage: StorageUnavailable | None = None
        """Why the database cannot be used now."""
        self._on_outage = on_outage
        self._failed = trio.Event()
        self._is_told = False
        """Whether `on_outage` was called, and not for the end yet."""
        self._successes = 0
        """Looks in a row that have succeeded, during an outage."""

    def require_answers(self) -> None:
        """Refuse a call that would wait in vain, since the database is known to answer nobody.

        Raises:
            NoAnswer: it does not; the next look finds out when it does again.
        """
        if self._on_outage is not None and isinstance(self.outage, NoAnswer):
            raise NoAnswer(str(self.outage))

    def failed(self, error: StorageUnavailable) -> None:
        """Note that a call failed."""
        if not error.is_outage:
            return
        if self._on_outage is None:
            self._begin(error)
            return
        self._failed.set()
        if isinstance(error, NoAnswer):
            # One statement may be slow for reasons of its own: a look finds out.
            return
        if self.outage is None:
            self._begin(error)
        else:
            # What a look found is the reason: this call may only have met a connection that ended before.
            self._successes = 0

    def _begin(self, error: StorageUnavailable) -> None:
        """Note an outage that begins, or lasts."""
        self.outage = error
        self._failed.set()
        self._successes = 0
        if self._on_outage is not None:
            self._is_told = True
            self._on_outage(error)

    def answered(self) -> None:
        """Note that a call was answered."""
        if self.outage is not None and self._on_outage is None:
            self.outage = None

    async def watch(self, ask: Look, try_write: Look) -> None:
        """Look until cancelled: `ask` is a call as of others, `try_write` needs all that a change needs.

        Both raise StorageError where they fail.
        """
        while True:
            if self._is_told:
                await trio.sleep(OUTAGE_SECONDS)
            else:
                with trio.move_on_after(LOOK_SECONDS):
                    await self._failed.wait()
            self._failed = trio.Event()
            if not self._is_told and await _is_answered(ask):
                continue
            try:
                with trio.fail_after(PATIENCE_SECONDS):
                    await try_write()
            except trio.TooSlowError:
                self._begin(NoAnswer(f"the database gave no answer within {PATIENCE_SECONDS:g} s"))
            except StorageUnavailable as error:
                self._begin(error)
            except StorageError:
                # It answers, and does not let us try.
                self._succeeded()
            else:
                self._succeeded()

    def _succeeded(self) -> None:
        if not self._is_told or self._failed.is_set():
            return
        self.outage = None
        self._successes += 1
        if self._successes == STEADY_LOOKS:
            self._is_told = False
            if self._on_outage is not None:
                self._on_outage(None)


async def _is_answered(ask: Look) -> bool:
    with trio.move_on_after(PATIENCE_SECONDS), suppress(StorageError):
        await ask()
        return True
    return False
