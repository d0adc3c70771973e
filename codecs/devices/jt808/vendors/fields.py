"""Fields that several makers' items share."""

from collections.abc import Iterator
from struct import unpack
from typing import NamedTuple

from motorpool.codecs.devices.jt808.vendors.record import ItemRecord


def walk(block: bytes, id_bytes: int = 2, length_bytes: int = 1) -> list[tuple[int, bytes]] | None:
    """Return the ids and values of a block of id, length and value; None unless they fill it exactly.

    An empty block has no fields and is None as well.
    """
    fields: list[tuple[int, bytes]] = []
    head = id_bytes + length_bytes
    start, end = 0, len(block)
    while start + head <= end:
        value = start + head
        stop = value + int.from_bytes(block[start + id_bytes : value], "big")
        if stop > end:
            return None
        fields.append((int.from_bytes(block[start : start + id_bytes], "big"), block[value:stop]))
        start = stop
    return fields if fields and start == end else None


class Quantity(NamedTuple):
    """An unsigned number under a key."""

    key: str
    factor: float = 1
    """A divisor where negative: it gives the decimal that 0.01 would miss, 14.18 from 1418 and -100."""
    offset: float = 0
    """Added after the factor, in the unit of the key."""

    def of(self, value: bytes) -> float:
        """Return the number in these bytes."""
        number, factor = int.from_bytes(value, "big"), self.factor
        scaled = number * factor if factor > 0 else number / -factor
        return round(scaled + self.offset, 5) if self.offset else scaled

    def read(self, value: bytes, record: ItemRecord) -> None:
        """Add the number to a location, as an `ItemReader`."""
        record.attributes[self.key] = self.of(value)


def percent_of_255(value: int) -> float:
    """Return a byte whose greatest value is the whole as a percentage with one decimal."""
    return round(value * 100 / 255, 1)


def is_printable(value: bytes) -> bool:
    """Whether all bytes are printable ASCII characters; there is at least one."""
    return bool(value) and all(32 <= byte < 127 for byte in value)


def ascii_text(value: bytes) -> str:
    """Return a text without the NUL bytes and blanks around it; bytes that are not ASCII become U+FFFD."""
    return value.decode("ascii", "replace").strip("\0 ")


def iccid_digits(text: str) -> str:
    """Return the number of a SIM card without the `F` that fills up its last byte."""
    return text.strip("\0 ").rstrip("fF")


def sign_magnitude(number: int) -> int:
    """Return the value of a WORD with the sign in bit 15 and the size in the others."""
    return -(number & 0x7FFF) if number & 0x8000 else number


def axes(value: bytes) -> str:
    """Return three signed WORDs as the text `[x,y,z]`."""
    return "[{},{},{}]".format(*unpack(">hhh", value))


def pieces(value: bytes, size: int) -> Iterator[bytes]:
    """Yield the entries of `size` bytes; there are only whole ones."""
    for start in range(0, len(value) - size + 1, size):
        yield value[start : start + size]
