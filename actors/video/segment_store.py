"""Segments of playbacks on disk, under one quota. The HTTP server reads the files itself.

Sessions that have ended are evicted first, the oldest before the others; one that runs loses its beginning.
Nothing outlives the server: files of an earlier one are removed at the start. Servers that share a data
folder have folders of their own in it, each locked while its server lives.
"""

import contextlib
import secrets
import shutil
from collections import deque
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import BinaryIO, assert_never

import msgspec
import trio

from motorpool.actors.files.disk_space import require_free_space
from motorpool.actors.files.file_locks import create_locked, is_locked
from motorpool.actors.messages.playback import SegmentsEvicted
from motorpool.codecs.media.containers import Container
from motorpool.runtime import Actor, ChildSpec, Failure, Kind, NodeLocal, Ref, Request


class StoreSegment(msgspec.Struct, Request[int], NodeLocal, frozen=True, gc=False):
    """Write a segment of a session; return the lowest index of the session that is still there.

    Raises OSError in the asker where the disk is full; nothing of the segment is left then.
    """

    session: str
    """Name of the session, never used again."""
    owner: Ref[SegmentsEvicted]
    index: int
    content: bytes
    container: Container


class EndSession(msgspec.Struct, NodeLocal, frozen=True, gc=False):
    """A session has ended: it may be evicted before those that run."""

    session: str


class DeleteSessions(msgspec.Struct, NodeLocal, frozen=True, gc=False):
    """Remove all sessions of `owner`."""

    owner: Ref[SegmentsEvicted]


SegmentStoreMessage = StoreSegment | EndSession | DeleteSessions
SEGMENT_STORE: Kind[None, SegmentStoreMessage] = Kind("segment_files")


FOLDER = "playback"
"""Below the data folder."""
_PROCESS_FOLDER = secrets.token_hex(4)
_LOCK = ".lock"
_ATTEMPTS = 3
"""To make the folder, which another server may remove until it is locked."""


def segment_path(data: Path, session: str, index: int, container: Container) -> Path:
    """Return the path of a segment's file."""
    return data / FOLDER / _PROCESS_FOLDER / session / f"{index}.{container.suffix}"


@dataclass(slots=True)
class _Session:
    owner: Ref[SegmentsEvicted]
    kept: deque[tuple[int, int, Container]] = field(default_factory=deque)
    """Index, bytes and container of each segment."""
    bytes: int = 0
    is_running: bool = True


class _FolderLock:
    """The lock on this server's folder, which outlives a crash of the actor. `acquire` blocks."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file: BinaryIO | None = None

    def acquire(self) -> None:
        """Remove what no server holds and what an earlier life left; lock an empty folder.

        Where the folder cannot be made, storing a segment fails with the reason.
        """
        self.release()
        with contextlib.suppress(FileNotFoundError):
            for path in self._folder.iterdir():
                if not is_locked(path / _LOCK):
                    shutil.rmtree(path, ignore_errors=True)
        own = self._folder / _PROCESS_FOLDER
        for _ in range(_ATTEMPTS):
            with contextlib.suppress(OSError):
                own.mkdir(parents=True, exist_ok=True)
                self._file = create_locked(own / _LOCK)
                return

    def release(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


class SegmentStore(Actor[SegmentStoreMessage]):
    """Keeps what lies on disk under `quota_bytes`, but for one segment of each playback that runs."""

    def __init__(self, data: Path, lock: "_FolderLock", quota_bytes: int, reserve_bytes: int = 0) -> None:
        """`reserve_bytes` of the disk stay free, whatever the quota allows."""
        self._data = data
        self._lock = lock
        self._reserve = reserve_bytes
        self._quota = quota_bytes
        self._sessions: dict[str, _Session] = {}
        self._bytes = 0

    async def start(self) -> None:
        """Remove files left by earlier servers, or by this actor before a restart."""
        await trio.to_thread.run_sync(self._lock.acquire)

    async def stop(self) -> None:
        """Give the folder up: the next server removes it."""
        self._lock.release()

    def handle(self, message: SegmentStoreMessage) -> object:
        """Handle a message."""
        match message:
            case StoreSegment():
                return self._store(message)
            case EndSession():
                if message.session in self._sessions:
                    self._sessions[message.session].is_running = False
                return None
            case DeleteSessions():
                return self._forget(message)
            case _:
                assert_never(message)

    async def _store(self, message: StoreSegment) -> int | Failure:
        session = self._sessions.setdefault(message.session, _Session(message.owner))
        size = len(message.content)
        await self._make_room(size, session)
        path = segment_path(self._data, message.session, message.index, message.container)
        try:
            await trio.to_thread.run_sync(_write, path, message.content, self._reserve)
        except OSError as error:
            return Failure(error)
        session.kept.append((message.index, size, message.container))
        session.bytes += size
        self._bytes += size
        return session.kept[0][0]

    async def _make_room(self, size: int, writing: _Session) -> None:
        for name, session in [
            (name, session) for name, session in self._sessions.items() if not session.is_running
        ]:
            if self._bytes + size <= self._quota:
                return
            self.context.log.info("playback %s made room for another", name)
            await self._drop(name, session)
            session.owner.offer(SegmentsEvicted(name, None))
        for name, session in list(self._sessions.items()):
            lost: list[Path] = []
            while self._bytes + size > self._quota and len(session.kept) > (session is not writing):
                index, segment_size, container = session.kept.popleft()
                session.bytes -= segment_size
                self._bytes -= segment_size
                lost.append(segment_path(self._data, name, index, container))
            if lost:
                await trio.to_thread.run_sync(_unlink, lost)
                if session is not writing:
                    session.owner.offer(SegmentsEvicted(name, session.kept[0][0]))

    async def _forget(self, message: DeleteSessions) -> None:
        for name, session in list(self._sessions.items()):
            if session.owner == message.owner:
                await self._drop(name, session)

    async def _drop(self, name: str, session: _Session) -> None:
        del self._sessions[name]
        self._bytes -= session.bytes
        folder = self._data / FOLDER / _PROCESS_FOLDER / name
        await trio.to_thread.run_sync(partial(shutil.rmtree, folder, ignore_errors=True))


def _write(path: Path, content: bytes, reserve_bytes: int) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        require_free_space(path.parent, len(content), reserve_bytes)
        path.write_bytes(content)
    except OSError:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)
        raise


def _unlink(paths: list[Path]) -> None:
    for path in paths:
        path.unlink(missing_ok=True)


def segment_store_spec(
    data: Path, quota_bytes: int, reserve_bytes: int = 0
) -> ChildSpec[SegmentStoreMessage]:
    """Return the child spec of the segment store, which stands above the playbacks."""
    lock = _FolderLock(data / FOLDER)
    return ChildSpec(
        kind=SEGMENT_STORE,
        factory=lambda: SegmentStore(data, lock, quota_bytes, reserve_bytes),
        mailbox_size=100,
    )
