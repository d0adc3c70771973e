"""The codec of GT06: Concox, Jimi, and many clones (docs/protocols/gt06.md)."""

from collections.abc import Callable, Mapping
from datetime import UTC, timedelta, timezone, tzinfo
from struct import Struct
from typing import Final

from motorpool.codecs.checksums import crc16_x25
from motorpool.codecs.devices.framed_codec import MALFORMED, FramedCodec
from motorpool.codecs.devices.framing import Framing, length_field, rejected
from motorpool.codecs.devices.gt06 import cells, extended, locations, makers, photos, states
from motorpool.codecs.devices.gt06.command_texts import TEXT_COMMANDS, command_text
from motorpool.codecs.devices.gt06.models import MODELS
from motorpool.codecs.devices.gt06.record import Message, Record
from motorpool.codecs.devices.gt06.results import read_answer, read_text_answer
from motorpool.codecs.errors import CodecError
from motorpool.codecs.reader import ByteReader
from motorpool.codecs.reports import (
    DeviceCommand,
    EncodedCommand,
    Heartbeat,
    ImmediateReply,
    Report,
    UnknownMessage,
)

MAX_FRAME_BYTES = 66_000
"""A length of two bytes, and what it does not count."""
LOGIN, ANSWER, TEXT_ANSWER, COMMAND = 0x01, 0x15, 0x21, 0x80
ADDRESS_REQUEST, NO_ADDRESS, TIME_REQUEST = 0x2A, 0x97, 0x8A
_SHORT, _LONG, _END = b"\x78\x78", b"\x79\x79", b"\r\n"
_TRAILER = Struct(">HH")
"""Serial number and CRC."""
_LEAST_BYTES = 10
_MAX_CHECKED_BYTES = 512
"""Of a frame whose length says more; a peer must not have the check value of long ones computed each time."""
_UNCOUNTED = 5
"""Bytes of a short frame that its length does not count."""
_LOGIN_WITH_ZONE = 12
_ADDRESS_TEXT = b"NA&&NA&&0##"
_ENGLISH = 2

_Read = Callable[[Record, Message], None]
_COUNTED = frozenset((0x17, 0x69))
"""Types whose length may be a number of access points."""
_READ: Final[Mapping[int, _Read]] = {
    0x13: states.read_states,
    0x23: states.read_heartbeat,
    0x36: states.read_states_with_modules,
    0x40: makers.read_battery_management,
    0x61: locations.read_key,
    0x70: extended.read_modular,
    0x8C: makers.read_obd,
    0x9B: extended.read_serial_data,
    0xB2: makers.read_clock_in,
    0xF1: extended.read_status_values,
    0xF2: extended.read_peripheral,
    0xA3: states.read_states,
    0xA4: states.read_states,
    **dict.fromkeys((0x18, 0x24, 0x28, 0x2C, 0x2E, 0x33, 0x34, 0xA1, 0xA2, 0xA9), cells.read_cells),
    **dict.fromkeys((0x19, 0xA5, 0xA7), cells.read_cell_and_states),
    0x69: cells.read_access_points,
    0xF3: cells.read_access_points,
    0x94: extended.read_voltage,
    0x95: extended.read_camera_alarm,
}
"""Readers of messages without a GPS block, by type."""
_READ_LONG: Final[Mapping[int, _Read]] = {
    **{kind: read for kind, read in _READ.items() if kind != photos.PART},
    0x32: makers.read_az735,
    0x33: makers.read_az735,
    0x94: extended.read_information,
    0x98: extended.read_identities,
}
_LONG_ANSWERS = frozenset((0x32, 0x33, photos.MULTIMEDIA))
"""Types after 7979 whose answer begins with 7979 too."""
_SPACE10X_LENGTH = 0x17
"""From this length on a type 19 has cells in a form that is not known."""


def _has_right_crc(frame: bytes) -> bool:
    if not _LEAST_BYTES <= len(frame) <= _MAX_CHECKED_BYTES:
        return False
    return int.from_bytes(frame[-4:-2], "big") == crc16_x25(frame[2:-4])


class Gt06(FramedCodec):
    """The server's end of one connection."""

    name = "gt06"
    port = 5023
    commands = frozenset(("custom", *TEXT_COMMANDS))
    models = MODELS
    framing = Framing(
        length_field(_SHORT, offset=2, size=1, adjustment=2, end=_END, is_whole=_has_right_crc),
        length_field(_LONG, offset=2, size=2, adjustment=2, end=_END, is_whole=_has_right_crc),
        max_frame_bytes=MAX_FRAME_BYTES,
        ignored=_END,
    )

    def __init__(self) -> None:
        super().__init__()
        self._login_zone: tzinfo = UTC
        """Zone of the device's clock that its login named."""
        self._zone: tzinfo | None = None
        """The time zone configured for the device; None: the one in its login."""
        self._photo: photos.Photo | None = None

    def read_frame(self, frame: bytes, reports: list[Report]) -> None:
        """Read one frame."""
        is_long = frame.startswith(_LONG)
        start = 4 if is_long else 3
        length, kind = int.from_bytes(frame[2:start], "big"), frame[start]
        if kind in _COUNTED and not is_long and len(frame) != length + _UNCOUNTED:
            self.identify("", reports)
            answer = _SHORT + bytes((0, kind)) + frame[4:10] + _END
            message = Message(kind, length, ByteReader(frame[4:-2]))
            self._add_record(cells.read_counted_access_points, message, answer, reports)
            return
        if len(frame) < start + 1 + _TRAILER.size + len(_END):
            raise CodecError("a frame without serial number and check value")
        serial, crc = _TRAILER.unpack(frame[-6:-2])
        if crc != crc16_x25(frame[2:-4]):
            self.accept_checksum_error()
        reader = ByteReader(frame[start + 1 : -6])
        if kind == LOGIN:
            self._read_login(reader, serial, reports)
            return
        self.identify("", reports)
        answer = _frame(kind, b"", serial, is_long=is_long and kind in _LONG_ANSWERS)
        message = Message(kind, length, reader)
        read = (_READ_LONG if is_long else _READ).get(kind)
        if not is_long and locations.is_location(message, self.model):
            read = locations.read_location
        elif kind == 0x19 and length >= _SPACE10X_LENGTH:
            read = None
        try:
            if kind == TIME_REQUEST:
                self._answer_time(serial, reports)
            elif kind == ADDRESS_REQUEST:
                content = bytes((4 + len(_ADDRESS_TEXT),)) + bytes(4) + _ADDRESS_TEXT
                reports.append(ImmediateReply(_frame(NO_ADDRESS, content, serial, is_long=True)))
            elif kind == ANSWER:
                reports.append(read_answer(reader, answer))
            elif kind == TEXT_ANSWER:
                reports.append(read_text_answer(reader, answer))
            elif kind == photos.ANNOUNCEMENT and not is_long:
                self._photo = photos.read_announcement(reader)
                reports.append(ImmediateReply(_photo_request(self._photo)))
            elif is_long and kind in (photos.PART, photos.MULTIMEDIA):
                self._read_photo(kind, reader, answer, reports)
            elif read is not None:
                self._add_record(read, message, answer, reports)
            else:
                reports.append(UnknownMessage(frame, f"{kind:02x}", answer))
        except MALFORMED as error:
            # Without an answer it would be sent again for ever.
            reports += (rejected(error, frame), Heartbeat(answer))

    def reseal(self, message: bytes) -> bytes:
        """Return a frame with the right CRC; one with a wrong length is none."""
        at = 3 if message.startswith(_SHORT) else 4
        length = int.from_bytes(message[2:at], "big")
        if (
            not message.startswith((_SHORT, _LONG))
            or not message.endswith(_END)
            or len(message) != max(at + length + len(_END), _LEAST_BYTES)
        ):
            return message
        return message[:-4] + crc16_x25(message[2:-4]).to_bytes(2, "big") + _END

    @property
    def buffered(self) -> int:
        """At most `MAX_FRAME_BYTES`, the first bytes of rejected data, and 1 MiB of a photo."""
        return super().buffered + (len(self._photo.content) if self._photo is not None else 0)

    def set_timezone(self, zone: tzinfo | None) -> None:
        """Set the time zone of the device's clock; None: the one in its login, else UTC."""
        self._zone = zone

    def encode(self, command: DeviceCommand) -> EncodedCommand:
        """Return a message 80 with the text of a command; for `custom` commands the text is `data`."""
        text = command_text(command, self.model, self.options, self.password)
        content = bytes((4 + len(text),)) + bytes(4) + text
        if self.options.get("language"):
            content += _ENGLISH.to_bytes(2, "big")
        return EncodedCommand(_frame(COMMAND, content, 0))

    def _add_record(self, read: _Read, message: Message, answer: bytes, reports: list[Report]) -> None:
        record = Record(zone=self._zone or self._login_zone, model=self.model)
        try:
            read(record, message)
        except MALFORMED:
            if not record.located:
                raise
            # What follows the place may be another maker's.
        reports.append(record.report_or_heartbeat(answer))

    def _read_photo(self, kind: int, reader: ByteReader, answer: bytes, reports: list[Report]) -> None:
        """Read a part of a photo; the device is asked for the next one of those that it announced."""
        if kind == photos.PART:
            self._photo, file = photos.read_part(reader, self._photo)
        else:
            self._photo, file = photos.read_multimedia(reader, self._photo, answer)
        if file is not None:
            self._photo = None
            reports.append(file)
        elif kind == photos.PART and self._photo is not None:
            reports.append(ImmediateReply(_photo_request(self._photo)))
        else:
            reports.append(Heartbeat(answer))

    def _read_login(self, reader: ByteReader, serial: int, reports: list[Report]) -> None:
        has_zone = reader.remaining >= _LOGIN_WITH_ZONE
        identity = reader.digits(8)
        if not identity.isdecimal():
            raise CodecError("a login without an IMEI")
        self._login_zone, self._photo = UTC, None
        if has_zone:
            reader.skip(2)
            self._login_zone = _zone_of(reader.uint16())
        self.identify(identity[1:], reports, _frame(LOGIN, b"", serial))

    def _answer_time(self, serial: int, reports: list[Report]) -> None:
        if self.utc_now is None:
            raise CodecError("the time is not known")
        now = self.utc_now()
        content = bytes((now.year % 100, now.month, now.day, now.hour, now.minute, now.second))
        reports.append(ImmediateReply(_frame(TIME_REQUEST, content, serial)))


def _photo_request(photo: photos.Photo) -> bytes:
    return _frame(photos.PART, photo.request(), 0)


def _zone_of(word: int) -> tzinfo:
    """Return the zone of a login: hours and minutes as a decimal number, and whether it is west."""
    hours, minutes = divmod(word >> 4, 100)
    offset = timedelta(hours=hours, minutes=minutes)
    if offset >= timedelta(hours=24):
        return UTC
    return timezone(-offset if word & 8 else offset)


def _frame(kind: int, content: bytes, serial: int, *, is_long: bool = False) -> bytes:
    """Return a frame of the server."""
    length = len(content) + _UNCOUNTED
    counted = (
        length.to_bytes(2 if is_long else 1, "big") + bytes((kind,)) + content + serial.to_bytes(2, "big")
    )
    return (_LONG if is_long else _SHORT) + counted + crc16_x25(counted).to_bytes(2, "big") + _END
