"""What the formats of exports have in common."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo
from typing import Protocol
from xml.sax.saxutils import escape

from motorpool.storage.records import Position

# Section 2.2 of XML 1.0: characters that no document may contain, escaped or not.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class PositionWriter(Protocol):
    """Writes one file piece by piece: `begin`, any number of `write`, `end`."""

    def begin(self, positions: Sequence[Position]) -> bytes:
        """Return the head of the file; `positions` are the first ones, which `write` gets as well."""
        ...

    def write(self, positions: Sequence[Position]) -> bytes:
        """Return the part of the file for these positions."""
        ...

    def end(self) -> bytes:
        """Return what follows the last position."""
        ...


def clock_time(instant: datetime, zone: tzinfo) -> str:
    """Return YYYY-MM-DD HH:mm:ss in a time zone; in UTC at the ends of the calendar, which have no other."""
    try:
        local = instant.astimezone(zone)
    except OverflowError:
        local = instant.astimezone(UTC)
    return local.replace(tzinfo=None).isoformat(" ", "seconds")


def xml_text(text: str) -> str:
    """Return text for an element; characters that XML does not have become U+FFFD."""
    return escape(_NOT_XML.sub("\ufffd", text))
