"""The commands of one device that are queued until it can take them, first in, first out.

The queue is in the database; the actor only remembers whether there may be any.
"""

from datetime import datetime, timedelta

from motorpool.actors.devices.device_positions import DevicePositions
from motorpool.actors.devices.device_session import DeviceSession
from motorpool.actors.messages.changes import LOCAL_CHANGES, QueueFilled
from motorpool.actors.messages.command_log import COMMAND_LOG, HandedOver
from motorpool.actors.messages.tickets import TICKET_COMMANDS, TicketCommandsChanged
from motorpool.actors.messages.uplink import DeliverQueued, SendCommand
from motorpool.actors.words.record_json import format_time
from motorpool.storage.accounts import audit
from motorpool.storage.cluster import homes
from motorpool.storage.database.database import Database
from motorpool.storage.devices import commands
from motorpool.storage.devices.command_log import Handover
from motorpool.storage.devices.commands import ClaimedCommand
from motorpool.storage.errors import StorageError
from motorpool.storage.helpdesk import ticket_commands
from motorpool.storage.records import AuditAction, QueuedCommand
from motorpool.storage.schedules import runs
from motorpool.storage.schedules.runs import Outcome

HOME_SECONDS = 0.5
"""Delay before commands are claimed again for a device that is stored as connected to another server."""
FORBIDDEN = "whoever sent it may no longer send commands to the device"


class CommandQueue:
    """Adds commands, removes them one by one, and reports the outcome of each."""

    __slots__ = ("_context", "_database", "_node", "_positions", "_session", "waiting")

    def __init__(
        self,
        session: DeviceSession,
        database: Database,
        positions: DevicePositions,
        node: int = 0,
    ) -> None:
        """`positions` publishes the events; `node` is this server's number."""
        self._session = session
        self._context = session.context
        self._database = database
        self._positions = positions
        self._node = node
        self.waiting = False
        """Whether commands may be queued."""

    async def add(self, message: SendCommand) -> QueuedCommand | None:
        """Queue a command; return None if it is a step that was cancelled. Raises StorageError."""
        queued = QueuedCommand(
            device_id=self._session.device_id, type=message.type, attributes=dict(message.attributes)
        )
        stored: QueuedCommand | None
        if message.run_id:
            stored = await runs.queue_step(
                self._database,
                message.run_id,
                queued,
                now=self._context.clock.now(),
                minutes=message.queue_minutes,
                log_id=message.log_id,
            )
        else:
            stored = await commands.enqueue(
                self._database,
                queued,
                expires=_expiry(self._context.clock.now(), message.queue_minutes),
                user_id=message.user_id,
                ticket_command_id=message.ticket_command_id,
                log_id=message.log_id,
            )
        if stored is not None:
            self.waiting = True
            # It may be connected to another server, which sends it from there.
            self._context.system.topic(LOCAL_CHANGES).publish((QueueFilled(self._session.device_id),))
        return stored

    async def is_served_elsewhere(self) -> bool:
        """Return whether the device is connected to another server. Raises StorageError."""
        return bool(await homes.connected_elsewhere(self._database, self._node, (self._session.device_id,)))

    async def claim(self) -> ClaimedCommand | None:
        """Remove the next command from the queue; None if it is empty or the database fails.

        Also None while the device is stored as another server's: it has gone there, or has just come here.
        """
        last = 0
        while self.waiting:
            try:
                following = await commands.next_queued(self._database, self._session.device_id, last)
                if following is None:
                    self.waiting = False
                    return None
                now = self._context.clock.now()
                claimed = await commands.claim(self._database, following, now, self._node)
                if claimed is None:
                    if await self.is_served_elsewhere():
                        if self._session.connection is not None:
                            self._context.after(HOME_SECONDS, DeliverQueued())
                        return None
                    # It is gone, or the other server has lost the device since the first attempt.
                    claimed = await commands.claim(self._database, following, now, self._node)
            except StorageError as error:
                self._context.log.warning("cannot read the queued commands: %s", error)
                return None
            if claimed is not None and not claimed.is_forbidden:
                return claimed
            if claimed is not None:
                await self.settle(claimed, FORBIDDEN)
            last = following
        return None

    async def settle(self, claimed: ClaimedCommand, refused: str, *, answer_node: int | None = None) -> None:
        """Report the outcome of a claimed command: sent, or `refused`, which says why not."""
        if claimed.log_id:
            result = Handover(claimed.log_id, "REFUSED" if refused else "SENT", refused or None, answer_node)
            self._context.system.ref(COMMAND_LOG).offer(HandedOver(result))
        queued = claimed.command
        if refused:
            self._context.log.warning("queued command %s (%s) not sent: %s", queued.id, queued.type, refused)
            self._positions.publish_event(
                "queuedCommandFailed", {"id": queued.id, "command": queued.type, "reason": refused}
            )
        else:
            self._positions.publish_event("queuedCommandSent", {"id": queued.id})
        try:
            await self._store_outcome(claimed, refused)
        except StorageError as error:
            # The next start of the server marks a step as failed.
            self._context.log.error("cannot store the outcome of command %d: %s", queued.id, error)

    async def _store_outcome(self, claimed: ClaimedCommand, refused: str) -> None:
        now = self._context.clock.now()
        if claimed.ticket_command_id:
            said = {"status": "refused", "reason": refused} if refused else {"status": "delivered"}
            await ticket_commands.note(
                self._database,
                claimed.ticket_command_id,
                {**said, "time": format_time(now)},
                becomes="over" if refused else "sent",
                now=now,
            )
            self._context.system.ref(TICKET_COMMANDS).offer(TicketCommandsChanged())
        if claimed.run_id:
            outcome = Outcome(claimed.run_id, "delivered")
            if refused:
                outcome = Outcome(claimed.run_id, "skipped", "not_sent", refused)
            await runs.store_outcomes(self._database, (outcome,), now)
        elif refused:
            queued = claimed.command
            action = AuditAction(
                action_time=now,
                user_id=claimed.user_id,
                action_type="commandFailed",
                object_type="device",
                object_id=self._session.device_id,
                attributes={"id": queued.id, "type": queued.type, "reason": refused},
            )
            await audit.record(self._database, action)


def _expiry(now: datetime, minutes: int) -> datetime | None:
    return now + timedelta(minutes=minutes) if minutes else None
