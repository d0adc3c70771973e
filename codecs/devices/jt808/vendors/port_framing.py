"""Other frames than JT/T 808's on its port (docs/protocols/jt808-vendors.md#frames).

A byte outside a frame decides of which form it is: `7e`, `e7` or `(`. Inside a frame the others are data.
"""

from typing import Final

import msgspec

from motorpool.codecs.checksums import xor8
from motorpool.codecs.devices.framing import Framer, Framing, Shape
from motorpool.codecs.devices.framing.shapes import INCOMPLETE, NO_FRAME
from motorpool.codecs.devices.jt808.frames import MAX_FRAME_BYTES, unescape_e7
from motorpool.codecs.reports import FrameRejected

OTHER_MARKS: Final = (b"\xe7", b"(", b"\r")
"""What may stand at the boundary of two frames and begins none of JT/T 808's."""
_E7_MIN_BYTES = 14
"""Header and check byte."""
_E7_LONGEST_HEADER = 21
"""That of 2019 with the numbers of a packet."""
_TEXT_CONTROLS = frozenset(range(0x20)) - frozenset(b"\t\r\n")


class E7Frame(msgspec.Struct, frozen=True, gc=False):
    """A frame between the delimiters E7."""

    content: bytes
    """Escaped, without delimiters."""


class TextFrame(msgspec.Struct, frozen=True, gc=False):
    """A text in parentheses."""

    content: bytes
    """With the parentheses."""


def is_other_mark_after(data: bytes) -> bool:
    """Whether these bytes hold a delimiter of JT/T 808 and behind it the beginning of another form."""
    return b"~\xe7" in data or b"~(" in data or b"~\r" in data


class _Standard(Shape):
    """A delimiter and what follows it up to the next one.

    As with `DelimiterFramer` a delimiter may be shared by two frames; a frame is empty where another form
    begins behind it.
    """

    def _find_end(self, data: bytes, start: int, stop: int) -> int:
        start += 1
        if data[start : start + 1] in (b"\xe7", b"("):
            return start
        if data.startswith(b"\r", start):
            following = data[start + 1 : start + 2]
            if not following:
                return INCOMPLETE
            if following == b"\n":
                return start
        found = data.find(b"~", start, stop)
        return found if found >= 0 else INCOMPLETE


class _E7Shape(Shape):
    """From E7 to E7, where the header says or with the right check byte: else the delimiter was noise."""

    def _find_end(self, data: bytes, start: int, stop: int) -> int:
        start += 1
        if data[start : start + 1] in (b"\xe7", b"~", b"("):
            return NO_FRAME if start < len(data) else INCOMPLETE
        found = data.find(b"\xe7", start, stop)
        content = unescape_e7(data[start : found if found >= 0 else stop])
        if found >= 0:
            return found + 1 if len(content) >= _E7_MIN_BYTES and not xor8(content) else NO_FRAME
        if len(content) < _E7_MIN_BYTES:
            return INCOMPLETE
        properties = int.from_bytes(content[2:4], "big")
        # The longest header, and an escape whose second byte is still to come.
        longest = _E7_LONGEST_HEADER + (properties & 0x3FF) + 1 + 1
        return INCOMPLETE if len(content) <= longest else NO_FRAME


class _Text(Shape):
    """From `(` to `)`, without control characters: frames of the other forms begin with some."""

    def _find_end(self, data: bytes, start: int, stop: int) -> int:
        end = data.find(b")", start, stop) + 1 or INCOMPLETE
        searched = data[start : end if end > 0 else stop]
        return end if _TEXT_CONTROLS.isdisjoint(searched) else NO_FRAME


_FRAMING = Framing(
    _Standard(b"~"),
    _E7Shape(b"\xe7"),
    _Text(b"("),
    max_frame_bytes=MAX_FRAME_BYTES,
    ignored=b"\r\n",
)


class PortFramer:
    """Divides a stream in which frames of all forms may occur."""

    __slots__ = ("_framer",)

    def __init__(self) -> None:
        self._framer = Framer(_FRAMING)

    @property
    def buffered(self) -> int:
        """At most `MAX_FRAME_BYTES`, and the first of the bytes that were no frame."""
        return self._framer.buffered

    def receive(self, data: bytes) -> list[bytes | E7Frame | TextFrame | FrameRejected]:
        """Return the frames that end in these bytes; JT/T 808 frames come without delimiters."""
        items: list[bytes | E7Frame | TextFrame | FrameRejected] = []
        for frame in self._framer.receive(data):
            if isinstance(frame, FrameRejected):
                items.append(frame)
            elif frame.startswith(b"~"):
                items += [frame[1:]] if len(frame) > 1 else []
            else:
                items.append(TextFrame(frame) if frame.startswith(b"(") else E7Frame(frame[1:-1]))
        return items
