"""Migrates a database as a program of its own, which a test kills: `python migrating.py URL`."""

import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import trio

from motorpool.storage.database.connections import open_connection
from motorpool.storage.database.driver import open_loop
from motorpool.storage.database.migrations import Migration, load, migrate
from motorpool.storage.database.statements import Session
from motorpool.storage.settings import DatabaseSettings

NOW = datetime(2027, 1, 1, tzinfo=UTC)


@asynccontextmanager
async def open_session(url: str) -> AsyncIterator[Session]:
    """Open one connection, as `migrate` needs it."""
    async with open_loop() as loop:
        connection = await open_connection(loop, DatabaseSettings(url=url), None, "")
        try:
            yield Session(connection, 60.0)
        finally:
            connection.terminate()


async def bring_up_to_date(url: str, steps: Sequence[Migration]) -> int:
    """Apply the steps that the database lacks; return their number."""
    async with open_session(url) as session:
        return await migrate(session, steps, clock_now=lambda: NOW)


if __name__ == "__main__":
    trio.run(bring_up_to_date, sys.argv[1], load())
