"""The actor of one device connection: decodes reports for the device actor, encodes commands and replies.

Reading is in `base_connection.py`, logins are in `identified_connection.py`. Messages to the connection
(acknowledgements after the commit, commands) are handled at once in the sender's task.
"""

import logging
from collections.abc import Sequence
from typing import assert_never

from motorpool.actors.devices.rule_cache import RuleCache
from motorpool.actors.files.uploads import UploadStorage
from motorpool.actors.gateway.alarm_files import AlarmFiles
from motorpool.actors.gateway.datagram_peer import DatagramDecoder
from motorpool.actors.gateway.deadlines import Deadlines
from motorpool.actors.gateway.identified_connection import IdentifiedConnection
from motorpool.actors.gateway.peer_socket import PeerSocket
from motorpool.actors.gateway.recorder import Tap
from motorpool.actors.gateway.settings import DeviceSettings
from motorpool.actors.messages.counters import (
    CHECKSUM_ERRORS,
    FRAMES_REJECTED,
    MESSAGES_RECEIVED,
)
from motorpool.actors.messages.downlink import (
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
    CheckRules,
    CommandAnswered,
    DeviceMessage,
    DeviceSeen,
    Disconnected,
    MediaUploaded,
    PositionReported,
    RecordingListReceived,
)
from motorpool.codecs import reports as kinds
from motorpool.codecs.devices import DeviceCodec
from motorpool.codecs.errors import UnsupportedCommand
from motorpool.codecs.reports import PositionReport, Receipt, Report
from motorpool.runtime import MailboxFull
from motorpool.storage.database.database import Database

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


class DeviceConnection(IdentifiedConnection):
    """A TCP connection to the port of a device protocol, or an address that sends datagrams to it."""

    __slots__ = (
        "_database",
        "_deadlines",
        "_files",
        "_generation",
        "_keeps_unknown",
        "_login_seconds",
        "_rejected",
        "_rule_cache",
    )

    def __init__(
        self,
        device_socket: PeerSocket,
        codec: DeviceCodec,
        *,
        database: Database,
        rule_cache: RuleCache,
        settings: DeviceSettings,
        uploads: UploadStorage | None = None,
        tap: Tap | None = None,
    ) -> None:
        """Without `uploads`, alarm files are refused."""
        super().__init__(device_socket, codec, idle_seconds=settings.idle_seconds, tap=tap)
        self._database = database
        self._rule_cache = rule_cache
        self._generation = -1
        """Of the rule cache, when the devices were last asked to follow it."""
        self._login_seconds = settings.login_seconds
        self._keeps_unknown = settings.keep_unknown_messages
        codec.keeps_unknown = settings.keep_unknown_messages
        if settings.strict_checksums:
            codec.strict_checksums = True
        self._rejected = 0
        self._deadlines = Deadlines(settings)
        self._files = AlarmFiles(database, uploads)

    async def run(self) -> None:
        """Serve the connection."""
        if not self._is_serving:
            self._codec.utc_now = self.context.clock.now
            self._files.bind(self.context, self._socket, self._codec)
        decoder = DatagramDecoder(self._codec) if self._socket.is_datagram else self._codec
        await self._serve(decoder, self._login_seconds)

    def _on_closed(self) -> None:
        self._files.discard()
        self._count_checksum_errors()
        self._detach()
        for _, device in self._gateway or ():
            device.offer(Disconnected(self._ref))
        self._socket.guard.traffic.identify(self._ref, 0, "", self._socket.reason)

    def _on_data(self, data: bytes) -> None:
        if self._rule_cache.generation != self._generation:
            self._check_rules()
        super()._on_data(data)
        traffic = self._socket.guard.traffic
        if traffic.is_followed:
            codec, device = self._codec, self._device
            traffic.note(self._ref, self._socket.peer, codec.name, data, device, self._unique_ids)

    def _check_rules(self) -> None:
        """Have the devices configure decoding anew before the next message: their groups may have changed."""
        self._generation = self._rule_cache.generation
        if self._device is not None:
            self._device.offer(CheckRules())
        for _, device in self._gateway or ():
            device.offer(CheckRules())

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
            self._socket.guard.traffic.reject(
                self._socket.peer,
                self._codec.name,
                rejected.frame,
                rejected.error,
                self._device,
                self._unique_ids,
            )
        if self._rejected >= REJECTIONS:
            self._socket.close("too many invalid frames in a row")
