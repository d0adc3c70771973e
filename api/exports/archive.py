"""ZIP archives that are written in one pass, piece by piece."""

import hashlib
import io
import zipfile
from datetime import datetime

SUMS = "SHA256SUMS"
"""Name of the list of checksums, as `sha256sum -c` reads it."""
_ZIP64_BYTES = 1 << 30
"""Members of this size get the fields for large ones."""
_Time = tuple[int, int, int, int, int, int]


def time_of_member(at: datetime) -> _Time:
    """Return a time as archives have it; their clock begins with 1980."""
    return max((at.year, at.month, at.day, at.hour, at.minute, at.second), (1980, 1, 1, 0, 0, 0))


class Sink(io.RawIOBase):
    """Buffers written bytes until they are taken. It cannot seek, so the archive is written in one pass."""

    def __init__(self) -> None:
        self._written = bytearray()

    def writable(self) -> bool:
        """Whether it can be written."""
        return True

    def write(self, content: object) -> int:
        """Take bytes of the archive."""
        part = bytes(content)  # type: ignore[call-overload]
        self._written += part
        return len(part)

    def take(self) -> bytes:
        """Return the bytes written since the last call."""
        taken, self._written = bytes(self._written), bytearray()
        return taken


class CheckedArchive:
    """Members without compression, one after the other, and at the end the list of their checksums."""

    def __init__(self) -> None:
        self.sums: dict[str, str] = {}
        """SHA-256 of each whole member in hexadecimal digits, by name."""
        self._sink = Sink()
        self._archive = zipfile.ZipFile(self._sink, "w", zipfile.ZIP_STORED)

    def begin(self, name: str, at: datetime, size: int = 0) -> None:
        """Begin a member of about `size` bytes."""
        self._name, self._hash = name, hashlib.sha256()
        member = zipfile.ZipInfo(name, time_of_member(at))
        self._member = self._archive.open(member, "w", force_zip64=size >= _ZIP64_BYTES)

    def write(self, content: bytes) -> bytes:
        """Add to the member; return bytes of the archive."""
        self._hash.update(content)
        self._member.write(content)
        return self._sink.take()

    def end_member(self) -> bytes:
        """End the member; return bytes of the archive."""
        self._member.close()
        self.sums[self._name] = self._hash.hexdigest()
        return self._sink.take()

    def add(self, name: str, at: datetime, content: bytes) -> bytes:
        """Add a whole member; return bytes of the archive."""
        self.begin(name, at, len(content))
        return self.write(content) + self.end_member()

    def end(self, at: datetime) -> bytes:
        """Add the list of checksums; return the rest of the archive."""
        lines = "".join(f"{digest}  {name}\n" for name, digest in self.sums.items())
        rest = self.add(SUMS, at, lines.encode())
        self._archive.close()
        return rest + self._sink.take()
