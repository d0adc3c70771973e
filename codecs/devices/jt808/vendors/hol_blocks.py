"""Tells Holloo's blocks from other makers' items of the same ids
(docs/protocols/jt808-vendors.md#holloo-blocks).
"""

from collections.abc import Mapping
from typing import Final

__all__ = ["has_hol_block", "is_hol_block"]

_FIRST_BYTES: Final[Mapping[int, frozenset[int]]] = {
    0xEA: frozenset((0x00,)),
    0xEB: frozenset(range(0x60, 0x70)),
    0xEC: frozenset((*range(0x50, 0x60), *range(0x60, 0x70))),
    0xED: frozenset((0x70,)),
    0xEE: frozenset((0x30,)),
    0xFA: frozenset(range(0x05)),
}
"""First bytes of the ids in a block, by item."""


def is_hol_block(item: int, value: bytes) -> bool:
    """Whether entries of id WORD, length BYTE and value, with ids of this item, fill the value exactly."""
    firsts = _FIRST_BYTES.get(item)
    if firsts is None:
        return False
    at, size = 0, len(value)
    while at + 3 <= size and value[at] in firsts:
        at += 3 + value[at + 2]
    return 0 < at == size


def has_hol_block(content: bytes, start: int, end: int) -> bool:
    """Whether one of the items in `content[start:end]` is such a block."""
    while start + 2 <= end:
        item, stop = content[start], start + 2 + content[start + 1]
        if item in _FIRST_BYTES and stop <= end and is_hol_block(item, content[start + 2 : stop]):
            return True
        start = stop
    return False
