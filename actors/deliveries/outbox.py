"""Sends the messages to users, each at least once unless it expires first (docs/decisions/0002).

Each notificator has a lane; failures do not affect other lanes (`actors/deliveries/lane_sender.py`).
"""

from datetime import timedelta

import msgspec
import trio

from motorpool.actors.deliveries.lane_sender import LaneSender
from motorpool.actors.deliveries.services import OutgoingServices
from motorpool.actors.deliveries.turn import report_given_up
from motorpool.actors.messages.counters import OUTBOX_GIVEN_UP, begin_at_zero
from motorpool.runtime import Actor, Kind
from motorpool.storage.database.database import Database
from motorpool.storage.deliveries import queue, receivers
from motorpool.storage.errors import StorageError

CLEAN_SECONDS = 60.0
"""Interval of deletions of expired messages."""


class OutboxFilled(msgspec.Struct, frozen=True):
    """Messages to users were committed to the queue."""


OUTBOX: Kind[None, OutboxFilled] = Kind("outbox")


class Outbox(Actor[OutboxFilled]):
    """Runs one sender for each lane."""

    def __init__(
        self, database: Database, outgoing: OutgoingServices, give_up_days: float, holder: str
    ) -> None:
        """`holder` tells this server from others."""
        self._database = database
        self._outgoing = outgoing
        self._keep = timedelta(days=give_up_days)
        self._holder = holder
        self._senders: list[LaneSender] = []

    async def start(self) -> None:
        """Make the senders of the lanes."""
        for notificator in self._outgoing.notificators.values():
            for lane in notificator.lanes():
                begin_at_zero(lane.name, OUTBOX_GIVEN_UP)
                self._senders.append(LaneSender(lane, self._holder, self._database, self.context))

    def handle(self, message: OutboxFilled) -> None:
        """Look for due messages in all lanes."""
        del message
        for sender in self._senders:
            sender.wake()

    async def run(self) -> None:
        """Send the messages of all lanes, and delete expired ones, until cancelled."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._clean)
            for sender in self._senders:
                nursery.start_soon(sender.run)

    async def _clean(self) -> None:
        while True:
            now = self.context.clock.now()
            try:
                for row_id, lane, attempts, reason in await queue.expire(
                    self._database, now=now, oldest=now - self._keep
                ):
                    report_given_up(self.context, row_id, lane, attempts, reason)
                await receivers.forget_servers(self._database, now=now)
            except StorageError as error:
                self.context.log.warning("cannot delete expired messages, retrying later: %s", error)
            await trio.sleep(CLEAN_SECONDS)
