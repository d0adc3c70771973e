"""The terminal's end of alarm files, for simulated vehicles and tests
(docs/protocols/jt808.md#alarm-files).
"""

from collections.abc import Mapping
from datetime import datetime
from struct import pack

from motorpool.bench.vehicles.jt808.platform_messages import AttachmentRequest, FileEndResponse
from motorpool.bench.vehicles.jt808.terminal import Terminal
from motorpool.codecs.devices.jt808.attachments import ATTACHMENT_LIST, FILE_BEGIN, FILE_END
from motorpool.codecs.devices.jt808.times import TerminalClock
from motorpool.codecs.devices.jt808.upload_framer import CHUNK_HEADER, CHUNK_MAGIC, CHUNK_PART_BYTES

ADAS, DSM = 0x64, 0x65
"""Item ids of driver assistance alarms and of driver state alarms."""
_CLOCK = TerminalClock()


def alarm_label(
    terminal: bytes, time: datetime, sequence: int, files: int, *, is_2019: bool = False
) -> bytes:
    """Return the label of an alarm: 16 bytes, in the Guangdong variant (`is_2019`) 40."""
    name = terminal[: 30 if is_2019 else 7].ljust(30 if is_2019 else 7, b"\0")
    return name + _CLOCK.write(time) + bytes((sequence, files)) + bytes(2 if is_2019 else 1)


def alarm_item(
    alarm_id: int, kind: int, label: bytes, location: bytes, *, level: int = 1, ended: bool = False
) -> bytes:
    """Return the value of item `ADAS` or `DSM`, with position and time of `location`, a body of 0x0200."""
    latitude, longitude, altitude, time = location[8:12], location[12:16], location[16:18], location[22:28]
    speed = int.from_bytes(location[18:20], "big") // 10
    head = pack(">IBBB", alarm_id, 2 if ended else 1, kind, level) + bytes(5) + bytes((min(speed, 255),))
    return head + altitude + latitude + longitude + time + b"\0\1" + label


def encode_attachment_list(
    terminal: Terminal, request: AttachmentRequest, files: Mapping[bytes, int]
) -> bytes:
    """Return 0x1210: names and sizes of the files that 0x9208 requested."""
    name = request.label[:30] if len(request.label) == 40 else request.label[:7]
    header = name + request.label + request.number.encode() + b"\0" + bytes((len(files),))
    entries = (bytes((len(name),)) + name + pack(">I", size) for name, size in files.items())
    return terminal.message(ATTACHMENT_LIST, header + b"".join(entries))


def encode_file_begin(terminal: Terminal, name: bytes, kind: int, size: int) -> bytes:
    """Return 0x1211; kind 0 image, 1 audio, 2 video, 3 text."""
    return terminal.message(FILE_BEGIN, bytes((len(name),)) + name + pack(">BI", kind, size))


def encode_chunk(name: bytes, offset: int, content: bytes) -> bytes:
    """Return a chunk as it is sent; a name has at most 50 bytes."""
    return CHUNK_HEADER.pack(CHUNK_MAGIC, name, offset, len(content)) + content


def encode_file_chunks(name: bytes, content: bytes, response: FileEndResponse | None = None) -> list[bytes]:
    """Return the chunks of a file; with a response only those that it reports missing."""
    ranges = ((0, len(content)),) if response is None else response.missing
    return [
        encode_chunk(name, at, content[at : min(at + CHUNK_PART_BYTES, start + length)])
        for start, length in ranges
        for at in range(start, start + length, CHUNK_PART_BYTES)
    ]


def encode_file_end(terminal: Terminal, name: bytes, kind: int, size: int) -> bytes:
    """Return 0x1212."""
    return terminal.message(FILE_END, bytes((len(name),)) + name + pack(">BI", kind, size))
