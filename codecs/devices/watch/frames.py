"""Where messages of watches end (docs/protocols/watch.md#frames)."""

import re
from typing import Final

from motorpool.codecs.devices.framing import Nested
from motorpool.codecs.devices.framing.shapes import INCOMPLETE

MESSAGE: Final = re.compile(
    rb"\[([!-)+-Z^-~]{2})\*([0-9A-Za-z]{5,20})\*(?:([0-9A-Za-z]{1,16})\*)?([0-9A-Fa-f]{4})\*(.*)\]", re.DOTALL
)
"""Maker, identity, perhaps an index, length and content of a message."""
_HEADER: Final = rb"\[[!-)+-Z^-~]{2}\*[0-9A-Za-z]{5,20}\*"
_LENGTH = re.compile(_HEADER + rb"(?:[0-9A-Za-z]{1,16}\*)?([0-9A-Fa-f]{4})\*((?:TK2?|JXTK|img),)?")
_LONGEST_HEADER: Final = 52


class Message(Nested):
    """A message ends with the bracket that closes its first one.

    In sounds, pictures and texts that are not ASCII a byte may look like a bracket: there the length
    counts, where a bracket stands at that end.
    """

    def __init__(self) -> None:
        super().__init__(b"[", b"]", header=_HEADER)

    def _find_end(self, data: bytes, start: int, stop: int) -> int:
        end = super()._find_end(data, start, stop)
        header = _LENGTH.match(data, start, start + _LONGEST_HEADER)
        if header is None:
            return end
        told = header.end(1) + 2 + int(header[1], 16)
        if told == end or told > stop:
            return end
        if 0 < end < told and not header[2] and data[start:end].isascii():
            return end
        if told > len(data):
            return INCOMPLETE
        return told if data[told - 1 : told] == b"]" else end
