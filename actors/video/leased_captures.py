"""Captures that rows ask for, which servers share under leases (storage/database/leased_rows.py)."""

from abc import abstractmethod
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import ClassVar, Generic, TypeVar

from motorpool.actors.video.recording_capture import end_capture
from motorpool.actors.work.polling import PollingActor
from motorpool.storage.database.database import Database
from motorpool.storage.database.leased_rows import LeasedRow, LeasedRows

MessageT = TypeVar("MessageT")
RowT = TypeVar("RowT", bound=LeasedRow)

CHECK_SECONDS = 1.0
"""Interval of looking whether the captures of this server have ended."""
LOOK_SECONDS = 5.0
"""Interval of looking for captures that may begin, or whose server no longer runs."""
POLL_SECONDS = 30.0
"""Interval of looking for captures when there were none."""
LEASE = timedelta(seconds=60)


class LeasedCaptures(PollingActor[MessageT], Generic[MessageT, RowT]):
    """Looks after the captures of one server; any message says that there may be others to begin."""

    DELETED: ClassVar[str]
    """The reason for the end of a capture whose row is gone."""

    def __init__(self, database: Database, rows: LeasedRows[RowT], holder: str) -> None:
        """`holder` tells this server from others."""
        super().__init__()
        self._database = database
        self._rows = rows
        self._holder = holder
        self._look_at = 0.0
        """When captures that may begin are looked for, in monotonic seconds."""
        self._running: dict[int, str] = {}
        """Captures that this actor has begun, by row."""

    def handle(self, message: MessageT) -> None:
        """Look now."""
        self._look_at = 0.0
        self.wake()

    async def look(self) -> float:
        """Settle what has ended; every few seconds take what may begin as well."""
        if not self._running and not await self.is_any():
            return POLL_SECONDS
        held = await self._rows.held_by(self._database, self._holder)
        for number in self._running.keys() - {row.id for row in held}:
            end_capture(self.context.system, self._running.pop(number), self.DELETED)
        runs = await self.settle_ended(held)
        clock = self.context.clock
        if clock.monotonic() >= self._look_at:
            self._look_at = clock.monotonic() + LOOK_SECONDS
            now = clock.now()
            await self._rows.renew(self._database, self._holder, until=now + LEASE)
            await self.take(held, now)
            runs = bool(await self._rows.held_by(self._database, self._holder))
        return CHECK_SECONDS if runs else LOOK_SECONDS

    @abstractmethod
    async def is_any(self) -> bool:
        """Return whether any server has captures to look after."""

    @abstractmethod
    async def settle_ended(self, held: Sequence[RowT]) -> bool:
        """Store how captures of this server have ended; return whether others run."""

    @abstractmethod
    async def take(self, held: Sequence[RowT], now: datetime) -> None:
        """Check the rights of those that run, take over what lapsed, end what expired, begin others.

        `held` are the rows of this server before `settle_ended`.
        """
