"""Pending records of one WebSocket, for those with the right to history: reviews of events, and commands of
the log.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable
from typing import Generic, Protocol, TypeVar

import trio

from motorpool.actors.messages.command_log import COMMANDS, CommandsChanged, CommandsLost
from motorpool.actors.messages.topics import REVIEWS, ReviewsChanged, ReviewsLost
from motorpool.actors.reports import names
from motorpool.api.auth.caller import Caller
from motorpool.api.auth.rights import READ_HISTORY
from motorpool.api.command_masking import shown_to
from motorpool.api.server_context import ServerContext
from motorpool.runtime import Lagged, TopicName
from motorpool.storage.devices.command_log import LoggedCommand
from motorpool.storage.errors import StorageError
from motorpool.storage.records import Event

MAX_PENDING = 1000
"""Records that wait for a slow client; of more it fetches the list."""
QUEUE = 1000
"""Messages that wait between two looks."""
READ_SECONDS = 3.0
"""For what else decides whether the reader may see records."""
PAUSE_SECONDS = 0.1
"""Between two looks, so that a burst of alarms does not wake each socket each time."""


class DeviceRecord(Protocol):
    """What belongs to a device."""

    @property
    def id(self) -> int:
        """Its number."""
        ...

    @property
    def device_id(self) -> int:
        """The device."""
        ...


R = TypeVar("R", bound=DeviceRecord)
M = TypeVar("M")


class RecordUpdates(ABC, Generic[R, M]):
    """The newest state of each record that was not sent yet."""

    TOPIC: TopicName[M]

    def __init__(self, context: ServerContext, caller: Caller, on_pending: Callable[[], None]) -> None:
        """`on_pending` is called when there is something to send."""
        self._context = context
        self.caller = caller
        self._on_pending = on_pending
        self._pending: dict[int, R] = {}
        self._is_lost = False

    @abstractmethod
    def records_of(self, message: M) -> Collection[R] | None:
        """Return the records of a message of the topic; None if some may be missing."""

    @abstractmethod
    async def shown(self, records: list[R]) -> list[R]:
        """Return what the caller sees of records of devices that they see; raises StorageError."""

    def is_newer(self, record: R, known: R) -> bool:
        """Return whether a record that came later than a known one takes its place."""
        return True

    async def follow(
        self,
        visible_ids: Callable[[], Collection[int]],
        *,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        """Take each record of the devices that the caller sees at the time."""
        async with self._context.system.topic(self.TOPIC).subscribe(QUEUE) as subscription:
            task_status.started()
            while True:
                try:
                    published = await subscription.receive_batch()
                except Lagged:
                    self._lose()
                else:
                    seen = visible_ids()
                    for each in published:
                        records = self.records_of(each)
                        if records is None:
                            self._lose()
                        else:
                            self._add(record for record in records if record.device_id in seen)
                if self._is_lost or self._pending:
                    self._on_pending()
                await trio.sleep(PAUSE_SECONDS)

    async def take(self, visible_ids: Callable[[], Collection[int]]) -> list[R] | None:
        """Return what is pending and may be seen at this moment; None: nothing, empty: too much."""
        pending, self._pending = list(self._pending.values()), {}
        is_lost, self._is_lost = self._is_lost, False
        if not pending and not is_lost:
            return None
        try:
            with trio.fail_after(READ_SECONDS):
                pending = await self.shown(pending)
        except (StorageError, trio.TooSlowError):
            # The client asks for the list when the database answers again.
            is_lost = True
        if not READ_HISTORY.holds(self.caller):
            return None
        devices = visible_ids()
        found = [record for record in pending if record.device_id in devices]
        return [] if is_lost else found or None

    def _add(self, records: Iterable[R]) -> None:
        for record in records:
            known = self._pending.get(record.id)
            if known is None or self.is_newer(record, known):
                self._pending[record.id] = record
        if len(self._pending) > MAX_PENDING:
            self._lose()

    def _lose(self) -> None:
        self._pending.clear()
        self._is_lost = True


class ReviewUpdates(RecordUpdates[Event, ReviewsChanged | ReviewsLost]):
    """Events that wait for review since now, and those that somebody has reviewed."""

    TOPIC = REVIEWS

    def records_of(self, message: ReviewsChanged | ReviewsLost) -> Collection[Event] | None:
        """Return the events."""
        return None if isinstance(message, ReviewsLost) else message.events

    async def shown(self, records: list[Event]) -> list[Event]:
        """Leave out events of geofences and maintenance that the caller may not see."""
        if not any(event.geofence_id or event.maintenance_id for event in records):
            return records
        visible = await names.visible_ids(self._context.database, self.caller.user)
        return [event for event in records if names.may_see(event, visible)]

    def is_newer(self, record: Event, known: Event) -> bool:
        """Return whether a review is newer: of two commits they may arrive in either order."""
        return _version(record) >= _version(known)


class CommandUpdates(RecordUpdates[LoggedCommand, CommandsChanged | CommandsLost]):
    """Commands that were sent or queued since now, and those of which more is known."""

    TOPIC = COMMANDS

    def records_of(self, message: CommandsChanged | CommandsLost) -> Collection[LoggedCommand] | None:
        """Return the commands."""
        return None if isinstance(message, CommandsLost) else message.commands

    async def shown(self, records: list[LoggedCommand]) -> list[LoggedCommand]:
        """Mask what the caller may not send."""
        return [shown_to(self.caller, record) for record in records]


def _version(event: Event) -> int:
    return 0 if event.review is None else event.review.version
