"""The actor of one device connection: decodes reports for the device actor, encodes commands and replies.

Reading is in `base_connection.py`. Messages to the connection (acknowledgements after the commit, commands)
are handled at once in the sender's task. The file is longer than others because it has a branch for every
message in either direction.
"""

import logging
from collections.abc import Sequence
from typing import assert_never
from zoneinfo import ZoneInfo

from motorpool.actors.devices.eligibility import may_report
from motorpool.actors.files.uploads import UploadRoom
from motorpool.actors.gateway.alarm_files import AlarmFiles
from motorpool.actors.gateway.base_connection import BaseConnection
from motorpool.actors.gateway.deadlines import Deadlines
from motorpool.actors.gateway.identity import IDENTIFICATION, Identify
from motorpool.actors.gateway.peer_socket import PeerSocket
from motorpool.actors.gateway.recorder import Tap
from motorpool.actors.messages.counters import (
    CHECKSUM_ERRORS,
    DEVICES_REFUSED,
    FRAMES_REJECTED,
    MESSAGES_RECEIVED,
)
from motorpool.actors.messages.downlink import (
    NOT_KNOWN,
    AcknowledgeStored,
    CheckDeadlines,
    Close,
    ConfigureDecoder,
    ConnectionMessage,
    DeliverInResponse,
    EncodingRefused,
    Reannounce,
    StopServing,
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
from motorpool.codecs import reports as kinds
from motorpool.codecs.devices import DeviceCodec
from motorpool.codecs.errors import UnsupportedCommand
from motorpool.codecs.reports import PositionReport, Receipt, Report
from motorpool.runtime import ActorError, MailboxFull, Ref
from motorpool.storage.database import Database
from motorpool.storage.errors import StatementRejected, StorageError

__all__ = ["DeviceConnection"]

IDENTIFY_SECONDS = 30.0
"""A connection is closed if its device was not looked up within this time."""
REFUSALS = 3
"""Messages of an unknown device that are refused before its connection is closed."""
REJECTIONS = 100
"""Consecutive invalid frames after which the connection is closed."""
MAX_RAW_BYTES = 1024
"""Of an unknown message that are stored."""
UNCOUNTED = (
    kinds.Login | kinds.ImmediateReply | kinds.DeviceInformation | kinds.UnknownMessage | kinds.FileChunk
)
"""They accompany another message, or were counted when processed as a position."""
ANSWER_SECONDS = 0.5
"""For answers to requests that came before the device lost the right to report."""


class _DatagramDecoder:
    """Decodes datagrams with a codec."""

    __slots__ = ("_codec", "receive")

    def __init__(self, codec: DeviceCodec) -> None:
        self._codec = codec
        self.receive = codec.receive_datagram

    @property
    def buffered(self) -> int:
        return self._codec.buffered


class DeviceConnection(BaseConnection[Report]):
    """A TCP connection to the port of a device protocol, or an address that sends datagrams to it."""

    __slots__ = (
        "_codec",
        "_database",
        "_deadlines",
        "_device",
        "_files",
        "_keeps_unknown",
        "_login_seconds",
        "_refusals",
        "_rejected",
        "_unique_ids",
        "_was_identified",
    )

    def __init__(
        self,
        device_socket: PeerSocket,
        codec: DeviceCodec,
        *,
        database: Database,
        settings: DeviceSettings,
        uploads: UploadRoom | None = None,
        tap: Tap | None = None,
    ) -> None:
        """Without `uploads`, alarm files are refused."""
        super().__init__(device_socket, idle_seconds=settings.idle_seconds, tap=tap)
        self._codec = codec
        self._database = database
        self._login_seconds = settings.login_seconds
        self._keeps_unknown = settings.keep_unknown_messages
        if settings.strict_checksums:
            codec.strict_checksums = True
        self._device: Ref[DeviceMessage] | None = None
        self._unique_ids: tuple[str, ...] = ()
        self._was_identified = False
        self._refusals = 0
        self._rejected = 0
        self._deadlines = Deadlines(settings)
        self._files = AlarmFiles(database, uploads)

    @property
    def _log_name(self) -> str:
        return self._codec.name

    async def run(self) -> None:
        """Serve the connection."""
        if not self._is_serving:
            self._codec.utc_now = self.context.clock.now
            self._files.bind(self.context, self._socket, self._codec)
        decoder = _DatagramDecoder(self._codec) if self._socket.is_datagram else self._codec
        await self._serve(decoder, self._login_seconds)

    @property
    def _is_identified(self) -> bool:
        return self._device is not None

    def _on_closed(self) -> None:
        self._files.discard()
        self._count_checksum_errors()
        self._detach()
        self._socket.guard.traffic.identify(self._ref, 0, "")

    def _on_data(self, data: bytes) -> None:
        super()._on_data(data)
        traffic = self._socket.guard.traffic
        if traffic.is_followed:
            codec, device = self._codec, self._device
            traffic.note(self._ref, self._socket.peer, codec.name, data, device, self._unique_ids)

    def _process_now(self, reports: Sequence[Report]) -> Sequence[Report]:
        """Forward the leading position reports of a known device; return the rest."""
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
            elif report.__class__ is kinds.FrameRejected:
                self._count_rejected(report)
                continue
            else:
                await self._dispatch_report(report)
            self._rejected = 0
            self._is_active = True
            if not isinstance(report, UNCOUNTED):
                MESSAGES_RECEIVED.value += 1

    async def _dispatch_report(self, report: Report) -> None:
        match report:
            case kinds.Login():
                await self._identify(report)
            case kinds.ImmediateReply():
                self._socket.send(report.data)
            case kinds.DeviceInformation():
                position = PositionReport(report.attributes, located=False, receipt=report.receipt)
                await self._process([position])
            case kinds.UnknownMessage() if self._keeps_unknown and self._device is not None:
                attributes = {"raw": report.content[:MAX_RAW_BYTES].hex()}
                if report.kind:
                    attributes["type"] = report.kind
                await self._process([PositionReport(attributes, located=False, receipt=report.receipt)])
            case kinds.Heartbeat() | kinds.UnknownMessage() | kinds.RecordingList(reference=None):
                # A list without a reference answers no query of ours.
                await self._acknowledge_without_storing(report.receipt)
            case kinds.RecordingList():
                listed = RecordingListReceived(report, self._codec.name, self._ref)
                await self._forward(listed, report.receipt)
            case kinds.Logout():
                await self._acknowledge_without_storing(report.receipt)
                self._detach()
            case kinds.CommandResult():
                await self._forward(CommandAnswered(report, self._codec.name, self._ref), report.receipt)
            case kinds.MediaFile():
                await self._forward(MediaUploaded(report, self._codec.name, self._ref), report.receipt)
            case PositionReport() | kinds.FrameRejected():
                raise AssertionError(report)  # handled in _process
            case _:
                accepted = await self._files.process(report, self._device, self._unique_ids)
                if not accepted and self._device is None:
                    self._count_refusal()

    async def _forward(self, message: DeviceMessage, receipt: Receipt | None) -> None:
        if self._device is None:
            self._refuse(receipt)
        else:
            await self._device.tell(message)

    async def _acknowledge_without_storing(self, receipt: Receipt | None) -> None:
        """Acknowledge a message of which only its time is noted."""
        device = self._device
        if device is not None:
            await device.tell(DeviceSeen(self._codec.name, self._ref))
        if device is None or self._device != device:  # it may not report any more
            self._refuse(receipt)
        elif receipt is not None:
            self._acknowledge((receipt,))

    # Identity

    async def _identify(self, login: kinds.Login) -> None:
        if self._device is not None and login.unique_ids == self._unique_ids:
            if login.receipt is not None:
                self._acknowledge((login.receipt,))
            return
        self._detach()
        try:
            device = await self.context.system.ref(IDENTIFICATION).ask(
                Identify(login.unique_ids), seconds=IDENTIFY_SECONDS
            )
        except StatementRejected:
            device = None  # no device can have such an identity
        except (StorageError, ActorError) as error:
            self._socket.close(f"cannot be looked up now: {error}")
            return
        if device is None or not may_report(device, self.context.clock.now()):
            self._refuse(login.receipt, login.unique_ids)
            return
        # A peer can log in again and again under names of one device.
        line = ("%s device %s from %s", self._codec.name, device.unique_id, self._socket.peer)
        if self._was_identified:
            self._log_peer(logging.INFO, *line)
        else:
            self._was_identified = True
            self.context.log.info(*line)
        self._socket.guard.traffic.identify(self._ref, device.id, login.unique_ids[0])
        self._unique_ids = login.unique_ids
        self._device = actor = self.context.system.ref(DEVICE, device.id)
        self._refusals = 0
        await actor.tell(self._connected())
        if self._device != actor:  # it may not report any more
            self._refuse(login.receipt)
        elif login.receipt is not None:
            self._acknowledge((login.receipt,))

    def _connected(self) -> Connected:
        socket = self._socket
        return Connected(self._ref, self._codec.name, socket.peer, socket.local_host, self._unique_ids)

    def _announce(self) -> None:
        if self._device is not None:
            self._device.offer(self._connected())

    def _refuse(self, receipt: Receipt | None, unique_ids: tuple[str, ...] = ()) -> None:
        self._socket.send(self._codec.refuse(receipt))
        if self._codec.closing:
            self._socket.close("refused")
        if unique_ids:
            self._socket.guard.traffic.identify(self._ref, 0, unique_ids[0])
            DEVICES_REFUSED.labels(self._codec.name).inc()
            text = "refused the %s device %s from %s: not known, disabled or expired"
            self._log_peer(logging.WARNING, text, self._codec.name, unique_ids[0], self._socket.peer)
        self._count_refusal()

    def _count_refusal(self) -> None:
        self._refusals += 1
        # An address that sends datagrams costs nothing to serve again.
        if self._refusals >= REFUSALS or self._socket.is_datagram:
            self._socket.close(NOT_KNOWN)

    def _detach(self) -> None:
        if self._device is not None:
            self._device.offer(Disconnected(self._ref))
            self._device = None
            self._unique_ids = ()

    # Messages to the connection

    def handle(self, message: ConnectionMessage) -> object:
        """Handle one message, in the sender's task and without waiting."""
        match message:
            case AcknowledgeStored():
                return self._acknowledge(message.receipts)
            case Transmit():
                return self._transmit(message)
            case DeliverInResponse():
                return self._codec.deliver(message.text)
            case Reannounce():
                return self._announce()
            case ConfigureDecoder():
                return self._configure(message)
            case CheckDeadlines():
                return self._check_deadlines()
            case Close():
                return self._socket.close(message.reason)
            case StopServing():
                return self._stop_serving(message)
            case _:
                assert_never(message)

    def _stop_serving(self, message: StopServing) -> None:
        """Refuse, and close: a request-response connection after its last answers, which may be refusals."""
        self._device, self._unique_ids = None, ()
        self._socket.send(self._codec.refuse(message.receipt))
        if self._codec.request_response:
            self.context.after(ANSWER_SECONDS, Close(message.reason))
        else:
            self._socket.close(message.reason)

    def _acknowledge(self, receipts: tuple[Receipt, ...]) -> None:
        codec = self._codec
        if self._socket.is_datagram:
            for receipt in receipts:
                self._socket.send(codec.acknowledge((receipt,)))
        else:
            self._socket.send(codec.acknowledge(receipts))
        if codec.closing:
            self._socket.close("the device asked to close after the answer")

    def _configure(self, wanted: ConfigureDecoder) -> None:
        self._codec.configure(wanted.model, wanted.attributes)
        try:
            zone = ZoneInfo(wanted.timezone) if wanted.timezone else None
        except (KeyError, ValueError, OSError):  # unknown; malformed; names a directory
            self.context.log.warning("decoder.timezone %r is not a time zone", wanted.timezone)
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

    def _check_deadlines(self) -> None:
        now = self.context.clock.monotonic()
        self._count_checksum_errors()
        self._socket.send(self._codec.tick(now))
        reason = self._deadlines.check(
            now=now,
            age=now - self._opened_at,
            idle=self._idle_time(now),
            backlog=self._socket.backlog,
            is_identified=self._device is not None,
            is_uploading=self._files.is_open,
        )
        if reason:
            self._socket.close(reason)

    def _count_checksum_errors(self) -> None:
        if self._codec.checksum_errors:
            CHECKSUM_ERRORS.labels(self._codec.name).inc(self._codec.checksum_errors)
            self._codec.checksum_errors = 0

    def _count_rejected(self, rejected: kinds.FrameRejected) -> None:
        self._rejected += 1
        FRAMES_REJECTED.labels(self._codec.name).inc()
        if self._rejected == 1:
            shown = rejected.frame[:64].hex()
            self._log_peer(
                logging.INFO, "dropped bytes from %s: %s: %s", self._socket.peer, rejected.error, shown
            )
        if self._rejected >= REJECTIONS:
            self._socket.close("too many invalid frames in a row")
