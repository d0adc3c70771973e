"""Keeps photos and files of alarms to their quota and age, and removes what crashes left.

The quota of each device is enforced while files are written (`actors/files/file_retention.py`). The quota of
all devices together is enforced here, so it may be exceeded for some minutes; `files.reserve_bytes` of the
disk always stay free.
Evidence of tickets and what users keep is left, and does not count.
"""

from collections.abc import Callable
from datetime import timedelta
from functools import partial

import msgspec
import trio

from motorpool.actors.files.file_retention import MEDIA_NAMES, sweep
from motorpool.actors.files.media_files import MediaFiles
from motorpool.actors.files.settings import FileSettings
from motorpool.actors.messages.counters import FILE_BYTES, FILES_REMOVED
from motorpool.actors.work.age_clock import AgeClock
from motorpool.runtime import Actor, Kind
from motorpool.storage.database.database import Database
from motorpool.storage.errors import StorageError
from motorpool.storage.helpdesk import ticket_files
from motorpool.storage.video import kept_files

CHECK_SECONDS = 300.0
"""Interval between two sweeps."""


class FilesHeld(msgspec.Struct, frozen=True, gc=False):
    """Files that have become evidence of tickets, or that a user keeps: they stay, whatever quotas remove."""

    names: tuple[str, ...]


FILE_RETENTION: Kind[None, FilesHeld] = Kind("file_retention")


class FileRetention(Actor[FilesHeld]):
    """Sweeps all folders of devices every five minutes."""

    def __init__(self, database: Database, files: MediaFiles, settings: Callable[[], FileSettings]) -> None:
        """`settings` returns those in use; the quota of `files` learns which files stay."""
        self._database = database
        self._device_quota = files.quota
        self._store = files.store
        self._settings = settings
        self._age_clock = AgeClock()

    def handle(self, message: FilesHeld) -> None:
        """Have the quota of a device leave files, before the next sweep reads which stay."""
        if self._device_quota is not None:
            for name in message.names:
                self._device_quota.hold(name)

    async def run(self) -> None:
        """Sweep at startup and then in a loop."""
        while True:
            await self._sweep()
            await trio.sleep(CHECK_SECONDS)

    async def _sweep(self) -> None:
        now, settings = self._age_clock.now(self.context.clock), self._settings()
        if drafts := await trio.to_thread.run_sync(self._store.remove_drafts, now.timestamp()):
            self.context.log.info("removed %d incomplete files that a crash left", drafts)
        try:
            held = await ticket_files.held(self._database)
            stay = held.keys() | (await kept_files.held(self._database)).keys()
        except StorageError as error:
            self.context.log.warning("quota and age of files not checked, retried later: %s", error)
            return
        if self._device_quota is not None:
            self._device_quota.exempt(stay)
        oldest = now - timedelta(days=settings.retention_days) if settings.retention_days else None
        swept = await trio.to_thread.run_sync(
            partial(
                sweep,
                self._store,
                MEDIA_NAMES,
                quota_bytes=settings.quota_bytes or 0,
                oldest=oldest,
                exempt=stay,
            )
        )
        FILE_BYTES.labels("media").set(swept.total_bytes)
        FILES_REMOVED.labels("media").inc(len(swept.removed))
        if swept.removed:
            self.context.log.info(
                "removed %d photos and files of alarms, past the quota or the retention", len(swept.removed)
            )
