"""What every request may need: the actors, the tables, the settings, and what login remembers."""

from dataclasses import dataclass, field

import trio

from motorpool.api.passwords import Attempts, Passwords
from motorpool.api.settings import Settings
from motorpool.runtime import Clock, System
from motorpool.storage.database import Database
from motorpool.storage.records import ServerSettings

__all__ = ["House"]


@dataclass(kw_only=True)
class House:
    """One running server, seen from a request."""

    system: System
    database: Database
    settings: Settings
    passwords: Passwords
    attempts: Attempts
    token_key: bytes
    """Signs tokens; lives in the database."""
    server: ServerSettings
    """The row as last read or written; `PUT /server` replaces it."""
    closing: trio.Event = field(default_factory=trio.Event)
    """Set when the server begins to stop: what never ends by itself ends now."""

    @property
    def clock(self) -> Clock:
        """The injected clock."""
        return self.system.clock
