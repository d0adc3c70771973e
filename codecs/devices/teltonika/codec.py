"""The codec of Teltonika trackers, over TCP and UDP (docs/protocols/teltonika.md)."""

from collections.abc import Mapping
from typing import Any

from motorpool.codecs.checksums import crc16_arc
from motorpool.codecs.devices.base import add_positions
from motorpool.codecs.devices.framed_codec import MALFORMED, FramedCodec
from motorpool.codecs.devices.framing import Fixed, Framing, length_field, rejected
from motorpool.codecs.devices.teltonika import messages, records
from motorpool.codecs.devices.teltonika.elements import MODELS, family_of
from motorpool.codecs.errors import CodecError
from motorpool.codecs.reader import ByteReader
from motorpool.codecs.reports import (
    DeviceCommand,
    EncodedCommand,
    Heartbeat,
    PositionReport,
    Receipt,
    Report,
)

MAX_FRAME_BYTES = 64 << 10
_PING, _PREAMBLE = b"\xff", bytes(4)
_ACCEPTED, _REFUSED = b"\x01", b"\x00"
_HEADER_BYTES = 8
"""Preamble and length."""
MAX_IDENTITY = 20


def _is_identification(frame: bytes) -> bool:
    return 2 < len(frame) <= 2 + MAX_IDENTITY and frame[2:].isalnum()


class Teltonika(FramedCodec):
    """The server's end of one connection, or of one UDP address."""

    name = "teltonika"
    port = 5027
    udp = True
    commands = frozenset(("custom", *messages.COMMANDS))
    models = MODELS
    framing = Framing(
        Fixed(_PING, 1),
        length_field(_PREAMBLE, offset=4, size=4, adjustment=4),
        length_field(b"\x00", offset=0, size=2, accepts=_is_identification),
        max_frame_bytes=MAX_FRAME_BYTES,
    )

    def __init__(self) -> None:
        super().__init__()
        self._family = family_of("")
        self._has_long_values = False
        self._photo: messages.Photo | None = None

    def read_frame(self, frame: bytes, reports: list[Report]) -> None:
        """Read an identification or a packet."""
        if frame == _PING:
            return
        if not frame.startswith(_PREAMBLE):
            self.identify(frame[2:].decode("ascii"), reports, _ACCEPTED)
            return
        data = frame[_HEADER_BYTES:-4]
        if int.from_bytes(frame[-4:], "big") != crc16_arc(data):
            self.accept_checksum_error()
        self.identify("", reports)
        answer = data[1:2].rjust(4, b"\x00")
        self._read_data(frame, ByteReader(data), answer, reports)

    def receive_datagram(self, data: bytes) -> list[Report]:
        """Return the reports of one datagram, which names its device."""
        reports: list[Report] = []
        try:
            reader = ByteReader(data)
            reader.skip(2)
            packet_id = reader.take(2)
            reader.skip(1)
            avl_id = reader.take(1)
            identity = reader.ascii(reader.uint16())
            if not 0 < len(identity) <= MAX_IDENTITY or not identity.isalnum():
                raise CodecError("a datagram without an IMEI")
            self.identify(identity, reports)
            count = reader.peek(2)[1:]
            self._read_data(data, reader, b"\x00\x05" + packet_id + b"\x01" + avl_id + count, reports)
        except MALFORMED as error:
            reports.append(rejected(error, data))
        return reports

    def configure(self, model: str, attributes: Mapping[str, Any]) -> None:
        """Follow the device's model, on which the meaning of many elements depends."""
        super().configure(model, attributes)
        self._family = family_of(self.model)
        self._has_long_values = bool(self.options.get("extended"))

    def reseal(self, message: bytes) -> bytes:
        """Return a packet of a connection with the right CRC."""
        if not message.startswith(_PREAMBLE) or len(message) < _HEADER_BYTES + 4:
            return message
        return message[:-4] + crc16_arc(message[_HEADER_BYTES:-4]).to_bytes(4, "big")

    def refuse(self, receipt: Receipt | None) -> bytes:
        """Return 00 for an identification; other messages have no such answer."""
        super().refuse(receipt)
        return _REFUSED if receipt == _ACCEPTED else b""

    def encode(self, command: DeviceCommand) -> EncodedCommand:
        """Return a packet of codec 12; `data` of `custom` is a text, or bytes in hexadecimal digits."""
        return EncodedCommand(messages.command_frame(command))

    @property
    def buffered(self) -> int:
        """At most 64 KiB of an unfinished packet and 1 MiB of a photo."""
        return super().buffered + (len(self._photo.content) if self._photo is not None else 0)

    def _read_data(self, frame: bytes, reader: ByteReader, answer: bytes, reports: list[Report]) -> None:
        """Append the reports of a packet's or datagram's content; `answer` acknowledges records."""
        codec, count = reader.uint8(), reader.uint8()
        if codec in messages.MESSAGE_CODECS:
            for _ in range(count):
                self._photo = messages.read_message(codec, reader, self._photo, reports)
            return
        if codec not in records.RECORD_CODECS:
            raise CodecError(f"an unknown codec {codec}")
        found: list[PositionReport] = []
        try:
            # One after the other, so that those before a malformed one are kept.
            found.extend(self._read_record(codec, reader) for _ in range(count))
        except MALFORMED as error:
            # The device sends all of it again unless all of it is acknowledged.
            reports += (*found, rejected(error, frame), Heartbeat(answer))
            return
        add_positions(found, answer, reports)

    def _read_record(self, codec: int, reader: ByteReader) -> PositionReport:
        if codec == records.CODEC_7:
            return records.read_record_of_codec_7(reader)
        return records.read_record(codec, reader, self._family, has_long_values=self._has_long_values)
