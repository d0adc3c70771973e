"""The numbers of a playlist's segments, reserved ahead: a crash skips some, none is used twice.

That holds for several servers on one database as well.
"""

from motorpool.runtime.actor import ActorLog
from motorpool.storage.cluster import homes
from motorpool.storage.cluster.homes import Home
from motorpool.storage.database.database import Database
from motorpool.storage.errors import StorageError
from motorpool.storage.video import stream_marks

FIRST_INDEX_OF_PARTS = 1
"""Number of a channel's first segment where segments have parts: hls.js 1.7 takes 0 for the absence of a
number, and requests the parts of a segment 0 over and over (docs/decisions/0295).
"""
RESERVED_INDICES = 1_000
"""Reserved by one statement."""
MAX_UNSURE = 100
"""Most unanswered statements in a row, any of which may have been the last one carried out."""


class NumbersTaken(Exception):
    """Another server has reserved numbers of the same playlist: this one must begin anew above them."""


class SequenceAllocator:
    """Allocates numbers for one channel's live stream, or for its playbacks."""

    def __init__(self, database: Database, device_id: int, channel: int, kind: str, log: ActorLog) -> None:
        """`kind` is "live" or "playback"."""
        self._database = database
        self._key = (device_id, channel, kind)
        self._log = log
        self._reserved = 0
        self._stored: tuple[int, ...] = ()
        """What the next index in the database may be, if nobody else reserves: several after an outage."""

    async def load(self) -> tuple[int, int]:
        """Reserve numbers; return the next index and discontinuity sequence, above any that were used before.

        Raises:
            StorageError: they cannot be known.
        """
        first = await stream_marks.reserve(self._database, *self._key, RESERVED_INDICES)
        self._reserved = first[0] + RESERVED_INDICES
        self._stored = (self._reserved,)
        return first

    def disown(self) -> None:
        """Give no numbers back until the next `load`: another server has those that follow."""
        self._stored = ()

    async def note_server(self, node: int) -> None:
        """Let the other servers know that this one, `node`, has the stream."""
        try:
            await stream_marks.note_server(self._database, *self._key[:2], self._stored, node)
        except StorageError as error:
            self._log.warning("another server will not find the stream here: %s", error)

    async def forget_server(self, node: int) -> None:
        """Let the other servers know that this one, `node`, has nothing of the stream any more."""
        try:
            await stream_marks.forget_server(self._database, *self._key[:2], node)
        except StorageError as error:
            self._log.warning("another server may look for the stream here: %s", error)

    async def other_server(self, node: int) -> Home | None:
        """Return another server than `node` that has the stream, if one has that responds."""
        device_id, channel, _ = self._key
        try:
            found = await stream_marks.servers(self._database, node, [device_id])
            number = found.get((device_id, channel))
            home = None if number is None else await homes.server(self._database, number)
        except StorageError:
            return None
        return home if home is not None and home.responds else None

    async def are_latest(self) -> bool:
        """Whether no other server has reserved numbers since; True while the database cannot be asked."""
        try:
            return await stream_marks.holds(self._database, *self._key, self._stored)
        except StorageError:
            return True

    def has_room(self, next_index: int, count: int = 1) -> bool:
        """Whether `count` more segments may be made before the next `reserve`."""
        return next_index + count <= self._reserved

    async def reserve(self, next_index: int, next_discontinuity: int) -> None:
        """Reserve the next RESERVED_INDICES in the database. Raises NumbersTaken."""
        self._reserved = next_index + RESERVED_INDICES
        if not await self._replace(self._reserved, next_discontinuity + RESERVED_INDICES):
            raise NumbersTaken(f"another server has a playlist of device {self._key[0]} and its channel")

    async def save(self, next_index: int, next_discontinuity: int) -> None:
        """Save the next numbers, at an orderly end, unless another server has reserved some.

        There is no room then until `reserve`.
        """
        self._reserved = next_index
        await self._replace(next_index, next_discontinuity)

    async def _replace(self, next_index: int, next_discontinuity: int) -> bool:
        """Return whether the numbers are still ours.

        Without the database the stream goes on: numbers are only used twice if the server crashes as well.
        """
        try:
            own = await stream_marks.replace(
                self._database, *self._key, self._stored, next_index, next_discontinuity
            )
        except StorageError as error:
            self._log.warning("the stream's numbers were not written down: %s", error)
            # It may have been committed nevertheless.
            self._stored = (*self._stored, next_index)[-MAX_UNSURE:]
            return True
        self._stored = (next_index,) if own else ()
        return own
