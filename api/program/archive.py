"""The archive of a backup: a plain tar whose last file is a manifest with the digests of all others.

An archive without a manifest is incomplete. Nothing of an archive is used before all of it was verified.
"""

import hashlib
import os
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import BinaryIO

import msgspec

from motorpool.actors.files.media_store import MEDIA
from motorpool.storage.database.encryption_keys import FILE as KEY_FILE

FORMAT = 1
DUMP = "database.dump"
MANIFEST = "manifest.json"
FOLDERS = (MEDIA, "override")
"""Folders of the data folder that a backup contains; the database is dumped."""
FILES = ("login.json", KEY_FILE)

_CHUNK_BYTES = 256 * 1024
_MANIFEST_BYTES = 1 << 30


class ArchiveDamaged(Exception):
    """The archive cannot be used; the text names the problem."""


class Entry(msgspec.Struct, frozen=True):
    """Size and digest of a file."""

    size: int
    sha256: str


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """Origin and contents of an archive."""

    format: int = FORMAT
    program: str
    """Version of the program that wrote the archive."""
    schema: int
    """Number of the database's last migration."""
    postgres: str
    """Version of the database server that was dumped."""
    made: str
    encryption_keys: tuple[str, ...] = ()
    """Ids of the keys that secrets in the database are encrypted with."""
    files: dict[str, Entry] = {}


def allowed(name: str) -> bool:
    """Return whether a backup may contain this name: a plain relative path below our folders."""
    path = PurePosixPath(name)
    plain = str(path) == name and not path.is_absolute() and ".." not in path.parts and "\0" not in name
    if not plain or not path.parts:
        return False
    return name in (DUMP, *FILES) or (len(path.parts) > 1 and path.parts[0] in FOLDERS)


class ArchiveWriter:
    """Writes files whose length is not known in advance."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._entries: dict[str, Entry] = {}

    @contextmanager
    def member(self, name: str, *, mode: int = 0o600, modified: float = 0.0) -> "Iterator[Member]":
        """Write one file, from the calls of `Member.write` in the block."""
        if not allowed(name) or name in self._entries:
            raise ValueError(f"{name!r} is not a valid name in a backup")
        with self._member(name, mode, modified) as member:
            yield member
        self._entries[name] = Entry(member.size, member.digest.hexdigest())

    @contextmanager
    def _member(self, name: str, mode: int, modified: float) -> "Iterator[Member]":
        head = tarfile.TarInfo(name)
        head.mode, head.mtime = mode, int(modified)
        begin = self._file.tell()
        self._file.write(_block(head))
        member = Member(self._file)
        yield member
        self._file.write(bytes(-member.size % tarfile.BLOCKSIZE))
        end = self._file.tell()
        # The size is known only now; the header has the same number of blocks for any size.
        head.size = member.size
        self._file.seek(begin)
        self._file.write(_block(head))
        self._file.seek(end)

    def finish(self, manifest: Manifest) -> Manifest:
        """Write the manifest, with `files` filled in, and the end of the archive."""
        whole = msgspec.structs.replace(manifest, files=self._entries)
        with self._member(MANIFEST, 0o600, 0.0) as member:
            member.write(msgspec.json.encode(whole))
        self._file.write(bytes(2 * tarfile.BLOCKSIZE))
        return whole


class Member:
    """A file of the archive while it is being written."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.size = 0
        self.digest = hashlib.sha256()

    def write(self, data: bytes) -> None:
        """Append bytes."""
        self._file.write(data)
        self.digest.update(data)
        self.size += len(data)


def _block(head: tarfile.TarInfo) -> bytes:
    return head.tobuf(tarfile.GNU_FORMAT, "utf-8", "strict")


class VerifiedArchive:
    """An archive that was read completely and matches its manifest."""

    def __init__(self, path: Path) -> None:
        """Verify the archive. Raises ArchiveDamaged, or OSError if it cannot be read."""
        self._path = path
        try:
            with tarfile.open(path, "r:", encoding="utf-8") as tar:
                self.manifest, self._members = _check(tar)
        except (tarfile.TarError, EOFError, UnicodeError, ValueError) as error:
            raise ArchiveDamaged(f"{path} is not a backup, or is damaged: {error}") from None

    @property
    def names(self) -> list[str]:
        """The files except the dump."""
        return [name for name in self._members if name != DUMP]

    def chunks(self, name: str) -> Iterator[bytes]:
        """Yield one file in chunks; ArchiveDamaged at its end if it changed after verification."""
        member = self._members[name]
        digest = hashlib.sha256()
        with self._path.open("rb") as file:
            file.seek(member.offset_data)
            remaining = member.size
            while remaining and (chunk := file.read(min(_CHUNK_BYTES, remaining))):
                remaining -= len(chunk)
                digest.update(chunk)
                yield chunk
        if digest.hexdigest() != self.manifest.files[name].sha256:
            raise ArchiveDamaged(f"{name} in {self._path} changed while it was read")

    def extract(self, name: str, folder: Path) -> None:
        """Write one file below a folder to which no other process writes."""
        member = self._members[name]
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        opened = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, member.mode & 0o777)
        with os.fdopen(opened, "wb") as file:
            for chunk in self.chunks(name):
                file.write(chunk)
        os.utime(target, (member.mtime, member.mtime))


def _check(tar: tarfile.TarFile) -> tuple[Manifest, dict[str, tarfile.TarInfo]]:
    manifest: Manifest | None = None
    found: dict[str, Entry] = {}
    members: dict[str, tarfile.TarInfo] = {}
    for member in tar:
        name = member.name
        if manifest is not None:
            raise ValueError("something follows the manifest")
        content = tar.extractfile(member) if member.type == tarfile.REGTYPE else None
        if content is None or name in found:
            raise ValueError(f"{name!r} is not a regular file, or occurs twice")
        if name == MANIFEST:
            if member.size > _MANIFEST_BYTES:
                raise ValueError("the manifest is too long")
            manifest = msgspec.json.decode(content.read(), type=Manifest)
        elif not allowed(name):
            raise ValueError(f"{name!r} does not belong in a backup")
        else:
            digest, size = hashlib.sha256(), 0
            while chunk := content.read(_CHUNK_BYTES):
                digest.update(chunk)
                size += len(chunk)
            found[name] = Entry(size, digest.hexdigest())
            members[name] = member
    if manifest is None:
        raise ValueError("it ends before the manifest")
    if manifest.format != FORMAT:
        raise ValueError(f"its format is {manifest.format}, this release reads {FORMAT}")
    if manifest.files != found or DUMP not in found:
        wrong = sorted(
            name for name in {*found, *manifest.files} if found.get(name) != manifest.files.get(name)
        )
        raise ValueError(f"{(wrong or [DUMP])[0]} is not what the manifest says")
    return manifest, members
