"""Pending reviews of one WebSocket: events that wait since now, and those that somebody has reviewed."""

from collections.abc import Callable, Collection, Iterable

import trio

from motorpool.actors.messages.topics import REVIEWS, ReviewsLost
from motorpool.actors.reports import names
from motorpool.api.auth.caller import Caller
from motorpool.api.auth.rights import READ_HISTORY
from motorpool.api.server_context import ServerContext
from motorpool.runtime import Lagged
from motorpool.storage.errors import StorageError
from motorpool.storage.records import Event

MAX_PENDING_REVIEWS = 1000
"""Events that wait for a slow client; of more it fetches the list."""
QUEUE = 1000
"""Messages that wait between two looks."""
READ_SECONDS = 3.0
"""For what the reader may see of geofences and maintenance."""
PAUSE_SECONDS = 0.1
"""Between two looks, so that a burst of alarms does not wake each socket each time."""


class ReviewUpdates:
    """The newest review of each event that was not sent yet."""

    def __init__(self, context: ServerContext, caller: Caller, on_pending: Callable[[], None]) -> None:
        """`on_pending` is called when there is something to send."""
        self._context = context
        self.caller = caller
        self._on_pending = on_pending
        self._pending: dict[int, Event] = {}
        self._is_lost = False

    async def follow(
        self,
        visible_ids: Callable[[], Collection[int]],
        *,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        """Take each review of an event of the devices that the caller sees at the time."""
        async with self._context.system.topic(REVIEWS).subscribe(QUEUE) as subscription:
            task_status.started()
            while True:
                try:
                    published = await subscription.receive_batch()
                except Lagged:
                    self._lose()
                else:
                    seen = visible_ids()
                    for each in published:
                        if isinstance(each, ReviewsLost):
                            self._lose()
                        else:
                            self._add(event for event in each.events if event.device_id in seen)
                if self._is_lost or self._pending:
                    self._on_pending()
                await trio.sleep(PAUSE_SECONDS)

    async def take(self, visible_ids: Callable[[], Collection[int]]) -> list[Event] | None:
        """Return what is pending and may be seen at this moment; None: nothing, empty: too much."""
        pending, self._pending = list(self._pending.values()), {}
        is_lost, self._is_lost = self._is_lost, False
        if any(event.geofence_id or event.maintenance_id for event in pending):
            try:
                with trio.fail_after(READ_SECONDS):
                    visible = await names.visible_ids(self._context.database, self.caller.user)
            except (StorageError, trio.TooSlowError):
                # The client asks for the list when the database answers again.
                is_lost = True
            else:
                pending = [event for event in pending if names.may_see(event, visible)]
        if not READ_HISTORY.holds(self.caller):
            return None
        devices = visible_ids()
        found = [event for event in pending if event.device_id in devices]
        return [] if is_lost else found or None

    def _add(self, events: Iterable[Event]) -> None:
        for event in events:
            known = self._pending.get(event.id)
            # Of two commits they may arrive in either order.
            if known is None or _version(event) >= _version(known):
                self._pending[event.id] = event
        if len(self._pending) > MAX_PENDING_REVIEWS:
            self._lose()

    def _lose(self) -> None:
        self._pending.clear()
        self._is_lost = True


def _version(event: Event) -> int:
    return 0 if event.review is None else event.review.version
