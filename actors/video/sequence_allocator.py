"""The numbers of a playlist's segments, reserved ahead: a crash skips some, none is used twice."""

from motorpool.runtime.actor import ActorLog
from motorpool.storage import stream_marks
from motorpool.storage.database import Database
from motorpool.storage.errors import StorageError

__all__ = ["RESERVED_INDICES", "SequenceAllocator"]

RESERVED_INDICES = 1_000
"""Reserved by one statement."""


class SequenceAllocator:
    """Allocates numbers for one channel's live stream, or for its playbacks."""

    def __init__(self, database: Database, device_id: int, channel: int, kind: str, log: ActorLog) -> None:
        """`kind` is "live" or "playback"."""
        self._database = database
        self._key = (device_id, channel, kind)
        self._log = log
        self._reserved = 0

    async def load(self) -> tuple[int, int]:
        """Return the next index and discontinuity sequence, above those of any earlier actor; reserve some.

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
        """Reserve the next RESERVED_INDICES in the database."""
        self._reserved = next_index + RESERVED_INDICES
        await self.save(self._reserved, next_discontinuity + RESERVED_INDICES)

    async def save(self, next_index: int, next_discontinuity: int) -> None:
        """Save the next numbers, at an orderly end.

        Without the database the stream goes on: numbers are only used twice if the server crashes as well.
        """
        try:
            await stream_marks.save(self._database, *self._key, next_index, next_discontinuity)
        except StorageError as error:
            self._log.warning("the stream's numbers were not written down: %s", error)
