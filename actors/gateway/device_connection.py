"""One connection of a device: bytes up through its codec to the device actor, orders and answers down.

A task reads (`peer.py`); what is told to the connection (acknowledgements after the commit, commands) runs at
once in the teller's task.
"""

from collections.abc import Sequence
from typing import assert_never
from zoneinfo import ZoneInfo

import trio

from motorpool.actors.change_feed import publish_changes
from motorpool.actors.files.uploads import UploadRoom
from motorpool.actors.gateway.alarm_files import AlarmFiles
from motorpool.actors.gateway.base_connection import BaseConnection
from motorpool.actors.gateway.device_socket import DeviceSocket
from motorpool.actors.gateway.identity import find_device, may_report, register_device
from motorpool.actors.gateway.recorder import Tap
from motorpool.actors.messages.changes import DeviceChanged
from motorpool.actors.messages.counters import DEVICES_REFUSED, FRAMES_REJECTED, MESSAGES_RECEIVED
from motorpool.actors.messages.downlink import (
    AcknowledgeStored,
    CheckDeadlines,
    Close,
    ConfigureDecoder,
    ConnectionMessage,
    DeliverInResponse,
    EncodingRefused,
    Reannounce,
    Transmit,
    TransmitOutcome,
    Transmitted,
)
from motorpool.actors.messages.uplink import (
    DEVICE,
    CommandAnswered,
    Connected,
    DeviceMessage,
    DeviceSeen,
    Disconnected,
    MediaUploaded,
    PositionReported,
    RecordingListReceived,
)
from motorpool.actors.settings import DeviceSettings
from motorpool.codecs.devices import DeviceCodec
from motorpool.codecs.errors import UnsupportedCommand
from motorpool.codecs.reports import (
    AlarmFilesAnnounced,
    CommandResult,
    DeviceInformation,
    FileChunk,
    FileUploadCompleted,
    FileUploadStarted,
    FrameRejected,
    Heartbeat,
    ImmediateReply,
    Login,
    Logout,
    MediaFile,
    PositionReport,
    Receipt,
    RecordingList,
    Report,
    UploadReport,
)
from motorpool.runtime import ActorError, MailboxFull, Ref
from motorpool.storage.database import Database
from motorpool.storage.errors import StorageError
from motorpool.storage.records import Device

__all__ = ["DeviceConnection"]

REFUSALS = 3
"""Answers to an unknown device before its connection is closed."""
REJECTIONS = 100
"""Bad frames in a row before a connection counts as noise and is closed."""
UPLOAD_IDLE_SECONDS = 60.0
"""A connection made for an alarm's files is closed when nothing of them comes for so long."""
UPLOAD_SECONDS = 3600.0
"""All of an alarm's files must have come within this."""
STALL_SECONDS = 60.0
"""How long a peer may leave our answers unread."""


class DeviceConnection(BaseConnection[Report]):
    """One peer of a device port."""

    __slots__ = (
        "_codec",
        "_database",
        "_device",
        "_files",
        "_refusals",
        "_register_unknown",
        "_rejected",
        "_settings",
        "_stalled_at",
        "_unique_ids",
    )

    def __init__(
        self,
        device_socket: DeviceSocket,
        codec: DeviceCodec,
        *,
        database: Database,
        settings: DeviceSettings,
        register_unknown: bool = False,
        uploads: UploadRoom | None = None,
        tap: Tap | None = None,
    ) -> None:
        """`register_unknown` registers an unknown device at its first valid message; without `uploads` no
        files of alarms are taken.
        """
        super().__init__(device_socket, idle_seconds=settings.idle_seconds, tap=tap)
        self._codec = codec
        self._database = database
        self._settings = settings
        self._register_unknown = register_unknown
        self._device: Ref[DeviceMessage] | None = None
        self._unique_ids: tuple[str, ...] = ()
        self._refusals = 0
        self._rejected = 0
        self._stalled_at: float | None = None
        self._files = AlarmFiles(database, uploads)

    async def run(self) -> None:
        """Read until either side ends it."""
        self._codec.utc_now = self.context.clock.now
        self._files.attend(self.context, self._codec.name)
        try:
            await self._serve(self._codec.name, self._codec, self._settings.login_seconds)
        finally:
            with trio.CancelScope(shield=True):
                await self._files.close()

    def _on_closed(self) -> None:
        self._leave_device()

    def _process_now(self, reports: Sequence[Report]) -> Sequence[Report]:
        """The positions of a known device, up to the first report that is anything else."""
        device = self._device
        if device is None:
            return reports
        for place, report in enumerate(reports):
            if report.__class__ is not PositionReport:
                MESSAGES_RECEIVED.value += place
                return reports[place:]
            try:
                device.tell_nowait(PositionReported(report, self._codec.name, self._ref))
            except MailboxFull:
                MESSAGES_RECEIVED.value += place
                return reports[place:]
            self._is_active = True
            self._rejected = 0
        MESSAGES_RECEIVED.value += len(reports)
        return ()

    async def _process(self, reports: Sequence[Report]) -> None:
        for report in reports:
            if report.__class__ is PositionReport:
                device = self._device
                if device is None:
                    self._refuse(report.receipt)
                    continue
                message = PositionReported(report, self._codec.name, self._ref)
                try:
                    device.tell_nowait(message)
                except MailboxFull:
                    await device.tell(message)
            elif report.__class__ is FrameRejected:
                self._count_rejected(report)
                continue
            else:
                await self._dispatch_report(report)
            self._rejected = 0
            self._is_active = True
            if not isinstance(report, Login | ImmediateReply | DeviceInformation | FileChunk):
                # Those come beside a message, or were counted as the position they are made.
                MESSAGES_RECEIVED.value += 1

    async def _dispatch_report(self, report: Report) -> None:
        match report:
            case Login():
                await self._identify(report)
            case ImmediateReply():
                self._socket.send(report.data)
            case DeviceInformation():
                told = PositionReport(report.attributes, located=False, receipt=report.receipt)
                await self._process([told])
            case Heartbeat():
                await self._note(report.receipt)
            case RecordingList():
                await self._recordings_listed(report)
            case Logout():
                await self._note(report.receipt)
                self._leave_device()
            case CommandResult():
                if self._device is None:
                    self._refuse(report.receipt)
                else:
                    await self._device.tell(CommandAnswered(report, self._codec.name, self._ref))
            case MediaFile():
                if self._device is None:
                    self._refuse(report.receipt)
                else:
                    await self._device.tell(MediaUploaded(report, self._codec.name, self._ref))
            case AlarmFilesAnnounced() | FileUploadStarted() | FileChunk() | FileUploadCompleted():
                await self._take_files(report)
            case PositionReport() | FrameRejected():
                raise AssertionError(report)  # handled by the loop above
            case _:
                assert_never(report)

    async def _take_files(self, report: UploadReport) -> None:
        own = self._device if self._unique_ids else None
        try:
            refused = await self._files.take(report, own, self._unique_ids)
        except OSError as error:
            self.context.log.error("a file of an alarm was not kept: %s", error)
            return
        except (StorageError, ActorError) as error:
            self._close(f"cannot be served now: {error}")
            return
        if isinstance(report, FileChunk | FileUploadCompleted) and not refused:
            return  # pieces have no answer, and the end has its own once the file is stored
        receipt = None if isinstance(report, FileChunk) else report.receipt
        if not refused and receipt is not None:
            self._acknowledge((receipt,))
        elif self._device is None:
            self._refuse(receipt)
        elif receipt is not None:
            self._socket.send(self._codec.refuse(receipt))

    async def _recordings_listed(self, report: RecordingList) -> None:
        """The answer to our own query is kept; what nobody asked for is noted and answered."""
        if self._device is None or report.reference is None:
            await self._note(report.receipt)
        else:
            await self._device.tell(RecordingListReceived(report, self._codec.name, self._ref))

    async def _note(self, receipt: Receipt | None) -> None:
        """A message that needs no storing: the device is alive, and gets its answer."""
        if self._device is None:
            self._refuse(receipt)
            return
        await self._device.tell(DeviceSeen(self._codec.name, self._ref))
        if receipt is not None:
            self._acknowledge((receipt,))

    # Identity

    async def _identify(self, login: Login) -> None:
        if self._device is not None and login.unique_ids == self._unique_ids:
            if login.receipt is not None:
                self._acknowledge((login.receipt,))
            return
        self._leave_device()
        try:
            device = await self._look_up(login)
        except StorageError as error:
            self._close(f"cannot be looked up now: {error}")
            return
        if device is None:
            self._refuse(login.receipt, login.unique_ids)
            return
        self._unique_ids = login.unique_ids
        self._device = self.context.system.ref(DEVICE, device.id)
        self._refusals = 0
        self.context.log.info("%s device %s from %s", self._codec.name, device.unique_id, self._socket.peer)
        await self._device.tell(self._connected())
        if login.receipt is not None:
            self._acknowledge((login.receipt,))

    def _connected(self) -> Connected:
        return Connected(self._ref, self._codec.name, self._socket.peer, self._socket.local_host)

    def _introduce(self) -> None:
        if self._device is not None:
            self._device.offer(self._connected())

    async def _look_up(self, login: Login) -> Device | None:
        device = await find_device(self._database, login.unique_ids)
        if device is None and self._register_unknown:
            device = await register_device(self._database, login.unique_ids)
            if device is not None:
                await publish_changes(self.context.system, DeviceChanged(device.id, "created"))
        if device is not None and not may_report(device, self.context.clock.now()):
            return None
        return device

    def _refuse(self, receipt: Receipt | None, unique_ids: tuple[str, ...] = ()) -> None:
        self._socket.send(self._codec.refuse(receipt))
        if self._codec.closing:
            self._close("refused")
        self._refusals += 1
        if unique_ids:
            DEVICES_REFUSED.labels(self._codec.name).inc()
            self.context.log.warning(
                "refused the %s device %s from %s: not known, disabled or expired",
                self._codec.name,
                unique_ids[0],
                self._socket.peer,
            )
        if self._refusals >= REFUSALS:
            self._close("not a known device")

    def _leave_device(self) -> None:
        if self._device is not None:
            self._device.offer(Disconnected(self._ref))
            self._device = None
            self._unique_ids = ()

    # Downwards

    def handle(self, message: ConnectionMessage) -> object:
        """Runs to completion in the task of whoever tells it."""
        match message:
            case AcknowledgeStored():
                return self._acknowledge(message.receipts)
            case Transmit():
                return self._transmit(message)
            case DeliverInResponse():
                self._codec.deliver(message.text)
                return None
            case Reannounce():
                return self._introduce()
            case ConfigureDecoder():
                return self._configure(message.timezone)
            case CheckDeadlines():
                return self._check_time()
            case Close():
                return self._close(message.reason)
            case _:
                assert_never(message)

    def _acknowledge(self, receipts: tuple[Receipt, ...]) -> None:
        codec = self._codec
        self._socket.send(codec.acknowledge(receipts))
        if codec.closing:
            self._close("answered, as it asked for no more")

    def _configure(self, timezone: str) -> None:
        try:
            zone = ZoneInfo(timezone) if timezone else None
        except (KeyError, ValueError, OSError):  # not there; no such name; a folder
            self.context.log.warning("decoder.timezone %r is no time zone", timezone)
        else:
            self._codec.set_timezone(zone)

    def _transmit(self, message: Transmit) -> TransmitOutcome:
        try:
            outgoing = self._codec.encode(message.command)
        except UnsupportedCommand as error:
            return EncodingRefused(str(error))
        self._socket.send(outgoing.data)
        return Transmitted(outgoing.reference)

    # Limits

    def _check_time(self) -> None:
        now = self.context.clock.monotonic()
        self._socket.send(self._codec.tick(now))
        if not self._socket.backlog:
            self._stalled_at = None
        elif self._stalled_at is None:
            self._stalled_at = now
        elif now - self._stalled_at >= STALL_SECONDS:
            self._close("does not read what it is sent")
        if self._device is None and self._files.is_open:
            self._check_files(now)
        elif self._device is None and now - self._opened_at >= self._settings.login_seconds:
            self._close("did not say who it is")
        elif self._is_idle(now):
            self._close("said nothing whole for too long")

    def _check_files(self, now: float) -> None:
        """A connection that was made for files, and is nothing else."""
        if self._is_active:
            self._is_active = False
            self._last_active_at = now
        if now - self._last_active_at >= UPLOAD_IDLE_SECONDS or now - self._opened_at >= UPLOAD_SECONDS:
            self._close("brings no more files")

    def _count_rejected(self, rejected: FrameRejected) -> None:
        self._rejected += 1
        FRAMES_REJECTED.labels(self._codec.name).inc()
        if self._rejected == 1:
            self.context.log.info(
                "dropped bytes from %s: %s: %s", self._socket.peer, rejected.error, rejected.frame[:64].hex()
            )
        if self._rejected >= REJECTIONS:
            self._close("sends nothing but noise")

    def _close(self, reason: str) -> None:
        self._socket.close(reason)
