"""Receives the files of an alarm in chunks and writes each chunk to disk at once.

An upload is part of its connection and not an actor: it lives as long as the connection, waits only for the
disk, and gets no messages from others.
"""

from collections.abc import Callable
from datetime import datetime
from typing import TypeVar, TypeVarTuple

import trio

from motorpool.actors.files.media_files import MediaFiles, media_name
from motorpool.actors.files.media_store import Draft, media_key
from motorpool.codecs.reports import FileChunk, FileUploadCompleted, FileUploadStarted

Arguments = TypeVarTuple("Arguments")
T = TypeVar("T")

MAX_FILES = 64
"""Limit of the files of one upload."""
WRITERS = 4
"""Threads that all uploads share, so that many uploads leave threads to live segments."""


class UploadStorage:
    """Where the files of all uploads go, their limits and threads."""

    def __init__(self, files: MediaFiles, file_bytes: int) -> None:
        """`file_bytes` is the size limit of one file."""
        self.files = files
        self.file_bytes = file_bytes
        self.writers = trio.CapacityLimiter(WRITERS)


class Upload:
    """The files of one alarm of one device."""

    def __init__(self, storage: UploadStorage, unique_id: str) -> None:
        self._storage = storage
        self._unique_id = unique_id
        self._open: dict[str, Draft] = {}
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
            del self._open[file.name]
            await self._in_thread(known.discard)
        self._started_count += 1
        self._open[file.name] = await self._in_thread(
            self._storage.files.store.draft, self._unique_id, file.size
        )
        return ""

    async def write(self, chunk: FileChunk) -> None:
        """Write a chunk at its offset; chunks of refused files are ignored.

        Raises:
            OSError: the chunk cannot be written; the file is discarded.
        """
        draft = self._open.get(chunk.name)
        if draft is None:
            return
        try:
            await self._in_thread(draft.write, chunk.offset, chunk.content)
        except OSError:
            del self._open[chunk.name]
            await self._in_thread(draft.discard)
            raise

    async def keep(self, file: FileUploadCompleted, now: datetime) -> str:
        """Rename a complete file and return its new name; empty if the file was refused.

        After the return the file survives a power failure.

        Raises:
            OSError: the file cannot be stored; it is discarded.
        """
        draft = self._open.pop(file.name, None)
        if draft is None:
            return ""
        name = media_name(now, file.extension)
        try:
            await self._in_thread(self._keep, draft, name)
        except OSError:
            await self._in_thread(draft.discard)
            raise
        return name

    def _keep(self, draft: Draft, name: str) -> None:
        files = self._storage.files
        draft.keep(name)
        if files.quota is not None:
            files.quota.add(files.store, media_key(self._unique_id, name), draft.size)

    def discard(self) -> None:
        """Remove incomplete files, in the caller's thread: an actor that ends cannot wait."""
        for draft in self._open.values():
            draft.discard()
        self._open.clear()

    async def _in_thread(self, work: Callable[[*Arguments], T], *arguments: *Arguments) -> T:
        return await trio.to_thread.run_sync(work, *arguments, limiter=self._storage.writers)
