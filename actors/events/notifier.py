"""Notifies users of stored events (docs/events.md#notifications, docs/decisions/0170).

The transaction that takes events puts the messages to their recipients into the outbox and queues commands:
after a crash an event either waits still or its messages are in the outbox.
"""

from contextlib import suppress
from datetime import timedelta
from itertools import islice
from typing import Never

import msgspec
import trio

from motorpool.actors.deliveries import LimitExceeded, OutgoingServices
from motorpool.actors.deliveries.notice import EventFacts
from motorpool.actors.deliveries.outbox import OUTBOX, OutboxFilled
from motorpool.actors.events.batch_renderer import BatchRenderer
from motorpool.actors.events.deliveries import BatchPlan, CommandDelivery, EventDelivery, plan_batch
from motorpool.actors.events.rendering import reader_of, render
from motorpool.actors.geocoding.towns import Towns, read_towns
from motorpool.actors.messages.changes import CHANGES, NotificationChanged
from motorpool.actors.messages.command_log import COMMAND_LOG, HandedOver, announce_commands, handover_of
from motorpool.actors.messages.counters import NOTIFICATIONS_DISCARDED, NOTIFICATIONS_MADE
from motorpool.actors.messages.topics import (
    DELIVERIES_STOPPED,
    UNMATCHED_EVENTS,
    WEB_EVENTS,
    DeliveryStopped,
    WebEvent,
)
from motorpool.actors.messages.uplink import (
    DEVICE,
    CommandOutcome,
    CommandRefused,
    DeliverQueued,
    SendCommand,
)
from motorpool.actors.work.event_consumer import EventConsumer
from motorpool.actors.work.open_calendars import OpenCalendars
from motorpool.runtime import Actor, ActorError, Lagged
from motorpool.storage.accounts import server, users
from motorpool.storage.database.database import Database
from motorpool.storage.database.queries import Queries
from motorpool.storage.deliveries import outbox
from motorpool.storage.deliveries.outbox import OutgoingMessage
from motorpool.storage.devices import command_log, commands
from motorpool.storage.devices.command_log import Handover, NewEntry
from motorpool.storage.errors import StatementRejected, StorageError
from motorpool.storage.events import notifications
from motorpool.storage.events.waiting import WaitingEvents
from motorpool.storage.records import Event, QueuedCommand

POLL_SECONDS = 60.0
"""Interval of looking for events that another server left."""
EVENTS_AT_A_TIME = 5
"""Events that are put into words without a pause for other tasks, a third of a millisecond each: a pause is
longer where many devices report."""
ENQUEUE_ROWS = 500
"""Most messages that are put into the outbox by one statement, and made without a pause for other tasks."""
MAX_TEXTS = 100
"""Most commands that wait to be sent as text messages."""
TEXT_SECONDS = 30.0
"""How long to wait for the outcome of one."""
MAX_STOPPED = 1000
"""Most stopped deliveries of which users have not been told yet."""


class _Made(msgspec.Struct):
    """What is to be done after the commit."""

    web: list[WebEvent] = []
    queued_for: set[int] = set()
    """Devices with a new command in their queue."""
    texts: list[tuple[int, SendCommand]] = []
    """Commands that go out as text messages, with their devices."""
    logged: list[int] = []
    """Rows of commands in their log."""
    messages: int = 0


class Notifier(Actor[Never]):
    """Matches events, one batch after the other."""

    def __init__(
        self, database: Database, outgoing: OutgoingServices, max_age_seconds: float, link: str
    ) -> None:
        """`link` is the URL of the console, without a slash at its end; or empty."""
        self._database = database
        self._outgoing = outgoing
        self._max_age = timedelta(seconds=max_age_seconds)
        self._link = link
        self._waiting = WaitingEvents("unmatched_events", skips_locked=True)
        self._consumer = EventConsumer(self, undone="events not matched", poll_seconds=POLL_SECONDS)
        self._calendars = OpenCalendars(database, self._consumer.wake)
        self._towns: Towns | None = None
        """Read once there are notifications."""

    async def run(self) -> None:
        """Match events, and tell users which of their receivers are paused, until cancelled."""
        async with trio.open_nursery() as nursery:
            self._text_commands, waiting = trio.open_memory_channel[tuple[int, SendCommand]](MAX_TEXTS)
            nursery.start_soon(self._send_text_commands, waiting)
            nursery.start_soon(self._report_stopped)
            nursery.start_soon(self._calendars.run)
            nursery.start_soon(self._read_towns)
            self.context.listen(UNMATCHED_EVENTS, lambda _: self._consumer.wake())
            await self._consumer.run(self.context.log)

    async def _read_towns(self) -> None:
        """Read the towns as soon as there are notifications, so that the first event need not wait."""
        async with self.context.system.topic(CHANGES).subscribe() as commits:
            needed = False
            # What is not found out now is read with the first event.
            with suppress(StorageError):
                needed = await notifications.any_exist(self._database)
            while not needed:
                with suppress(Lagged):
                    changes = (change for commit in await commits.receive_batch() for change in commit)
                    needed = any(isinstance(change, NotificationChanged) for change in changes)
        self._towns = await trio.to_thread.run_sync(read_towns)

    async def is_waiting(self) -> bool:
        """Return whether events wait."""
        return await self._waiting.any(self._database)

    async def take(self, limit: int) -> int:
        """Put the messages of up to `limit` events into the outbox; return how many events that were."""
        made = _Made()
        async with self._database.transaction() as transaction:
            waiting = await self._waiting.lock(transaction, limit)
            if not waiting:
                return 0
            plan = await plan_batch(
                transaction,
                waiting,
                self._calendars,
                now=self.context.clock.now(),
                max_age=self._max_age,
                link=self._link,
            )
            await self._queue_commands(transaction, plan, made)
            for count, delivery in enumerate(plan.events, 1):
                await self._deliver(transaction, plan, delivery, made)
                if count % EVENTS_AT_A_TIME == 0:
                    await trio.lowlevel.checkpoint()
            await notifications.remove_matched(transaction, plan.handled_ids)
        self._waiting.note(waiting, plan.looked_at, limit)
        self._finish(made)
        return len(plan.handled_ids)

    async def discard_first(self) -> None:
        """Remove the first event without notifying anybody."""
        async with self._database.transaction() as transaction:
            for waiting in await self._waiting.lock(transaction, 1):
                await notifications.remove_matched(transaction, (waiting.event.id,))
                NOTIFICATIONS_DISCARDED.inc()
                self.context.log.error("nobody is notified of event %d", waiting.event.id)

    async def _deliver(
        self, transaction: Queries, plan: BatchPlan, delivery: EventDelivery, made: _Made
    ) -> None:
        if self._towns is None:
            self._towns = await trio.to_thread.run_sync(read_towns)
        renderer = BatchRenderer(plan, delivery.facts, self._outgoing.notificators, self._towns)
        for name, recipients in delivery.recipients.items():
            await renderer.render(recipients)
            if name == "web":
                made.web += renderer.web_events(recipients)
                continue
            users = iter(recipients.items())
            # In slices, so that an event for many users does not hold up other tasks.
            while part := list(islice(users, ENQUEUE_ROWS)):
                messages = [
                    message
                    for user_id, manner in part
                    if (message := renderer.message(name, user_id, manner)) and await self._admits(message)
                ]
                if messages:
                    await self._enqueue(transaction, messages, made)
                await trio.lowlevel.checkpoint()

    async def _report_stopped(self) -> None:
        """Tell users which deliveries were stopped."""
        async with self.context.system.topic(DELIVERIES_STOPPED).subscribe(MAX_STOPPED) as published:
            while True:
                with suppress(Lagged, StorageError):
                    for stopped in await published.receive_batch():
                        for user_id in sorted(stopped.user_ids):
                            await self._report(user_id, stopped)

    async def _report(self, user_id: int, stopped: DeliveryStopped) -> None:
        """Tell a user by WebSocket, and by mail unless that is what was stopped."""
        user = await users.TABLE.fetch(self._database, user_id)
        if user is None:
            return
        now = self.context.clock.now()
        event = Event(type=stopped.type, event_time=now, attributes=stopped.attributes)
        facts = EventFacts(event=event)
        rendered = render(facts, reader_of(user, await server.fetch(self._database)))
        shown = msgspec.structs.replace(event, attributes={**event.attributes, "message": rendered.digest})
        self.context.system.topic(WEB_EVENTS).publish(WebEvent(frozenset({user.id}), shown))
        mail = self._outgoing.mail
        message = mail.message(user, rendered, facts)
        if message and mail.enabled_for(user.attributes) and mail.lane_of(user) != stopped.lane:
            await outbox.enqueue_many(self._database, (message,), now=now)
            self.context.system.ref(OUTBOX).offer(OutboxFilled())

    async def _admits(self, message: OutgoingMessage) -> bool:
        """Return whether a message is within the limits; text messages cost money."""
        try:
            await self._outgoing.notificators[message.channel].admit(message.user_id)
        except LimitExceeded as error:
            NOTIFICATIONS_DISCARDED.inc()
            self.context.log.warning(
                "a message by %s to user %d is discarded: %s", message.channel, message.user_id, error
            )
            return False
        return True

    async def _enqueue(self, transaction: Queries, messages: list[OutgoingMessage], made: _Made) -> None:
        queued = await outbox.enqueue_many(transaction, messages, now=self.context.clock.now())
        made.messages += queued
        if queued < len(messages):
            NOTIFICATIONS_DISCARDED.inc(len(messages) - queued)
            self.context.log.warning(
                "%d notifications are discarded: too many messages wait to be sent", len(messages) - queued
            )

    async def _queue_commands(self, transaction: Queries, plan: BatchPlan, made: _Made) -> None:
        if not plan.commands:
            return
        now = self.context.clock.now()
        entries = [_log_entry(delivery) for delivery in plan.commands]
        made.logged += await command_log.add(transaction, entries, now)
        for delivery, log_id in zip(plan.commands, made.logged, strict=True):
            command = delivery.command
            if command.text_channel:
                send = SendCommand(
                    type=command.type,
                    attributes=command.attributes,
                    text_channel=True,
                    user_id=delivery.user_id,
                    log_id=log_id,
                )
                made.texts.append((delivery.device_id, send))
                continue
            queued = QueuedCommand(
                device_id=delivery.device_id, type=command.type, attributes=dict(command.attributes)
            )
            try:
                await commands.enqueue(
                    transaction, queued, created=now, user_id=delivery.user_id, log_id=log_id
                )
            except StatementRejected as error:
                refused = Handover(log_id, "REFUSED", str(error))
                await command_log.settle(transaction, (refused,), now)
                NOTIFICATIONS_DISCARDED.inc()
                self.context.log.warning(
                    "a command for device %d is discarded: %s", delivery.device_id, error
                )
            else:
                made.queued_for.add(delivery.device_id)

    def _finish(self, made: _Made) -> None:
        """Send what is committed on its way."""
        for event in made.web:
            self.context.system.topic(WEB_EVENTS).publish(event)
        NOTIFICATIONS_MADE.inc(made.messages + sum(len(event.user_ids) for event in made.web))
        if made.messages:
            self.context.system.ref(OUTBOX).offer(OutboxFilled())
        announce_commands(self.context.system, made.logged)
        for device_id in made.queued_for:
            device = self.context.system.ref(DEVICE, device_id)
            if device.alive:
                # A device that is not there reads its queue when it starts.
                device.offer(DeliverQueued())
        for device_id, command in made.texts:
            try:
                self._text_commands.send_nowait((device_id, command))
            except trio.WouldBlock:
                NOTIFICATIONS_DISCARDED.inc()
                self.context.log.warning("a command for device %d is discarded: too many wait", device_id)
                self._log(command, CommandRefused("too many text messages wait"))

    async def _send_text_commands(self, waiting: trio.MemoryReceiveChannel[tuple[int, SendCommand]]) -> None:
        """Send commands as text messages, at most once; the gateway may take its time."""
        async for device_id, command in waiting:
            try:
                outcome = await self.context.system.ref(DEVICE, device_id).ask(command, TEXT_SECONDS)
            except (ActorError, StorageError) as error:
                outcome = CommandRefused(str(error))
            if isinstance(outcome, CommandRefused):
                self.context.log.warning("a command for device %d not sent: %s", device_id, outcome.reason)
            self._log(command, outcome)

    def _log(self, command: SendCommand, outcome: CommandOutcome) -> None:
        result = handover_of(command.log_id, outcome)
        if result is not None:
            self.context.system.ref(COMMAND_LOG).offer(HandedOver(result))


def _log_entry(delivery: CommandDelivery) -> NewEntry:
    command = delivery.command
    return NewEntry(
        device_id=delivery.device_id,
        type=command.type,
        description=command.description,
        text_channel=command.text_channel,
        attributes=command.attributes,
        origin="NOTIFICATION",
        user_id=delivery.user_id,
        event_id=delivery.event_id,
    )
