"""The actor of one device: its latest position, its status, its connection and its queued commands.

The first message to a device starts its actor, which stops after a time without messages: everything that
must survive is in the database.
"""

from typing import assert_never

from motorpool.actors.devices.base_device import LOAD_SECONDS, RELOAD_SECONDS, BaseDevice
from motorpool.actors.devices.device_commands import DeviceCommands
from motorpool.actors.devices.device_loader import DEVICE_LOADER, LoadDevice
from motorpool.actors.devices.device_uploads import DeviceUploads
from motorpool.actors.devices.open_connections import OpenConnections
from motorpool.actors.devices.options import DeviceOptions
from motorpool.actors.devices.position_writer import POSITION_WRITER
from motorpool.actors.devices.presence import Presence
from motorpool.actors.devices.rule_cache import RuleCache
from motorpool.actors.messages.changes import DeviceChanged, PositionsDeleted
from motorpool.actors.messages.downlink import (
    DeliverInResponse,
    Reannounce,
)
from motorpool.actors.messages.homes import HOMES, DeviceConnected, DeviceDisconnected
from motorpool.actors.messages.uplink import (
    DEVICE,
    AlarmFileStored,
    AttachConnection,
    AuthorizeAlarmUpload,
    CheckExpiration,
    CheckRules,
    CheckStatus,
    CommandAnswered,
    Connected,
    ConnectedElsewhere,
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
    StoredElsewhere,
)
from motorpool.actors.rules.fold_state import NOTHING_STORED
from motorpool.codecs.devices import CODECS
from motorpool.codecs.errors import UnsupportedCommand
from motorpool.codecs.reports import ALARM_LABEL, PositionReport
from motorpool.runtime import DynamicSpec, Restart
from motorpool.storage.database.database import Database
from motorpool.storage.devices import devices
from motorpool.storage.errors import StorageError
from motorpool.storage.records import Device

UNUSED_FIELDS = frozenset({"name", "model", "contact", "category"})
"""Fields of the row that the actor does not use: a change of only these does not make it reload the row."""


class DeviceActor(BaseDevice):
    """Keeps the state of one device between messages; `fold` computes the positions."""

    __slots__ = ("_commands", "_database", "_options", "_uploads")

    def __init__(
        self, device_id: int, database: Database, options: DeviceOptions, rule_cache: RuleCache
    ) -> None:
        super().__init__(device_id, rule_cache)
        self._database = database
        self._options = options

    async def start(self) -> None:
        """Load the row, the latest position and the queued commands."""
        context, session = self.context, self._session
        self._writer = context.system.ref(POSITION_WRITER)
        self._latest = self._options.latest
        self._presence = Presence(
            self._device_id, context, self._options.status_timeout_seconds, self._status_changed
        )
        self._commands = DeviceCommands(
            self._device_id,
            session,
            self._database,
            self._options,
            context,
            self._publish_event,
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
                self._check_rules()
                return self._commands.send(message)
            case DeliverQueued():
                self._commands.queue.waiting = True
                return self._commands.drain()
            case ConnectedElsewhere():
                return self._connected_elsewhere()
            case StoredElsewhere():
                return self._stored_elsewhere()
            case GetCommandTypes():
                return self._commands.types()
            case DeviceChanged():
                return None if message.only(UNUSED_FIELDS) else self._read_row(message)
            case PositionsDeleted():
                return self._reload_latest(message)
            case SetAccumulators():
                return self._set_accumulators(message)
            case CheckRules():
                return self._check_rules()
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
            try:
                text = self._commands.response_text(claimed.command, message.protocol)
            except UnsupportedCommand as error:
                refused = str(error)
            else:
                is_accepted = message.connection.offer(DeliverInResponse(text))
                refused = "" if is_accepted else "the connection has ended"
            await self._commands.queue.settle(claimed, refused)
        waits = self._store(message.report, message.protocol, message.connection)
        if waits is not None:
            await waits

    # Connection

    def _device_seen(self, message: DeviceSeen) -> None:
        if not self._connections.is_served:
            return self._connections.refuse(message.connection)
        if self._session.connection is None and not CODECS[message.protocol].request_response:
            message.connection.offer(Reannounce())
        return self._presence.mark_seen(self._now())

    def _connected(self, message: Connected) -> None:
        if not self._connections.may_serve(message.unique_ids):
            self._connections.refuse(message.connection)
            return
        self._session.protocol = message.protocol
        self._check_rules()
        if CODECS[message.protocol].request_response:
            self._connections.attach(message.connection, message.unique_ids)
            return
        self._connections.connect(message)
        if self._options.clustered:
            self.context.system.ref(HOMES).offer(DeviceConnected(self._device_id))
        self._commands.connection_changed()
        self._presence.mark_seen(self._now())
        if self._commands.queue.waiting:
            self.context.ref.offer(DeliverQueued())

    def _disconnected(self, message: Disconnected) -> None:
        self._connections.detach(message.connection)
        if self._session.connection == message.connection:
            self._session.connection = None
            if self._options.clustered:
                self.context.system.ref(HOMES).offer(DeviceDisconnected(self._device_id))
            if self._session.row is not None:
                self._presence.announce("offline")

    def _connected_elsewhere(self) -> None:
        if self._connections.replaced():
            if self._options.clustered:
                self.context.system.ref(HOMES).offer(DeviceDisconnected(self._device_id))
            if self._session.row is not None:
                self._presence.leave()

    def _stored_elsewhere(self) -> object:
        if self._session.connection is not None:
            # The server that it was at before stores what it still had.
            return None
        if self._connections.any_open:
            return self._reload_latest(PositionsDeleted(self._device_id))
        if self._presence.status != "offline":
            self._presence.leave()
        # The next message finds an actor that has read the position.
        return self.context.leave()

    def _status_changed(self, status: str) -> None:
        elsewhere = self._options.cluster_statuses
        # A device that is online at another server has moved, or reports to both.
        if elsewhere is None or not elsewhere.is_online(self._device_id):
            super()._status_changed(status)

    async def _read_row(self, change: DeviceChanged) -> None:
        old = self._session.row
        try:
            row = await devices.TABLE.fetch(self._database, self._device_id)
            if row is not None:
                await self._rule_cache.require((row,), self._now())
        except StorageError as error:
            self.context.log.warning("cannot reload the device, will retry: %s", error)
            self.context.after(RELOAD_SECONDS, change)
            return
        self._session.row = row
        if row is None:
            self._state = NOTHING_STORED
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
        if self._commands.answered(result) and result.ok and result.receipt is None:
            # A stream began or ended with its readers, who see that.
            self._presence.mark_seen(self._now())
            return None
        text = result.text or ("ok" if result.ok else "failed")
        report = PositionReport({"result": text}, located=False, receipt=result.receipt)
        event = self._event("commandResult", {"result": text})
        return self._store(report, message.protocol, message.connection, (event,))


def device_spec(
    database: Database, options: DeviceOptions, rule_cache: RuleCache, *, idle_seconds: float = 300.0
) -> DynamicSpec[int, DeviceMessage]:
    """Return the spec of the device actors; one without messages for `idle_seconds` may be stopped."""
    return DynamicSpec(
        kind=DEVICE,
        name="devices",
        factory=lambda device_id: DeviceActor(device_id, database, options, rule_cache),
        restart=Restart.TRANSIENT,
        mailbox_size=256,
        idle_seconds=idle_seconds,
    )
