"""Files of alarms: the messages that request and announce them (T/JSATL 12-2017 and its Guangdong variant).

docs/protocols/jt808.md#alarm-files describes the exchange and its sources: a location item holds the label of
an alarm and its number of files; the platform requests them with 0x9208; the terminal connects anew and sends
0x1210 (list), then for each file 0x1211 (begin), chunks and 0x1212 (end), which 0x9212 answers.
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
"""Missing ranges in one 0x9212; the others follow in the next one."""
_RANGE_BYTES = 8

_KINDS = {0: "image", 1: "audio", 2: "video"}
_KIND_BY_EXTENSION = {
    **dict.fromkeys(("jpg", "jpeg", "png", "bmp"), "image"),
    **dict.fromkeys(("wav", "mp3", "aac", "amr"), "audio"),
    **dict.fromkeys(("mp4", "avi", "ts", "h264", "h265"), "video"),
    **dict.fromkeys(("txt", "bin"), "file"),
}
"""Extensions that are kept, and the kind of file where the kind field is of no use."""
_DEFAULT_EXTENSIONS = {"image": "jpg", "audio": "wav", "video": "mp4", "file": "bin"}
_NAME = re.compile(r"[^_]*_([0-9]{1,3})_")
"""kind_channel_alarm type_sequence_alarm number.extension"""


class AttachmentList(msgspec.Struct, frozen=True, gc=False):
    """0x1210: the files of one alarm."""

    label: AlarmLabel
    number: str
    """The platform's alarm number, as the terminal repeats it."""
    files: tuple[tuple[bytes, int], ...]
    """Names as sent, perhaps padded, and bytes, in the order in which the files are sent."""


class FileDescription(msgspec.Struct, frozen=True, gc=False):
    """0x1211 and 0x1212: a file that begins or ends."""

    name: bytes
    """As sent, perhaps padded."""
    kind: int
    """0 image, 1 audio, 2 video, 3 text, 4 other; in the Guangdong variant 4 is a face and 5 other."""
    size: int
    """Bytes."""

    @property
    def extension(self) -> str:
        """A file extension from a fixed list, without the dot."""
        written = _extension_in(self.name)
        return written if written in _KIND_BY_EXTENSION else _DEFAULT_EXTENSIONS[self.attribute]

    @property
    def attribute(self) -> str:
        """The position attribute that names the file: "image", "audio", "video" or "file"."""
        return _KINDS.get(self.kind) or (
            "file" if self.kind == 3 else _KIND_BY_EXTENSION.get(_extension_in(self.name), "file")
        )

    @property
    def channel(self) -> int:
        """The camera in the file's name (64 faces the front, 65 the driver); 0 where there is none."""
        match = _NAME.match(text(self.name))
        return int(match[1]) if match else 0


def _extension_in(name: bytes) -> str:
    return text(name).rpartition(".")[2].lower()


def parse_attachment_list(body: bytes) -> AttachmentList:
    """Read 0x1210 in the form that fills the body exactly.

    Raises:
        Truncated: no form does.
    """
    for terminal, label in LABEL_FORMS:
        fields = ByteReader(body)
        try:
            fields.take(terminal)
            content = fields.take(label)
            number = text(fields.take(NUMBER_BYTES))
            fields.uint8()  # 0 new, 1 sent again
            files = tuple((fields.take(fields.uint8()), fields.uint32()) for _ in range(fields.uint8()))
        except Truncated:
            continue
        if not fields.remaining:
            return AttachmentList(AlarmLabel(content), number, files)
    raise Truncated(f"an attachment list of {len(body)} bytes")


def parse_file_description(body: bytes) -> FileDescription:
    """Read 0x1211 or 0x1212.

    Raises:
        Truncated: the body is too short.
    """
    fields = ByteReader(body)
    return FileDescription(fields.take(fields.uint8()), fields.uint8(), fields.uint32())


def encode_file_end_response(name: bytes, kind: int, missing: tuple[tuple[int, int], ...] = ()) -> bytes:
    """Return the body of 0x9212: complete, or as many missing ranges (start, end) as fit."""
    requested = missing[: MAX_RANGE_LIST_BYTES // _RANGE_BYTES]
    return (
        pack("B", len(name))
        + name
        + pack("BBB", kind, 1 if requested else 0, len(requested))
        + b"".join(pack(">II", start, end - start) for start, end in requested)
    )


def attachment_request(command: DeviceCommand, server_key: bytes, phone: str) -> bytes:
    """Return the body of 0x9208 for the alarm whose label is in the attribute `label`, as hex digits.

    `server_key` and the terminal's `phone` number determine the alarm number (`AlarmLabel.number`).

    Raises:
        UnsupportedCommand: the server's address is not known, or the label is malformed.
    """
    address = command.media
    if address is None or not address.host:
        raise UnsupportedCommand("the server knows no address of its own for the device's files")
    try:
        content = bytes.fromhex(str(command.attributes.get("label", "")))
    except ValueError:
        content = b""
    if len(content) not in {size for _, size in LABEL_FORMS}:
        raise UnsupportedCommand("label must be an alarm label in hex digits")
    label = AlarmLabel(content)
    host = address.host.encode("gbk", "replace")[:255]
    ports = pack(">HH", address.upload_port, 0)
    number = label.number(server_key, phone)
    return bytes((len(host),)) + host + ports + label.content + number.encode() + bytes(16)
