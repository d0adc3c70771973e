"""The actor of one device connection: decodes reports for the device's actor, encodes commands and replies.

The hub (or, without one, the connection's own task) reads the socket and passes the bytes on; they are
decoded and forwarded at once where nothing must be waited for. The rest is left to `run`, and the socket is
not read meanwhile. With a hub there is a task only while something is left: it would be a third of the memory
of an idle connection. A peer that stalls, floods or sends garbage costs its own connection and nothing else.

Messages to the connection (acknowledgements after the commit, commands) are handled at once in the sender's
task.
"""

import logging
from collections.abc import Sequence
from typing import assert_never

from motorpool.actors.devices.rule_cache import RuleCache
from motorpool.actors.files.uploads import UploadStorage
from motorpool.actors.gateway.alarm_files import AlarmFiles
from motorpool.actors.gateway.connection_devices import ConnectionDevices
from motorpool.actors.gateway.deadlines import Deadlines
from motorpool.actors.gateway.peer_socket import PeerSocket
from motorpool.actors.gateway.recorder import Tap
from motorpool.actors.gateway.settings import DeviceSettings
from motorpool.actors.messages import downlink, uplink
from motorpool.actors.messages.counters import CHECKSUM_ERRORS, FRAMES_REJECTED, MESSAGES_RECEIVED
from motorpool.actors.messages.downlink import ConnectionMessage
from motorpool.actors.messages.uplink import DeviceMessage
from motorpool.codecs import reports as kinds
from motorpool.codecs.devices import DeviceCodec
from motorpool.codecs.errors import CodecError, UnsupportedCommand
from motorpool.codecs.reports import PositionReport, Receipt, Report, UploadReport
from motorpool.runtime import Actor, MailboxFull, Ref
from motorpool.storage.database.database import Database

REFUSALS = 3
"""Messages of an unknown device that are refused before its connection is closed."""
REJECTIONS = 100
"""Consecutive invalid frames after which the connection is closed."""
MAX_FIRST_BYTES = 1 << 16
"""Most bytes with a first login that are decoded anew as its device wants."""
MAX_RAW_BYTES = 1024
"""Most bytes of an unknown message that are stored."""
UNCOUNTED = (
    kinds.Login
    | kinds.ImmediateReply
    | kinds.DeviceInformation
    | kinds.SoundFormat
    | kinds.UnknownMessage
    | kinds.FileChunk
)
"""They accompany another message, or were counted when processed as a position."""
DEPART_SECONDS = 1.0
"""A connection that the server leaves is served so long: what was read is mostly acknowledged by then."""
DEPART_LIMIT_SECONDS = 10.0
"""Such a connection is closed after this time, also if what was read cannot be stored: the device will send
it again."""
SETTLE_SECONDS = 0.5
"""Between two questions whether what was read is stored: a device that is busy takes none."""
ANSWER_SECONDS = 0.5
"""For the last answers to reach the device before its connection is closed."""
LEAVES = "the server leaves"


class DeviceConnection(Actor[ConnectionMessage]):
    """A TCP connection to the port of a device protocol, or an address that sends datagrams to it.

    Started by the listener, gone with its socket.
    """

    __slots__ = (
        "_again",
        "_codec",
        "_database",
        "_deadlines",
        "_devices",
        "_failure",
        "_files",
        "_first",
        "_generation",
        "_is_departing",
        "_is_open",
        "_is_processing",
        "_pending",
        "_ref",
        "_refusals",
        "_rejected",
        "_rule_cache",
        "_server_key",
        "_settings",
        "_socket",
        "_tap",
        "_unsettled",
        "_uploads",
    )

    def __init__(
        self,
        device_socket: PeerSocket,
        tap: Tap | None = None,
        *,
        codec_type: type[DeviceCodec],
        database: Database,
        rule_cache: RuleCache,
        settings: DeviceSettings,
        uploads: UploadStorage | None = None,
        server_key: bytes | None = None,
    ) -> None:
        """`server_key` replaces the codec's own unless None. Without `uploads`, alarm files are refused."""
        self._socket = device_socket
        self._server_key = server_key
        self._settings = settings
        self._codec = self._new_codec(codec_type)
        self._first: bytes | None = b""
        """What a peer without a device has sent since its codec last returned reports and held nothing back;
        None: too much, or not all of it is known."""
        self._again: Sequence[Report] | None = None
        """The reports behind the first login, decoded anew as its device wants; None: as they were."""
        self._database = database
        self._rule_cache = rule_cache
        self._generation = -1
        """Generation of the rule cache when the devices were last asked to follow it."""
        self._uploads = uploads
        self._tap = tap
        self._files: AlarmFiles | None = None
        """Made when a device uploads some, which most never do."""
        self._refusals = 0
        self._rejected = 0
        self._pending: Sequence[Report] = ()
        """Decoded reports that are not forwarded yet, or whose handling has to wait."""
        self._failure: Exception | None = None
        """A crash of `on_data` or `forward`, raised in the connection's own task."""
        self._is_processing = False
        self._is_departing = False
        self._unsettled: dict[object, Ref[DeviceMessage]] | None = None
        """Devices of which something that they have sent may not be stored yet; made by `_settle`."""
        self._is_open = False
        """Whether these were made, by `_open`."""
        self._ref: Ref[ConnectionMessage]
        self._devices: ConnectionDevices
        self._deadlines: Deadlines

    def _new_codec(self, codec_type: type[DeviceCodec]) -> DeviceCodec:
        codec = codec_type()
        if self._server_key is not None:
            codec.server_key = self._server_key
        codec.keeps_unknown = self._settings.keep_unknown_messages
        if self._settings.strict_checksums:
            codec.strict_checksums = True
        return codec

    # Reading

    @property
    def outlives_run(self) -> bool:
        """Whether there is no task while the connection is idle: the hub reads for it."""
        return self._socket.has_hub

    async def run(self) -> None:
        """Read until the end, or with a hub until nothing is pending."""
        socket = self._socket
        if not self._is_open:
            self._open()
        if socket.has_hub:
            await self._process_pending()
            if socket.closed:
                self.context.leave()
        else:
            while data := await socket.receive():
                self.on_data(data)
                self.forward()
                await self._process_pending()

    def _open(self) -> None:
        context, socket = self.context, self._socket
        self._is_open = True
        self._ref = context.ref
        self._codec.utc_now = context.clock.now
        self._devices = ConnectionDevices(context, self._ref, socket, self._codec)
        self._deadlines = Deadlines(self._settings, context.clock.monotonic())
        if socket.has_hub:
            socket.watch(self)

    def release(self) -> None:
        """Close the socket if it is still open, and report the end."""
        socket = self._socket
        socket.close("the server stops")
        if self._tap is not None:
            self._tap.closed()
        was_identified = False
        if self._is_open:
            was_identified = self._devices.present is not None
            if self._files is not None:
                self._files.discard()
            self._count_checksum_errors()
            self._devices.leave()
            socket.guard.traffic.identify(self._ref, 0, "", socket.reason)
        socket.hold(0)
        peer = socket.peer or "an unknown address"
        line = ("%s connection from %s ended: %s", self._codec.name, peer, socket.reason)
        if was_identified:
            self.context.log.info(*line)
        else:
            socket.log(self.context, logging.INFO, *line)

    def on_data(self, data: bytes) -> None:
        """Decode received bytes; runs in the hub's task, so it must not raise."""
        if self._rule_cache.generation != self._generation:
            self._generation = self._rule_cache.generation
            self._devices.check_rules()
        codec, socket = self._codec, self._socket
        try:
            if self._tap is not None:
                self._tap.received(data)
            if self._devices.present is None:
                self._keep_first(data)
            reports = codec.receive_datagram(data) if socket.is_datagram else codec.receive(data)
            self._pending = reports
            if socket.held or not reports:
                socket.hold(codec.buffered + len(self._first or b""))
        except CodecError as error:
            socket.close(f"cannot be decoded: {error}")
        except Exception as error:
            self._failure = error
        traffic = socket.guard.traffic
        if traffic.topic.is_followed:
            traffic.note(self._ref, socket.peer, codec.name, data, *self._devices.shown)

    def forward(self) -> None:
        """Forward decoded reports up to the first that has to wait for something; must not raise."""
        pending, self._pending = self._pending, ()
        socket = self._socket
        if socket.closed and self._failure is None:
            # What ended it came after the bytes; the device sends again what was not acknowledged.
            self.on_ended()
            return
        if pending:
            try:
                self._pending = self._forward(pending)
            except Exception as error:
                self._failure = error
        if self._pending or self._failure is not None:
            socket.pause_reading()
            if socket.has_hub:
                self.context.begin_run()

    def _keep_first(self, data: bytes) -> None:
        """Keep what may hold the login, and messages behind it to be decoded as its device wants."""
        if self._socket.is_datagram:
            self._first = data
        elif self._first is not None:
            # Also what the codec does not hold back, such as the byte that begins a frame.
            kept = self._first + data
            is_too_much = len(kept) > MAX_FIRST_BYTES or self._codec.request_response
            self._first = None if is_too_much else kept

    def _decode_again(self) -> None:
        """Decode what came with the first login anew, now that the codec is configured for its device.

        What is sent from now on, the answer to the login too, is the new codec's.
        """
        first, self._first = self._first, None
        if not first or self._files is not None:
            return
        codec = self._new_codec(type(self._codec))
        codec.utc_now = self._codec.utc_now
        self._devices.adopt(codec)
        try:
            reports = codec.receive_datagram(first) if self._socket.is_datagram else codec.receive(first)
        except CodecError:
            reports = []
        login = next((at for at, report in enumerate(reports) if report.__class__ is kinds.Login), None)
        if login is None:
            self._devices.adopt(self._codec)
        else:
            self._codec, self._again = codec, reports[login + 1 :]

    def on_ended(self) -> None:
        """Leave once pending reports are processed; `run` does so if it is still at work."""
        if not (self._is_processing or self._pending or self._failure is not None):
            self.context.leave()

    async def _process_pending(self) -> None:
        self._is_processing = True
        try:
            while self._pending or self._failure is not None:
                if self._failure is not None:
                    raise self._failure
                pending, self._pending = self._pending, ()
                await self._process(pending)
                if not self._codec.buffered:
                    self._first = b""
                if not self._is_departing:
                    self._socket.resume_reading()
        finally:
            self._is_processing = False

    # Reports

    def _forward(self, reports: Sequence[Report]) -> Sequence[Report]:
        """Forward the leading positions, answers and heartbeats of a known device; return the rest.

        The rest waits for something, and so takes a task.
        """
        device = self._devices.present
        if device is None:
            return reports
        forwarded = 0
        for report in reports:
            try:
                if report.__class__ is PositionReport:
                    device.tell_nowait(uplink.PositionReported(report, self._codec.name, self._ref))
                elif report.__class__ is kinds.CommandResult:
                    device.tell_nowait(uplink.Reported(report, self._codec.name, self._ref))
                elif report.__class__ is kinds.Heartbeat and self._devices.present == device:
                    device.tell_nowait(uplink.DeviceSeen(self._codec.name, self._ref))
                    self._acknowledge_seen(device, report.receipt)
                else:
                    break
            except MailboxFull:
                break
            forwarded += 1
        if forwarded:
            MESSAGES_RECEIVED.value += forwarded
            self._deadlines.is_active = True
            self._rejected = 0
        return reports[forwarded:]

    async def _process(self, reports: Sequence[Report]) -> None:
        for report in reports:
            if report.__class__ is PositionReport:
                device = self._devices.present
                if device is None:
                    self._refuse(report.receipt)
                    continue
                message = uplink.PositionReported(report, self._codec.name, self._ref)
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
            self._deadlines.is_active = True
            if not isinstance(report, UNCOUNTED):
                MESSAGES_RECEIVED.value += 1
            if self._again is not None:
                again, self._again = self._again, None
                await self._process(again)
                return

    async def _dispatch_report(self, report: Report) -> None:
        match report:
            case kinds.Login():
                await self._log_in(report)
            case kinds.ImmediateReply():
                self._send(report.data)
            case kinds.DeviceInformation():
                position = PositionReport(report.attributes, located=False, receipt=report.receipt)
                await self._process([position])
            case kinds.SoundFormat():
                if self._devices.present is not None:
                    await self._devices.present.tell(uplink.Reported(report, self._codec.name, self._ref))
            case kinds.UnknownMessage() if (
                self._settings.keep_unknown_messages and self._devices.present is not None
            ):
                attributes = {"raw": report.content[:MAX_RAW_BYTES].hex()}
                if report.kind:
                    attributes["type"] = report.kind
                await self._process([PositionReport(attributes, located=False, receipt=report.receipt)])
            case kinds.Heartbeat() | kinds.UnknownMessage() | kinds.RecordingList(reference=None):
                # A list without a reference answers no query of ours.
                await self._acknowledge_without_storing(report.receipt)
            case kinds.RecordingList() | kinds.CommandResult() | kinds.MediaFile():
                await self._tell_device(report)
            case kinds.Logout():
                await self._acknowledge_without_storing(report.receipt)
                self._devices.log_out()
            case PositionReport() | kinds.FrameRejected():
                raise AssertionError(report)  # handled in _process
            case _:
                await self._take_file(report)

    async def _log_in(self, login: kinds.Login) -> None:
        is_accepted = await self._devices.log_in(login)
        self._first = None
        if not is_accepted:
            self._refuse(login.receipt)  # without effect if the socket was closed instead
            return
        self._refusals = 0
        if login.receipt is not None:
            self._acknowledge((login.receipt,))

    async def _take_file(self, report: UploadReport) -> None:
        devices = self._devices
        if self._files is None:
            self._files = AlarmFiles(self.context, self._socket, self._codec, self._database, self._uploads)
        accepted = await self._files.process(report, devices.present, devices.unique_ids)
        if not accepted and devices.present is None:
            self._count_refusal()

    async def _tell_device(self, report: kinds.RecordingList | kinds.CommandResult | kinds.MediaFile) -> None:
        if self._devices.present is None:
            self._refuse(report.receipt)
        else:
            await self._devices.present.tell(uplink.Reported(report, self._codec.name, self._ref))

    async def _acknowledge_without_storing(self, receipt: Receipt | None) -> None:
        """Acknowledge a message of which only its time is noted."""
        device = self._devices.present
        if device is not None:
            await device.tell(uplink.DeviceSeen(self._codec.name, self._ref))
        self._acknowledge_seen(device, receipt)

    def _acknowledge_seen(self, device: Ref[DeviceMessage] | None, receipt: Receipt | None) -> None:
        if device is None or self._devices.present != device:  # it may not report any more
            self._refuse(receipt)
        elif receipt is not None:
            self._acknowledge((receipt,))

    def _acknowledge(self, receipts: tuple[Receipt, ...]) -> None:
        codec = self._codec
        if self._socket.is_datagram:
            for receipt in receipts:
                self._send(codec.acknowledge((receipt,)))
        else:
            self._send(codec.acknowledge(receipts))
        if codec.closing:
            self._socket.close("the device asked to close after the answer")

    def _refuse(self, receipt: Receipt | None) -> None:
        self._send(self._codec.refuse(receipt))
        if self._codec.closing:
            self._socket.close("refused")
        self._count_refusal()

    def _count_refusal(self) -> None:
        self._refusals += 1
        # An address that sends datagrams costs nothing to serve again.
        if self._refusals >= REFUSALS or self._socket.is_datagram:
            self._socket.close(downlink.NOT_KNOWN)

    # Messages to the connection

    def handle(self, message: ConnectionMessage) -> object:
        """Handle one message, in the sender's task and without waiting."""
        if not self._is_open:
            self._open()
        match message:
            case downlink.AcknowledgeStored():
                return self._acknowledge(message.receipts)
            case downlink.Transmit():
                return self._transmit(message)
            case downlink.DeliverInResponse():
                return self._codec.deliver(message.text)
            case downlink.Reannounce():
                return self._devices.announce()
            case downlink.ConfigureDecoder():
                self._devices.configure(message)
                return self._decode_again()
            case downlink.CheckDeadlines():
                return self._check_deadlines()
            case downlink.Close():
                return self._socket.close(message.reason)
            case downlink.Depart():
                return self._depart(message)
            case downlink.Settle():
                return self._settle()
            case downlink.Settled():
                return self._settled(message)
            case downlink.StopServing():
                return self._stop_serving(message)
            case _:
                assert_never(message)

    def _stop_serving(self, message: downlink.StopServing) -> None:
        """Refuse, and close: a request-response connection after its last answers, which may be refusals."""
        self._devices.forget()
        self._send(self._codec.refuse(message.receipt))
        if self._codec.request_response:
            self.context.after(ANSWER_SECONDS, downlink.Close(message.reason))
        else:
            self._socket.close(message.reason)

    def _depart(self, message: downlink.Depart) -> bool:
        """Close once what was read is acknowledged. A device that goes on sending is not read meanwhile, so
        that nothing is stored that it sends to the next server again; a request is still answered.
        """
        device = self._devices.present
        number = None if device is None else device.key
        if number in message.staying or (message.only is not None and number not in message.only):
            return False
        if not self._codec.request_response:
            self._read_no_more()
        self.context.after(DEPART_SECONDS, downlink.Settle())
        self.context.after(DEPART_LIMIT_SECONDS, downlink.Close(LEAVES))
        return True

    def _read_no_more(self) -> None:
        self._is_departing = True
        self._socket.pause_reading()

    def _settle(self) -> None:
        """Have each device say when all that it has sent is stored; again where none says so."""
        self._read_no_more()
        if self._unsettled is None and not (self._is_processing or self._pending):
            self._unsettled = {device.key: device for _, (device, _) in self._devices}
            self._close_when_settled()
        for device in (self._unsettled or {}).values():
            device.offer(uplink.TellStored(self._ref))
        self.context.after(SETTLE_SECONDS, downlink.Settle())

    def _settled(self, message: downlink.Settled) -> None:
        if self._unsettled and self._unsettled.pop(message.device_id, None) is not None:
            self._close_when_settled()

    def _close_when_settled(self) -> None:
        if not self._unsettled:
            # The end of a socket with data that was not read may discard what the device has not read yet.
            self.context.after(ANSWER_SECONDS, downlink.Close(LEAVES))

    def _transmit(self, message: downlink.Transmit) -> downlink.TransmitOutcome:
        try:
            outgoing = self._codec.encode(message.command)
        except UnsupportedCommand as error:
            return downlink.EncodingRefused(str(error))
        self._send(outgoing.data)
        return downlink.Transmitted(outgoing.reference)

    def _send(self, data: bytes) -> None:
        socket = self._socket
        socket.send(data)
        traffic = socket.guard.traffic
        if traffic.topic.is_followed:
            traffic.note_sent(socket.peer, self._codec.name, data, *self._devices.shown)

    # Limits

    def _check_deadlines(self) -> None:
        now = self.context.clock.monotonic()
        self._count_checksum_errors()
        self._send(self._codec.tick(now))
        if self._codec.closing:
            self._socket.close("the device asked to close after the answer")
        reason = self._deadlines.check(
            now,
            backlog=self._socket.backlog,
            is_identified=self._devices.present is not None,
            is_uploading=self._files is not None and self._files.is_open,
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
            peer, frame, error = self._socket.peer, rejected.frame, rejected.error
            text = "dropped bytes from %s: %s: %s"
            self._socket.log(self.context, logging.INFO, text, peer, error, frame[:64].hex())
            traffic = self._socket.guard.traffic
            traffic.reject(peer, self._codec.name, frame, error, *self._devices.shown)
        if self._rejected >= REJECTIONS:
            self._socket.close("too many invalid frames in a row")
