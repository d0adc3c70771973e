"""Opening the database that the settings name: for the server, and for the commands that work on its data."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from motorpool.api.settings import Settings
from motorpool.runtime import Clock
from motorpool.storage.database.database import Database, open_database
from motorpool.storage.settings import DatabaseSettings


@asynccontextmanager
async def open_configured_database(settings: Settings, clock: Clock) -> AsyncIterator[Database]:
    """Open the database that the settings name."""
    chosen = DatabaseSettings(url=settings.database, data=settings.data, **vars(settings.postgres))
    async with open_database(chosen, clock_now=clock.now) as database:
        yield database
