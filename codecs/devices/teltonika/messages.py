"""Texts and photos: codecs 12 to 15 (docs/protocols/teltonika.md#messages)."""

import re
from datetime import UTC, datetime
from typing import Any, Final

from motorpool.codecs.checksums import crc16_arc
from motorpool.codecs.errors import CodecError, UnsupportedCommand
from motorpool.codecs.reader import ByteReader
from motorpool.codecs.reports import (
    DeviceCommand,
    Heartbeat,
    ImmediateReply,
    MediaFile,
    PositionReport,
    Report,
)

CODEC_12, CODEC_13, CODEC_14, CODEC_15 = 0x0C, 0x0D, 0x0E, 0x0F
MESSAGE_CODECS: Final = frozenset((CODEC_12, CODEC_13, CODEC_14, CODEC_15))
COMMANDS: Final = {"engineStop": b"setdigout 1", "engineResume": b"setdigout 0"}
COMMAND, CAMERA, MISMATCH = 0x05, 0x0D, 0x11
MAX_TEXT_BYTES = 4096
MAX_PHOTO_BYTES = 1 << 20
PART_BYTES = 2048
_START, _DATA = 1, 2
_PRINTABLE = re.compile(r"[ -~\r\n\t]*")
_HEX = re.compile(r"(?:[0-9A-Fa-f]{2})+")
_LOADS = ("loadTruck", "loadTrailer", "totalTruck", "totalTrailer")


def _message(kind: int, content: bytes) -> bytes:
    """Return a packet of a TCP connection with one message of codec 12."""
    data = b"\x0c\x01" + bytes((kind,)) + len(content).to_bytes(4, "big") + content + b"\x01"
    return bytes(4) + len(data).to_bytes(4, "big") + data + crc16_arc(data).to_bytes(4, "big")


def command_frame(command: DeviceCommand) -> bytes:
    """Return the packet of a command.

    Raises:
        UnsupportedCommand: there is no text for it, or it is too long.
    """
    if command.type != "custom":
        if command.type not in COMMANDS:
            raise UnsupportedCommand(f"teltonika has no message for {command.type}")
        return _message(COMMAND, COMMANDS[command.type])
    text = command.attributes.get("data")
    if not isinstance(text, str) or not text or len(text) > MAX_TEXT_BYTES:
        raise UnsupportedCommand(f"data must be a text of 1 to {MAX_TEXT_BYTES} characters")
    if _HEX.fullmatch(text):
        return _message(COMMAND, bytes.fromhex(text))
    if not text.isascii():
        raise UnsupportedCommand("data must be ASCII text, or bytes in hexadecimal digits")
    return _message(COMMAND, text.encode())


class Photo:
    """The photo that a camera is sending."""

    def __init__(self, number: int, size: int) -> None:
        self.number = number
        self.size = size
        """Bytes in all."""
        self.content = bytearray()

    def request(self) -> bytes:
        """Return the packet that asks for the next part."""
        offset = len(self.content)
        part = min(PART_BYTES, self.size - offset)
        content = (
            b"\x02" + self.number.to_bytes(4, "big") + offset.to_bytes(4, "big") + part.to_bytes(2, "big")
        )
        return _message(CAMERA, content)


def read_message(codec: int, reader: ByteReader, photo: Photo | None, reports: list[Report]) -> Photo | None:
    """Append the report of one message of codec 12 to 15; return the photo that is not complete yet."""
    kind = reader.uint8()
    content = reader.reader(reader.uint32())
    if codec == CODEC_12 and kind == CAMERA:
        return _read_photo(content, photo, reports)
    moment = None
    if codec in (CODEC_13, CODEC_15):
        moment = datetime.fromtimestamp(content.uint32(), UTC)
    if codec in (CODEC_14, CODEC_15):
        content.skip(8)
        if codec == CODEC_14 and kind == MISMATCH:
            _add_text(reports, b"the IMEI of the command is not that of the device", {"type": kind}, None)
            return photo
    _add_text(reports, content.rest(), {"type": kind}, moment)
    return photo


def _add_text(
    reports: list[Report], data: bytes, attributes: dict[str, Any], moment: datetime | None
) -> None:
    text = data.decode("ascii", "replace").strip("\r\n\0 ")
    if not _PRINTABLE.fullmatch(text):
        text = data.hex()
    if text.startswith("UUUUww") and text.endswith("SSS"):
        _add_weights(attributes, text.removeprefix("UUUUww").removesuffix("SSS"))
    elif text.startswith("GTSL|"):
        fields = text.split("|")
        if len(fields) > 4 and fields[4]:
            attributes["driverUniqueId"] = fields[4]
        else:
            attributes["result"] = text
    elif text:
        attributes["result"] = text
    if attributes.keys() - {"type"}:
        reports.append(PositionReport(attributes, moment, located=False))
    else:
        reports.append(Heartbeat())


def _add_weights(attributes: dict[str, Any], text: str) -> None:
    values = [float(field) for field in text.strip(";").split(";")]
    if len(values) < 8 + len(_LOADS):
        raise CodecError("fewer than 12 weights")
    for number, value in enumerate(values[:8], 1):
        attributes[f"axle{number}"] = value
    attributes.update(zip(_LOADS, values[8:], strict=False))


def _read_photo(content: ByteReader, photo: Photo | None, reports: list[Report]) -> Photo | None:
    step = content.uint8()
    number = content.uint32()
    if step == _START:
        size = content.uint32()
        if not 0 < size <= MAX_PHOTO_BYTES:
            raise CodecError(f"a photo of {size} bytes, more than {MAX_PHOTO_BYTES} or none")
        photo = Photo(number, size)
    elif step == _DATA:
        offset, size = content.uint32(), content.uint16()
        if photo is None or photo.number != number or offset != len(photo.content):
            raise CodecError("a part of a photo that was not asked for")
        photo.content += content.take(size)
        if len(photo.content) >= photo.size:
            reports.append(MediaFile("image", "jpg", bytes(photo.content[: photo.size])))
            return None
        if not size:
            raise CodecError("an empty part of a photo")
    else:
        raise CodecError(f"an unknown message {step} of a camera")
    reports.append(ImmediateReply(photo.request()))
    return photo
