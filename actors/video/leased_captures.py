"""Captures that rows ask for, which servers share under leases (storage/database/leased_rows.py)."""

from abc import abstractmethod
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import ClassVar, Generic, Protocol, TypeVar

from motorpool.actors.accounts.user_rights import (
    may_capture_video,
    may_log_in,
    may_read_history,
    may_send_commands,
)
from motorpool.actors.messages.access import ACCESS, MaySee
from motorpool.actors.messages.directory import DIRECTORY, GetDeviceStatuses
from motorpool.actors.video.capture_start import end_capture, is_playing
from motorpool.actors.work.polling import PollingActor
from motorpool.runtime import System
from motorpool.storage.accounts import server, users
from motorpool.storage.database.database import Database
from motorpool.storage.database.leased_rows import LeasedRow, LeasedRows
from motorpool.storage.records import AuditAction, User

CHECK_SECONDS = 1.0
"""Interval of looking whether the captures of this server have ended."""
LOOK_SECONDS = 5.0
"""Interval of looking for captures that may begin, or whose server no longer runs."""
POLL_SECONDS = 30.0
"""Interval of looking for captures when there were none."""
LEASE = timedelta(seconds=60)
RETRY = timedelta(seconds=30)
"""Delay before the next attempt to begin a capture."""
PAGE = 500
"""Rows that are read at once."""


class CaptureRow(LeasedRow, Protocol):
    """Fields that say what is captured."""

    @property
    def device_id(self) -> int:
        """The device."""

    @property
    def channel(self) -> int:
        """Its camera."""

    @property
    def live(self) -> bool:
        """Whether the live stream is captured, and not a recording of the device."""

    @property
    def user_id(self) -> int:
        """The user whose rights it takes."""


MessageT = TypeVar("MessageT")
RowT = TypeVar("RowT", bound=CaptureRow)


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

    async def startable(self, busy: set[int], now: datetime) -> list[RowT]:
        """Return rows of connected devices that may begin, one recording of a device at a time.

        `busy` are the devices that send a recording already. A playback that is kept for its viewers is not
        replaced.
        """
        system = self.context.system
        busy = set(busy)
        found: list[RowT] = []
        last: RowT | None = None
        while len(found) < PAGE:
            page = await self._rows.due(self._database, now=now, after=last, limit=PAGE)
            ids = tuple({row.device_id for row in page})
            statuses = await system.ref(DIRECTORY).ask(GetDeviceStatuses(ids, here=True)) if ids else {}
            for row in page:
                status = statuses.get(row.device_id)
                if status is None or status.status == "offline":
                    continue
                if not row.live:
                    if row.device_id in busy:
                        continue
                    busy.add(row.device_id)
                    if await is_playing(system, row.device_id, row.channel):
                        continue
                found.append(row)
            if len(page) < PAGE:
                break
            last = page[-1]
        return found

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


async def capturing_user(system: System, database: Database, row: CaptureRow, now: datetime) -> User | None:
    """Return the user of a row; None unless they have all the rights that the capture takes at this moment.

    Raises:
        ActorError, StorageError: they cannot be known now.
    """
    user = await users.TABLE.fetch(database, row.user_id)
    if user is None or not may_log_in(user, now):
        return None
    settings = await server.fetch(database)
    if not may_capture_video(user, settings) or not may_read_history(user, settings):
        return None
    if not row.live and not may_send_commands(user, settings):
        return None
    seen = MaySee(0 if user.administrator else user.id, row.device_id)
    return user if await system.ref(ACCESS).ask(seen) else None


def audited(row: CaptureRow, file_name: str, now: datetime, **attributes: int | str) -> AuditAction:
    """Return the entry of a capture in the audit log; `attributes` say what asked for it."""
    return AuditAction(
        action_time=now,
        user_id=row.user_id,
        action_type="capture",
        object_type="device",
        object_id=row.device_id,
        attributes={"channel": row.channel, "fileName": file_name, **attributes},
    )
