"""The codec of Queclink trackers: texts and binary frames, over TCP and UDP (docs/protocols/gl200.md)."""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from motorpool.codecs.devices.command_values import printable
from motorpool.codecs.devices.framed_codec import FramedCodec
from motorpool.codecs.devices.framing import Framing, Line, Measured
from motorpool.codecs.devices.gl200.binary import read_binary
from motorpool.codecs.devices.gl200.events import READERS
from motorpool.codecs.devices.gl200.fields import time_of
from motorpool.codecs.devices.gl200.frames import HEADER_BYTES, is_binary, is_item_frame, measure
from motorpool.codecs.devices.gl200.item_frames import read_items
from motorpool.codecs.devices.gl200.models import MODELS, model_of
from motorpool.codecs.devices.gl200.other import read_other
from motorpool.codecs.devices.gl200.position_reports import read_eri, read_fri
from motorpool.codecs.devices.gl200.record import Message
from motorpool.codecs.devices.gl200.vehicle_bus import read_can, read_obd
from motorpool.codecs.errors import CodecError, UnsupportedCommand
from motorpool.codecs.reports import (
    DeviceCommand,
    EncodedCommand,
    Heartbeat,
    PositionReport,
    Report,
    UnknownMessage,
)
from motorpool.codecs.text_fields import TextFields

MAX_FRAME_BYTES = 8192
MAX_TEXT = 1000
_HEADER = re.compile(r"\+(RESP|BUFF|ACK):GT([A-Z0-9]{3})")
_IDENTITY = re.compile(r"[0-9]{15}|[0-9A-Fa-f]{14}")
_VERSION = re.compile(r"[0-9A-Z]{6}|[0-9A-Z]{10}|")
_VIN = re.compile(r"[0-9A-HJ-NPR-Z]{17}")
_COUNT = re.compile(r"[0-9A-Fa-f]{1,4}")
_READERS: Final = {
    **dict.fromkeys(("FRI", "RTL", "GEO", "DOG", "STR", "CTN"), read_fri),
    "ERI": read_eri,
    "OBD": read_obd,
    "CAN": read_can,
    **READERS,
}
_REQUESTS: Final = {"positionSingle": 1, "deviceIdentification": 8, "rebootDevice": 3}
_OUTPUTS: Final = {"engineStop": 1, "engineResume": 0}


class Gl200(FramedCodec):
    """The server's end of one connection, or of one UDP address."""

    name = "gl200"
    port = 5004
    udp = True
    commands = frozenset(("custom", *_REQUESTS, *_OUTPUTS))
    models = MODELS
    framing = Framing(
        Measured(b"", HEADER_BYTES, measure),
        Line(b"$", b"\0", start=b"+"),
        max_frame_bytes=MAX_FRAME_BYTES,
        ignored=b"\r\n\0",
    )

    def read_frame(self, frame: bytes, reports: list[Report]) -> None:
        """Read a text or a binary frame."""
        if is_item_frame(frame):
            read_items(frame, reports, self.identify)
        elif is_binary(frame):
            read_binary(frame, reports, self.identify)
        else:
            self._read_text(frame, reports)

    def encode(self, command: DeviceCommand) -> EncodedCommand:
        """Return `AT+GT…$`, or the text of a `custom` command (`data`) with `$` at its end."""
        if command.type == "custom":
            text = printable(command.attributes, "data", MAX_TEXT)
            return EncodedCommand(f"{text.removesuffix('$')}$".encode())
        password = self.password
        if not password.isascii() or not password.isprintable() or set(password) & set(",$"):
            raise UnsupportedCommand("devicePassword must be printable ASCII characters without commas")
        if (request := _REQUESTS.get(command.type)) is not None:
            return EncodedCommand(f"AT+GTRTO={password},{request},,,,,,FFFF$".encode())
        if (output := _OUTPUTS.get(command.type)) is not None:
            return EncodedCommand(f"AT+GTOUT={password},{output},,,0,0,0,0,0,0,0,,,,,,,FFFF$".encode())
        raise UnsupportedCommand(f"gl200 has no message for {command.type}")

    def _read_text(self, frame: bytes, reports: list[Report]) -> None:
        text = frame.decode("ascii", "replace").rstrip("$\0")
        values = text.split(",")
        if " " in text:
            values = [value.strip() for value in values]
        found = _HEADER.fullmatch(values[0])
        if found is None or len(values) < 4:
            raise CodecError("a text without a type")
        version, identity = values[1].upper(), values[2]
        if not _VERSION.fullmatch(version):
            raise CodecError(f"{version[:20]!r} is no version")
        if identity and not _IDENTITY.fullmatch(identity):
            raise CodecError(f"{identity[:20]!r} is no identity")
        self.identify(identity, reports)
        direction, kind = found[1], found[2]
        count = values[-1] if _COUNT.fullmatch(values[-1]) else ""
        if direction == "ACK" and kind == "HBD":
            reports.append(Heartbeat(f"+SACK:GTHBD,{values[1]},{count}$".encode()))
            return
        answer = f"+SACK:{count}$".encode() if self.options.get("ack") and count else None
        send_time, end = _send_time(values)
        if direction == "ACK":
            attributes = {"type": kind, "result": values[0]}
            reports.append(PositionReport(attributes, send_time, located=False, receipt=answer))
            return
        vin = values[3] if _VIN.fullmatch(values[3]) else ""
        message = Message(
            kind,
            self.model or model_of(version),
            TextFields(values[:end], 4 + bool(vin)),
            send_time,
            direction == "BUFF",
            bool(self.options.get("ignoreFixTime")),
            answer,
        )
        if vin:
            message.attributes["vin"] = vin
        reader = _READERS.get(kind)
        if reader is not None:
            reader(message, reports)
        elif not read_other(message, reports):
            reports.append(UnknownMessage(frame, kind, answer))


def _send_time(values: Sequence[str]) -> tuple[datetime | None, int]:
    """Return the send time, which is next to the end, and the number of fields before it."""
    for at in (len(values) - 2, len(values) - 1, len(values) - 3):
        if at > 2 and (moment := time_of(values[at])) is not None:
            return moment, at
    return None, len(values)
