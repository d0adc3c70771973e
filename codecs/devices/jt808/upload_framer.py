"""The framing of connections that upload files of alarms: frames and file chunks in one stream.

A chunk has a header of its own and its length in it: "01cd", name[50], offset DWORD, length DWORD, then the
bytes, unescaped (docs/protocols/jt808.md#alarm-files). It begins where a frame could: after another chunk,
after a delimiter, or at the start of the stream. No frame begins with "01cd": its id would be 0x3031.
"""

from collections.abc import Sequence
from struct import Struct

import msgspec

from motorpool.codecs.devices.framing import rejected
from motorpool.codecs.devices.jt808.frames import MAX_FRAME_BYTES, new_framer
from motorpool.codecs.devices.jt808.vendors.port_framing import (
    OTHER_MARKS,
    E7Frame,
    PortFramer,
    TextFrame,
    is_other_mark_after,
)
from motorpool.codecs.reports import FrameRejected

CHUNK_MAGIC = b"01cd"
CHUNK_PART_BYTES = 1 << 16
"""The usual length of a chunk; longer ones are passed on in parts of this size."""
MAX_CHUNK_BYTES = 1 << 20
"""Longest chunk that is accepted; a greater length is noise, or media on the wrong port."""

_OTHER_FIRST_BYTES = b"".join(OTHER_MARKS)
CHUNK_HEADER = Struct(">4s50sII")
_EMPTY = bytearray()
"""Shared by the connections that receive no file; never changed."""


class UploadChunk(msgspec.Struct, frozen=True, gc=False):
    """A chunk of a file, or a part of one."""

    name: bytes
    """As `normalized_name` returns it."""
    offset: int
    """In the file, bytes."""
    content: bytes


UploadItem = bytes | FrameRejected | UploadChunk | E7Frame | TextFrame
"""A frame, bytes that are neither frame nor chunk, a chunk, or a frame of another form."""


def normalized_name(field: bytes) -> bytes:
    """Return a name as it is compared: without padding, cut to the 50 bytes of a chunk's header."""
    return field[:50].rstrip(b"\0 ")


class UploadFramer:
    """Divides a stream into frames, as `DelimiterFramer` does, and file chunks.

    From the first sign of a frame of another form on, a `PortFramer` divides the stream: file chunks do not
    occur there.
    """

    __slots__ = (
        "_content",
        "_framer",
        "_has_begun",
        "_header_start",
        "_missing",
        "_name",
        "_offset",
        "_port",
        "is_idle",
    )

    def __init__(self) -> None:
        self._framer = new_framer()
        self._port: PortFramer | None = None
        self._has_begun = False
        self.is_idle = False
        """Whether the next bytes begin behind the end of a frame, and nothing is held back."""
        self._header_start = b""
        """The beginning of a chunk's header."""
        self._name = b""
        self._offset = 0
        self._content = _EMPTY
        self._missing = 0
        """Bytes missing of the unfinished chunk."""

    @property
    def buffered(self) -> int:
        """At most an unfinished frame and a chunk's header or `CHUNK_PART_BYTES`."""
        framer = self._framer if self._port is None else self._port
        return framer.buffered + len(self._header_start) + len(self._content)

    def receive(self, data: bytes) -> Sequence[UploadItem]:
        """Return the frames and chunks that are complete with these bytes, in order."""
        if (
            self.is_idle
            and data.startswith(b"~")
            and 2 <= data.find(b"~", 1) == len(data) - 1 <= MAX_FRAME_BYTES
            and data[1] not in _OTHER_FIRST_BYTES
        ):
            return (data[1:-1],)  # one frame, as most reads are
        items = self._receive(data)
        self.is_idle = (
            self._port is None and not self._missing and not self._header_start and self._framer.is_idle
        )
        return items

    def _receive(self, data: bytes) -> Sequence[UploadItem]:
        if self._port is not None:
            return self._port.receive(data)
        if self._missing or self._header_start:
            return self._receive_mixed(data)
        if self._begins_otherwise(data):
            return self._switch(data)
        if CHUNK_MAGIC in data:
            return self._receive_mixed(data)
        if is_other_mark_after(data):
            return self._switch(data)
        items = self._framer.receive(data)
        if 0 < self._framer.buffered < len(CHUNK_MAGIC):
            self._header_start = self._framer.release(CHUNK_MAGIC)
        return items

    def _begins_otherwise(self, data: bytes) -> bool:
        if self._has_begun:
            return data.startswith(OTHER_MARKS) and self._framer.at_boundary
        self._has_begun = bool(data)
        return self._has_begun and not data.startswith((b"~", b"0"))  # neither a frame nor a chunk

    def _switch(self, data: bytes) -> Sequence[UploadItem]:
        self._port = PortFramer()
        return self._port.receive(self._framer.take() + data)

    def _receive_mixed(self, data: bytes) -> list[UploadItem]:
        items: list[UploadItem] = []
        data, self._header_start = self._header_start + data, b""
        position = 0
        while position < len(data):
            if self._missing:
                position = self._append_content(data, position, items)
            elif not self._framer.at_boundary:
                position = self._pass_to_framer(data, position, items)
            elif data.startswith(CHUNK_MAGIC, position):
                if len(data) - position < CHUNK_HEADER.size:
                    self._header_start = data[position:]
                    break
                position = self._begin_chunk(data, position, items)
            elif CHUNK_MAGIC.startswith(data[position : position + len(CHUNK_MAGIC)]):
                self._header_start = data[position:]
                break
            else:
                position = self._pass_to_framer(data, position, items)
        return items

    def _pass_to_framer(self, data: bytes, position: int, items: list[UploadItem]) -> int:
        """Pass on the bytes up to the next delimiter, after which a chunk may begin."""
        end = data.find(b"~", position) + 1 or len(data)
        items += self._framer.receive(data[position:end])
        return end

    def _begin_chunk(self, data: bytes, position: int, items: list[UploadItem]) -> int:
        _, name, offset, length = CHUNK_HEADER.unpack_from(data, position)
        if length > MAX_CHUNK_BYTES:
            items.append(rejected(f"a chunk of {length} bytes", data[position:]))
            items += self._framer.receive(CHUNK_MAGIC)  # so that no chunk may begin before the next delimiter
            return position + len(CHUNK_MAGIC)
        self._name, self._offset, self._missing = normalized_name(name), offset, length
        return position + CHUNK_HEADER.size

    def _append_content(self, data: bytes, position: int, items: list[UploadItem]) -> int:
        end = min(len(data), position + self._missing, position + CHUNK_PART_BYTES - len(self._content))
        if self._content is _EMPTY:
            self._content = bytearray()
        self._content += data[position:end]
        self._missing -= end - position
        if not self._missing or len(self._content) == CHUNK_PART_BYTES:
            items.append(UploadChunk(self._name, self._offset, bytes(self._content)))
            self._offset += len(self._content)
            self._content = _EMPTY
        return end
