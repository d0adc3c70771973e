"""The settings of the server that the database holds, as last read."""

import math
from collections.abc import Mapping
from contextlib import suppress
from typing import NamedTuple

from motorpool.runtime import Clock
from motorpool.storage.accounts import server
from motorpool.storage.database.database import Database
from motorpool.storage.errors import StorageUnavailable
from motorpool.storage.records import ServerSettings

REFRESH_SECONDS = 5.0
"""After an attempt to read the settings that fails, in seconds until the next."""


class EncodedServer(NamedTuple):
    """What `GET /server` has answered."""

    settings: ServerSettings
    derived: Mapping[str, object]
    """The other fields."""
    json: bytes


class StoredServer:
    """Reads the row of settings again when it has been changed."""

    def __init__(self, database: Database, clock: Clock, settings: ServerSettings) -> None:
        """`settings` is the row as read at the start, whose version is not known."""
        self.settings = settings
        self.version = 0
        """The version of the row; 0: not known yet."""
        self.encoded: EncodedServer | None = None
        """The last answer, which is mostly the next one too."""
        self._database = database
        self._clock = clock
        self._changes = 1
        """1 + number of changes of the settings so far: the initial row comes without its version."""
        self._changes_read = 0
        self._next_refresh = -math.inf

    @property
    def is_stale(self) -> bool:
        """Whether the settings may have been changed since they were read."""
        return self._changes != self._changes_read

    def note_change(self) -> None:
        """Note that the settings may have been changed."""
        self._changes += 1

    async def refresh(self) -> None:
        """Read the settings if they have been changed; while that fails, those read last apply."""
        if not self.is_stale or self._clock.monotonic() < self._next_refresh:
            return
        self._next_refresh = self._clock.monotonic() + REFRESH_SECONDS
        with suppress(StorageUnavailable):
            await self.reload()
            self._next_refresh = -math.inf

    async def reload(self) -> None:
        """Read the settings. Of two reads that overtake each other the newer row stays."""
        changes = self._changes
        settings, version = await server.fetch_versioned(self._database)
        self._changes_read = max(self._changes_read, changes)
        if version >= self.version:
            self.settings, self.version = settings, version
