"""A broadcast channel that is opened again whenever it is lost (storage/broadcast.py)."""

import logging
from collections.abc import Awaitable, Callable
from typing import Never

import trio

from motorpool.runtime import ActorError
from motorpool.storage.broadcast import BroadcastChannel, open_broadcast
from motorpool.storage.database import Database
from motorpool.storage.errors import StorageError

__all__ = ["serve_broadcast"]

RETRY_SECONDS = 0.5

Log = logging.LoggerAdapter[logging.Logger]


async def serve_broadcast(
    database: Database, name: str, serve: Callable[[BroadcastChannel], Awaitable[None]], log: Log
) -> Never:
    """Run `serve` with an open channel, again with another one after each StorageError and ActorError.

    `serve` begins with what may have been missed while no channel was open.
    """
    while True:
        try:
            async with open_broadcast(database, name) as channel:
                await serve(channel)
        except* (StorageError, ActorError) as errors:
            log.warning("no connection to other servers, trying again: %s", errors.exceptions[0])
        await trio.sleep(RETRY_SECONDS)
