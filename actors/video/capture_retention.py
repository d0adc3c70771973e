"""Retention of capture files: repairs those that a crash left, and keeps to their quota and age.

Captures that are evidence of tickets are left, and do not count. It also removes the unfinished uploads that
a crash left.
"""

from datetime import timedelta
from functools import partial
from pathlib import Path

import trio

from motorpool.actors.files.file_retention import SweepResult, sweep
from motorpool.actors.files.uploads import remove_parts
from motorpool.actors.messages.counters import FILE_BYTES, FILES_REMOVED
from motorpool.actors.video.capture import CAPTURE, EndCapture
from motorpool.actors.video.capture_files import CAPTURE_NAMES, repair_all
from motorpool.actors.video.capture_list import CAPTURE_LIST, CaptureFilesRemoved, GetOpenCaptures
from motorpool.runtime import Actor, ActorError, ChildSpec, Kind
from motorpool.storage import ticket_files
from motorpool.storage.database import Database
from motorpool.storage.errors import StorageError

__all__ = ["CAPTURE_RETENTION", "CaptureRetention", "capture_retention_spec"]

CHECK_SECONDS = 60.0
END_SECONDS = 30.0

CAPTURE_RETENTION: Kind[None, None] = Kind("capture_retention")


class CaptureRetention(Actor[None]):
    """Checks once a minute."""

    def __init__(self, database: Database, media: Path, quota_bytes: int, days: int) -> None:
        self._database = database
        self._media = media
        self._quota_bytes = quota_bytes
        self._days = days

    def handle(self, message: None) -> None:
        """Takes no messages."""

    async def run(self) -> None:
        """Repair, then check in a loop."""
        if left := await trio.to_thread.run_sync(remove_parts, self._media):
            self.context.log.info("removed %d unfinished uploads that a crash left", left)
        await self._repair()
        while True:
            if self._quota_bytes or self._days:
                await self._check()
            await trio.sleep(CHECK_SECONDS)

    async def _repair(self) -> None:
        for name in await trio.to_thread.run_sync(repair_all, self._media):
            self.context.log.info("%s was left by a crash and ends with its last whole fragment", name)

    async def _check(self) -> None:
        captures = self.context.system.ref(CAPTURE_LIST)
        try:
            being_written = await captures.ask(GetOpenCaptures())
            swept = await self._sweep()
            FILE_BYTES.labels("captures").set(swept.total_bytes)
            FILES_REMOVED.labels("captures").inc(len(swept.removed))
            if swept.removed:
                self.context.log.info("removed %d captures: %s", len(swept.removed), self._reason())
                await captures.tell(CaptureFilesRemoved(swept.removed, f"removed: {self._reason()}"))
            if self._quota_bytes and swept.total_bytes > self._quota_bytes and being_written:
                # What is being written is too much by itself; the oldest may be removed at the next look.
                oldest = self.context.system.ref(CAPTURE, being_written[0].id)
                await oldest.ask(EndCapture("the quota of captures is used up"), seconds=END_SECONDS)
        except (ActorError, StorageError) as error:
            self.context.log.warning("quota and age of captures not checked, retried later: %s", error)

    async def _sweep(self) -> SweepResult:
        oldest = self.context.clock.now() - timedelta(days=self._days) if self._days else None
        held = await ticket_files.held(self._database)
        FILE_BYTES.labels("tickets").set(sum(held.values()))
        call_sweep = partial(
            sweep,
            self._media,
            CAPTURE_NAMES,
            quota_bytes=self._quota_bytes,
            oldest=oldest,
            exempt=held.keys(),
        )
        return await trio.to_thread.run_sync(call_sweep)

    def _reason(self) -> str:
        quota = [f"the quota of {self._quota_bytes} bytes"] if self._quota_bytes else []
        days = [f"{self._days} days"] if self._days else []
        return "past " + " or ".join(quota + days)


def capture_retention_spec(database: Database, media: Path, quota_bytes: int, days: int) -> ChildSpec[None]:
    """Return the child spec of the retention of captures; 0 is no quota, and no limit of age."""
    return ChildSpec(
        kind=CAPTURE_RETENTION,
        factory=lambda: CaptureRetention(database, media, quota_bytes, days),
        resident=False,
    )
