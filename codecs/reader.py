"""Bounds-checked reading of the fields of a frame: bytes, and bits."""

from struct import Struct
from typing import Literal

from motorpool.codecs.errors import Truncated

_FLOAT = {"big": Struct(">f"), "little": Struct("<f")}


class ByteReader:
    """Reads fields one after the other, big-endian unless made with "little".

    Every method raises `Truncated` where the field extends beyond the end.
    """

    __slots__ = ("_body", "_end", "_offset", "_order")

    def __init__(self, body: bytes, start: int = 0, order: Literal["big", "little"] = "big") -> None:
        self._body = body
        self._offset = start
        self._end = len(body)
        self._order: Literal["big", "little"] = order

    @property
    def remaining(self) -> int:
        """Number of bytes not yet read."""
        return self._end - self._offset

    def take(self, size: int) -> bytes:
        """Return the next `size` bytes."""
        start = self._offset
        stop = start + size
        if stop > self._end:
            raise Truncated(f"{size} bytes expected at offset {start}, {self._end - start} left")
        self._offset = stop
        return self._body[start:stop]

    def peek(self, size: int) -> bytes:
        """Return the next `size` bytes without taking them; fewer at the end."""
        return self._body[self._offset : min(self._offset + size, self._end)]

    def rest(self) -> bytes:
        """Return all remaining bytes."""
        return self.take(self.remaining)

    def skip(self, size: int) -> None:
        """Leave out the next `size` bytes."""
        self.take(size)

    def reader(self, size: int) -> "ByteReader":
        """Return a reader of the next `size` bytes alone."""
        return ByteReader(self.take(size), 0, self._order)

    def uint(self, size: int) -> int:
        """Return an integer of `size` bytes."""
        return int.from_bytes(self.take(size), self._order)

    def sint(self, size: int) -> int:
        """Return a signed integer of `size` bytes, in two's complement."""
        return int.from_bytes(self.take(size), self._order, signed=True)

    def uint8(self) -> int:
        """Return a BYTE, 8 bits."""
        return self.take(1)[0]

    def uint16(self) -> int:
        """Return a WORD, 16 bits."""
        return int.from_bytes(self.take(2), self._order)

    def uint32(self) -> int:
        """Return a DWORD, 32 bits."""
        return int.from_bytes(self.take(4), self._order)

    def uint64(self) -> int:
        """Return an integer of 64 bits."""
        return int.from_bytes(self.take(8), self._order)

    def float32(self) -> float:
        """Return a number of IEEE 754 in 32 bits; it may be NaN or infinite."""
        value: float = _FLOAT[self._order].unpack(self.take(4))[0]
        return value

    def digits(self, size: int) -> str:
        """Return `size` bytes as hexadecimal digits: binary-coded decimals as they are read."""
        return self.take(size).hex()

    def ascii(self, size: int) -> str:
        """Return a text of `size` bytes, without NUL bytes and blanks around it; other bytes become
        U+FFFD.
        """
        return self.take(size).decode("ascii", "replace").strip("\0 ")


class BitReader:
    """Reads fields of bits, the most significant bit of each byte first.

    Both methods raise `Truncated` where the field extends beyond the end.
    """

    __slots__ = ("_value", "remaining")

    def __init__(self, data: bytes) -> None:
        self._value = int.from_bytes(data, "big")
        self.remaining = len(data) * 8
        """Number of bits not yet read."""

    def uint(self, bits: int) -> int:
        """Return an integer of `bits` bits."""
        if bits > self.remaining:
            raise Truncated(f"{bits} bits expected, {self.remaining} left")
        self.remaining -= bits
        return (self._value >> self.remaining) & ((1 << bits) - 1)

    def sint(self, bits: int) -> int:
        """Return a signed integer of `bits` bits, in two's complement."""
        value = self.uint(bits)
        return value - (1 << bits) if bits and value >> (bits - 1) else value
