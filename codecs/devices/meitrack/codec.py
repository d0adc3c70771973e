"""The codec of Meitrack trackers (docs/protocols/meitrack.md)."""

import re
from typing import Final

from motorpool.codecs.checksums import sum8
from motorpool.codecs.devices.command_values import integer, printable
from motorpool.codecs.devices.framed_codec import FramedCodec
from motorpool.codecs.devices.framing import Framing, TextLength
from motorpool.codecs.devices.meitrack.binary import read_fixed_records, read_parameter_records
from motorpool.codecs.devices.meitrack.photo import PHOTO_NAME, Photo
from motorpool.codecs.devices.meitrack.texts import MODELS, is_record, read_text
from motorpool.codecs.errors import CodecError, UnsupportedCommand
from motorpool.codecs.reports import (
    DeviceCommand,
    EncodedCommand,
    Heartbeat,
    PositionReport,
    Receipt,
    Report,
    UnknownMessage,
)

MAX_FRAME_BYTES = 66_000
MAX_TEXT = 1000
_HEADER = re.compile(rb"\$\$(.)[0-9]{1,8},([0-9]{10,20}),([0-9A-Z]{3})(?=[,*])", re.DOTALL)
_CHECK = re.compile(rb"\*([0-9A-Fa-f]{2})[\r\n]*\Z")
_END = re.compile(rb"\*[0-9A-Fa-f]{2}\r\n|\r\n(?=\$\$)")
"""The end of a frame whose length is wrong."""
_COMMANDS: Final = {
    "positionSingle": "A10",
    "engineStop": "C01,0,12222",
    "engineResume": "C01,0,02222",
    "alarmArm": "C01,0,22122",
    "alarmDisarm": "C01,0,22022",
}
_ALTERNATIVES: Final = {"alarmArm": "B21,1", "alarmDisarm": "B21,0"}
_OUTCOMES = frozenset(("OK", "ERROR"))


class Meitrack(FramedCodec):
    """The server's end of one connection, or of one UDP address."""

    name = "meitrack"
    port = 5020
    udp = True
    commands = frozenset(("custom", "requestPhoto", "sendSms", *_COMMANDS))
    models = MODELS
    framing = Framing(
        TextLength(b"$$", offset=3, until=b",", end=b"\n", end_pattern=_END),
        max_frame_bytes=MAX_FRAME_BYTES,
        ignored=b"\r\n",
    )

    def __init__(self) -> None:
        super().__init__()
        self._photo = Photo()

    def read_frame(self, frame: bytes, reports: list[Report]) -> None:
        """Read one frame."""
        header, check = _HEADER.match(frame), _CHECK.search(frame)
        if header is None:
            raise CodecError("a frame without an IMEI and a type")
        if check is None:
            raise CodecError("a frame without its end")
        if int(check[1], 16) != sum8(frame[: check.start() + 1]):
            self.accept_checksum_error()
        flag, identity, kind = header[1], header[2].decode(), header[3].decode()
        content = frame[header.end() + 1 : check.start()]
        if identity != self.unique_id:
            self._photo.clear()
        self.identify(identity, reports)
        match kind:
            case "AAC":
                reports.append(Heartbeat(server_frame(b"z", identity, "AAC,1")))
            case "CCC":
                count = read_fixed_records(content, reports)
                reports.append(Heartbeat(server_frame(flag, identity, f"CCC,{count}")))
            case "CCE":
                read_parameter_records(content, reports)
            case "D00":
                self._read_photo(content, identity, reports)
            case "D03":
                self._photo.clear()
                reports.append(Heartbeat(_photo_request(identity, f"{PHOTO_NAME},0")))
            case "D82":
                reports.append(PositionReport({"result": _text(content)}, located=False))
            case _:
                self._read_text(kind, frame, _text(content), reports)

    def reseal(self, message: bytes) -> bytes:
        """Return a frame with the right check value."""
        check = _CHECK.search(message)
        if check is None:
            return message
        return b"%b%02X%b" % (
            message[: check.start(1)],
            sum8(message[: check.start() + 1]),
            message[check.end(1) :],
        )

    def refuse(self, receipt: Receipt | None) -> bytes:
        """Return nothing, and forget a photo."""
        self._photo.clear()
        return super().refuse(receipt)

    def encode(self, command: DeviceCommand) -> EncodedCommand:
        """Return `@@A<length>,<IMEI>,<text>*<sum>` with the text of a command."""
        identity = command.unique_id or self.unique_id
        return EncodedCommand(server_frame(b"A", identity, self._command_text(command)))

    @property
    def buffered(self) -> int:
        """At most `MAX_FRAME_BYTES`, the first bytes of rejected data, and a photo."""
        return super().buffered + self._photo.size

    def _read_text(self, kind: str, frame: bytes, text: str, reports: list[Report]) -> None:
        values = text.split(",")
        if is_record(values):
            reports.append(read_text(values, self.model))
        elif values[-1].strip().upper() in _OUTCOMES:
            reports.append(PositionReport({"result": f"{kind},{text}"}, located=False))
        else:
            reports.append(UnknownMessage(frame, kind))

    def _read_photo(self, content: bytes, identity: str, reports: list[Report]) -> None:
        outcome = self._photo.add(content)
        if isinstance(outcome, str):
            reports.append(Heartbeat(_photo_request(identity, outcome)))
        else:
            reports.append(outcome or Heartbeat())

    def _command_text(self, command: DeviceCommand) -> str:
        attributes = command.attributes
        match command.type:
            case "custom":
                return printable(attributes, "data", MAX_TEXT)
            case "sendSms":
                phone = printable(attributes, "phone", MAX_TEXT)
                if "," in phone:
                    raise UnsupportedCommand("phone must be a telephone number")
                return f"C02,0,{phone},{printable(attributes, 'message', MAX_TEXT)}"
            case "requestPhoto":
                index = integer(attributes, "index", 1, 0, 99, "number of a camera")
                return f"D03,{index},{PHOTO_NAME}"
            case kind if kind in _COMMANDS:
                if self.options.get("alternative") and kind in _ALTERNATIVES:
                    return _ALTERNATIVES[kind]
                return _COMMANDS[kind]
            case _:
                raise UnsupportedCommand(f"meitrack has no message for {command.type}")


def server_frame(flag: bytes, identity: str, text: str) -> bytes:
    """Return a frame of the server; the length counts from the comma before the IMEI to the line end."""
    content = f",{identity},{text}*".encode()
    frame = b"@@" + flag + b"%d" % (len(content) + 4) + content
    return frame + b"%02X\r\n" % sum8(frame)


def _photo_request(identity: str, packet: str) -> bytes:
    return server_frame(b"O", identity, f"D00,{packet}")


def _text(content: bytes) -> str:
    return content.decode("ascii", "replace")
