"""One device: its last position, its status, its connection and the commands that wait for it.

Born by the first message to it, gone when it has been silent for a while: all that must outlive it is in
tables.
"""

from collections.abc import Awaitable
from datetime import datetime
from pathlib import Path
from typing import Any, assert_never

import msgspec

from motorpool.actors.devices.alarm_file_requests import AskedAlarms
from motorpool.actors.devices.device_commands import DeviceCommands, DeviceSession
from motorpool.actors.devices.directory import DIRECTORY, DeviceStatusChanged
from motorpool.actors.devices.position_writer import POSITION_WRITER, Append, AppendEvents
from motorpool.actors.files.media_files import save_media
from motorpool.actors.messages.downlink import (
    AcknowledgeStored,
    Close,
    ConfigureDecoder,
    ConnectionMessage,
    DeliverInResponse,
    Reannounce,
)
from motorpool.actors.messages.topics import DeviceStatus
from motorpool.actors.messages.uplink import (
    DEVICE,
    AlarmFileStored,
    AuthorizeAlarmUpload,
    CheckStatus,
    CommandAnswered,
    Connected,
    DeviceEdited,
    DeviceMessage,
    DeviceSeen,
    Disconnected,
    GetCommandTypes,
    LatestForgotten,
    MediaUploaded,
    PositionReported,
    RecordingListReceived,
    SendCommand,
    SetAccumulators,
)
from motorpool.actors.rules import POSITION_RULES
from motorpool.actors.rules.latest import is_latest
from motorpool.codecs.devices import CODECS
from motorpool.codecs.reports import ALARM_LABEL, REQUEST_ALARM_FILES, MediaAddress, PositionReport
from motorpool.runtime import Actor, DynamicSpec, MailboxFull, Ref, Restart
from motorpool.storage import device_states, devices, positions, recordings
from motorpool.storage.database import Database
from motorpool.storage.errors import StorageError
from motorpool.storage.records import Event, Position

__all__ = ["DeviceActor", "device_spec"]

NO_FIX = datetime.fromisoformat("1980-01-06T00:00:00+00:00")
"""Fix time of a message without a location from a device that never had one
(docs/protocols/common.md#messages-without-a-location).
"""
NOWHERE = PositionReport({}, located=False)
"""Its place, with no fix."""
STATUS_LOOKS = 10
"""How often within the status time-out a device is looked at; `unknown` comes that much late."""
RELOAD_SECONDS = 5.0
"""Until another try where the database was away."""
LAST_UPDATE_SECONDS = 1.0
"""At most one announcement of a mere new last update per device and second."""


class DeviceActor(Actor[DeviceMessage]):
    """Keeps what is known of one device between its messages."""

    __slots__ = (
        "_alarms",
        "_asks_files",
        "_commands",
        "_database",
        "_device_id",
        "_heard_at",
        "_last",
        "_last_update",
        "_line",
        "_media",
        "_media_folder",
        "_now",
        "_reserve",
        "_status",
        "_status_timeout",
        "_told_at",
        "_was_heard",
        "_watched",
        "_writer",
        "_zone",
    )

    def __init__(
        self,
        device_id: int,
        database: Database,
        *,
        media: MediaAddress,
        media_folder: Path,
        status_timeout_seconds: float,
        asks_files: bool = True,
        reserve_bytes: int = 0,
    ) -> None:
        """`asks_files`: the device is told to upload the files of its alarms. `reserve_bytes` of the disk
        stay free.
        """
        self._device_id = device_id
        self._database = database
        self._media = media
        self._media_folder = media_folder
        self._status_timeout = status_timeout_seconds
        self._line = DeviceSession()
        self._last: Position | None = None
        self._status = "offline"
        self._last_update: datetime | None = None
        self._heard_at = 0.0
        self._told_at = 0.0
        self._was_heard = False
        self._watched = False
        self._zone = ""
        self._asks_files = asks_files
        self._reserve = reserve_bytes
        self._alarms = AskedAlarms()

    async def start(self) -> None:
        """Load what the tables know: the row, the latest position, the waiting commands."""
        self._writer = self.context.system.ref(POSITION_WRITER)
        self._now = self.context.clock.now
        self._commands = DeviceCommands(
            self._device_id,
            self._line,
            self._database,
            media=self._media,
            context=self.context,
            delivered=self._command_delivered,
        )
        self._line.row = await devices.TABLE.fetch(self._database, self._device_id)
        if self._line.row is None:
            return
        self._last = await positions.latest_of(self._database, self._device_id)
        await self._commands.load()
        self._last_update = await device_states.last_update(self._database, self._device_id)
        if self._last is not None:
            self._line.protocol = self._last.protocol

    def may_leave(self) -> bool:
        """Not while it is connected or counts as online."""
        return self._line.connection is None and self._status != "online"

    def handle(self, message: DeviceMessage) -> object:
        """One message; the frequent ones first and without waiting."""
        match message:
            case PositionReported():
                return self._position_reported(message)
            case DeviceSeen():
                return self._heard(message)
            case Connected():
                return self._connected(message)
            case Disconnected():
                return self._disconnected(message)
            case CommandAnswered():
                return self._command_answered(message)
            case MediaUploaded():
                return self._media_uploaded(message)
            case AuthorizeAlarmUpload():
                return self._files_claimed(message)
            case AlarmFileStored():
                return self._file_kept(message)
            case RecordingListReceived():
                return self._recordings_listed(message)
            case SendCommand():
                return self._commands.send(message)
            case GetCommandTypes():
                return self._commands.types()
            case DeviceEdited():
                return self._edited()
            case LatestForgotten():
                return self._latest_forgotten()
            case SetAccumulators():
                return self._set_accumulators(message)
            case CheckStatus():
                return self._status_due()
            case _:
                assert_never(message)

    # Positions

    def _position_reported(self, message: PositionReported) -> object:
        if self._line.row is None:
            return None
        if self._line.connection is None:
            if not CODECS[message.protocol].request_response:
                self._ask_who(message.connection)
            elif self._commands.waiting:
                return self._deliver_then_store(message)
        waits = self._store(message.report, message.protocol, message.connection)
        if self._asks_files and ALARM_LABEL in message.report.attributes:
            return self._then_ask_files(waits, message)
        return waits

    async def _deliver_then_store(self, message: PositionReported) -> None:
        taken = await self._commands.take()
        if taken is not None:
            text = str(taken.command.attributes.get("data", ""))
            accepted = message.connection.offer(DeliverInResponse(text))
            await self._commands.settle(taken, "" if accepted else "the connection has ended")
        waits = self._store(message.report, message.protocol, message.connection)
        if waits is not None:
            await waits

    def _store(
        self,
        report: PositionReport,
        protocol: str,
        connection: Ref[ConnectionMessage],
        happened: tuple[Event, ...] = (),
    ) -> Awaitable[None] | None:
        now = self._now()
        self._line.protocol = protocol
        position = self._build_position(report, protocol, now)
        self._mark_online(now, announce=False)
        append = Append(position, happened, connection, report.receipt)
        writer = self._writer
        try:
            writer.tell_nowait(append)
        except MailboxFull:
            return writer.tell(append)
        return None

    def _build_position(self, report: PositionReport, protocol: str, now: datetime) -> Position:
        """The position that we make of a report, and remember if it is the latest."""
        last = self._last
        attributes = dict(report.attributes)
        for rule in POSITION_RULES:
            rule(report, last, attributes)
        if report.archived:
            attributes["archive"] = True
        device_time = report.device_time or now
        place: PositionReport | Position = report if report.located else (last or NOWHERE)
        if report.located:
            fix_time = report.fix_time or device_time
            # A device that told no time may have sent it from its memory.
            outdated = report.device_time is None and report.fix_time is None and not report.valid
        else:
            fix_time = last.fix_time if last is not None else NO_FIX
            outdated = True
        position = Position(
            device_id=self._device_id,
            protocol=protocol,
            server_time=now,
            device_time=device_time,
            fix_time=fix_time,
            outdated=outdated,
            valid=place.valid,
            latitude=place.latitude,
            longitude=place.longitude,
            altitude=place.altitude,
            speed=place.speed,
            course=place.course,
            accuracy=place.accuracy,
            network=dict(report.network) if report.network is not None else None,
            attributes=attributes,
        )
        if is_latest(position, last):
            self._last = position
        return position

    def _set_accumulators(self, message: SetAccumulators) -> Position | Awaitable[Position] | None:
        last = self._last
        if self._line.row is None or last is None:
            return None
        given = {"totalDistance": message.total_distance, "hours": message.hours}
        attributes = last.attributes | {name: value for name, value in given.items() if value is not None}
        position = msgspec.structs.replace(last, id=0, server_time=self._now(), attributes=attributes)
        # What comes next counts on from here.
        self._last = position
        try:
            self._writer.tell_nowait(Append(position))
        except MailboxFull:
            return self._append_later(position)
        return position

    async def _append_later(self, position: Position) -> Position:
        await self._writer.tell(Append(position))
        return position

    async def _latest_forgotten(self) -> None:
        try:
            self._last = await positions.latest_of(self._database, self._device_id)
        except StorageError as error:
            self.context.log.warning("latest position not reloaded, tried again: %s", error)
            self.context.after(RELOAD_SECONDS, LatestForgotten())

    # Status

    def _heard(self, message: DeviceSeen) -> None:
        if self._line.row is not None:
            if self._line.connection is None and not CODECS[message.protocol].request_response:
                self._ask_who(message.connection)
            self._mark_online(self.context.clock.now(), announce=True)

    def _mark_online(self, now: datetime, *, announce: bool) -> None:
        """Online, and heard of just now; a stored position announces the new last update by itself."""
        self._was_heard = True
        self._last_update = now
        if self._status != "online":
            self._announce("online")
            if not self._watched:
                self._watched = True
                self._heard_at = self.context.clock.monotonic()
                self.context.after(self._status_timeout / STATUS_LOOKS, CheckStatus())
        elif announce and self.context.clock.monotonic() - self._told_at >= LAST_UPDATE_SECONDS:
            self._announce("online")

    def _status_due(self) -> None:
        """One timer a device, while it is online: a message costs no look at the clock."""
        self._watched = False
        if self._status != "online":
            return
        moment = self.context.clock.monotonic()
        if self._was_heard:
            self._was_heard = False
            self._heard_at = moment
        if moment - self._heard_at >= self._status_timeout:
            self._announce("unknown")
        else:
            self._watched = True
            self.context.after(self._status_timeout / STATUS_LOOKS, CheckStatus())

    def _announce(self, status: str) -> None:
        self._status = status
        self._told_at = self.context.clock.monotonic()
        self.context.system.ref(DIRECTORY).offer(
            DeviceStatusChanged(DeviceStatus(self._device_id, status, self._last_update, 0))
        )

    # Connection

    def _connected(self, message: Connected) -> object:
        if self._line.row is None:
            return None
        older = self._line.connection
        if CODECS[message.protocol].request_response:
            self._line.protocol = message.protocol
            return None
        self._line.connection = message.connection
        self._zone = ""
        self._line.protocol = message.protocol
        self._line.peer = message.peer
        self._line.local_host = message.local_host
        if older is not None and older != message.connection:
            self.context.log.warning("connected again from %s: the older connection is closed", message.peer)
            older.offer(Close("replaced by a newer connection of the same device"))
        self._configure()
        self._mark_online(self.context.clock.now(), announce=True)
        return self._commands.drain() if self._commands.waiting else None

    def _ask_who(self, connection: Ref[ConnectionMessage]) -> None:
        """After a crash: whoever brings a position is connected, and tells us anew."""
        connection.offer(Reannounce())

    def _configure(self) -> None:
        """Tell the connection what the operator set; a zone taken away is the protocol's again."""
        zone = (
            str(self._line.row.attributes.get("decoder.timezone", "")) if self._line.row is not None else ""
        )
        if self._line.connection is not None and zone != self._zone:
            self._zone = zone
            self._line.connection.offer(ConfigureDecoder(zone))

    def _disconnected(self, message: Disconnected) -> None:
        if self._line.connection == message.connection:
            self._line.connection = None
            if self._line.row is not None:
                self._announce("offline")

    async def _edited(self) -> None:
        try:
            self._line.row = await devices.TABLE.fetch(self._database, self._device_id)
        except StorageError as error:
            self.context.log.warning("not reloaded, tried again: %s", error)
            self.context.after(RELOAD_SECONDS, DeviceEdited())
            return
        now = self.context.clock.now()
        if self._line.row is None:
            self._last = None
            self._commands.forget()
        if self._line.connection is not None and (
            self._line.row is None
            or self._line.row.disabled
            or (self._line.row.expiration_time is not None and self._line.row.expiration_time <= now)
        ):
            self._line.connection.offer(Close("the device was deleted, disabled or has expired"))
        else:
            self._configure()

    # What it answers and uploads

    def _command_delivered(self, queued_id: int) -> None:
        self._store_events(self._event("queuedCommandSent", {"id": queued_id}))

    def _command_answered(self, message: CommandAnswered) -> object:
        if self._line.row is None:
            return None
        result = message.result
        text = result.text or ("ok" if result.ok else "failed")
        report = PositionReport({"result": text}, located=False, receipt=result.receipt)
        return self._store(
            report,
            message.protocol,
            message.connection,
            (self._event("commandResult", {"result": text}),),
        )

    async def _media_uploaded(self, message: MediaUploaded) -> None:
        """Keep the file and store a position that names it; acknowledged after both."""
        if self._line.row is None:
            return
        media = message.media
        now = self.context.clock.now()
        try:
            name = await save_media(self._media_folder, self._line.row.unique_id, media, now, self._reserve)
        except OSError as error:
            self.context.log.error("a file of %d bytes was not kept: %s", len(media.content), error)
            return
        taken = media.position or PositionReport({}, located=False)
        report = msgspec.structs.replace(
            taken,
            attributes={
                **taken.attributes,
                media.kind: name,
                "channel": self._commands.channel_numbers().channel_of(media.channel),
            },
            receipt=media.receipt,
        )
        event = self._media_event(media.kind, name)
        waits = self._store(report, message.protocol, message.connection, (event,))
        if waits is not None:
            await waits

    async def _then_ask_files(self, waits: Awaitable[None] | None, message: PositionReported) -> None:
        """Have the device upload what it keeps of the alarms that this position tells of."""
        if waits is not None:
            await waits
        report = message.report
        for label in self._alarms.unasked(str(report.attributes[ALARM_LABEL]).split(",")):
            connection = self._line.connection or message.connection
            refused = await self._commands.transmit(connection, REQUEST_ALARM_FILES, {"label": label})
            if refused:
                self.context.log.warning("files of an alarm not asked for: %s", refused)
            else:
                self._alarms.asked(label, report)

    def _files_claimed(self, message: AuthorizeAlarmUpload) -> str:
        offered = message.offered
        wanted = self._asks_files and (offered.is_ours or self._alarms.find(offered.key) is not None)
        return self._line.row.unique_id if wanted and self._line.row is not None else ""

    def _file_kept(self, message: AlarmFileStored) -> object:
        """A position as that of the alarm names the file; acknowledged once it is stored."""
        if self._line.row is None:
            return None
        report = self._alarms.report_of(message.name, message.file, message.offered)
        kind = message.file.kind
        events = () if kind == "file" else (self._media_event(kind, message.name),)
        return self._store(report, message.protocol, message.connection, events)

    def _media_event(self, kind: str, name: str) -> Event:
        return self._event("media", {"media": kind, "file": name})

    async def _recordings_listed(self, message: RecordingListReceived) -> None:
        """The latest complete list takes the place of the one before; acknowledged once it is stored."""
        if self._line.row is None:
            return
        self._mark_online(self._now(), announce=True)
        ours = self._commands.channel_numbers().channel_of
        found = [
            recordings.Recording(ours(each.channel), *msgspec.structs.astuple(each)[1:])
            for each in message.listed.recordings
        ]
        try:
            await recordings.save(self._database, self._device_id, found)
        except StorageError as error:
            self.context.log.error("a list of %d recordings was not kept: %s", len(found), error)
            return
        self.context.log.info("listed %d recordings", len(found))
        if message.listed.receipt is not None:
            message.connection.offer(AcknowledgeStored((message.listed.receipt,)))

    def _event(self, kind: str, attributes: dict[str, Any]) -> Event:
        return Event(
            type=kind,
            event_time=self.context.clock.now(),
            device_id=self._device_id,
            attributes=attributes,
        )

    def _store_events(self, *happened: Event) -> None:
        if not self._writer.offer(AppendEvents(happened)):
            self.context.log.warning("dropped %d events: the writer is full", len(happened))


def device_spec(
    database: Database,
    *,
    media: MediaAddress,
    media_folder: Path,
    status_timeout_seconds: float,
    idle_seconds: float = 300.0,
    asks_files: bool = True,
    reserve_bytes: int = 0,
) -> DynamicSpec[int, DeviceMessage]:
    """The devices of the tree, one actor each, made by the first message."""
    return DynamicSpec(
        kind=DEVICE,
        name="devices",
        factory=lambda device_id: DeviceActor(
            device_id,
            database,
            media=media,
            media_folder=media_folder,
            status_timeout_seconds=status_timeout_seconds,
            asks_files=asks_files,
            reserve_bytes=reserve_bytes,
        ),
        restart=Restart.TRANSIENT,
        mailbox_size=256,
        idle_seconds=idle_seconds,
    )
