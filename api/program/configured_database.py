"""Opening the database that the settings name: for the server, and for the commands that work on its data."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace

import trio

from motorpool.api.program.errors import StartFailed, error_line
from motorpool.api.settings import Settings
from motorpool.runtime import Clock
from motorpool.storage.database.availability import Tell
from motorpool.storage.database.database import Database, open_database
from motorpool.storage.errors import AlreadyRunning, StorageError
from motorpool.storage.postgres import dumps
from motorpool.storage.postgres.embedded import EmbeddedServer
from motorpool.storage.settings import DatabaseSettings


@asynccontextmanager
async def open_configured_database(
    settings: Settings,
    clock: Clock,
    on_outage: Tell | None = None,
    *,
    without_keys: bool = False,
    processes: int = 1,
) -> AsyncIterator[Database]:
    """Open the database that the settings name; the other arguments are those of `open_database` and
    `DatabaseSettings`.
    """
    chosen = DatabaseSettings(
        url=settings.database,
        data=settings.data,
        keys=settings.encryption.keys,
        processes=processes,
        **vars(settings.postgres),
    )
    async with open_database(
        chosen, clock_now=clock.now, on_outage=on_outage, without_keys=without_keys
    ) as database:
        yield database


@asynccontextmanager
async def open_running_database(
    settings: Settings, clock: Clock, *, without_keys: bool = False
) -> AsyncIterator[Database]:
    """Open the database for a command, whether or not a server runs; `without_keys` as in `open_database`.

    Raises:
        StartFailed: the database cannot be opened, or fails in the block.
    """
    async with AsyncExitStack() as stack:
        try:
            try:
                opened = await stack.enter_async_context(
                    open_configured_database(settings, clock, without_keys=without_keys)
                )
            except AlreadyRunning:
                settings = replace(settings, database=dumps.running_url(settings.data))
                opened = await stack.enter_async_context(
                    open_configured_database(settings, clock, without_keys=without_keys)
                )
            yield opened
        except StorageError as error:
            raise StartFailed(error_line(error)) from error


@asynccontextmanager
async def run_embedded(settings: Settings) -> AsyncIterator[EmbeddedServer]:
    """Run the embedded PostgreSQL for the body, which no other server does meanwhile.

    Raises:
        SetupFailed: it does not start; AlreadyRunning where a server works on the data.
    """
    server = EmbeddedServer(settings.data, start_seconds=settings.postgres.start_seconds)
    await server.start()
    try:
        yield server
    finally:
        with trio.CancelScope(shield=True):
            await server.stop()
