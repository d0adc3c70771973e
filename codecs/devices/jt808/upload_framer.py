"""Frames and pieces of files in one stream: where alarms' files are uploaded, both come by turns.

A piece is not framed as all else is: "01cd", name[50], offset DWORD, length DWORD, and so many bytes as they
are (T/JSATL 12-2017; the sources are named in `jt808_attachments`). It begins where a frame might: behind
another piece, behind a delimiter, or at the stream's start. No frame begins so: its id would be 0x3031.
"""

from collections.abc import Sequence
from struct import Struct

import msgspec

from motorpool.codecs.devices.framing import rejected
from motorpool.codecs.devices.jt808.frames import new_framer
from motorpool.codecs.reports import FrameRejected

MARK = b"01cd"
CHUNK_PART_BYTES = 1 << 16
"""The usual length of a piece; longer ones are handed on in parts of that size."""
MAX_CHUNK_BYTES = 1 << 20
"""What tells more is none, but noise, or media on the wrong port."""

_HEAD = Struct(">4s50sII")


class UploadChunk(msgspec.Struct, frozen=True, gc=False):
    """Some bytes of a file."""

    name: bytes
    """Without padding."""
    offset: int
    content: bytes


def encode_chunk(name: bytes, offset: int, content: bytes) -> bytes:
    """A piece as it is sent; a name has at most 50 bytes."""
    return _HEAD.pack(MARK, name, offset, len(content)) + content


def normalized_name(field: bytes) -> bytes:
    """A name as it is compared: without padding, and no longer than a piece can tell it."""
    return field[:50].rstrip(b"\0 ")


class UploadFramer:
    """Cuts a stream into the contents of frames and pieces of files; `DelimiterFramer` gives the frames."""

    __slots__ = ("_framer", "_got", "_held", "_left", "_name", "_offset")

    def __init__(self) -> None:
        self._framer = new_framer()
        self._held = b""
        """The beginning of a piece's head."""
        self._name = b""
        self._offset = 0
        self._got = bytearray()
        self._left = 0
        """Bytes of the open piece that are not here yet."""

    @property
    def buffered(self) -> int:
        """Bytes held back: at most those of an unfinished frame, and a piece's head or `CHUNK_PART_BYTES`."""
        return self._framer.buffered + len(self._held) + len(self._got)

    def receive(self, data: bytes) -> Sequence[bytes | FrameRejected | UploadChunk]:
        """All that is complete with these bytes: frames as `DelimiterFramer` gives them, and pieces."""
        if self._left or self._held or MARK in data:
            return self._receive_mixed(data)
        found = self._framer.receive(data)
        if 0 < self._framer.buffered < len(MARK):
            self._held = self._framer.release(MARK)
        return found

    def _receive_mixed(self, data: bytes) -> list[bytes | FrameRejected | UploadChunk]:
        found: list[bytes | FrameRejected | UploadChunk] = []
        rest, self._held = self._held + data, b""
        at = 0
        while at < len(rest):
            if self._left:
                at = self._take_content(rest, at, found)
            elif not self._framer.at_boundary:
                at = self._take_frame(rest, at, found)
            elif rest.startswith(MARK, at):
                if len(rest) - at < _HEAD.size:
                    self._held = rest[at:]
                    break
                at = self._open(rest, at, found)
            elif MARK.startswith(rest[at : at + len(MARK)]):
                self._held = rest[at:]
                break
            else:
                at = self._take_frame(rest, at, found)
        return found

    def _take_frame(self, rest: bytes, at: int, found: list[bytes | FrameRejected | UploadChunk]) -> int:
        """Up to the next delimiter, behind which a piece may begin."""
        end = rest.find(b"~", at) + 1 or len(rest)
        found += self._framer.receive(rest[at:end])
        return end

    def _open(self, rest: bytes, at: int, found: list[bytes | FrameRejected | UploadChunk]) -> int:
        _, name, offset, length = _HEAD.unpack_from(rest, at)
        if length > MAX_CHUNK_BYTES:
            found.append(rejected(f"a piece of {length} bytes", rest[at:]))
            found += self._framer.receive(MARK)  # then it is no place for a piece until the next delimiter
            return at + len(MARK)
        self._name, self._offset, self._left = normalized_name(name), offset, length
        return at + _HEAD.size

    def _take_content(self, rest: bytes, at: int, found: list[bytes | FrameRejected | UploadChunk]) -> int:
        end = min(len(rest), at + self._left, at + CHUNK_PART_BYTES - len(self._got))
        self._got += rest[at:end]
        self._left -= end - at
        if not self._left or len(self._got) == CHUNK_PART_BYTES:
            found.append(UploadChunk(self._name, self._offset, bytes(self._got)))
            self._offset += len(self._got)
            self._got.clear()
        return end
