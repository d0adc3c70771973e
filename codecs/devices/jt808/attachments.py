"""Files of alarms: the messages by which a terminal is asked for them and brings them.

The active-safety extension of Jiangsu (Su: T/JSATL 12-2017) and its twin of Guangdong (Yue, in the 2019 form,
with longer terminal ids). Checked field by field against two implementations that share no code,
yezhihao/jt808-server (both forms) and cuteLittleDevil/go-jt808 (Su), and for 0x9208 table 4-21 as quoted in
SquareOneYYZ/Union; the standard's own text was not at hand.

A location's item 0x64, 0x65, 0x66, 0x67 or 0x70 ends in (or holds) the alarm's label with the number of its
files. The platform answers 0x9208 with an address; there the terminal connects anew and tells 0x1210 (which
files), then for each file 0x1211 (name, kind, size), pieces, and 0x1212 (that was all). The platform's 0x9212
says that it is, or which ranges to send again.
"""

import re
from struct import pack

import msgspec

from motorpool.codecs.devices.jt808.alarm_labels import LABEL_FORMS, NUMBER_BYTES, AlarmLabel
from motorpool.codecs.devices.jt808.bodies import text
from motorpool.codecs.errors import Truncated, UnsupportedCommand
from motorpool.codecs.reader import ByteReader
from motorpool.codecs.reports import DeviceCommand

ATTACHMENT_REQUEST = 0x9208
ATTACHMENT_LIST = 0x1210
FILE_BEGIN = 0x1211
FILE_END = 0x1212
FILE_END_RESPONSE = 0x9212
UPLOAD_MESSAGES = frozenset((ATTACHMENT_LIST, FILE_BEGIN, FILE_END))

MAX_RANGE_LIST_BYTES = 900
"""Of ranges in one answer: the rest is asked for in the next one."""
_RANGE_BYTES = 8

_KINDS = {0: "image", 1: "audio", 2: "video"}
_ENDINGS = {
    "jpg": "image",
    "jpeg": "image",
    "png": "image",
    "bmp": "image",
    "wav": "audio",
    "mp3": "audio",
    "aac": "audio",
    "amr": "audio",
    "mp4": "video",
    "avi": "video",
    "ts": "video",
    "h264": "video",
    "h265": "video",
    "txt": "file",
    "bin": "file",
}
"""Endings that are kept, and what they are where the kind does not tell."""
_USUAL_ENDINGS = {"image": "jpg", "audio": "wav", "video": "mp4", "file": "bin"}
_NAME = re.compile(r"[^_]*_(\d{1,3})_")
"""kind_channel_alarm type_sequence_alarm number.ending"""


class ListedFile(msgspec.Struct, frozen=True, gc=False):
    """One file of 0x1210."""

    name: bytes
    size: int
    """Bytes."""


class AttachmentList(msgspec.Struct, frozen=True, gc=False):
    """0x1210."""

    label: AlarmLabel
    number: str
    """Ours of the alarm as the terminal repeats it."""
    files: tuple[ListedFile, ...]


class FileDescription(msgspec.Struct, frozen=True, gc=False):
    """0x1211 and 0x1212."""

    name: bytes
    kind: int
    """0 image, 1 audio, 2 video, 3 text; 4 other, or with Guangdong a picture of a face, and 5 other."""
    size: int
    """Bytes."""

    @property
    def ending(self) -> str:
        """One that is known to be harmless, without the dot."""
        told = _ending(self.name)
        return told if told in _ENDINGS else _USUAL_ENDINGS[self.attribute]

    @property
    def attribute(self) -> str:
        """What it is: "image", "audio", "video", or else "file"."""
        return _KINDS.get(self.kind) or (
            "file" if self.kind == 3 else _ENDINGS.get(_ending(self.name), "file")
        )

    @property
    def channel(self) -> int:
        """The camera in its name (64 to the front, 65 at the driver); 0 where there is none."""
        found = _NAME.match(text(self.name))
        return int(found[1]) if found else 0


def _ending(name: bytes) -> str:
    return text(name).rpartition(".")[2].lower()


def parse_attachment_list(body: bytes) -> AttachmentList:
    """0x1210, in the form that fills the body exactly.

    Raises:
        Truncated: neither does.
    """
    for terminal, label in LABEL_FORMS:
        fields = ByteReader(body)
        try:
            fields.take(terminal)
            content = fields.take(label)
            number = text(fields.take(NUMBER_BYTES))
            fields.uint8()  # sent for the first time or again
            files = tuple(
                ListedFile(fields.take(fields.uint8()), fields.uint32()) for _ in range(fields.uint8())
            )
        except Truncated:
            continue
        if not fields.remaining:
            return AttachmentList(AlarmLabel(content), number, files)
    raise Truncated(f"a list of an alarm's files of {len(body)} bytes")


def parse_file_description(body: bytes) -> FileDescription:
    """0x1211 and 0x1212.

    Raises:
        Truncated: the body ends before its fields do.
    """
    fields = ByteReader(body)
    return FileDescription(fields.take(fields.uint8()), fields.uint8(), fields.uint32())


def encode_file_end_response(name: bytes, kind: int, missing: tuple[tuple[int, int], ...] = ()) -> bytes:
    """0x9212: whole, or the ranges (start and end) that are missing, as many as fit."""
    asked = missing[: MAX_RANGE_LIST_BYTES // _RANGE_BYTES]
    return (
        pack("B", len(name))
        + name
        + pack("BBB", kind, 1 if asked else 0, len(asked))
        + b"".join(pack(">II", start, end - start) for start, end in asked)
    )


def attachment_request(command: DeviceCommand) -> bytes:
    """0x9208 for the alarm whose label stands in the command, in hex digits."""
    address = command.media
    if address is None or not address.host:
        raise UnsupportedCommand("the server knows no address of its own for the device's files")
    label = AlarmLabel(bytes.fromhex(str(command.attributes["label"])))
    host = address.host.encode("gbk", "replace")[:255]
    ports = pack(">HH", address.upload_port, 0)
    return bytes((len(host),)) + host + ports + label.content + label.number.encode() + bytes(16)
