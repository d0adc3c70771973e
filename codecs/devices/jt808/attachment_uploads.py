"""AttachmentUploads of alarms' files on one connection: which have been told of, and which bytes have come.

The contents go on as they come; here stands only what is needed to know when a file is whole.
"""

from bisect import bisect_left, bisect_right

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
from motorpool.codecs.devices.jt808.terminal_messages import TerminalMessage
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
"""Of one connection that are not whole; a usual alarm has three pictures and two films."""
MAX_RANGES = 1024
"""Of one file: pieces that lie so scattered are not kept."""


class ReceivedRanges:
    """Which bytes of a file have come: ranges that neither touch nor overlap, in order."""

    __slots__ = ("_ends", "_starts", "size")

    def __init__(self, size: int) -> None:
        self.size = size
        self._starts: list[int] = []
        self._ends: list[int] = []

    def add(self, start: int, end: int) -> bool:
        """Note a range; False where it lies outside of the file, or they are too many."""
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
        """The ranges that have not come, as start and end."""
        gaps = zip([0, *self._ends], [*self._starts, self.size], strict=True)
        return tuple((start, end) for start, end in gaps if start < end)


class AttachmentUploads:
    """The files of one connection."""

    def __init__(self, answers: ResponseEncoder) -> None:
        self._responses = answers
        self._open: dict[bytes, ReceivedRanges] = {}

    def read(self, message: TerminalMessage) -> list[Report]:
        """One of `UPLOAD_MESSAGES`.

        Raises:
            CodecError: the body is not what its id promises, or too many files are open.
        """
        if message.message_id == ATTACHMENT_LIST:
            return self._offered(message)
        if message.message_id == FILE_BEGIN:
            return self._begun(message)
        return self._ended(message)

    def take(self, piece: UploadChunk) -> Report:
        """A piece of a file; what belongs to none that was begun is rejected."""
        ranges = self._open.get(piece.name)
        if ranges is None:
            return rejected("a piece of a file that was not begun", piece.content)
        if not ranges.add(piece.offset, piece.offset + len(piece.content)):
            return rejected("a piece outside of its file, or one too many", piece.content)
        return FileChunk(_shown(piece.name), piece.offset, piece.content)

    def _offered(self, message: TerminalMessage) -> list[Report]:
        offer = parse_attachment_list(message.body)
        label = offer.label
        return [
            AlarmFilesAnnounced(
                unique_ids=message.identity.unique_ids,
                label=label.content.hex(),
                key=label.key.hex(),
                is_ours=offer.number == label.number,
                files=len(offer.files),
                receipt=message.receipt,
            )
        ]

    def _begun(self, message: TerminalMessage) -> list[Report]:
        told = parse_file_description(message.body)
        name = normalized_name(told.name)
        known = self._open.get(name)
        if known is None or known.size != told.size:
            if known is None and len(self._open) >= MAX_FILES:
                raise FrameError(f"more than {MAX_FILES} files at a time")
            self._open[name] = ReceivedRanges(told.size)
        return [FileUploadStarted(_shown(name), told.size, message.receipt)]

    def _ended(self, message: TerminalMessage) -> list[Report]:
        told = parse_file_description(message.body)
        name = normalized_name(told.name)
        ranges = self._open.get(name)
        if ranges is None:
            raise FrameError("the end of a file that was not begun")
        if missing := ranges.missing():
            body = encode_file_end_response(told.name, told.kind, missing)
            return [
                ImmediateReply(
                    encode_frame(message.identity, FILE_END_RESPONSE, self._responses.next_serial(), body)
                )
            ]
        del self._open[name]
        return [
            FileUploadCompleted(
                name=_shown(name),
                kind=told.attribute,
                extension=told.ending,
                size=ranges.size,
                channel=told.channel,
                receipt=make_file_receipt(message.identity, encode_file_end_response(told.name, told.kind)),
            )
        ]


def _shown(name: bytes) -> str:
    return name.decode("gbk", "backslashreplace")
