"""Bounds-checked reading of the fields of a frame."""

from motorpool.codecs.errors import Truncated


class ByteReader:
    """Reads big-endian fields one after the other.

    Every method raises `Truncated` where the field extends beyond the end.
    """

    __slots__ = ("_body", "_end", "_offset")

    def __init__(self, body: bytes, start: int = 0) -> None:
        self._body = body
        self._offset = start
        self._end = len(body)

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

    def rest(self) -> bytes:
        """Return all remaining bytes."""
        return self.take(self.remaining)

    def uint8(self) -> int:
        """Return a BYTE, 8 bits."""
        return self.take(1)[0]

    def uint16(self) -> int:
        """Return a WORD, 16 bits."""
        return int.from_bytes(self.take(2), "big")

    def uint32(self) -> int:
        """Return a DWORD, 32 bits."""
        return int.from_bytes(self.take(4), "big")

    def uint64(self) -> int:
        """Return an integer of 64 bits."""
        return int.from_bytes(self.take(8), "big")
