"""The shape of texts: up to a carriage return that is not within the data of a serial port."""

import re
from typing import Final

from motorpool.codecs.devices.framing import Shape
from motorpool.codecs.devices.framing.shapes import INCOMPLETE, NO_FRAME

_CAPITALS = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_IDENTITY = re.compile(rb"[0-9]{9,15};")
_DIGITS = re.compile(rb"[0-9]{1,15}")
_SERIAL = re.compile(rb"(?:[A-Z0-9]{5})?UEX;")
_CRASH: Final = b"CRR;"
_CRASH_BYTES: Final = 2600
"""More than all data of a crash with the fields before them."""
_SEPARATOR: Final = ord(";")
_NEXT = re.compile(rb"\n?(?:[A-Z]{3};|S[A-Z][0-9A-Z]{2})")
_NEXT_BYTES: Final = 5
_SIZE = re.compile(rb";[01]{6,10};([0-9]{1,4});")
"""The length of the data of a serial port, after the inputs and outputs."""


class Text(Shape):
    """Text that begins with a capital letter or with an id, up to CR; CR LF in serial data does not end it.

    The length before the data says where they end: a line end after them may have an LF, too.
    """

    def _find_end(self, data: bytes, start: int, stop: int) -> int:
        if data[start] not in _CAPITALS and not _IDENTITY.match(data, start, stop):
            return INCOMPLETE if _DIGITS.fullmatch(data, start) else NO_FRAME
        at = data.find(b"\r", start, stop)
        if at < 0:
            return INCOMPLETE
        if data.startswith(_CRASH, start):
            return _find_end_of_crash(data, start, min(stop, start + _CRASH_BYTES))
        if not _SERIAL.match(data, start, stop):
            return at + 1
        found = _SIZE.search(data, start, at)
        serial_end = found.end() + int(found[1]) if found is not None else at
        while at < serial_end:
            if at + 1 >= min(len(data), stop):
                return INCOMPLETE
            if data[at + 1 : at + 2] != b"\n":
                break
            at = data.find(b"\r", at + 1, stop)
            if at < 0:
                return INCOMPLETE
        return at + 1


def _find_end_of_crash(data: bytes, start: int, stop: int) -> int:
    """Return the end of a part of a crash, whose binary data may hold a CR.

    A check value of two characters stands before the end, or another message begins after it.
    """
    first = at = data.find(b"\r", start, stop)
    while at >= 0:
        if data[at - 3] == _SEPARATOR or _NEXT.match(data, at + 1):
            return at + 1
        if at + _NEXT_BYTES >= len(data):
            return INCOMPLETE
        at = data.find(b"\r", at + 1, stop)
    if len(data) < stop:
        return INCOMPLETE
    return first + 1 if first >= 0 else NO_FRAME
