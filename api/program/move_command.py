"""`motorpool move-database`: from the embedded database to an external one
(docs/operating.md#move-the-database, docs/decisions/0308).
"""

import trio

from motorpool.api.configuration.errors import SettingsError
from motorpool.api.configuration.forms import is_database
from motorpool.api.program.configured_database import run_embedded
from motorpool.api.program.errors import StartFailed, error_line
from motorpool.api.settings import Settings
from motorpool.storage.errors import SetupFailed, StorageError
from motorpool.storage.postgres import dumps

EMBEDDED = "embedded"


async def move_database(settings: Settings, target: str) -> str:
    """Copy the embedded database into the empty one of a URL; return what was done and what is next.

    The embedded database stays as it is. Files are not moved: they stay in the data folder.

    Raises:
        SettingsError: the settings name no embedded database, or `target` is not a URL.
        StartFailed: a server uses the data, or the database does not take all of it and is as before.
    """
    if settings.database != EMBEDDED:
        raise SettingsError(
            "the settings name an external database already: move the data before `database` is set"
        )
    if target == EMBEDDED or not is_database(target):
        raise SettingsError("the database to move to must be a postgresql:// URL")
    try:
        return await _move(settings, target)
    except (StorageError, OSError) as error:
        raise StartFailed(error_line(error)) from error


async def _move(settings: Settings, target: str) -> str:
    cluster = settings.data / "postgres"
    if not cluster.exists():
        raise SetupFailed(f"there is no database in {settings.data}")
    version = await trio.to_thread.run_sync(dumps.server_version, target)
    async with run_embedded(settings) as server:
        copied = await trio.to_thread.run_sync(dumps.copy, server.url(dumps.DATABASE), target)
    return (
        f"copied {copied.tables} tables with {copied.rows} rows to PostgreSQL {version}.\n"
        "Next: set `database` in motorpool.toml (or MOTORPOOL_DATABASE) to its URL, and start the server.\n"
        f"The embedded database stays in {cluster}: remove it once the server runs on the other one."
    )
