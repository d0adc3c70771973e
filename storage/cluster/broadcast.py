"""Texts to all servers of a database, by NOTIFY of PostgreSQL: in the order of their sending, not stored.

A text reaches the servers that listen when it is sent. Who loses the connection does not know what was sent
meanwhile.
"""

import logging
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Final

import trio

from motorpool.storage.database.connections import Connection
from motorpool.storage.database.database import Database
from motorpool.storage.database.driver import Foreign
from motorpool.storage.database.queries import Queries
from motorpool.storage.errors import StorageUnavailable

_log = logging.getLogger(__name__)

MAX_BYTES: Final = 7_900
"""Longest text, in bytes of UTF-8; PostgreSQL takes less than 8,000."""
MAX_UNREAD = 10_000
"""Texts that wait to be received; beyond it the channel is lost."""
LISTENER = "motorpool listener"
"""Name of the sessions that listen."""
SILENT_SECONDS = 60.0
"""A session that listens and has had no statement for this time is ended."""
_NAME = f"set application_name = '{LISTENER}'"
# PostgreSQL keeps what was sent until every session has received it: one of a process that is frozen fills
# its queue, and when that is full no commit that sends anything succeeds. Others have been checked.
_END_SILENT = f"""
    select pg_terminate_backend(pid), pg_notification_queue_usage() from pg_stat_activity
    where datname = current_database() and usename = current_user and application_name = '{LISTENER}'
        and state_change < clock_timestamp() - make_interval(secs => $1) and pid <> pg_backend_pid()
"""  # noqa: S608 - constants
_SEND = "select pg_notify($1, each) from unnest($2::text[]) as texts (each)"


async def notify(q: Queries, name: str, texts: Sequence[str]) -> None:
    """Send texts as `BroadcastChannel.send` does, for who does not listen; at the commit of a transaction."""
    await q.execute(_SEND, name, list(texts))


class BroadcastChannel:
    """A place where texts are sent and received; the sender does not receive its own."""

    max_bytes: Final = MAX_BYTES
    """Longest text, in bytes of UTF-8."""

    def __init__(
        self, connection: Connection, name: str, seconds: float, received: "trio.MemoryReceiveChannel[str]"
    ) -> None:
        self._connection = connection
        self._name = name
        self._seconds = seconds
        self._received = received
        self._lock = trio.Lock()
        """Held for a statement: the connection takes one at a time."""

    async def send(self, texts: Sequence[str]) -> None:
        """Send texts of at most MAX_BYTES each, all or none, to all others that listen.

        Of equal texts one is sent. Raises StorageUnavailable.
        """
        async with self._lock:
            await self._connection.call(
                self._seconds, self._connection.driver.execute, _SEND, self._name, list(texts)
            )

    async def check(self, seconds: float) -> None:
        """Ask for a sign of life, due within `seconds`: the loss of a connection may go unreported.

        Sessions that have given none for a minute are ended. Raises StorageUnavailable.
        """
        async with self._lock:
            ended = await self._connection.call(
                seconds, self._connection.driver.fetch, _END_SILENT, SILENT_SECONDS
            )
        if ended:
            _log.warning(
                "a server is frozen: %d of its sessions that listen are ended;"
                " %.3g %% of the queue of PostgreSQL was in use",
                len(ended),
                100 * ended[0][1],
            )

    async def receive(self) -> str:
        """Wait for the next text of another.

        Raises:
            StorageUnavailable: the connection is lost, or too many texts waited: some may be missing.
        """
        try:
            return await self._received.receive()
        except trio.EndOfChannel:
            raise StorageUnavailable("the connection is lost, and with it what others sent") from None


def arrays(items: Iterable[bytes], max_bytes: int = MAX_BYTES) -> list[str]:
    """Return JSON arrays of these items, in their order, each array of at most `max_bytes`.

    An item that is too long for an array of its own makes one that is too long.
    """
    found: list[str] = []
    packed: list[bytes] = []
    size = 1
    for item in items:
        if packed and size + len(item) + 1 > max_bytes:
            found.append(f"[{b','.join(packed).decode()}]")
            packed, size = [], 1
        packed.append(item)
        size += len(item) + 1
    if packed:
        found.append(f"[{b','.join(packed).decode()}]")
    return found


@asynccontextmanager
async def open_broadcast(database: Database, name: str) -> AsyncIterator[BroadcastChannel]:
    """Listen to a channel, with a connection of its own, for the body. Raises StorageUnavailable."""
    into, received = trio.open_memory_channel[str](MAX_UNREAD)

    def listen(driver: Foreign, sender: int, _channel: str, text: str) -> None:
        if sender != driver.get_server_pid():
            try:
                into.send_nowait(text)
            except trio.WouldBlock:
                into.close()
            except trio.ClosedResourceError:
                pass

    async with database.connection() as connection:
        seconds = database.statement_seconds
        connection.driver.add_termination_listener(lambda _: into.close())
        await connection.call(seconds, connection.driver.execute, _NAME)
        await connection.call(seconds, connection.driver.add_listener, name, listen)
        yield BroadcastChannel(connection, name, seconds, received)
