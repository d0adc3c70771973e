"""The shape of texts: up to a carriage return that is not within the data of a serial port."""

import re

from motorpool.codecs.devices.framing import Shape
from motorpool.codecs.devices.framing.shapes import INCOMPLETE, NO_FRAME

_CAPITALS = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_SERIAL = re.compile(rb"(?:[A-Z0-9]{5})?UEX;")
_SIZE = re.compile(rb";[01]{6,10};([0-9]{1,4});")
"""The length of the data of a serial port, after the inputs and outputs."""


class Text(Shape):
    """Text that begins with a capital letter, up to CR; in the data of a serial port CR LF does not end it.

    The length before the data says where they end: a line end after them may have an LF, too.
    """

    def _find_end(self, data: bytes, start: int, stop: int) -> int:
        if data[start] not in _CAPITALS:
            return NO_FRAME
        at = data.find(b"\r", start, stop)
        if at < 0:
            return INCOMPLETE
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
