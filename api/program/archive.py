"""The archive of a backup: a plain tar of files, the last of which says what all of them must be.

An archive without that last one is not whole. Nothing of an archive is used before all of it was checked.
"""

import hashlib
import os
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import BinaryIO

import msgspec

__all__ = [
    "DUMP",
    "FILES",
    "FOLDERS",
    "ArchiveDamaged",
    "ArchiveWriter",
    "Manifest",
    "WholeArchive",
    "allowed",
]

FORMAT = 1
DUMP = "database.dump"
MANIFEST = "manifest.json"
FOLDERS = ("media", "override")
"""Folders under the data folder that belong to a backup; the database has its own way."""
FILES = ("login.json",)

_PIECE_BYTES = 256 * 1024
_MANIFEST_BYTES = 1 << 30


class ArchiveDamaged(Exception):
    """It cannot be used; the text says where."""


class Entry(msgspec.Struct, frozen=True):
    """What one file must be."""

    size: int
    sha256: str


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """What the archive is."""

    format: int = FORMAT
    program: str
    """Version of the program that made it."""
    schema: int
    """Number of its last migration."""
    postgres: str
    """Version of the server that the dump came from."""
    made: str
    files: dict[str, Entry] = {}


def allowed(name: str) -> bool:
    """Whether a backup may hold a file of this name: one below our folders, by a plain path."""
    path = PurePosixPath(name)
    plain = str(path) == name and not path.is_absolute() and ".." not in path.parts and "\0" not in name
    if not plain or not path.parts:
        return False
    return name in (DUMP, *FILES) or (len(path.parts) > 1 and path.parts[0] in FOLDERS)


class ArchiveWriter:
    """Writes members of unknown length one after the other."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._entries: dict[str, Entry] = {}

    @contextmanager
    def member(self, name: str, *, mode: int = 0o600, modified: float = 0.0) -> "Iterator[Member]":
        """Write one file: what the block gives to its `write`."""
        if not allowed(name) or name in self._entries:
            raise ValueError(f"{name!r} is no name for a file of a backup")
        with self._written(name, mode, modified) as member:
            yield member
        self._entries[name] = Entry(member.size, member.digest.hexdigest())

    @contextmanager
    def _written(self, name: str, mode: int, modified: float) -> "Iterator[Member]":
        head = tarfile.TarInfo(name)
        head.mode, head.mtime = mode, int(modified)
        begin = self._file.tell()
        self._file.write(_block(head))
        member = Member(self._file)
        yield member
        self._file.write(bytes(-member.size % tarfile.BLOCKSIZE))
        end = self._file.tell()
        # Its length is known only now; the head has the same number of blocks whatever that is.
        head.size = member.size
        self._file.seek(begin)
        self._file.write(_block(head))
        self._file.seek(end)

    def finish(self, manifest: Manifest) -> Manifest:
        """Write what all must be, and the end; `files` is filled in."""
        whole = msgspec.structs.replace(manifest, files=self._entries)
        with self._written(MANIFEST, 0o600, 0.0) as member:
            member.write(msgspec.json.encode(whole))
        self._file.write(bytes(2 * tarfile.BLOCKSIZE))
        return whole


class Member:
    """A file of the archive that is being written."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.size = 0
        self.digest = hashlib.sha256()

    def write(self, data: bytes) -> None:
        """Add bytes to it."""
        self._file.write(data)
        self.digest.update(data)
        self.size += len(data)


def _block(head: tarfile.TarInfo) -> bytes:
    return head.tobuf(tarfile.GNU_FORMAT, "utf-8", "strict")


class WholeArchive:
    """An archive all of which was read and found to be what its manifest says."""

    def __init__(self, path: Path) -> None:
        """Check everything. Raises ArchiveDamaged; OSError where it cannot be read."""
        self._path = path
        try:
            with tarfile.open(path, "r:", encoding="utf-8") as tar:
                self.manifest, self._members = _check(tar)
        except (tarfile.TarError, EOFError, UnicodeError, ValueError) as error:
            raise ArchiveDamaged(f"{path} is no backup, or damaged: {error}") from None

    @property
    def names(self) -> list[str]:
        """Its files but the dump."""
        return [name for name in self._members if name != DUMP]

    def pieces(self, name: str) -> Iterator[bytes]:
        """Read one file; ArchiveDamaged at its end where it is no longer what was checked."""
        member = self._members[name]
        digest = hashlib.sha256()
        with self._path.open("rb") as file:
            file.seek(member.offset_data)
            left = member.size
            while left and (piece := file.read(min(_PIECE_BYTES, left))):
                left -= len(piece)
                digest.update(piece)
                yield piece
        if digest.hexdigest() != self.manifest.files[name].sha256:
            raise ArchiveDamaged(f"{name} in {self._path} has changed while it was read")

    def extract(self, name: str, folder: Path) -> None:
        """Write one file below a folder in which nobody else writes."""
        member = self._members[name]
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        opened = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, member.mode & 0o777)
        with os.fdopen(opened, "wb") as file:
            for piece in self.pieces(name):
                file.write(piece)
        os.utime(place, (member.mtime, member.mtime))


def _check(tar: tarfile.TarFile) -> tuple[Manifest, dict[str, tarfile.TarInfo]]:
    manifest: Manifest | None = None
    found: dict[str, Entry] = {}
    members: dict[str, tarfile.TarInfo] = {}
    for member in tar:
        name = member.name
        if manifest is not None:
            raise ValueError("something follows its manifest")
        content = tar.extractfile(member) if member.type == tarfile.REGTYPE else None
        if content is None or name in found:
            raise ValueError(f"{name!r} is no plain file, or there twice")
        if name == MANIFEST:
            if member.size > _MANIFEST_BYTES:
                raise ValueError("its manifest is too long")
            manifest = msgspec.json.decode(content.read(), type=Manifest)
        elif not allowed(name):
            raise ValueError(f"{name!r} is no file of a backup")
        else:
            digest, size = hashlib.sha256(), 0
            while piece := content.read(_PIECE_BYTES):
                digest.update(piece)
                size += len(piece)
            found[name] = Entry(size, digest.hexdigest())
            members[name] = member
    if manifest is None:
        raise ValueError("it ends before its manifest")
    if manifest.format != FORMAT:
        raise ValueError(f"its format is {manifest.format}, this release reads {FORMAT}")
    if manifest.files != found or DUMP not in found:
        wrong = sorted(
            name for name in {*found, *manifest.files} if found.get(name) != manifest.files.get(name)
        )
        raise ValueError(f"{(wrong or [DUMP])[0]} is not what the manifest says")
    return manifest, members
