"""Pending ticket updates of one WebSocket: tickets that changed in the companies of its user."""

from collections.abc import Callable, Iterable

import trio

from motorpool.actors.messages.changes import (
    TICKETS,
    Change,
    CompanyChanged,
    EverythingChanged,
    LinkChanged,
    TicketChanged,
    UserChanged,
)
from motorpool.api.auth.caller import Caller
from motorpool.api.server_context import ServerContext
from motorpool.runtime import Lagged
from motorpool.storage.errors import StorageError
from motorpool.storage.helpdesk import companies

MAX_PENDING_TICKETS = 1000
"""Changed tickets that wait for a slow client."""
QUEUE = 1000
"""Commits that wait between two looks."""
PAUSE_SECONDS = 0.1
"""Between two looks at what was committed, so that a burst of changes does not wake each socket each time."""


class TicketUpdates:
    """The newest change of each ticket that was not sent yet."""

    def __init__(self, context: ServerContext, caller: Caller, on_pending: Callable[[], None]) -> None:
        """`on_pending` is called when there is something to send, or tickets were lost."""
        self._context = context
        self.caller = caller
        self._on_pending = on_pending
        self._pending: dict[int, TicketChanged] = {}
        self._company_ids: frozenset[int] | None = None
        """Companies that the caller is linked to; None: to be read when a ticket changes."""
        self._generation = 0
        """Raised when the companies may have changed, also while they are read."""
        self.lost = False
        """Whether changes were lost, since the client is too slow."""

    async def follow(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Take each change of a ticket of the caller's companies."""
        async with self._context.system.topic(TICKETS).subscribe(QUEUE) as subscription:
            task_status.started()
            while not self.lost:
                try:
                    commits = await subscription.receive_batch()
                except Lagged:
                    self.lost = True
                else:
                    await self._add(change for commit in commits for change in commit)
                if self.lost or self._pending:
                    self._on_pending()
                await trio.sleep(PAUSE_SECONDS)

    def apply(self, changes: Iterable[Change]) -> None:
        """Forget which companies the caller is linked to, where these changes may concern it."""
        if any(self._concerns_companies(change) for change in changes):
            self._company_ids = None
            self._generation += 1

    def _concerns_companies(self, change: Change) -> bool:
        match change:
            case LinkChanged(owner="user", property="company"):
                return change.owner_id == self.caller.id
            case UserChanged():
                return change.id == self.caller.id
            case CompanyChanged():
                return change.created_or_deleted
            case EverythingChanged():
                return True
            case _:
                return False

    async def take(self) -> list[dict[str, int]]:
        """Return what is pending and may be seen at this moment, oldest change first."""
        pending, self._pending = self._pending, {}
        if not pending:
            return []
        company_ids = await self._companies()
        return [
            {"id": change.id, "companyId": change.company_id, "version": change.version}
            for change in pending.values()
            if company_ids is None or change.company_id in company_ids
        ]

    async def _add(self, changes: Iterable[TicketChanged]) -> None:
        company_ids = await self._companies()
        for change in changes:
            if company_ids is None or change.company_id in company_ids:
                known = self._pending.get(change.id)
                # Of two commits the facts may arrive in either order.
                if known is None or change.version >= known.version:
                    self._pending[change.id] = change
        if len(self._pending) > MAX_PENDING_TICKETS:
            self.lost = True

    async def _companies(self) -> frozenset[int] | None:
        """Return the companies whose tickets the caller sees; None: all."""
        if self.caller.administrator:
            return None
        while self._company_ids is None:
            generation = self._generation
            try:
                found = await companies.memberships(self._context.database, self.caller.id)
            except StorageError:
                # The client asks for the tickets when it connects again.
                self.lost = True
                return frozenset()
            if generation == self._generation:
                self._company_ids = frozenset(found)
        return self._company_ids
