"""The JT/T 808 codec for vehicle terminals (JT/T 808-2013, JT/T 808-2019, JT/T 1078-2016).

Each frame states its form, 2013 or 2019, and is answered in the same form (docs/protocols/jt808.md#header).
So are frames between the delimiters E7 and the texts of locks (docs/protocols/jt808-vendors.md#frames).
"""

from collections.abc import Mapping, Sequence
from datetime import tzinfo
from typing import Any

from motorpool.codecs.checksums import xor8
from motorpool.codecs.devices.base import DeviceCodec
from motorpool.codecs.devices.framing import rejected
from motorpool.codecs.devices.jt808 import responses
from motorpool.codecs.devices.jt808.attachment_uploads import AttachmentUploads
from motorpool.codecs.devices.jt808.attachments import ATTACHMENT_REQUEST, UPLOAD_MESSAGES, attachment_request
from motorpool.codecs.devices.jt808.commands import COMMANDS, custom_bytes, encode_command
from motorpool.codecs.devices.jt808.frames import (
    DELIMITER,
    ESCAPE,
    MAX_BODY_BYTES,
    Frame,
    Identity,
    decode_frame,
    encode_frame,
    unescaped,
    with_right_check,
)
from motorpool.codecs.devices.jt808.item_layouts import STANDARD_ITEMS, item_decoder
from motorpool.codecs.devices.jt808.location import decode_location
from motorpool.codecs.devices.jt808.reassembly import PacketReassembler
from motorpool.codecs.devices.jt808.sent_commands import SentCommands
from motorpool.codecs.devices.jt808.terminal_message import TerminalMessage
from motorpool.codecs.devices.jt808.terminal_messages import (
    AUTHENTICATE,
    LOCATION,
    QUERY_MEDIA_CAPABILITIES,
    REGISTER,
    read_message,
)
from motorpool.codecs.devices.jt808.times import BEIJING, BEIJING_CLOCK, TerminalClock
from motorpool.codecs.devices.jt808.upload_framer import UploadChunk, UploadFramer
from motorpool.codecs.devices.jt808.vendors.commands import (
    VENDOR_COMMANDS,
    CommandTarget,
    is_frame,
    vendor_message,
)
from motorpool.codecs.devices.jt808.vendors.messages import time_response
from motorpool.codecs.devices.jt808.vendors.models import MODELS, STANDARD, model_of
from motorpool.codecs.devices.jt808.vendors.port_framing import E7Frame, TextFrame
from motorpool.codecs.devices.jt808.vendors.text_frames import encode_text, read_text, text_sender
from motorpool.codecs.devices.jt808.video_commands import VideoContext
from motorpool.codecs.errors import CodecError, FrameError, UnsupportedCommand
from motorpool.codecs.reports import (
    REQUEST_ALARM_FILES,
    REQUEST_SOUND_FORMAT,
    DeviceCommand,
    EncodedCommand,
    FrameRejected,
    Heartbeat,
    ImmediateReply,
    Login,
    Receipt,
    Report,
)

MAX_BITS_TEXT = 1024
"""Characters that are read of `jt808.alarmBits` and `jt808.statusBits`."""


class Jt808(DeviceCodec):
    """The platform's end of one connection."""

    name = "jt808"
    port = 5015
    files_port = 5563
    """Of files of alarms, where several servers share the other port: each has one of its own."""
    udp = True
    identity = "phone"
    carries_secret = True
    commands = COMMANDS | VENDOR_COMMANDS
    models = MODELS

    def __init__(self, zone: tzinfo = BEIJING) -> None:
        # What each location reads comes first, and so lies together in memory.
        self._framer = UploadFramer()
        self._location_head = b""
        """Of the last location of this sender: delimiter and header, unescaped, up to the serial."""
        self._location_bytes = 0
        """Its size, with both delimiters; 0 before the first."""
        self._location_receipts = 0
        self._clock = BEIJING_CLOCK if zone is BEIJING else TerminalClock(zone)
        self._words = STANDARD.words_2013
        self._items = STANDARD_ITEMS
        self._responses = responses.ResponseEncoder()
        # Made when first needed: most connections carry neither subpackaged messages nor files.
        self._reassembler: PacketReassembler | None = None
        self._uploads: AttachmentUploads | None = None
        self._sent_commands = SentCommands()
        self._known_model = STANDARD
        self._phone = b""
        self._identity: Identity | None = None
        self._announced_number = ""
        """The phone number of the last `Login`."""
        self._text_sender = ""
        """The identity of the last text."""
        self._identity_bits = 0

    def receive(self, data: bytes) -> list[Report]:
        """Return the reports of all messages that are complete; no input ends the stream."""
        # Nearly every read is one location with header and size of the one before: only its check byte has to
        # be verified.
        if self._framer.is_idle and 0 < data.find(b"~", 1) == len(data) - 1 and data[0] == DELIMITER:
            content = unescaped(data) if ESCAPE in data else data
            size, head = len(content), self._location_head
            if size == self._location_bytes and content.startswith(head) and not xor8(content):
                start = len(head) + 2
                receipt = self._location_receipts | (content[start - 2] << 8 | content[start - 1])
                end, words, items = size - 2, self._words, self._items
                return [decode_location(content, start, end, self._clock, words, items, receipt)]
        return self._receive_frames(data)

    def reseal(self, message: bytes) -> bytes:
        """Return a frame with the right check byte."""
        return with_right_check(message)

    def receive_datagram(self, data: bytes) -> list[Report]:
        """Return the reports of one datagram, whose last frame may lack its delimiter."""
        delimiter = {b"\xe7": b"\xe7", b"(": b")"}.get(data[:1], b"~")
        return self.receive(data if data.endswith(delimiter) else data + delimiter)

    def issue_code(self, code: str) -> None:
        """Have the next 0x8100 hold this authentication code."""
        self._responses.code = code

    def acknowledge(self, receipts: Sequence[Receipt]) -> bytes:
        """Return one response for each receipt, in the form of the message it belongs to."""
        if len(receipts) == 1:
            return self._responses.accept(receipts[0])
        return b"".join(map(self._responses.accept, receipts))

    def refuse(self, receipt: Receipt | None) -> bytes:
        """Return "no such terminal" for a registration and "failed" for anything else.

        A login without a receipt has no response: the message that caused it is refused by its own receipt.
        """
        return b"" if receipt is None else self._responses.refuse(receipt)

    def encode(self, command: DeviceCommand) -> EncodedCommand:
        """Return a command as one frame.

        `commands.py`, `video_commands.py` and `vendors/commands.py` describe the attributes.
        """
        if self._text_sender and (self._identity is None or command.unique_id == self._text_sender):
            return encode_text(command)
        identity = self._identity
        if identity is None or (command.unique_id and command.unique_id not in identity.unique_ids):
            identity = _identity_of(command, identity)  # another device of a gateway
        # No caller waits for the result of a command that the server sends by itself.
        is_internal = command.type in {REQUEST_ALARM_FILES, REQUEST_SOUND_FORMAT}
        target = CommandTarget(
            self._known_model, self.options, self.password, identity, self._clock, self.utc_now
        )
        vendors = vendor_message(command, target)
        if vendors is not None:
            message_id, body = vendors
        elif command.type == "custom":
            content = custom_bytes(command)
            if is_frame(content):
                return EncodedCommand(content)
            message_id, body = int.from_bytes(content[:2], "big"), content[2:]
        elif command.type == REQUEST_SOUND_FORMAT:
            message_id, body = QUERY_MEDIA_CAPABILITIES, b""
        elif is_internal:
            message_id = ATTACHMENT_REQUEST
            body = attachment_request(command, self.server_key, identity.number)
        else:
            context = VideoContext(self._clock, self.utc_now)
            message_id, body = encode_command(command, context, is_2019=identity.is_2019)
        if len(body) > MAX_BODY_BYTES:
            raise UnsupportedCommand(f"a body of {len(body)} bytes does not fit one message")
        serial = self._responses.next_serial()
        is_text = vendors is not None and command.type == "custom"
        reference = None if is_internal else self._sent_commands.add(message_id, serial, is_text=is_text)
        return EncodedCommand(encode_frame(identity, message_id, serial, body), reference)

    def tick(self, now: float) -> bytes:
        """Request missing packets after 5 s without one, and abandon their messages after 60 s."""
        self._sent_commands.forget_texts(now)
        if self._reassembler is None:
            return b""
        return b"".join(self._reassembler.resend_requests(now, self._responses.next_serial))

    def configure(self, model: str, attributes: Mapping[str, Any]) -> None:
        """Follow the device's model, what `jt808.alarmBits` and `jt808.statusBits` say of it, and
        `jt808.keepUnknown`.
        """
        super().configure(model, attributes)
        alarm_bits, status_bits = (str(self.options.get(key) or "") for key in ("alarmBits", "statusBits"))
        self._known_model = model_of(model, alarm_bits[:MAX_BITS_TEXT], status_bits[:MAX_BITS_TEXT])
        self._choose_items()

    def set_timezone(self, zone: tzinfo | None) -> None:
        """Set the zone of times in both directions, from the next message on."""
        self._clock = BEIJING_CLOCK if zone is None else TerminalClock(zone)

    @property
    def buffered(self) -> int:
        """At most 4 KiB of an unfinished frame, 64 KiB of a file and 1 MiB of incomplete messages."""
        reassembler = self._reassembler
        return self._framer.buffered + (reassembler.buffered if reassembler is not None else 0)

    def _receive_frames(self, data: bytes) -> list[Report]:
        reports: list[Report] = []
        for item in self._framer.receive(data):
            escaped: bytes
            if isinstance(item, bytes):
                escaped, is_e7 = item, False
            elif isinstance(item, E7Frame):
                escaped, is_e7 = item.content, True
            else:
                self._read_other(item, reports)
                continue
            try:
                frame = decode_frame(escaped, is_e7=is_e7)
            except CodecError as error:
                reports.append(rejected(error, escaped))
                continue
            if frame.phone != self._phone:
                self._identify_sender(frame, reports)
            try:
                if frame.message_id == LOCATION and not frame.total:
                    reports.append(self._read_location(frame))
                else:
                    self._read_message(frame, reports)
            except CodecError as error:
                reports.append(rejected(error, frame.content))
                reports.append(ImmediateReply(self._responses.refuse(self._receipt(frame), responses.BAD)))
        return reports

    def _read_location(self, frame: Frame) -> Report:
        content, start = frame.content, frame.start
        receipt = self._location_receipts | frame.serial
        end = len(content) - 1
        position = decode_location(content, start, end, self._clock, self._words, self._items, receipt)
        self._location_head = b"~" + content[: start - 2]
        self._location_bytes = len(content) + 2
        return position

    def _choose_items(self) -> None:
        self._words = self._known_model.words_of(self._identity is not None and self._identity.is_2019)
        keeps_unknown = self.keeps_unknown or bool(self.options.get("keepUnknown"))
        self._items = item_decoder(self._known_model, keeps_unknown=keeps_unknown)

    def _identify_sender(self, frame: Frame, reports: list[Report]) -> None:
        """Note a phone number that is new, or known in the other form; report a `Login` for a new one.

        Files of alarms arrive on a connection of their own, which must not replace the terminal's first one:
        its `Login` is reported with the next message of another kind, if there is one.
        """
        identity = Identity(frame.phone, frame.is_2019, frame.is_e7)
        self._identity = identity
        self._choose_items()
        key = identity.key
        self._responses.expect(identity, key)
        self._identity_bits = key << responses.IDENTITY_SHIFT
        self._location_receipts = responses.make_receipt(self._identity_bits, LOCATION, 0)
        self._location_bytes = 0
        if frame.message_id in UPLOAD_MESSAGES:
            self._phone = b""
            return
        self._phone = frame.phone
        is_new = self._announced_number != identity.number
        self._announced_number = identity.number
        if is_new and self.on_login is not None:
            self.on_login(identity.unique_ids)
        if is_new and (frame.message_id not in (REGISTER, AUTHENTICATE) or frame.total):
            reports.append(Login(identity.unique_ids))

    def _read_other(self, item: FrameRejected | UploadChunk | TextFrame, reports: list[Report]) -> None:
        """Append the reports of what is no frame with a header."""
        if isinstance(item, UploadChunk):
            reports.append(self._open_uploads().add_chunk(item))
        elif isinstance(item, FrameRejected):
            reports.append(item)
        else:
            self._read_text(item, reports)

    def _read_text(self, item: TextFrame, reports: list[Report]) -> None:
        unique_id = text_sender(item.content)
        if not unique_id:
            reports.append(rejected("a text without an identity", item.content))
            return
        if self._announced_number != unique_id or self._phone:
            self._phone, self._announced_number = b"", unique_id
            if self.on_login is not None:
                self.on_login((unique_id,))
            reports.append(Login((unique_id,)))
        self._text_sender = unique_id
        reports.extend(read_text(item.content, self.utc_now))

    def _read_message(self, frame: Frame, reports: list[Report]) -> None:
        identity = self._identity
        assert identity is not None
        body = frame.body
        if frame.total:
            reassembler = self._reassembler
            if reassembler is None:
                reassembler = self._reassembler = PacketReassembler()
            if reassembler.is_repeated(identity, frame):
                return
            joined = reassembler.add(identity, frame)
            if joined is None:
                # Each packet is answered; the last one with the response to the whole message.
                reports.append(Heartbeat(self._receipt(frame)))
                return
            body = joined
        message = TerminalMessage(
            frame.message_id,
            frame.serial,
            body,
            identity,
            self._identity_bits,
            frame.total > 0,
            self._clock,
            self._sent_commands,
            self._known_model,
            self._items,
            frame.answer_wanted,
        )
        is_upload = frame.message_id in UPLOAD_MESSAGES
        message_reports = (
            self._open_uploads().read(message, self.server_key) if is_upload else read_message(message)
        )
        if message_reports is not None:
            reports.extend(message_reports)
        response = time_response(frame.message_id, self.utc_now)
        if response is not None:
            answer = encode_frame(identity, response[0], self._responses.next_serial(), response[1])
            reports.append(ImmediateReply(answer))
        elif message_reports is None:
            reports.append(ImmediateReply(self._responses.refuse(message.receipt, responses.UNSUPPORTED)))

    def _open_uploads(self) -> AttachmentUploads:
        if self._uploads is None:
            self._uploads = AttachmentUploads(self._responses)
        return self._uploads

    def _receipt(self, frame: Frame) -> int:
        return responses.make_receipt(self._identity_bits, frame.message_id, frame.serial)


def _identity_of(command: DeviceCommand, other: Identity | None) -> Identity:
    """Return the identity of a peer that has not sent anything yet, or not lately."""
    try:
        return Identity.from_digits(
            command.unique_id,
            is_2019=other is not None and other.is_2019,
            is_e7=other is not None and other.is_e7,
        )
    except FrameError as error:
        if other is not None:
            return other
        raise UnsupportedCommand(str(error)) from None
