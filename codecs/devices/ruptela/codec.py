"""The codec of Ruptela trackers (docs/protocols/ruptela.md)."""

from motorpool.codecs.devices.base import add_positions
from motorpool.codecs.devices.framed_codec import MALFORMED, FramedCodec
from motorpool.codecs.devices.framing import Framing, rejected
from motorpool.codecs.devices.ruptela import frames
from motorpool.codecs.devices.ruptela.commands import COMMANDS, command_frame
from motorpool.codecs.devices.ruptela.photos import FILES, PART, Photo, read_part
from motorpool.codecs.devices.ruptela.records import RawRecord, read_records, read_trouble_code, report_of
from motorpool.codecs.errors import CodecError
from motorpool.codecs.reader import ByteReader
from motorpool.codecs.reports import (
    DeviceCommand,
    EncodedCommand,
    Heartbeat,
    PositionReport,
    Report,
    UnknownMessage,
)

RECORDS, EXTENDED_RECORDS, TROUBLE_CODES = 1, 68, 9
PACKETS = frozenset((RECORDS, EXTENDED_RECORDS, TROUBLE_CODES))
"""Commands that are answered when all of their positions are stored."""
IDENTIFICATION, HEARTBEAT, OUTPUT = 15, 16, 17
TEXT_ANSWERS = frozenset((2, 3, 4, 7))
_RECORDS_STORED = frames.server_frame(0, b"\x01")
_CODES_STORED = frames.server_frame(TROUBLE_CODES, b"\x01")


class Ruptela(FramedCodec):
    """The server's end of one connection."""

    name = "ruptela"
    port = 5046
    commands = COMMANDS
    framing = Framing(frames.BodyWithCrc(), max_frame_bytes=frames.MAX_FRAME_BYTES)

    def __init__(self) -> None:
        super().__init__()
        self._photo: Photo | None = None

    def read_frame(self, frame: bytes, reports: list[Report]) -> None:
        """Read one frame."""
        is_right = frames.has_right_crc(frame, 0, len(frame))
        if not is_right:
            size = int.from_bytes(frame[: frames.LENGTH_BYTES], "big")
            if len(frame) != frames.LENGTH_BYTES + size + frames.CRC_BYTES:
                raise CodecError("a frame that was cut off")
            self.accept_checksum_error()
        reader = ByteReader(frame[frames.LENGTH_BYTES : -frames.CRC_BYTES])
        imei = reader.uint(frames.IMEI_BYTES)
        self.identify(f"{imei:015}" if imei else "", reports)
        command = reader.uint8()
        if command in PACKETS:
            self._add_packet(command, reader, frame, reports, is_right=is_right)
        elif command in (IDENTIFICATION, HEARTBEAT):
            reports.append(Heartbeat(frames.server_frame(command, b"\x01")))
        elif command in TEXT_ANSWERS:
            text = reader.rest().decode("ascii", "replace").strip("\0\r\n ")
            attributes = {"result": text, "type": command}
            reports.append(PositionReport(attributes, located=False) if text else Heartbeat())
        elif command == OUTPUT:
            attributes = {"result": str(reader.uint8()), "type": command}
            reports.append(PositionReport(attributes, located=False))
        elif command == FILES and reader.peek(1) == bytes((PART,)):
            reader.skip(1)
            self._photo = read_part(reader, self._photo, reports)
        else:
            reports.append(UnknownMessage(frame, str(command)))

    def reseal(self, message: bytes) -> bytes:
        """Return a frame with the right CRC."""
        return frames.with_right_crc(message) if len(message) > frames.LENGTH_BYTES else message

    def encode(self, command: DeviceCommand) -> EncodedCommand:
        """Return a frame; `data` of `custom` is a text message, or all bytes of a frame in hexadecimal."""
        return EncodedCommand(command_frame(command, self.password))

    @property
    def buffered(self) -> int:
        """At most 64 KiB of an unfinished frame and 1 MiB of a photo."""
        return super().buffered + (len(self._photo.content) if self._photo is not None else 0)

    def _add_packet(
        self, command: int, reader: ByteReader, frame: bytes, reports: list[Report], *, is_right: bool
    ) -> None:
        """Append the positions of a packet, of which the last has the answer to all of it.

        Of a malformed one those before the fault are kept, and it is answered: the device would send it again
        for ever. With a wrong CRC it was damaged on the way, and is to be sent again.
        """
        answer = _CODES_STORED if command == TROUBLE_CODES else _RECORDS_STORED
        records: list[RawRecord] = []
        found: list[PositionReport] = []
        fault: Exception | None = None
        try:
            if command == TROUBLE_CODES:
                count = reader.uint8()
                found.extend(read_trouble_code(reader) for _ in range(count))
            else:
                read_records(reader, records, is_extended=command == EXTENDED_RECORDS)
        except MALFORMED as error:
            if not is_right:
                raise
            fault = error
        found.extend(report_of(record) for record in records)
        if fault is not None:
            reports += (*found, rejected(fault, frame), Heartbeat(answer))
        else:
            add_positions(found, answer, reports)
