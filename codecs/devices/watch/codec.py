"""The codec of watches for children and the elderly (docs/protocols/watch.md)."""

import re
from typing import Any, Final

from motorpool.codecs.devices.attributes import put
from motorpool.codecs.devices.framed_codec import MALFORMED, FramedCodec
from motorpool.codecs.devices.framing import Framing, rejected
from motorpool.codecs.devices.watch.command_texts import COMMANDS, ECHOED, ESCAPES, command_content
from motorpool.codecs.devices.watch.frames import MESSAGE, Message
from motorpool.codecs.devices.watch.health import HEALTH_TYPES, read_health
from motorpool.codecs.devices.watch.locations import read_location
from motorpool.codecs.errors import CodecError, UnsupportedCommand
from motorpool.codecs.numbers import parse_whole
from motorpool.codecs.reports import (
    DeviceCommand,
    EncodedCommand,
    Heartbeat,
    MediaFile,
    PositionReport,
    Receipt,
    Report,
    UnknownMessage,
)

MAX_FRAME_BYTES: Final = 128 << 10
"""A picture in one message."""
MAX_VOICE_BYTES: Final = 1 << 20
"""All parts of a voice message."""
_EMERGENCY_NUMBER = re.compile(r"SOS[1-9]")
_PICTURE: Final = b"\xff\xd8"
"""With these bytes a JPEG file begins."""


class Watch(FramedCodec):
    """The server's end of one connection."""

    name = "watch"
    port = 5093
    commands = COMMANDS
    framing = Framing(Message(), max_frame_bytes=MAX_FRAME_BYTES, ignored=b"\r\n")

    def __init__(self) -> None:
        super().__init__()
        self._maker = ""
        """The first field of the latest message; empty before the first."""
        self._index: str | None = None
        """The index of that message; None where it had none."""
        self._voice = bytearray()
        """The parts of an unfinished voice message."""
        self._voice_file = b""
        self._voice_part = 0
        """Number of the latest part; 0: none is unfinished."""

    def read_frame(self, frame: bytes, reports: list[Report]) -> None:
        """Read a message: two characters of the maker, identity, perhaps an index, length, content."""
        found = MESSAGE.fullmatch(frame)
        if found is None:
            raise CodecError("a message without maker, identity and length")
        maker, identity, index = (part.decode() if part is not None else None for part in found.groups()[:3])
        self._maker, self._index = maker or "", index
        if identity and identity != self.unique_id:
            self._drop_voice()
        self.identify(identity or "", reports)
        type_bytes, _, data = found[5].partition(b",")
        kind = type_bytes.decode("ascii", "replace").strip()
        match kind:
            case "INIT":
                reports.append(Heartbeat(self._answer("INIT,1")))
            case "LK":
                reports.append(_link(_text(data), self._answer("LK")))
            case "TKQ" | "TKQ2":
                reports.append(Heartbeat(self._answer(kind)))
            case "TK" | "TK2":
                # A single byte says whether the watch took a voice message.
                is_voice = len(data) > 1
                reports.append(MediaFile("audio", "amr", ESCAPES.decode(data)) if is_voice else Heartbeat())
            case "JXTK":
                self._add_voice_part(data, reports)
            case "img":
                reports.append(_picture(data))
            case _ if kind.startswith(("UD", "WT")):
                reports.append(read_location(_text(data), is_alarm=False))
            case _ if kind.startswith("AL"):
                self._add_alarm(data, frame, reports)
            case _ if kind.upper() in HEALTH_TYPES:
                attributes = read_health(kind.upper(), _text(data).split(","))
                reports.append(PositionReport(attributes, located=False) if attributes else Heartbeat())
            case _ if kind in ECHOED or _EMERGENCY_NUMBER.fullmatch(kind):
                reports.append(PositionReport({"result": _text(found[5])}, located=False))
            case _:
                reports.append(UnknownMessage(frame, kind[:20]))

    def refuse(self, receipt: Receipt | None) -> bytes:
        """Return nothing, and drop an unfinished voice message."""
        self._drop_voice()
        return super().refuse(receipt)

    def encode(self, command: DeviceCommand) -> EncodedCommand:
        """Return a message with the content of a command; for `custom` commands the content is `data`."""
        content = command_content(command, self.utc_now() if self.utc_now is not None else None)
        identity = command.unique_id or self.unique_id
        if not identity:
            raise UnsupportedCommand("the identity of the device is not known")
        maker = "SG" if self._maker == "3G" else self._maker or "CS"
        return EncodedCommand(_message(maker, identity, "0001" if self._index is not None else None, content))

    @property
    def buffered(self) -> int:
        """At most the longest message, and all parts of a voice message."""
        return super().buffered + len(self._voice)

    def _answer(self, content: str) -> bytes:
        return _message(self._maker, self.unique_id, self._index, content.encode())

    def _add_alarm(self, data: bytes, frame: bytes, reports: list[Report]) -> None:
        answer = self._answer("AL")
        try:
            reports.append(read_location(_text(data), is_alarm=True, receipt=answer))
        except MALFORMED as error:
            # Without an answer it would be sent again for ever.
            reports += (rejected(error, frame), Heartbeat(answer))

    def _add_voice_part(self, data: bytes, reports: list[Report]) -> None:
        """Add a part of a voice message: identity, file, number of the part, number of parts, sound."""
        _, file, part_text, total_text, sound = data.split(b",", 4)
        part, total = parse_whole(_text(part_text)), parse_whole(_text(total_text))
        if part is None or total is None or not 0 < part <= total:
            raise CodecError("a part of a voice message without its number")
        answer = self._answer("JXTKR,1")
        is_repeated = part == self._voice_part and file == self._voice_file
        if not is_repeated:
            if part == 1:
                self._drop_voice()
            elif part != self._voice_part + 1 or file != self._voice_file:
                self._drop_voice()
                raise CodecError("a part of a voice message whose parts before it are missing")
            self._voice_file, self._voice_part = file[:100], part
            self._voice += ESCAPES.decode(sound)
            if len(self._voice) > MAX_VOICE_BYTES:
                self._drop_voice()
                raise CodecError(f"a voice message of more than {MAX_VOICE_BYTES} bytes")
        if part == total and self._voice:
            reports.append(MediaFile("audio", "amr", bytes(self._voice), receipt=answer))
            self._drop_voice()
        else:
            reports.append(Heartbeat(answer))

    def _drop_voice(self) -> None:
        self._voice.clear()
        self._voice_file, self._voice_part = b"", 0


def _message(maker: str, identity: str, index: str | None, content: bytes) -> bytes:
    """Return a message; an index of None stands for the form without one."""
    between = f"{index}*" if index is not None else ""
    return f"[{maker}*{identity}*{between}{len(content):04x}*".encode() + content + b"]"


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _link(text: str, answer: bytes) -> Report:
    """Return steps, rolls and battery level of a heartbeat; those that lack one of them have none."""
    fields = text.split(",")
    attributes: dict[str, Any] = {}
    if len(fields) >= 3:
        steps, level = parse_whole(fields[0]), parse_whole(fields[2])
        if level is not None and 0 <= level <= 100:
            attributes["batteryLevel"] = level
        put(attributes, "steps", steps)
    if not attributes:
        return Heartbeat(answer)
    return PositionReport(attributes, located=False, receipt=answer)


def _picture(data: bytes) -> MediaFile:
    """Return the JPEG file of a message; other fields stand before it."""
    content = ESCAPES.decode(data)
    content = content[max(0, content.find(_PICTURE)) :]
    if not content:
        raise CodecError("a picture without content")
    return MediaFile("image", "jpg", content)
