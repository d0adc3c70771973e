"""Receives the files of an alarm in chunks and writes each chunk to disk at once.

An upload is part of its connection and not an actor: it lives as long as the connection, waits only for the
disk, and gets no messages from others.
"""

import contextlib
import os
import secrets
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, TypeVarTuple

import trio

from motorpool.actors.files.disk_space import require_free_space
from motorpool.actors.files.file_locks import create_locked, lock_unwritten
from motorpool.actors.files.file_retention import DeviceQuota
from motorpool.actors.files.media_files import FOLDER_MODE, device_folder, media_name
from motorpool.codecs.reports import FileChunk, FileUploadCompleted, FileUploadStarted
from motorpool.storage.durable_files import make_folder, move_into_place

Arguments = TypeVarTuple("Arguments")

MAX_FILES = 64
"""Limit of the files of one upload."""
WRITERS = 4
"""Threads that all uploads share, so that many uploads leave threads to live segments."""


class UploadStorage:
    """The folder, the limits and the threads of all uploads."""

    def __init__(
        self, media_folder: Path, file_bytes: int, reserve_bytes: int = 0, quota: DeviceQuota | None = None
    ) -> None:
        """`file_bytes` is the size limit of one file; `reserve_bytes` of the disk stay free."""
        self.media_folder = media_folder
        self.file_bytes = file_bytes
        self.reserve_bytes = reserve_bytes
        self.quota = quota
        self.writers = trio.CapacityLimiter(WRITERS)


class Upload:
    """The files of one alarm of one device."""

    def __init__(self, storage: UploadStorage, unique_id: str) -> None:
        self._storage = storage
        self._folder = device_folder(storage.media_folder, unique_id)
        self._open: dict[str, _Part] = {}
        self._started_count = 0

    async def begin(self, file: FileUploadStarted) -> str:
        """Create a file; return why it is refused, or an empty string.

        Raises:
            OSError: the file cannot be created.
        """
        known = self._open.get(file.name)
        if known is not None and known.size == file.size:
            return ""
        if file.size > self._storage.file_bytes:
            return f"it has {file.size} bytes, and {self._storage.file_bytes} are allowed"
        if known is None and self._started_count >= MAX_FILES:
            return f"an alarm has {MAX_FILES} files at most"
        if known is not None:
            await self._in_thread(known.drop)
        self._started_count += 1
        part = _Part(self._folder / f".upload-{secrets.token_hex(12)}.part", file.size)
        await self._in_thread(part.open, self._storage.reserve_bytes)
        self._open[file.name] = part
        return ""

    async def write(self, chunk: FileChunk) -> None:
        """Write a chunk at its offset; chunks of refused files are ignored.

        Raises:
            OSError: the chunk cannot be written; the file is discarded.
        """
        part = self._open.get(chunk.name)
        if part is None:
            return
        try:
            await self._in_thread(part.write, chunk.offset, chunk.content)
        except OSError:
            del self._open[chunk.name]
            await self._in_thread(part.drop)
            raise

    async def keep(self, file: FileUploadCompleted, now: datetime) -> str:
        """Rename a complete file and return its new name; empty if the file was refused.

        After the return the file survives a power failure.

        Raises:
            OSError: the file cannot be stored; it is discarded.
        """
        part = self._open.pop(file.name, None)
        if part is None:
            return ""
        name = media_name(now, file.extension)
        try:
            await self._in_thread(part.keep, self._folder / name, self._storage.quota)
        except OSError:
            await self._in_thread(part.drop)
            raise
        return name

    def discard(self) -> None:
        """Remove incomplete files, in the caller's thread: an actor that ends cannot wait."""
        for part in self._open.values():
            part.drop()
        self._open.clear()

    async def _in_thread(self, work: Callable[[*Arguments], None], *arguments: *Arguments) -> None:
        await trio.to_thread.run_sync(work, *arguments, limiter=self._storage.writers)


class _Part:
    """An incomplete file. The methods block."""

    def __init__(self, path: Path, size: int) -> None:
        self.size = size
        self._path = path
        self._file: BinaryIO | None = None

    def open(self, reserve_bytes: int) -> None:
        make_folder(self._path.parent, FOLDER_MODE)
        require_free_space(self._path.parent, self.size, reserve_bytes)
        self._file = create_locked(self._path)

    def write(self, offset: int, content: bytes) -> None:
        assert self._file is not None
        rest = memoryview(content)
        while rest:
            written = os.pwrite(self._file.fileno(), rest, offset)
            rest, offset = rest[written:], offset + written

    def keep(self, path: Path, quota: DeviceQuota | None) -> None:
        """Flush the file to disk and rename it; the device gets its acknowledgement after that."""
        assert self._file is not None
        os.fsync(self._file.fileno())
        # Closed last: it is locked until it has its name.
        move_into_place(self._path, path)
        self._file.close()
        if quota is not None:
            quota.add(path)

    def drop(self) -> None:
        with contextlib.suppress(OSError):
            if self._file is not None:
                self._file.close()
            self._path.unlink(missing_ok=True)


def remove_parts(media_folder: Path) -> int:
    """Remove the incomplete files that no process writes; return their number. Blocks."""
    removed = 0
    for path in media_folder.glob("*/.upload-*.part"):
        with contextlib.suppress(OSError):
            if file := lock_unwritten(path):
                with file:
                    path.unlink()
                removed += 1
    return removed
