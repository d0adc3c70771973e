"""Decodes the items of JT/T 808 locations, by layouts that are remembered.

A terminal sends the same items with nearly every location, and a fleet has few kinds of terminals. So each
sequence of ids and lengths is compiled to one `Struct`, which reads a matching location in a third of the
time.
"""

from struct import Struct
from typing import Final

from motorpool.codecs.devices.jt808.items import (
    BIT_FIELD_ITEMS,
    NUMERIC_ITEMS,
    Alarms,
    Attributes,
    ItemDecoder,
    item_decoder,
)

_MAX_ITEMS = 16
"""Items of the longest layout that is remembered."""
_MAX_MISSES = 64
"""Locations of one size with other items after which their layout replaces the remembered one."""
_NUMBER_FORMS = {1: "B", 2: "H", 4: "I"}


class _Layout:
    """One sequence of items, each id << 8 | length."""

    __slots__ = ("items", "misses", "steps", "unpack_from")

    def __init__(self, items: tuple[int, ...]) -> None:
        forms = (
            _NUMBER_FORMS[item & 0xFF]
            if item in NUMERIC_ITEMS or item in BIT_FIELD_ITEMS
            else f"{item & 0xFF}s"
            for item in items
        )
        self.unpack_from: Final = Struct(">" + "".join(f"H{form}" for form in forms)).unpack_from
        self.items: Final = items
        self.steps: Final[tuple[ItemDecoder, ...]] = tuple(map(item_decoder, items))
        self.misses = 0


_layouts: dict[int, _Layout] = {}
"""By the total size of the items, at most 1,023 bytes."""


def decode_items(content: bytes, start: int, end: int, attributes: Attributes) -> Alarms:
    """Add the items to the attributes and return the alarms they raise.

    An item that would pass `end` stops the decoding; the items before it are kept.
    """
    alarms: Alarms = []
    layout = _layouts.get(end - start)
    if layout is not None:
        values = layout.unpack_from(content, start)
        if values[::2] == layout.items:
            for (name, unit, read), value in zip(layout.steps, values[1::2], strict=True):
                if unit == 1:
                    attributes[name] = value
                elif read is None:
                    attributes[name] = value * unit if unit > 1 else value / 10
                else:
                    read(value, attributes, alarms)
            return alarms
        layout.misses += 1
    items = _decode_each(content, start, end, attributes, alarms)
    if (layout is None or layout.misses >= _MAX_MISSES) and 0 < len(items) <= _MAX_ITEMS:
        _layouts[end - start] = _Layout(items)
    return alarms


def _decode_each(
    content: bytes, start: int, end: int, attributes: Attributes, alarms: Alarms
) -> tuple[int, ...]:
    """Decode item by item; return their sequence if they fill the space exactly, else nothing."""
    items: list[int] = []
    while start + 2 <= end:
        item = content[start] << 8 | content[start + 1]
        start += 2
        stop = start + (item & 0xFF)
        if stop > end:
            return ()
        field = content[start:stop]
        number = int.from_bytes(field, "big")
        name, unit, read = item_decoder(item)
        if read is not None:
            read(number if item in BIT_FIELD_ITEMS else field, attributes, alarms)
        else:
            attributes[name] = number * unit if unit >= 1 else number / 10
        items.append(item)
        start = stop
    return tuple(items) if start == end else ()
