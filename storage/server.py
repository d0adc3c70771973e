"""The one row of server settings."""

import msgspec

from motorpool.storage.queries import Queries
from motorpool.storage.records import ServerSettings
from motorpool.storage.tables import Table

__all__ = ["fetch", "save"]

_TABLE = Table("server", ServerSettings, sort="id", keywords=())


async def fetch(q: Queries) -> ServerSettings:
    """Return the settings."""
    found = await _TABLE.fetch(q, 1)
    assert found is not None
    return found


async def save(q: Queries, settings: ServerSettings) -> ServerSettings:
    """Replace the settings; return them as stored."""
    stored = await _TABLE.update(q, msgspec.structs.replace(settings, id=1))
    assert stored is not None
    return stored
