"""Texts from each server of a cluster to all others: by NOTIFY of PostgreSQL, or by the link if there is one.

Nothing above knows which. A channel is opened again whenever it is lost.
"""

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Never, Protocol

import trio

from motorpool.runtime import ActorError, Link, first_error
from motorpool.storage.cluster.broadcast import BroadcastChannel, open_broadcast
from motorpool.storage.database.database import Database
from motorpool.storage.errors import StorageError

RETRY_SECONDS = 0.5
CHECK_SECONDS = 5.0
"""Between two checks of the connection: one that a firewall has dropped is silent, without an error."""
ANSWER_SECONDS = 10.0
"""For the answer to a check."""

Log = logging.LoggerAdapter[logging.Logger]


class TextsChannel(Protocol):
    """An open channel. Its methods raise StorageError or ActorError when texts may be missing."""

    @property
    def max_bytes(self) -> int:
        """Longest text, in bytes of UTF-8."""

    async def send(self, texts: Sequence[str]) -> None:
        """Send texts to all others that listen."""

    async def receive(self) -> str:
        """Wait for the next text of another."""


class Broadcasts(Protocol):
    """A way to the other servers."""

    async def serve(self, serve: Callable[[TextsChannel], Awaitable[None]], log: Log) -> Never:
        """Run `serve` with an open channel, again with another one after each StorageError and ActorError.

        `serve` begins with what may have been missed while no channel was open.
        """


class NotifyBroadcasts:
    """NOTIFY of the database, under a name."""

    def __init__(self, database: Database, name: str) -> None:
        self._database = database
        self._name = name

    async def serve(self, serve: Callable[[BroadcastChannel], Awaitable[None]], log: Log) -> Never:
        """Run `serve` with an open channel, again and again."""
        while True:
            try:
                async with (
                    open_broadcast(self._database, self._name) as channel,
                    trio.open_nursery() as nursery,
                ):
                    nursery.start_soon(_check, channel)
                    await serve(channel)
                    nursery.cancel_scope.cancel()
            except* (StorageError, ActorError) as errors:
                _say_lost(log, errors)
            await trio.sleep(RETRY_SECONDS)


class LinkBroadcasts:
    """A channel of the link."""

    def __init__(self, link: Link, name: str) -> None:
        self._link = link
        self._name = name

    async def serve(self, serve: Callable[[TextsChannel], Awaitable[None]], log: Log) -> Never:
        """Run `serve` with an open channel, again and again."""
        channel = self._link.channel(self._name)
        while True:
            await self._link.wait_connected()
            try:
                with channel.open():
                    await serve(channel)
            except* (StorageError, ActorError) as errors:
                _say_lost(log, errors)
            await trio.sleep(RETRY_SECONDS)


def _say_lost(log: Log, errors: BaseException) -> None:
    log.warning("no connection to other servers, trying again: %s", first_error(errors))


async def _check(channel: BroadcastChannel) -> Never:
    while True:
        await trio.sleep(CHECK_SECONDS)
        await channel.check(ANSWER_SECONDS)
