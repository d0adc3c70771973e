"""Checked reading of the fields of one frame."""

from motorpool.codecs.errors import Truncated


class ByteReader:
    """Big-endian fields one after the other, never past the end.

    Every method raises `Truncated` when the field does not fit.
    """

    __slots__ = ("_body", "_end", "_offset")

    def __init__(self, body: bytes, start: int = 0) -> None:
        self._body = body
        self._offset = start
        self._end = len(body)

    @property
    def remaining(self) -> int:
        """Bytes not yet read."""
        return self._end - self._offset

    def take(self, size: int) -> bytes:
        """The next bytes as they are."""
        start = self._offset
        stop = start + size
        if stop > self._end:
            raise Truncated(f"{size} bytes wanted at offset {start}, {self._end - start} left")
        self._offset = stop
        return self._body[start:stop]

    def rest(self) -> bytes:
        """All that is left."""
        return self.take(self.remaining)

    def uint8(self) -> int:
        """BYTE."""
        return self.take(1)[0]

    def uint16(self) -> int:
        """WORD."""
        return int.from_bytes(self.take(2), "big")

    def uint32(self) -> int:
        """DWORD."""
        return int.from_bytes(self.take(4), "big")

    def uint64(self) -> int:
        """Eight bytes."""
        return int.from_bytes(self.take(8), "big")
