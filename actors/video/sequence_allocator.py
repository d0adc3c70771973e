"""The numbers of a playlist's segments, written down ahead: a crash skips some, none comes twice."""

from motorpool.runtime.actor import ActorLog
from motorpool.storage import stream_marks
from motorpool.storage.database import Database
from motorpool.storage.errors import StorageError

__all__ = ["RESERVED_INDICES", "SequenceAllocator"]

RESERVED_INDICES = 1_000


class SequenceAllocator:
    """Of one channel's live stream, or of its playbacks."""

    def __init__(self, database: Database, device_id: int, channel: int, kind: str, log: ActorLog) -> None:
        """`kind` is "live" or "playback"."""
        self._database = database
        self._key = (device_id, channel, kind)
        self._log = log
        self._reserved = 0

    async def load(self) -> tuple[int, int]:
        """The next index and discontinuity sequence, above those of any earlier life; reserves some.

        Raises:
            StorageError: they cannot be known.
        """
        mark = await stream_marks.load(self._database, *self._key)
        await self.reserve(mark.next_index, mark.next_discontinuity)
        return mark.next_index, mark.next_discontinuity

    def has_room(self, next_index: int, count: int = 1) -> bool:
        """Whether `count` more segments may be made before the next `reserve`."""
        return next_index + count <= self._reserved

    async def reserve(self, next_index: int, next_discontinuity: int) -> None:
        """Write down that the next thousand may be used."""
        self._reserved = next_index + RESERVED_INDICES
        await self.save(self._reserved, next_discontinuity + RESERVED_INDICES)

    async def save(self, next_index: int, next_discontinuity: int) -> None:
        """Write down where they stand, at an orderly end.

        Without the database pictures go on: the numbers are only in danger if we crash as well.
        """
        try:
            await stream_marks.save(self._database, *self._key, next_index, next_discontinuity)
        except StorageError as error:
            self._log.warning("the stream's numbers were not written down: %s", error)
