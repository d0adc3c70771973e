"""The codec of Suntech: texts of several families of devices, and two binary forms
(docs/protocols/suntech.md).
"""

import re
from typing import Final

from motorpool.codecs.devices.command_values import integer
from motorpool.codecs.devices.framed_codec import FramedCodec
from motorpool.codecs.devices.framing import Framing, length_field
from motorpool.codecs.devices.suntech import universal
from motorpool.codecs.devices.suntech.crash import CrashParts
from motorpool.codecs.devices.suntech.legacy import LEGACY_TYPES, read_legacy, read_st4, read_st9, read_travel
from motorpool.codecs.devices.suntech.packed import PACKED_TYPES, read_packed
from motorpool.codecs.devices.suntech.record import Fields
from motorpool.codecs.devices.suntech.text_shape import Text
from motorpool.codecs.errors import CodecError, UnsupportedCommand
from motorpool.codecs.numbers import whole_number
from motorpool.codecs.reader import ByteReader
from motorpool.codecs.reports import (
    DeviceCommand,
    EncodedCommand,
    PositionReport,
    Receipt,
    Report,
    UnknownMessage,
)

MAX_FRAME_BYTES = 12_288
"""More than data of a serial port of 9999 characters with the fields before them."""
_PACKED: Final = b"\x02"
_BINARY_TYPES: Final = range(0x80, 0x90)
_IDENTITY = re.compile(r"[0-9A-Za-z]{1,20}")
_FAMILY = re.compile(r"S[A-Z][0-9A-Z]{3}")
_DEFAULT_FAMILY: Final = "SA200"
_ON: Final = ("04;01", "04;03", "04;09")
_OFF: Final = ("04;02", "04;04", "04;10")
_COMMANDS: Final = {
    "rebootDevice": ("03;03", "Reboot"),
    "positionSingle": ("03;01", "StatusReq"),
    "engineStop": (_ON[0], "Enable1"),
    "engineResume": (_OFF[0], "Disable1"),
    "alarmArm": (_ON[1], "Enable2"),
    "alarmDisarm": (_OFF[1], "Disable2"),
}
"""What universal devices and others are sent."""


class Suntech(FramedCodec):
    """The server's end of one connection."""

    name = "suntech"
    port = 5011
    commands = frozenset(("outputControl", *_COMMANDS))
    framing = Framing(
        length_field(_PACKED, offset=1, size=2, adjustment=1),
        *(length_field(bytes((kind, 0)), offset=1, size=2) for kind in _BINARY_TYPES),
        Text(),
        max_frame_bytes=MAX_FRAME_BYTES,
        ignored=b"\r\n",
    )

    def __init__(self) -> None:
        super().__init__()
        self._family = _DEFAULT_FAMILY
        """First characters of the latest text of one of the families."""
        self._is_universal = False
        """Whether the latest message was a universal one, so that commands are, too."""
        self._crash = CrashParts()

    def read_frame(self, frame: bytes, reports: list[Report]) -> None:
        """Read a text or one of the binary forms."""
        if frame.startswith(_PACKED):
            self._read_packed(frame, reports)
        elif frame[0] in _BINARY_TYPES:
            self._read_binary(frame, reports)
        else:
            self._read_text(frame, reports)

    def encode(self, command: DeviceCommand) -> EncodedCommand:
        """Return `CMD;<id>;…` for universal devices, `<family>CMD;<id>;02;…` for others, and CR."""
        if command.type == "outputControl":
            code, verb = self._output(command)
        elif command.type in _COMMANDS:
            code, verb = _COMMANDS[command.type]
        else:
            raise UnsupportedCommand(f"suntech has no message for {command.type}")
        identity = command.unique_id or self.unique_id
        text = f"CMD;{identity};{code}" if self._is_universal else f"{self._family}CMD;{identity};02;{verb}"
        return EncodedCommand(f"{text}\r".encode())

    def refuse(self, receipt: Receipt | None) -> bytes:
        """Return nothing, and drop an unfinished crash."""
        self._crash.clear()
        return super().refuse(receipt)

    @property
    def buffered(self) -> int:
        """At most the longest message, and all parts of a crash."""
        return super().buffered + self._crash.size

    def _output(self, command: DeviceCommand) -> tuple[str, str]:
        data = command.attributes.get("data")
        state = int(data) if isinstance(data, bool) else whole_number(data)
        most = len(_ON) if self._is_universal else 9
        index = integer(command.attributes, "index", None, 1, most, "number of an output")
        if state not in (0, 1):
            raise UnsupportedCommand("data must be 1 or 0: on or off")
        code = (_ON if state else _OFF)[index - 1] if self._is_universal else ""
        return code, f"{'Enable' if state else 'Disable'}{index}"

    def _identify(self, identity: str, reports: list[Report]) -> None:
        identity = identity.strip()
        if identity and not _IDENTITY.fullmatch(identity):
            raise CodecError(f"{identity[:20]!r} is no identity")
        self.identify(identity, reports)

    def _read_text(self, frame: bytes, reports: list[Report]) -> None:
        values = frame[:-1].decode("ascii", "replace").split(";")
        if len(values) < 2:
            raise CodecError("a text without an id")
        prefix = values[0]
        if prefix == "CRR":
            self._identify(values[1], reports)
            reports += self._crash.add(frame)
        elif prefix.isdecimal():
            # A message of a family without its first field.
            self._identify(prefix, reports)
            reports.append(read_legacy("STT", Fields(values, 1), self.options).report())
        elif len(prefix) < 5:
            self._read_universal(prefix, values, frame, reports)
        elif not _FAMILY.match(prefix):
            raise CodecError(f"{prefix[:20]!r} is no type")
        elif prefix.startswith("ST9"):
            self._follow(prefix, values[2], reports)
            kind = values[1].strip()
            if kind in ("Location", "Emergency", "Alert"):
                reports.append(read_st9(kind, Fields(values, 3)).report())
            else:
                reports.append(UnknownMessage(frame, kind[:20]))
        else:
            self._read_family(prefix, values, frame, reports)

    def _follow(self, prefix: str, identity: str, reports: list[Report]) -> None:
        """Take the family and id of a text that is not universal."""
        self._identify(identity, reports)
        self._family, self._is_universal = prefix[:-3] if len(prefix) >= 8 else prefix[:5], False

    def _read_family(self, prefix: str, values: list[str], frame: bytes, reports: list[Report]) -> None:
        kind = prefix[-3:] if len(prefix) >= 8 else prefix[5:]
        is_st4 = prefix.startswith("ST4")
        if values[1] == "Res":
            self._follow(prefix, values[2], reports)
            reports.append(_result(values[3:]))
            return
        self._follow(prefix, values[1], reports)
        fields = Fields(values, 2)
        if prefix.endswith("HTE"):
            reports.append(read_travel("HTE", fields).report())
        elif is_st4 and kind in ("STT", "ALT"):
            reports.append(read_st4(kind, fields).report())
        elif kind in LEGACY_TYPES and not is_st4:
            reports.append(read_legacy(kind, fields, self.options).report())
        else:
            reports.append(UnknownMessage(frame, kind[:20]))

    def _read_universal(self, kind: str, values: list[str], frame: bytes, reports: list[Report]) -> None:
        self._identify(values[1], reports)
        self._is_universal = True
        fields = Fields(values, 2)
        if kind == "RES":
            reports.append(_result(values[2:]))
        elif kind == "BLE":
            reports.append(universal.read_tags(kind, fields).report())
        elif kind in universal.UNIVERSAL_TYPES:
            reports.append(universal.read_universal(kind, fields).report())
        else:
            reports.append(UnknownMessage(frame, kind))

    def _read_binary(self, frame: bytes, reports: list[Report]) -> None:
        reader = ByteReader(frame, 3)
        identity = reader.digits(5)
        if not identity.isdecimal():
            raise CodecError("an id that is not decimal")
        self.identify(identity, reports)
        self._is_universal = True
        if frame[0] in (universal.STATUS, universal.ALERT):
            reports.append(universal.read_binary(frame[0], reader.uint(3), reader).report())
        else:
            reports.append(UnknownMessage(frame, f"{frame[0]:02x}"))

    def _read_packed(self, frame: bytes, reports: list[Report]) -> None:
        reader = ByteReader(frame[:-1], 3)
        kind = reader.uint8()
        identity = reader.digits(5)[:9]
        if not identity.isdecimal():
            raise CodecError("an id that is not decimal")
        self.identify(identity, reports)
        self._is_universal = False
        if kind in PACKED_TYPES:
            reports.append(read_packed(kind, reader, self.options).report())
        else:
            reports.append(UnknownMessage(frame, f"02-{kind:02x}"))


def _result(values: list[str]) -> PositionReport:
    return PositionReport({"result": ";".join(values)}, located=False)
