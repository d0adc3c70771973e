"""Retention of capture files: repairs those that a crash left, and keeps to their quota and age.

Captures that are evidence of tickets are left, and do not count. A capture whose server has ended without a
word is ended by what its file holds, and a file without a row gets one.
"""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Never

import trio

from motorpool.actors.files.file_retention import SweepResult, sweep
from motorpool.actors.files.media_store import MediaStore, media_key
from motorpool.actors.messages.captures import CAPTURE, EndCapture
from motorpool.actors.messages.counters import FILE_BYTES, FILES_REMOVED
from motorpool.actors.video.capture_files import CAPTURE_NAMES, repair_all, repair_one
from motorpool.actors.video.capture_records import SERVER_ENDED
from motorpool.actors.video.settings import CaptureSettings
from motorpool.actors.video.unrecorded_captures import record_captures
from motorpool.actors.work.age_clock import AgeClock
from motorpool.runtime import Actor, ActorError
from motorpool.storage.database.database import Database
from motorpool.storage.devices import devices
from motorpool.storage.errors import StorageError
from motorpool.storage.helpdesk import ticket_files
from motorpool.storage.video import captures, kept_files
from motorpool.storage.video.captures import CaptureChange, CaptureRecord

CHECK_SECONDS = 60.0
LOOK_SECONDS = 5.0
"""Interval of looking for captures of servers of the cluster that have ended."""
END_SECONDS = 30.0


class CaptureRetention(Actor[Never]):
    """Checks once a minute."""

    def __init__(
        self,
        database: Database,
        store: MediaStore,
        settings: Callable[[], CaptureSettings],
        *,
        node: int,
        clustered: bool,
    ) -> None:
        """`settings` returns those in use, `node` is the number of this server, and `clustered` says that
        there may be others.
        """
        self._database = database
        self._store = store
        self._settings = settings
        self._age_clock = AgeClock()
        self._node = node
        # A server that is alone looks for captures that its own crashes have left.
        self._look_seconds = LOOK_SECONDS if clustered else CHECK_SECONDS

    async def run(self) -> None:
        """Repair, then look and check in a loop."""
        for name in await trio.to_thread.run_sync(repair_all, self._store):
            self.context.log.info("%s was left by a crash and ends with its last whole fragment", name)
        await self._record_files()
        check_at = trio.current_time()
        while True:
            await self._settle()
            if trio.current_time() >= check_at:
                check_at += CHECK_SECONDS
                settings = self._settings()
                if settings.quota_bytes or settings.retention_days:
                    await self._check(settings.quota_bytes or 0, settings.retention_days or 0)
            await trio.sleep(self._look_seconds)

    async def _record_files(self) -> None:
        try:
            found = await record_captures(self._database, self._store)
        except StorageError as error:
            self.context.log.warning("files of captures without a row are not recorded now: %s", error)
            return
        if found:
            self.context.log.info("%d files of captures had no record and have one now", found)

    async def _settle(self) -> None:
        """End the captures that no server makes any more, by what their files hold."""
        try:
            for record in await captures.abandoned(self._database, self._node):
                await self._settle_one(record)
        except StorageError as error:
            self.context.log.warning("captures of servers that have ended are looked for later: %s", error)

    async def _settle_one(self, record: CaptureRecord) -> None:
        device = await devices.TABLE.fetch(self._database, record.device_id)
        if device is None:
            return
        key = media_key(device.unique_id, record.file_name)
        try:
            file = await trio.to_thread.run_sync(repair_one, self._store, key)
        except FileNotFoundError:
            # Nothing came, or the file is where only the server that has ended reads it.
            size = record.size
        except OSError as error:
            self.context.log.warning("%s cannot be repaired now: %s", record.file_name, error)
            return
        else:
            if file is None:
                return  # a server that is frozen, or cut off from the database, is still writing it
            size = file.size
        change = CaptureChange(
            id=record.id,
            size=size,
            status="COMPLETE" if size else "FAILED",
            completed_at=self.context.clock.now(),
            reason=SERVER_ENDED,
            interrupted=True,
        )
        await captures.save(self._database, [change])
        self.context.log.warning("%s: %s, %d bytes are kept", record.id, SERVER_ENDED, size)

    async def _check(self, quota_bytes: int, days: int) -> None:
        reason = _reason(quota_bytes, days)
        try:
            being_written = await captures.recording(self._database, self._node)
            swept = await self._sweep(quota_bytes, days)
            FILE_BYTES.labels("captures").set(swept.total_bytes)
            FILES_REMOVED.labels("captures").inc(len(swept.removed))
            if swept.removed:
                self.context.log.info("removed %d captures: %s", len(swept.removed), reason)
                await captures.note_removed(self._database, swept.removed, f"removed: {reason}")
            if quota_bytes and swept.total_bytes > quota_bytes and being_written:
                # What is being written is too much by itself; the oldest may be removed at the next look.
                oldest = self.context.system.ref(CAPTURE, being_written[0].id)
                await oldest.ask(EndCapture("the quota of captures is used up"), seconds=END_SECONDS)
        except (ActorError, StorageError) as error:
            self.context.log.warning("quota and age of captures not checked, retried later: %s", error)

    async def _sweep(self, quota_bytes: int, days: int) -> SweepResult:
        now = self._age_clock.now(self.context.clock)
        oldest = now - timedelta(days=days) if days else None
        held = await ticket_files.held(self._database)
        kept = await kept_files.held(self._database)
        FILE_BYTES.labels("tickets").set(sum(held.values()))
        FILE_BYTES.labels("kept").set(sum(kept.values()))
        call_sweep = partial(
            sweep,
            self._store,
            CAPTURE_NAMES,
            quota_bytes=quota_bytes,
            oldest=oldest,
            exempt=held.keys() | kept.keys(),
        )
        return await trio.to_thread.run_sync(call_sweep)


def _reason(quota_bytes: int, days: int) -> str:
    quota = [f"the quota of {quota_bytes} bytes"] if quota_bytes else []
    age = [f"{days} days"] if days else []
    return "past " + " or ".join(quota + age)
