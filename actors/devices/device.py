"""The actor of one device: its latest position, its status, its connection and its queued commands.

The first message to a device starts its actor, which stops after a time without messages: everything that
must survive is in the database.
"""

from collections.abc import Awaitable
from typing import Any, assert_never

import msgspec

from motorpool.actors.devices.device_commands import DeviceCommands, DeviceSession
from motorpool.actors.devices.device_loader import DEVICE_LOADER, LoadDevice
from motorpool.actors.devices.device_uploads import DeviceUploads
from motorpool.actors.devices.linked_positions import LinkedPositions
from motorpool.actors.devices.open_connections import OpenConnections
from motorpool.actors.devices.options import DeviceOptions
from motorpool.actors.devices.position_writer import POSITION_WRITER, Append, AppendEvents
from motorpool.actors.devices.presence import Presence
from motorpool.actors.devices.rule_catalog import RuleCatalog
from motorpool.actors.messages.changes import DeviceChanged, PositionsDeleted
from motorpool.actors.messages.downlink import (
    ConnectionMessage,
    DeliverInResponse,
    Reannounce,
)
from motorpool.actors.messages.uplink import (
    DEVICE,
    AlarmFileStored,
    AttachConnection,
    AuthorizeAlarmUpload,
    CheckExpiration,
    CheckStatus,
    CommandAnswered,
    Connected,
    DeliverQueued,
    DetachConnection,
    DeviceMessage,
    DeviceSeen,
    Disconnected,
    GetCommandTypes,
    MediaUploaded,
    PositionReported,
    RecordingListReceived,
    SendCommand,
    SetAccumulators,
)
from motorpool.actors.rules.device_rules import UNCONFIGURED
from motorpool.actors.rules.fold import Failure as ComputationFailure
from motorpool.actors.rules.fold import FoldContext, FoldState, fold
from motorpool.codecs.devices import CODECS
from motorpool.codecs.reports import ALARM_LABEL, PositionReport
from motorpool.runtime import Actor, ActorError, Deferred, DynamicSpec, MailboxFull, Ref, Restart
from motorpool.storage import devices
from motorpool.storage.database import Database
from motorpool.storage.errors import StorageError
from motorpool.storage.records import Device, Event, Position

__all__ = ["DeviceActor", "device_spec"]

LOAD_SECONDS = 30.0
"""The actor does not start if its rows cannot be read within this time."""
RELOAD_SECONDS = 5.0
"""Delay before rows are read again after the database was unavailable."""
UNUSED_FIELDS = frozenset({"name", "model", "contact", "category"})
"""Fields of the row that the actor does not use: a change of only these does not make it reload the row."""


class DeviceActor(Actor[DeviceMessage]):
    """Keeps the state of one device between messages; `fold` computes the positions."""

    __slots__ = (
        "_catalog",
        "_commands",
        "_connections",
        "_database",
        "_device_id",
        "_generation",
        "_linked",
        "_now",
        "_options",
        "_presence",
        "_rules",
        "_session",
        "_state",
        "_uploads",
        "_writer",
    )

    def __init__(
        self, device_id: int, database: Database, options: DeviceOptions, catalog: RuleCatalog
    ) -> None:
        self._device_id = device_id
        self._database = database
        self._options = options
        self._catalog = catalog
        self._session = DeviceSession()
        self._rules = UNCONFIGURED
        self._generation = -1
        """Of the catalog, when the rules were last asked for."""
        self._state = FoldState()
        """What `fold` applies the next report to."""

    async def start(self) -> None:
        """Load the row, the latest position and the queued commands."""
        context, session = self.context, self._session
        self._writer = context.system.ref(POSITION_WRITER)
        self._now = context.clock.now
        self._linked = LinkedPositions(self._options.latest, context)
        self._presence = Presence(
            self._device_id, context, self._options.status_timeout_seconds, self._status_changed
        )
        self._commands = DeviceCommands(
            self._device_id,
            session,
            self._database,
            media=self._options.media,
            has_text_channel=self._options.text_channel,
            context=context,
            publish=self._publish_event,
        )
        self._uploads = DeviceUploads(
            self._device_id,
            session,
            self._commands,
            self._database,
            options=self._options,
            context=context,
            store=self._store,
        )
        self._connections = OpenConnections(session, context)
        stored = await context.system.ref(DEVICE_LOADER).ask(LoadDevice(self._device_id), LOAD_SECONDS)
        session.row = None if stored is None else stored.row
        self._refresh_rules()
        self._connections.row_read(None, self._now())
        if stored is None:
            return
        self._commands.queue.waiting = stored.has_queue
        self._presence.last_update = stored.last_update
        self._state = stored.state
        if self._state.latest is not None:
            session.protocol = self._state.latest.protocol

    def may_leave(self) -> bool:
        """Not while the device is connected or counts as online."""
        return not self._connections.any_open and self._presence.status != "online"

    def handle(self, message: DeviceMessage) -> object:
        """Handle one message; the frequent ones come first and mostly do not wait."""
        match message:
            case PositionReported():
                return self._position_reported(message)
            case DeviceSeen():
                return self._device_seen(message)
            case Connected():
                return self._connected(message)
            case Disconnected():
                return self._disconnected(message)
            case AttachConnection():
                return self._connections.attach(message.connection, message.unique_ids)
            case DetachConnection():
                return self._connections.detach(message.connection)
            case SendCommand():
                return self._commands.send(message)
            case DeliverQueued():
                self._commands.queue.waiting = True
                return self._commands.drain()
            case GetCommandTypes():
                return self._commands.types()
            case DeviceChanged():
                return None if message.only(UNUSED_FIELDS) else self._read_row(message)
            case PositionsDeleted():
                return self._reload_latest(message)
            case SetAccumulators():
                return self._set_accumulators(message)
            case CheckStatus():
                return self._presence.check()
            case CheckExpiration():
                return self._follow_row(self._session.row)
            case AuthorizeAlarmUpload():
                return self._authorize_upload(message)
            case CommandAnswered() | MediaUploaded() | AlarmFileStored() | RecordingListReceived():
                return self._other_report(message)
            case _:
                assert_never(message)

    # Positions

    def _position_reported(self, message: PositionReported) -> object:
        session = self._session
        if not self._connections.is_served:
            return self._connections.refuse(message.connection, message.report.receipt)
        if session.connection is None:
            if not CODECS[message.protocol].request_response:
                message.connection.offer(Reannounce())
            elif self._commands.queue.waiting:
                return self._deliver_then_store(message)
        report = message.report
        waits = self._store(report, message.protocol, message.connection)
        if ALARM_LABEL in report.attributes and self._uploads.requests_alarm_files:
            return self._uploads.request_alarm_files(report, message.connection, waits)
        return waits

    async def _deliver_then_store(self, message: PositionReported) -> None:
        claimed = await self._commands.queue.claim()
        if claimed is not None:
            text = self._commands.response_text(claimed.command)
            is_accepted = message.connection.offer(DeliverInResponse(text))
            await self._commands.queue.settle(claimed, "" if is_accepted else "the connection has ended")
        waits = self._store(message.report, message.protocol, message.connection)
        if waits is not None:
            await waits

    def _store(
        self,
        report: PositionReport,
        protocol: str,
        connection: Ref[ConnectionMessage],
        events: tuple[Event, ...] = (),
    ) -> Awaitable[None] | None:
        now = self._now()
        session, catalog = self._session, self._catalog
        session.protocol = protocol
        if catalog.generation != self._generation:
            self._refresh_rules()
        rules = self._rules
        linked = self._linked.of(rules.linked_devices) if rules.linked_devices else ()
        result = fold(
            report,
            self._state,
            FoldContext(self._device_id, protocol, now, events, rules, session.row, linked),
        )
        self._state = result.state
        # Like Presence.mark_seen, but the stored position itself publishes the new last update.
        presence = self._presence
        presence.seen = True
        presence.last_update = now
        if presence.status != "online":
            presence.mark_online()
        if result.failures:
            self._log_failures(result.failures)
        if result.position is None:
            presence.mark_seen(now)
            return self._append(AppendEvents(result.events, connection, report.receipt))
        return self._append(
            Append(
                result.position,
                result.events,
                connection,
                report.receipt,
                result.point,
                result.dated_back,
            )
        )

    def _refresh_rules(self) -> None:
        """Ask for the rules anew: the row or something else that they are made of has changed."""
        row = self._session.row
        self._generation = self._catalog.generation
        self._rules = UNCONFIGURED if row is None else self._catalog.rules_of(row)
        self._connections.timezone = self._rules.settings.decoder_timezone or ""
        self._connections.configure()

    def _log_failures(self, failures: tuple[ComputationFailure, ...]) -> None:
        for failure in failures:
            if self._catalog.is_new(failure):
                self.context.log.warning("computed attribute %d has failed: %s", *failure)

    def _append(self, append: Append | AppendEvents) -> Awaitable[None] | None:
        try:
            self._writer.tell_nowait(append)
        except MailboxFull:
            return self._writer.tell(append)
        return None

    def _set_accumulators(self, message: SetAccumulators) -> object:
        state = self._state
        latest = state.latest
        if self._session.row is None or latest is None:
            return None
        values = {"totalDistance": message.total_distance, "hours": message.hours}
        attributes = latest.attributes | {name: value for name, value in values.items() if value is not None}
        position = msgspec.structs.replace(latest, id=0, server_time=self._now(), attributes=attributes)
        # The next report continues from these totals.
        self._state = msgspec.structs.replace(
            state, latest=position, stored_that_day=state.stored_that_day + 1
        )
        reply: Deferred[Position] = Deferred()
        waits = self._append(Append(position, reply=reply))
        return reply if waits is None else _reply_after(waits, reply)

    async def _reload_latest(self, change: PositionsDeleted) -> None:
        try:
            stored = await self.context.system.ref(DEVICE_LOADER).ask(
                LoadDevice(self._device_id), LOAD_SECONDS
            )
        except (StorageError, ActorError) as error:
            self.context.log.warning("cannot reload the latest position, will retry: %s", error)
            self.context.after(RELOAD_SECONDS, change)
        else:
            self._state = stored.state if stored is not None else FoldState()

    # Connection

    def _device_seen(self, message: DeviceSeen) -> None:
        if not self._connections.is_served:
            return self._connections.refuse(message.connection)
        if self._session.connection is None and not CODECS[message.protocol].request_response:
            message.connection.offer(Reannounce())
        return self._presence.mark_seen(self._now())

    def _connected(self, message: Connected) -> object:
        if not self._connections.may_serve(message.unique_ids):
            return self._connections.refuse(message.connection)
        self._session.protocol = message.protocol
        if CODECS[message.protocol].request_response:
            self._connections.attach(message.connection, message.unique_ids)
            return None
        self._connections.connect(message)
        self._presence.mark_seen(self._now())
        return self._commands.drain() if self._commands.queue.waiting else None

    def _disconnected(self, message: Disconnected) -> None:
        self._connections.detach(message.connection)
        if self._session.connection == message.connection:
            self._session.connection = None
            if self._session.row is not None:
                self._presence.announce("offline")

    async def _read_row(self, change: DeviceChanged) -> None:
        old = self._session.row
        try:
            row = await devices.TABLE.fetch(self._database, self._device_id)
            if row is not None:
                await self._catalog.require((row,), self._now())
        except StorageError as error:
            self.context.log.warning("cannot reload the device, will retry: %s", error)
            self.context.after(RELOAD_SECONDS, change)
            return
        self._session.row = row
        if row is None:
            self._state = FoldState()
            self._commands.queue.waiting = False
        self._refresh_rules()
        self._follow_row(old)

    def _follow_row(self, old: Device | None) -> None:
        """Follow the row, which was `old` before: it may have ended the right to report."""
        if self._connections.row_read(old, self._now()) and self._session.row is not None:
            self._presence.mark_offline()
        self._connections.configure()

    # Other reports, and events without a position

    def _other_report(
        self, message: CommandAnswered | MediaUploaded | AlarmFileStored | RecordingListReceived
    ) -> object:
        if not self._connections.is_served:
            return self._connections.refuse(message.connection)
        match message:
            case CommandAnswered():
                return self._command_answered(message)
            case MediaUploaded():
                return self._uploads.media_uploaded(message)
            case AlarmFileStored():
                return self._uploads.alarm_file_stored(message)
            case RecordingListReceived():
                self._presence.mark_seen(self._now())
                return self._uploads.recording_list_received(message)
            case _:
                assert_never(message)

    def _authorize_upload(self, message: AuthorizeAlarmUpload) -> str:
        unique_id = self._uploads.authorize(message)
        if message.connection == self._session.connection or not unique_id:
            return unique_id
        is_attached = self._connections.attach(message.connection, message.upload.unique_ids)
        return unique_id if is_attached else ""

    def _command_answered(self, message: CommandAnswered) -> object:
        result = message.result
        text = result.text or ("ok" if result.ok else "failed")
        report = PositionReport({"result": text}, located=False, receipt=result.receipt)
        event = self._event("commandResult", {"result": text})
        return self._store(report, message.protocol, message.connection, (event,))

    def _status_changed(self, status: str) -> None:
        if self._catalog.generation != self._generation:
            self._refresh_rules()
        if self._rules.settings.event_status_enable:
            self._publish_event(f"device{status.capitalize()}", {})

    def _publish_event(self, kind: str, attributes: dict[str, Any]) -> None:
        event = self._event(kind, attributes)
        if not self._writer.offer(AppendEvents((event,))):
            self.context.log.warning("dropped an event: the writer is full")

    def _event(self, kind: str, attributes: dict[str, Any]) -> Event:
        return Event(type=kind, event_time=self._now(), device_id=self._device_id, attributes=attributes)


async def _reply_after(waits: Awaitable[None], reply: Deferred[Position]) -> Deferred[Position]:
    await waits
    return reply


def device_spec(
    database: Database, options: DeviceOptions, catalog: RuleCatalog, *, idle_seconds: float = 300.0
) -> DynamicSpec[int, DeviceMessage]:
    """Return the spec of the device actors; one without messages for `idle_seconds` may be stopped."""
    return DynamicSpec(
        kind=DEVICE,
        name="devices",
        factory=lambda device_id: DeviceActor(device_id, database, options, catalog),
        restart=Restart.TRANSIENT,
        mailbox_size=256,
        idle_seconds=idle_seconds,
    )
