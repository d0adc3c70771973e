"""Receives files of alarms on one connection: which files were begun, and which of their bytes arrived.

Content is passed on as it arrives; only the received ranges are kept, to know when a file is complete
(docs/protocols/jt808.md#alarm-files).
"""

from bisect import bisect_left, bisect_right
from hmac import compare_digest

from motorpool.codecs.devices.framing import rejected
from motorpool.codecs.devices.jt808.attachments import (
    ATTACHMENT_LIST,
    FILE_BEGIN,
    FILE_END_RESPONSE,
    encode_file_end_response,
    parse_attachment_list,
    parse_file_description,
)
from motorpool.codecs.devices.jt808.frames import encode_frame
from motorpool.codecs.devices.jt808.responses import ResponseEncoder, make_file_receipt
from motorpool.codecs.devices.jt808.terminal_message import TerminalMessage
from motorpool.codecs.devices.jt808.upload_framer import UploadChunk, normalized_name
from motorpool.codecs.errors import FrameError
from motorpool.codecs.reports import (
    AlarmFilesAnnounced,
    FileChunk,
    FileUploadCompleted,
    FileUploadStarted,
    ImmediateReply,
    Report,
)

MAX_FILES = 64
"""Incomplete files of one connection. An alarm usually has three pictures and two videos."""
MAX_RANGES = 1024
"""Separate ranges of one file; further ones are rejected."""


class ReceivedRanges:
    """The received bytes of a file, as ordered ranges that neither touch nor overlap."""

    __slots__ = ("_ends", "_starts", "size")

    def __init__(self, size: int) -> None:
        self.size = size
        self._starts: list[int] = []
        self._ends: list[int] = []

    def add(self, start: int, end: int) -> bool:
        """Add a range; False where it is outside the file, or there are too many."""
        if not 0 <= start <= end <= self.size:
            return False
        if start == end:
            return True
        first = bisect_left(self._ends, start)
        last = bisect_right(self._starts, end)
        if first == last and len(self._starts) >= MAX_RANGES:
            return False
        if first < last:
            start, end = min(start, self._starts[first]), max(end, self._ends[last - 1])
        self._starts[first:last], self._ends[first:last] = [start], [end]
        return True

    def missing(self) -> tuple[tuple[int, int], ...]:
        """Return the missing ranges as start and end."""
        gaps = zip([0, *self._ends], [*self._starts, self.size], strict=True)
        return tuple((start, end) for start, end in gaps if start < end)


class AttachmentUploads:
    """The incomplete files of one connection."""

    def __init__(self, responses: ResponseEncoder) -> None:
        self._responses = responses
        self._open: dict[bytes, ReceivedRanges] = {}

    def read(self, message: TerminalMessage, server_key: bytes) -> list[Report]:
        """Return the reports of one of the `UPLOAD_MESSAGES`.

        `server_key` is the key of the codec that requested the files.

        Raises:
            CodecError: the body is malformed, or too many files are incomplete.
        """
        if message.message_id == ATTACHMENT_LIST:
            return self._read_list(message, server_key)
        if message.message_id == FILE_BEGIN:
            return self._begin(message)
        return self._end(message)

    def add_chunk(self, chunk: UploadChunk) -> Report:
        """Note a chunk and return it as a report; rejected where its file was not begun."""
        ranges = self._open.get(chunk.name)
        if ranges is None:
            return rejected("a chunk of a file that was not begun", chunk.content)
        if not ranges.add(chunk.offset, chunk.offset + len(chunk.content)):
            return rejected("a chunk outside its file, or too many separate chunks", chunk.content)
        return FileChunk(_decode_name(chunk.name), chunk.offset, chunk.content)

    def _read_list(self, message: TerminalMessage, server_key: bytes) -> list[Report]:
        listed = parse_attachment_list(message.body)
        label = listed.label
        expected = label.number(server_key, message.identity.number)
        return [
            AlarmFilesAnnounced(
                unique_ids=message.identity.unique_ids,
                label=label.content.hex(),
                key=label.key.hex(),
                is_ours=compare_digest(listed.number.encode(), expected.encode()),
                files=len(listed.files),
                receipt=message.receipt,
            )
        ]

    def _begin(self, message: TerminalMessage) -> list[Report]:
        described = parse_file_description(message.body)
        name = normalized_name(described.name)
        known = self._open.get(name)
        if known is None or known.size != described.size:
            if known is None and len(self._open) >= MAX_FILES:
                raise FrameError(f"more than {MAX_FILES} files at a time")
            self._open[name] = ReceivedRanges(described.size)
        return [FileUploadStarted(_decode_name(name), described.size, message.receipt)]

    def _end(self, message: TerminalMessage) -> list[Report]:
        described = parse_file_description(message.body)
        name = normalized_name(described.name)
        ranges = self._open.get(name)
        if ranges is None:
            raise FrameError("the end of a file that was not begun")
        if missing := ranges.missing():
            body = encode_file_end_response(described.name, described.kind, missing)
            return [
                ImmediateReply(
                    encode_frame(message.identity, FILE_END_RESPONSE, self._responses.next_serial(), body)
                )
            ]
        del self._open[name]
        return [
            FileUploadCompleted(
                name=_decode_name(name),
                kind=described.attribute,
                extension=described.extension,
                size=ranges.size,
                channel=described.channel,
                receipt=make_file_receipt(
                    message.identity, encode_file_end_response(described.name, described.kind)
                ),
            )
        ]


def _decode_name(name: bytes) -> str:
    return name.decode("gbk", "backslashreplace")
