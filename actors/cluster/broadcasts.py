"""A broadcast channel that is opened again whenever it is lost (storage/cluster/broadcast.py)."""

import logging
from collections.abc import Awaitable, Callable
from typing import Never

import trio

from motorpool.runtime import ActorError, first_error
from motorpool.storage.cluster.broadcast import BroadcastChannel, open_broadcast
from motorpool.storage.database.database import Database
from motorpool.storage.errors import StorageError

RETRY_SECONDS = 0.5
CHECK_SECONDS = 5.0
"""Between two checks of the connection: one that a firewall has dropped is silent, without an error."""
ANSWER_SECONDS = 10.0
"""For the answer to a check."""

Log = logging.LoggerAdapter[logging.Logger]


async def serve_broadcast(
    database: Database, name: str, serve: Callable[[BroadcastChannel], Awaitable[None]], log: Log
) -> Never:
    """Run `serve` with an open channel, again with another one after each StorageError and ActorError.

    `serve` begins with what may have been missed while no channel was open.
    """
    while True:
        try:
            async with open_broadcast(database, name) as channel, trio.open_nursery() as nursery:
                nursery.start_soon(_check, channel)
                await serve(channel)
                nursery.cancel_scope.cancel()
        except* (StorageError, ActorError) as errors:
            log.warning("no connection to other servers, trying again: %s", first_error(errors))
        await trio.sleep(RETRY_SECONDS)


async def _check(channel: BroadcastChannel) -> Never:
    while True:
        await trio.sleep(CHECK_SECONDS)
        await channel.check(ANSWER_SECONDS)
