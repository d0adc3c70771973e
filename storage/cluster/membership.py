"""A server's place among those that use its database, for as long as it runs (docs/servers.md)."""

import logging
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import datetime

import trio

from motorpool.storage.database import encryption_keys, nodes
from motorpool.storage.database.database import Database
from motorpool.storage.database.queries import Queries
from motorpool.storage.errors import SetupFailed, StorageError
from motorpool.storage.exception_groups import GroupUnwrapper
from motorpool.storage.settings import ROLES

_log = logging.getLogger(__name__)

RENEW_SECONDS = 1.0
"""Between two renewals of the row, and between two looks at dead servers."""
RENEW_ALONE_SECONDS = 2.0
"""Interval of renewals where nobody waits for the death of this server."""
SETTLED_SECONDS = 10.0
"""A server declares others dead only once it has renewed its own row for this time, without a failure or a
pause of more than SILENT_SECONDS: an outage of the database kills none."""
WAIT_SECONDS = 10.0
"""How long a starting server waits for another one to end before it gives up."""
RETRY_SECONDS = 0.5
MAX_RETRY_SECONDS = 2.0
"""First and longest pause between two attempts to connect again. A server that was away for longer than
nodes.LIFE_SECONDS may be declared dead."""
LEAVE_SECONDS = 2.0


@asynccontextmanager
async def open_membership(
    database: Database,
    cluster: str | None,
    release: str,
    *,
    on_dead: Callable[[], None],
    on_time: Callable[[datetime, float], None] = lambda _now, _age_seconds: None,
    address: str | None = None,
    key: str | None = None,
    roles: Sequence[str] = ROLES,
) -> AsyncIterator[int]:
    """Join the servers of the database for the body; the value is this server's number.

    `cluster` is the name that the servers of a database share; None: this one is alone. `on_dead` is called
    once if others have declared this server dead: it must stop acting. In a cluster `on_time` is called,
    before the body and with each renewal, with the time that the database's clock showed, and at most how
    many seconds ago. At `address` this server answers others that show it `key`; `roles` is what it does for
    the cluster.

    Raises:
        SetupFailed: another server uses the database, and the two are not of one cluster, or it encrypts
            with a key that this one lacks.
        StorageUnavailable: the database does not answer.
    """
    membership = _Membership(database, cluster, release, on_dead, on_time, address, key, roles)
    async with GroupUnwrapper() as unwrapper, trio.open_nursery() as nursery:
        try:
            with unwrapper.record():
                node: int = await nursery.start(membership.run)
                yield node
        finally:
            nursery.cancel_scope.cancel()
            await membership.leave()


@dataclass
class _Membership:
    database: Database
    cluster: str | None
    release: str
    on_dead: Callable[[], None]
    on_time: Callable[[datetime, float], None]
    address: str | None
    key: str | None
    roles: Sequence[str]
    node: int = 0

    async def run(self, task_status: trio.TaskStatus[int]) -> None:
        """Join, then renew the row until the server ends or is declared dead."""
        has_joined = False
        pause = RETRY_SECONDS
        while True:
            try:
                async with self.database.session() as session:
                    if has_joined:
                        await nodes.lock(session, self.cluster)
                        await self._renew_once(session)
                    else:
                        self.node = await self._join(session)
                        # Another server may have begun to encrypt with one since this one looked.
                        await encryption_keys.require_all(session, session.keyring)
                        if self.cluster is not None:
                            await self._renew_once(session)
                        task_status.started(self.node)
                        has_joined = True
                    pause = RETRY_SECONDS
                    await self._renew(session)
                    return
            except StorageError as error:
                if not has_joined:
                    raise
                if pause == RETRY_SECONDS:
                    _log.warning("the connection that says that this server lives is lost: %s", error)
            await trio.sleep(pause)
            pause = min(pause * 2, MAX_RETRY_SECONDS)

    async def leave(self) -> None:
        """Record that this server has ended, if the database answers soon."""
        with trio.move_on_after(LEAVE_SECONDS) as leaving, suppress(StorageError):
            leaving.shield = True
            if self.node:
                await nodes.leave(self.database, self.node)

    async def _join(self, session: Queries) -> int:
        deadline = trio.current_time() + WAIT_SECONDS
        while True:
            try:
                return await nodes.join(
                    session,
                    self.cluster,
                    socket.gethostname(),
                    self.release,
                    address=self.address,
                    key=self.key,
                    roles=self.roles,
                )
            except SetupFailed:
                if trio.current_time() > deadline:
                    raise
            await trio.sleep(RETRY_SECONDS)

    async def _renew(self, session: Queries) -> None:
        """Renew the row, and declare others dead, until this server is declared dead."""
        began = renewed = trio.current_time()
        while await self._renew_once(session):
            before, renewed = renewed, trio.current_time()
            if renewed - before > nodes.SILENT_SECONDS:
                # The database may have stood still, for the others as well: they have not renewed theirs yet.
                began = renewed
            if self.cluster is not None and renewed - began > SETTLED_SECONDS:
                for dead in await nodes.declare_dead(session, self.node):
                    _log.warning("server %d has not been seen for %g s: it is dead", dead, nodes.LIFE_SECONDS)
            await trio.sleep(RENEW_ALONE_SECONDS if self.cluster is None else RENEW_SECONDS)
        _log.critical("other servers have declared this one dead, as if it were frozen: it starts anew")
        self.on_dead()

    async def _renew_once(self, session: Queries) -> bool:
        """Renew the row; return False if this server has been declared dead."""
        began = trio.current_time()
        now = await nodes.renew(session, self.node)
        if now is not None and self.cluster is not None:
            self.on_time(now, trio.current_time() - began)
        return now is not None
