"""Files of an alarm as they come in pieces over one connection: onto the disk at once, never into memory.

An upload lives exactly as long as its connection, is held back by nothing but the disk, and nobody else asks
it anything: so it is a part of the connection and no actor.
"""

import contextlib
import os
import secrets
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, TypeVarTuple

import trio

from motorpool.actors.files.disk_space import require_room
from motorpool.actors.files.media_files import device_folder, media_name
from motorpool.codecs.reports import FileChunk, FileUploadCompleted, FileUploadStarted

__all__ = ["Upload", "UploadRoom", "remove_parts"]

Arguments = TypeVarTuple("Arguments")

MAX_FILES = 64
"""Of one upload."""
WRITERS = 4
"""Threads for all uploads together: a thousand of them must not keep live segments waiting for one."""
_RUN = secrets.token_hex(4)
"""This life of the server: what other lives left is of no use to anybody."""


class UploadRoom:
    """Where uploads go, and how much of a file is taken."""

    def __init__(self, media_folder: Path, file_bytes: int, reserve_bytes: int = 0) -> None:
        """`reserve_bytes` of the disk stay free."""
        self.media_folder = media_folder
        self.file_bytes = file_bytes
        self.reserve_bytes = reserve_bytes
        self.writers = trio.CapacityLimiter(WRITERS)


class Upload:
    """The files of one alarm."""

    def __init__(self, room: UploadRoom, unique_id: str) -> None:
        self._room = room
        self._home = device_folder(room.media_folder, unique_id)
        self._open: dict[str, _Part] = {}
        self._begun = 0

    async def begin(self, file: FileUploadStarted) -> str:
        """Make room for a file; why it is not taken, or nothing.

        Raises:
            OSError: the disk does not take it.
        """
        known = self._open.get(file.name)
        if known is not None and known.size == file.size:
            return ""
        if file.size > self._room.file_bytes:
            return f"it has {file.size} bytes, and {self._room.file_bytes} are allowed"
        if known is None and self._begun >= MAX_FILES:
            return f"an alarm has {MAX_FILES} files at most"
        if known is not None:
            await self._in_thread(known.drop)
        self._begun += 1
        part = _Part(self._home / f".upload-{_RUN}-{secrets.token_hex(8)}.part", file.size)
        await self._in_thread(part.open, self._room.reserve_bytes)
        self._open[file.name] = part
        return ""

    async def write(self, piece: FileChunk) -> None:
        """Write a piece where it belongs; a file that is not taken is passed over.

        Raises:
            OSError: the disk does not take it; the file is given up.
        """
        part = self._open.get(piece.name)
        if part is None:
            return
        try:
            await self._in_thread(part.write, piece.offset, piece.content)
        except OSError:
            del self._open[piece.name]
            await self._in_thread(part.drop)
            raise

    async def keep(self, file: FileUploadCompleted, now: datetime) -> str:
        """Give a whole file a name of ours; empty where it was not taken.

        Raises:
            OSError: the disk does not take it; the file is given up.
        """
        part = self._open.pop(file.name, None)
        if part is None:
            return ""
        name = media_name(now, file.extension)
        try:
            await self._in_thread(part.keep, self._home / name)
        except OSError:
            await self._in_thread(part.drop)
            raise
        return name

    async def close(self) -> None:
        """Remove what has not become whole."""
        for part in self._open.values():
            await self._in_thread(part.drop)
        self._open.clear()

    async def _in_thread(self, work: Callable[[*Arguments], None], *arguments: *Arguments) -> None:
        await trio.to_thread.run_sync(work, *arguments, limiter=self._room.writers)


class _Part:
    """A file in the making; blocking."""

    def __init__(self, path: Path, size: int) -> None:
        self.size = size
        self._path = path
        self._file: BinaryIO | None = None

    def open(self, reserve_bytes: int) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        require_room(self._path.parent, self.size, reserve_bytes)
        self._file = self._path.open("xb", buffering=0)

    def write(self, offset: int, content: bytes) -> None:
        assert self._file is not None
        at = memoryview(content)
        while at:
            written = os.pwrite(self._file.fileno(), at, offset)
            at, offset = at[written:], offset + written

    def keep(self, path: Path) -> None:
        """Onto the disk and under its name: it is told to be stored next."""
        assert self._file is not None
        os.fsync(self._file.fileno())
        self._file.close()
        self._path.rename(path)

    def drop(self) -> None:
        with contextlib.suppress(OSError):
            if self._file is not None:
                self._file.close()
            self._path.unlink(missing_ok=True)


def remove_parts(media_folder: Path) -> int:
    """Remove what uploads left when the server was killed; how many. Blocking."""
    found = media_folder.glob("*/.upload-*.part")
    left = [path for path in found if not path.name.startswith(f".upload-{_RUN}-")]
    for path in left:
        with contextlib.suppress(OSError):
            path.unlink()
    return len(left)
