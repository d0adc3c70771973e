"""The archive of a backup: a plain tar whose last file is a manifest with the digests of all others.

An archive without a manifest is incomplete. Nothing of an archive is used before all of it was verified.
Where the archive is sent as it is made, the length of the dump is not known before it: it is in parts.
"""

import hashlib
import os
import re
import stat
import tarfile
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import BinaryIO

import msgspec

from motorpool.actors.files.media_store import MEDIA
from motorpool.storage.database.encryption_keys import FILE as KEY_FILE

FORMAT = 1
FORMAT_IN_PARTS = 2
DUMP = "database.dump"
_PART = re.compile(r"database\.dump\.\d{6}")
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
    return is_of_dump(name) or name in FILES or (len(path.parts) > 1 and path.parts[0] in FOLDERS)


def is_of_dump(name: str) -> bool:
    """Return whether a file of an archive is the dump, or a part of it."""
    return name == DUMP or _PART.fullmatch(name) is not None


def part_name(number: int) -> str:
    """Return the name of a part of the dump; the first one is 1."""
    return f"{DUMP}.{number:06}"


def files_of(data: Path, names: Iterable[str] = FILES) -> Generator[tuple[str, Path], None, None]:
    """Yield what a backup has of a data folder, by its name in archives, with these files at its top."""
    for name in names:
        if (data / name).is_file():
            yield name, data / name
    for top in FOLDERS:
        for folder, inner, found in os.walk(data / top):
            inner.sort()
            for name in sorted(found):
                # A name with a leading dot is a file still being written.
                if not name.startswith("."):
                    path = Path(folder) / name
                    yield path.relative_to(data).as_posix(), path


def open_file(path: Path) -> tuple[BinaryIO, os.stat_result] | None:
    """Open a file of the data folder; None if it was deleted meanwhile, or is not one of the server's."""
    try:
        # The server never creates symbolic links.
        opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    found = os.fstat(opened)
    if not stat.S_ISREG(found.st_mode):
        os.close(opened)
        return None
    return os.fdopen(opened, "rb"), found


class ArchiveStream:
    """Makes an archive of files whose lengths are known, piece by piece in one pass."""

    def __init__(self) -> None:
        self._entries: dict[str, Entry] = {}
        self._name = ""
        self._size = self._left = 0
        self._digest = hashlib.sha256()

    def begin(self, name: str, size: int, *, mode: int = 0o600, modified: float = 0.0) -> bytes:
        """Begin a file of `size` bytes; return bytes of the archive."""
        if not allowed(name) or name in self._entries:
            raise ValueError(f"{name!r} is not a valid name in a backup")
        return self._begin(name, size, mode, modified)

    def _begin(self, name: str, size: int, mode: int, modified: float) -> bytes:
        head = tarfile.TarInfo(name)
        head.size, head.mode, head.mtime = size, mode, int(modified)
        self._name, self._size, self._left, self._digest = name, size, size, hashlib.sha256()
        return _block(head)

    def write(self, data: bytes) -> bytes:
        """Add to the file; return bytes of the archive."""
        self._digest.update(data)
        self._left -= len(data)
        return data

    def end(self) -> bytes:
        """End the file; return bytes of the archive. Raises ValueError if it is not as long as was said."""
        if self._left:
            raise ValueError(f"{self._name} has changed while it was read")
        self._entries[self._name] = Entry(self._size, self._digest.hexdigest())
        return bytes(-self._size % tarfile.BLOCKSIZE)

    def finish(self, manifest: Manifest) -> bytes:
        """Return the manifest, with `files` filled in, and the end of the archive."""
        whole = msgspec.structs.replace(manifest, format=FORMAT_IN_PARTS, files=self._entries)
        content = msgspec.json.encode(whole)
        padding = bytes(-len(content) % tarfile.BLOCKSIZE + 2 * tarfile.BLOCKSIZE)
        return self._begin(MANIFEST, len(content), 0o600, 0.0) + content + padding


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
        return [name for name in self._members if not is_of_dump(name)]

    def dump(self) -> Iterator[bytes]:
        """Yield the dump in chunks, as `chunks`."""
        for name in sorted(filter(is_of_dump, self._members)):
            yield from self.chunks(name)

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
    if manifest.format not in {FORMAT, FORMAT_IN_PARTS}:
        raise ValueError(f"its format is {manifest.format}, this release reads {FORMAT_IN_PARTS}")
    parts = sorted(filter(is_of_dump, found))
    expected = [DUMP] if manifest.format == FORMAT else [part_name(n) for n in range(1, len(parts) + 1)]
    if manifest.files != found or not parts or parts != expected:
        wrong = sorted(
            name for name in {*found, *manifest.files} if found.get(name) != manifest.files.get(name)
        )
        raise ValueError(f"{(wrong or [DUMP])[0]} is not what the manifest says")
    return manifest, members
