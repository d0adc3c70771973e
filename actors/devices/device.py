"""The actor of one device: its latest position, its status, its connection and its queued commands.

The first message to a device starts its actor, which stops after a time without messages: everything that
must survive is in the database.
"""

from typing import assert_never

from motorpool.actors.devices.device_commands import DeviceCommands
from motorpool.actors.devices.device_identity import DeviceIdentity
from motorpool.actors.devices.device_loader import DEVICE_LOADER, LOAD_SECONDS, RELOAD_SECONDS, LoadDevice
from motorpool.actors.devices.device_positions import DevicePositions
from motorpool.actors.devices.device_session import DeviceSession
from motorpool.actors.devices.device_uploads import DeviceUploads
from motorpool.actors.devices.far_device import far_device
from motorpool.actors.devices.online_status import CHECKS_PER_TIMEOUT, OnlineStatus
from motorpool.actors.devices.options import DeviceOptions
from motorpool.actors.devices.rule_cache import RuleCache
from motorpool.actors.messages import uplink
from motorpool.actors.messages.changes import DeviceChanged, PositionsDeleted
from motorpool.actors.messages.downlink import DeliverInResponse, Reannounce
from motorpool.actors.messages.homes import HOMES, DeviceConnected, DeviceDisconnected
from motorpool.actors.messages.uplink import DEVICE, DeviceMessage
from motorpool.codecs.devices import CODECS
from motorpool.codecs.errors import UnsupportedCommand
from motorpool.codecs.reports import (
    ALARM_LABEL,
    CommandResult,
    MediaFile,
    PositionReport,
    RecordingList,
    SoundFormat,
)
from motorpool.runtime import Actor, Arrived, DynamicSpec, Failure, Link, Placement
from motorpool.storage.cluster import homes
from motorpool.storage.database.database import Database
from motorpool.storage.devices import device_bindings, devices
from motorpool.storage.errors import StorageError
from motorpool.storage.records import Device

UNUSED_FIELDS = frozenset({"name", "model", "contact", "category"})
"""Fields of the row that the actor does not use: a change of only these does not make it reload the row."""


class DeviceActor(Actor[DeviceMessage]):
    """Keeps the state of one device between messages, in parts that each own some of it."""

    __slots__ = (
        "_commands",
        "_database",
        "_device_id",
        "_identity",
        "_kept_uploads",
        "_online_status",
        "_options",
        "_positions",
        "_rule_cache",
        "_session",
    )

    def __init__(
        self, device_id: int, database: Database, options: DeviceOptions, rule_cache: RuleCache
    ) -> None:
        self._device_id = device_id
        self._database = database
        self._options = options
        self._rule_cache = rule_cache
        # Made by `start`.
        self._session: DeviceSession
        self._identity: DeviceIdentity
        self._online_status: OnlineStatus
        self._positions: DevicePositions
        self._commands: DeviceCommands
        self._kept_uploads: DeviceUploads | None = None
        """Made when it is needed: most devices upload nothing."""

    async def start(self) -> None:
        """Load the row, the latest position and the queued commands."""
        device_id, options, database = self._device_id, self._options, self._database
        stored = await self.context.system.ref(DEVICE_LOADER).ask(LoadDevice(device_id), LOAD_SECONDS)
        session = self._session = DeviceSession(device_id, self.context, self._rule_cache)
        self._online_status = OnlineStatus(session, self, stored.last_update)
        positions = self._positions = DevicePositions(
            session, self._online_status, options.latest, stored.state
        )
        self._identity = DeviceIdentity(session, database, positions, stored.binding)
        self._commands = DeviceCommands(session, database, options, positions)
        self._commands.queue.waiting = stored.has_queue
        if stored.state.latest is not None:
            session.protocol = stored.state.latest.protocol
        session.follow_row(stored.row, self.context.clock.now())

    @property
    def _uploads(self) -> DeviceUploads:
        if self._kept_uploads is None:
            self._kept_uploads = DeviceUploads(
                self._session, self._commands, self._positions, self._database, self._options
            )
        return self._kept_uploads

    def may_leave(self) -> bool:
        """Not while the device is connected or counts as online."""
        return not self._session.any_open and self._online_status.status != "online"

    def handle(self, message: DeviceMessage) -> object:
        """Handle one message; the frequent ones come first and mostly do not wait."""
        match message:
            case uplink.PositionReported():
                return self._position_reported(message)
            case uplink.DeviceSeen():
                return self._device_seen(message)
            case uplink.Connected():
                return self._connected(message)
            case uplink.Disconnected():
                return self._disconnected(message)
            case uplink.TellStored():
                return self._positions.tell_stored(message.connection)
            case uplink.AttachConnection():
                return self._session.attach(message.connection, message.unique_ids)
            case uplink.DetachConnection():
                return self._session.detach(message.connection)
            case uplink.SendCommand():
                self._session.current_rules()
                if not message.text_channel:  # whose answer would not be waited for
                    self._leave_if_linked()
                return self._commands.send(message)
            case uplink.DeliverQueued():
                self._commands.queue.waiting = True
                return self._commands.drain()
            case uplink.ConnectedElsewhere():
                return self._connected_elsewhere()
            case uplink.StoredElsewhere():
                return self._stored_elsewhere()
            case uplink.GetCommandTypes():
                return self._commands.types()
            case uplink.GetSoundFormat():
                return self._commands.sound_format()
            case uplink.SoundFormatOverdue():
                return self._commands.settle_sound_format(None)
            case DeviceChanged():
                return None if message.only(UNUSED_FIELDS) else self._read_row(message)
            case PositionsDeleted():
                return self._positions.reload()
            case uplink.SetAccumulators():
                return self._positions.set_accumulators(message)
            case uplink.CheckRules():
                self._session.current_rules()
                return None
            case uplink.CheckStatus():
                return self._online_status.check()
            case uplink.CheckExpiration():
                return self._follow_row(self._session.row)
            case uplink.AuthorizeAlarmUpload():
                return self._authorize_upload(message)
            case uplink.Reported() | uplink.AlarmFileStored():
                return self._reported(message)
            case Arrived():
                return self._handle_arrived(message.message)
            case _:
                assert_never(message)

    def _handle_arrived(self, message: DeviceMessage) -> object:
        """Handle what another server has sent. Its streams have no camera that is connected to this one."""
        if isinstance(message, uplink.SendCommand) and message.by_reader:
            return uplink.CommandRefused("the device has moved to another server", offline=True)
        return self.handle(message)

    def _leave_if_linked(self) -> None:
        """Let the next message look again for the server of a device that is not connected to this one."""
        if self._options.linked and self.may_leave():
            self.context.leave()

    # Positions

    def _position_reported(self, message: uplink.PositionReported) -> object:
        session = self._session
        if not session.is_served:
            return session.refuse(message.connection, message.report.receipt)
        if session.connection is None:
            if not CODECS[message.protocol].request_response:
                message.connection.offer(Reannounce())
            elif self._commands.queue.waiting:
                return self._deliver_then_store(message)
        report = message.report
        waits = self._positions.store(report, message.protocol, message.connection)
        if ALARM_LABEL in report.attributes and self._options.requests_alarm_files:
            return self._uploads.request_alarm_files(report, message.connection, waits)
        return waits

    async def _deliver_then_store(self, message: uplink.PositionReported) -> None:
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
        waits = self._positions.store(message.report, message.protocol, message.connection)
        if waits is not None:
            await waits

    # Connection

    def _device_seen(self, message: uplink.DeviceSeen) -> None:
        session = self._session
        if not session.is_served:
            return session.refuse(message.connection)
        if session.connection is None and not CODECS[message.protocol].request_response:
            message.connection.offer(Reannounce())
        return self._online_status.mark_seen(self.context.clock.now())

    def _connected(self, message: uplink.Connected) -> object:
        if not self._session.may_serve(message.unique_ids):
            return self._session.refuse(message.connection)
        if self._identity.is_known(message) and not self._may_be_elsewhere(message):
            return self._connect(message)
        return self._decide(message)

    def _may_be_elsewhere(self, message: uplink.Connected) -> bool:
        """Whether the device sends datagrams here, and may have a TCP connection to another server."""
        return message.is_datagram and self._options.clustered and self._session.connection is None

    async def _decide(self, message: uplink.Connected) -> object:
        """Accept or refuse a login for which the database is needed."""
        session, options = self._session, self._options
        if message.is_repeated and session.is_beside(message.connection):
            return None
        try:
            refused = None if self._identity.is_known(message) else await self._identity.decide(message)
            is_elsewhere = self._may_be_elsewhere(message) and await homes.is_elsewhere_by_tcp(
                self._database, options.node, self._device_id
            )
        except StorageError as error:
            return Failure(error)
        if refused is None:
            if is_elsewhere:
                return session.connect_beside(message)
            return self._connect(message)
        if message.is_repeated:
            self._session.refuse(message.connection)
        return refused

    def _connect(self, message: uplink.Connected) -> None:
        if not self._session.connect(message):
            return
        self._tell_homes(DeviceConnected(self._device_id, message.is_datagram))
        self._commands.connection_changed()
        self._online_status.mark_seen(self.context.clock.now())
        if self._commands.queue.waiting:
            self.context.ref.offer(uplink.DeliverQueued())

    def _disconnected(self, message: uplink.Disconnected) -> None:
        if self._session.disconnect(message.connection):
            self._commands.connection_changed()
            self._tell_homes(DeviceDisconnected(self._device_id))
            if self._session.row is not None:
                self._online_status.announce("offline")

    def _connected_elsewhere(self) -> None:
        if self._session.close_replaced():
            self._commands.connection_changed()
            self._tell_homes(DeviceDisconnected(self._device_id))
            if self._session.row is not None:
                self._online_status.leave()
        self._leave_if_linked()

    def _tell_homes(self, message: DeviceConnected | DeviceDisconnected) -> None:
        if self._options.clustered:
            self.context.system.ref(HOMES).offer(message)

    def _stored_elsewhere(self) -> object:
        if self._session.connection is not None:
            # The server that it was at before stores what it still had.
            return None
        if self._session.any_open:
            return self._positions.reload()
        if self._online_status.status != "offline":
            self._online_status.leave()
        # The next message finds an actor that has read the position.
        return self.context.leave()

    def status_changed(self, status: str) -> None:
        """Publish the event of a new status; told by `OnlineStatus`."""
        elsewhere = self._options.cluster_statuses
        if elsewhere is not None and elsewhere.is_online(self._device_id):
            return  # it has moved, or reports to both
        if self._session.current_rules().settings.event_status_enable:
            self._positions.publish_event(f"device{status.capitalize()}", {})

    async def _read_row(self, change: DeviceChanged) -> None:
        try:
            row = await devices.TABLE.fetch(self._database, self._device_id)
            bindings = await device_bindings.of_devices(self._database, (self._device_id,))
            if row is not None:
                await self._rule_cache.require((row,))
        except StorageError as error:
            self.context.log.warning("cannot reload the device, will retry: %s", error)
            self.context.after(RELOAD_SECONDS, change)
            return
        if row is None:
            self._positions.clear()
            self._commands.queue.waiting = False
        self._follow_row(row)
        self._identity.follow(bindings.get(self._device_id))

    def _follow_row(self, row: Device | None) -> None:
        """Follow the row: it may have ended the right to report."""
        if self._session.follow_row(row, self.context.clock.now()) and row is not None:
            self._online_status.mark_offline()

    # Other reports, and events without a position

    def _reported(self, message: uplink.Reported | uplink.AlarmFileStored) -> object:
        if not self._session.is_served:
            return self._session.refuse(message.connection)
        if isinstance(message, uplink.AlarmFileStored):
            return self._uploads.alarm_file_stored(message)
        match message.report:
            case SoundFormat() as sound:
                return self._commands.settle_sound_format(sound)
            case CommandResult() as result:
                return self._command_answered(result, message)
            case MediaFile() as media:
                return self._uploads.media_uploaded(media, message)
            case RecordingList() as listed:
                self._online_status.mark_seen(self.context.clock.now())
                return self._uploads.recording_list_received(listed, message.connection)

    def _authorize_upload(self, message: uplink.AuthorizeAlarmUpload) -> str:
        unique_id = self._uploads.authorize(message)
        if message.connection == self._session.connection or not unique_id:
            return unique_id
        is_attached = self._session.attach(message.connection, message.upload.unique_ids)
        return unique_id if is_attached else ""

    def _command_answered(self, result: CommandResult, message: uplink.Reported) -> object:
        if self._commands.answered(result) and result.ok and result.receipt is None:
            # A stream began or ended with its readers, who see that.
            self._online_status.mark_seen(self.context.clock.now())
            return None
        text = result.text or ("ok" if result.ok else "failed")
        report = PositionReport({"result": text}, located=False, receipt=result.receipt)
        event = self._positions.event("commandResult", {"result": text})
        return self._positions.store(report, message.protocol, message.connection, (event,))


def device_spec(
    database: Database,
    options: DeviceOptions,
    rule_cache: RuleCache,
    *,
    idle_seconds: float = 300.0,
    link: Link | None = None,
    placement: Placement[int] | None = None,
) -> DynamicSpec[int, DeviceMessage]:
    """Return the spec of the device actors; one without messages for `idle_seconds` may be stopped.

    With a link, the actor of a device that `placement` finds at another server passes its messages on.
    """

    def make(device_id: int) -> Actor[DeviceMessage]:
        return DeviceActor(device_id, database, options, rule_cache)

    def find(device_id: int) -> Actor[DeviceMessage]:
        assert link is not None
        assert placement is not None
        return far_device(device_id, link, placement, make)

    return DynamicSpec(
        kind=DEVICE,
        name="devices",
        factory=make if link is None else find,
        mailbox_size=256,
        idle_seconds=idle_seconds,
        tick=uplink.CheckStatus(),
        tick_seconds=options.status_timeout_seconds / CHECKS_PER_TIMEOUT,
    )
