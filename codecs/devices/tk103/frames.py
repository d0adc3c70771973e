"""Where messages of TK103 trackers end (docs/protocols/tk103.md#frames)."""

import re
from typing import Final

from motorpool.codecs.devices.framing import Marked, Shape
from motorpool.codecs.devices.framing.shapes import INCOMPLETE, NO_FRAME

_HEADER: Final = rb"\((?:[0-9]{12}[A-Z]{2}|[0-9]{10,20},[A-Z]{2})[0-9A-Z]{2}"
_BARE_HEADER = re.compile(rb"(?:[0-9]{12}|[0-9]{10,20},)[A-Z]{2}[0-9A-Z]{2}")
_BEGINNING = re.compile(rb"[0-9]{0,20}|[0-9]{12}[A-Z]{1,2}[0-9A-Z]?|[0-9]{10,20},[A-Z]{0,2}[0-9A-Z]?")


class _Bare(Marked):
    """A message that has lost its first parenthesis."""

    def __init__(self, digit: bytes) -> None:
        super().__init__(digit, b")", quote=b"$", header=_HEADER)

    def _find_end(self, data: bytes, start: int, stop: int) -> int:
        if _BARE_HEADER.match(data, start):
            return super()._find_end(data, start, stop)
        return INCOMPLETE if _BEGINNING.fullmatch(data, start) else NO_FRAME


def message_shapes() -> tuple[Shape, ...]:
    """Return the shapes of messages: with the first parenthesis, and without it."""
    bare = (_Bare(b"%d" % digit) for digit in range(10))
    return (Marked(b"(", b")", quote=b"$", header=_HEADER), *bare)
