"""Where files of devices are kept: on disk, as `media/{folder of the device}/{name}` in the data folder
(docs/decisions/0014).

Only this module knows of folders and paths. Another place for these files is a class with the methods of
MediaStore. All methods that are no coroutines block and belong in a thread.
"""

import hashlib
import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from fnmatch import fnmatchcase
from functools import partial
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO, Final, Literal, NamedTuple, get_args

import trio

from motorpool.actors.files.disk_space import require_free_space
from motorpool.actors.files.file_locks import create_locked, lock_unwritten
from motorpool.storage.durable_files import make_folder, move_into_place, sync_folder, write_file
from motorpool.storage.errors import OUT_OF_FILES

MEDIA = "media"
"""Name of the folder of all files of devices, in the data folder."""
FOLDER_MODE = 0o700
"""Mode of new folders: other accounts of the machine may not read what devices recorded."""
MAX_NAME_BYTES = 200
"""Longest folder name; file systems allow 255 bytes."""
DRAFT_SECONDS = 3600.0
"""Age from which an incomplete file that is not locked is of no use."""
_MARKER = ".folder"
"""An empty file in the folder of all devices, made by servers of a cluster."""


class MediaKey(NamedTuple):
    """What identifies a file: `media_key` makes it."""

    folder: str
    name: str


RenditionKind = Literal["picture", "film"]


def media_key(unique_id: str, name: str) -> MediaKey:
    """Return the key of a file of a device."""
    return MediaKey(folder_name(unique_id), name)


RENDITIONS = ".made-*"
"""Pattern of the names that `rendition_key` makes; none is served by its name, as they begin with a dot."""
_MADE = re.compile(r"\.made-(picture|film)-(.+)", re.DOTALL)
KINDS: Final[tuple[RenditionKind, ...]] = get_args(RenditionKind)


def rendition_key(key: MediaKey, kind: RenditionKind) -> MediaKey:
    """Return the key of what is made of a file: a picture, or a film as MP4. It is deleted with the file."""
    return MediaKey(key.folder, f".made-{kind}-{key.name}")


def original_of(key: MediaKey) -> MediaKey | None:
    """Return the key of the file that a rendition is made of; None for the key of another file."""
    matched = _MADE.fullmatch(key.name)
    return MediaKey(key.folder, matched[2]) if matched else None


def folder_name(unique_id: str) -> str:
    """Return the name of a device's folder: safe for any `unique_id`, and different for each."""
    name = re.sub(r"^\.|[%/\\\0]", lambda match: f"%{ord(match[0]):02X}", unique_id)
    if not name or len(os.fsencode(name)) > MAX_NAME_BYTES:
        return f"%~{hashlib.sha256(os.fsencode(unique_id)).hexdigest()}"
    return name


class MediaEntry(NamedTuple):
    """A file in a list."""

    key: MediaKey
    size: int
    """In bytes."""
    modified: float
    """When it was last written, in seconds since the Unix epoch."""


class StoredFile:
    """A file that is open for reading, as it was when it was opened; `close` it."""

    def __init__(self, file: BufferedReader) -> None:
        state = os.fstat(file.fileno())
        self._file = file
        self.size = state.st_size
        """In bytes."""
        self.modified = state.st_mtime
        """When it was last written, in seconds since the Unix epoch."""
        self.tag = f"{state.st_ino:x}-{state.st_mtime_ns:x}-{state.st_size:x}"
        """Another one for another content."""

    def read(self, start: int, length: int) -> bytes:
        """Return up to `length` bytes from `start` on; fewer only at the end of the file."""
        self._file.seek(start)
        return self._file.read(length)

    def sha256(self) -> str:
        """Return the hash of the content, in hexadecimal digits."""
        self._file.seek(0)
        return hashlib.file_digest(self._file, "sha256").hexdigest()

    def close(self) -> None:
        """End reading."""
        self._file.close()

    def __enter__(self) -> "StoredFile":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_below(root: Path, name: str) -> StoredFile:
    """Open a regular file below `root`. Blocks.

    Raises:
        FileNotFoundError: there is none, or it leads out of `root`.
        OSError: it may be there; too many files are open.
    """
    path = root / name
    try:
        # Symbolic links are followed as long as they stay inside the folder.
        if not path.resolve(strict=True).is_relative_to(root.resolve()):
            raise FileNotFoundError
        opened = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:  # missing, or not a valid name
        if isinstance(error, OSError) and error.errno in OUT_OF_FILES:
            raise
        raise FileNotFoundError(f"there is no file {name}") from None
    if not stat.S_ISREG(os.fstat(opened).st_mode):
        os.close(opened)
        raise FileNotFoundError(f"{name} is no file")
    return StoredFile(os.fdopen(opened, "rb"))


class GrowingFile:
    """A file that is written under its name and can be read meanwhile; locked until it is closed."""

    def __init__(self, path: Path, size: int, reserve_bytes: int, *, goes_on_at: int | None = None) -> None:
        """`size` is about the number of bytes that are written first.

        With `goes_on_at` the file exists, and is continued from that offset in bytes.

        Raises:
            FileExistsError: there is such a file; or a process is writing it.
            OSError: it cannot be created, or is not there; the disk is full.
        """
        self._path = path
        self._reserve_bytes = reserve_bytes
        make_folder(path.parent, FOLDER_MODE)
        self.require(size)
        self.file = create_locked(path) if goes_on_at is None else _reopen(path, goes_on_at)
        """For writing anywhere in the file; without a buffer."""

    def require(self, size: int) -> None:
        """Check that `size` more bytes can be written without using the reserve of the disk.

        Raises:
            OSError: ENOSPC.
        """
        require_free_space(self._path.parent, size, self._reserve_bytes)

    def sync(self) -> None:
        """Sync data written so far, so that the finished file survives a power failure. Raises OSError."""
        os.fsync(self.file.fileno())

    def finish(self) -> None:
        """Have the file survive a power failure, and close it. Raises OSError; it is closed all the same."""
        try:
            self.sync()
            sync_folder(self._path.parent)
        finally:
            self.close()

    def close(self) -> None:
        """Leave the file as it is."""
        self.file.close()

    def discard(self) -> None:
        """Remove the file, so that another one can have its name."""
        with suppress(OSError):
            self._path.unlink()
        self.close()


def _reopen(path: Path, size: int) -> BinaryIO:
    file = lock_unwritten(path, buffered=False)
    if file is None:
        raise FileExistsError(f"{path}: another process writes it")
    if os.fstat(file.fileno()).st_size < size:
        file.close()
        raise FileNotFoundError(f"{path} is shorter than it was")
    file.truncate(size)
    return file


class Draft:
    """A file that is not to be seen until it is complete; its end is known from the beginning."""

    def __init__(self, folder: Path, size: int, reserve_bytes: int) -> None:
        """Raises OSError where it cannot be created, or the disk has no room for `size` bytes."""
        make_folder(folder, FOLDER_MODE)
        require_free_space(folder, size, reserve_bytes)
        self.size = size
        self._path = folder / f".upload-{secrets.token_hex(12)}.part"
        self._file = create_locked(self._path)

    def write(self, offset: int, content: bytes) -> None:
        """Write a part of it. Raises OSError."""
        rest = memoryview(content)
        while rest:
            written = os.pwrite(self._file.fileno(), rest, offset)
            rest, offset = rest[written:], offset + written

    def keep(self, name: str) -> None:
        """Give it its name; after the return it survives a power failure. Raises OSError."""
        os.fsync(self._file.fileno())
        # Closed last: it is locked until it has its name.
        move_into_place(self._path, self._path.with_name(name))
        self._file.close()

    def discard(self) -> None:
        """Remove it."""
        with suppress(OSError):
            self._file.close()
            self._path.unlink(missing_ok=True)


class MediaStore:
    """The files of all devices, on disk."""

    def __init__(self, folder: Path, *, reserve_bytes: int = 0) -> None:
        """`folder` holds the folders of all devices; `reserve_bytes` of its disk stay free."""
        self.folder = folder
        self.reserve_bytes = reserve_bytes

    def save(self, key: MediaKey, content: bytes) -> None:
        """Write a whole file; a crash leaves all of it, or what was there before.

        Raises:
            OSError: it cannot be written, or the disk is full; what was there before stays.
        """
        path = self._path(key)
        make_folder(path.parent, FOLDER_MODE)
        require_free_space(path.parent, len(content), self.reserve_bytes)
        write_file(path, content)

    def draft(self, unique_id: str, size: int) -> Draft:
        """Begin a file of a device that comes in pieces. Raises OSError."""
        return Draft(self.folder / folder_name(unique_id), size, self.reserve_bytes)

    def create(self, key: MediaKey, size: int) -> GrowingFile:
        """Begin a file that grows under its name. Raises OSError, FileExistsError where there is one."""
        return GrowingFile(self._path(key), size, self.reserve_bytes)

    def go_on(self, key: MediaKey, at: int, size: int) -> GrowingFile:
        """Go on with a growing file that nobody writes any more, after `at` bytes. Raises OSError."""
        return GrowingFile(self._path(key), size, self.reserve_bytes, goes_on_at=at)

    def open(self, key: MediaKey) -> StoredFile:
        """Open a file for reading.

        Raises:
            FileNotFoundError: there is no such file.
        """
        return open_below(self.folder / key.folder, key.name)

    def lock(self, key: MediaKey) -> BinaryIO | None:
        """Open a file for changes, locked until it is closed; None where a process is writing it.

        Raises:
            FileNotFoundError: there is no such file.
            OSError: it cannot be opened.
        """
        return lock_unwritten(self._path(key))

    def delete(self, key: MediaKey) -> None:
        """Remove a file and what was made of it; it is no error if there is none. Raises OSError."""
        # First the file: a rendition that is made meanwhile finds it gone, and is deleted too.
        self._path(key).unlink(missing_ok=True)
        for kind in KINDS:
            self._path(rendition_key(key, kind)).unlink(missing_ok=True)

    def path_for_worker(self, key: MediaKey) -> str:
        """Return the path of a file, for a process of the server's own."""
        return str(self._path(key))

    def new_rendition(self, key: MediaKey, size: int) -> MediaKey:
        """Create an empty file for a rendition of at most `size` bytes, and return its key.

        Raises:
            OSError: it cannot be created, or the disk is full.
        """
        path = self._path(key)
        require_free_space(path.parent, size, self.reserve_bytes)
        part = path.with_name(f".{secrets.token_hex(12)}.part")
        part.touch(0o600, exist_ok=False)
        return MediaKey(key.folder, part.name)

    def keep_rendition(self, part: MediaKey, key: MediaKey, kind: RenditionKind) -> int:
        """Give a rendition of `key` its name, unless another server was first; return its size, 0 for none.

        Raises:
            OSError: it cannot be kept.
        """
        made = self._path(part)
        try:
            with made.open("rb") as file:
                os.fsync(file.fileno())
                size = os.fstat(file.fileno()).st_size
            with suppress(FileExistsError):
                os.link(made, self._path(rendition_key(key, kind)))
        finally:
            made.unlink(missing_ok=True)
        sync_folder(made.parent)
        self._delete_orphans(key)
        return size

    def note_no_rendition(self, key: MediaKey, kind: RenditionKind) -> None:
        """Remember that none can be made of a file. Raises OSError."""
        self._path(rendition_key(key, kind)).touch(0o600)
        self._delete_orphans(key)

    def _delete_orphans(self, key: MediaKey) -> None:
        """Remove what was made of a file that was deleted meanwhile."""
        if not self.exists(key):
            self.delete(key)

    def exists(self, key: MediaKey) -> bool:
        """Return whether there is such a file."""
        return self._path(key).exists()

    def sizes(self, keys: Iterable[MediaKey]) -> dict[MediaKey, int]:
        """Return the sizes in bytes of those files that are there."""
        found = {}
        for key in keys:
            with suppress(OSError):
                found[key] = self._path(key).stat().st_size
        return found

    def list(self, pattern: str, folder: str | None = None) -> Iterator[MediaEntry]:
        """Yield the files whose names match a pattern of fnmatch: of a device's folder, or of all.

        Files that are removed meanwhile are left out.
        """
        folders = self.folder.glob("*/") if folder is None else (self.folder / folder,)
        for each in folders:
            with suppress(OSError), os.scandir(each) as entries:
                for entry in entries:
                    if fnmatchcase(entry.name, pattern):
                        with suppress(OSError):
                            state = entry.stat(follow_symlinks=False)
                            yield MediaEntry(MediaKey(each.name, entry.name), state.st_size, state.st_mtime)

    def remove_drafts(self, now: float) -> int:
        """Remove what crashes have left of incomplete files; return their number.

        `now` is in seconds since the Unix epoch. Drafts that a process is writing are locked, and whole files
        are written within DRAFT_SECONDS.
        """
        removed = 0
        for entry in self.list(".*.part"):
            with suppress(OSError):
                if entry.key.name.startswith(".upload-"):
                    file = self.lock(entry.key)
                    if file is None:
                        continue
                    file.close()
                elif entry.modified >= now - DRAFT_SECONDS:
                    continue
                self.delete(entry.key)
                removed += 1
        return removed

    async def move(self, unique_id: str, to: str) -> None:
        """Move a device's files to its new `unique_id`, replacing what is there.

        Raises:
            OSError: the files stay where they are.
        """
        old, new = self.folder / folder_name(unique_id), self.folder / folder_name(to)

        def move() -> None:
            if old.exists():
                shutil.rmtree(new, ignore_errors=True)
                old.rename(new)
                sync_folder(self.folder)

        await trio.to_thread.run_sync(move)

    async def remove(self, unique_id: str) -> None:
        """Remove a device's files; errors are ignored."""
        target = self.folder / folder_name(unique_id)
        await trio.to_thread.run_sync(partial(shutil.rmtree, target, ignore_errors=True))

    def identity(self) -> str:
        """Return a text that two servers get alike only if they keep files in the same place.

        A copy of the folder has another one. The folder is created if there is none.

        Raises:
            OSError: the folder cannot be written.
        """
        make_folder(self.folder, FOLDER_MODE)
        # Not `touch`, which would set the time of the file again.
        opened = os.open(self.folder / _MARKER, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            state = os.fstat(opened)
        finally:
            os.close(opened)
        return f"{state.st_ino}-{state.st_mtime_ns}"

    def _path(self, key: MediaKey) -> Path:
        return self.folder / key.folder / key.name
