"""Segments of playbacks on disk, under one quota: whoever has one stores it here and reads the file itself.

What has ended goes before what runs, the oldest first; a playback that runs loses its beginning. Nothing of
this outlives the server: what an earlier one left is removed at the start.
"""

import contextlib
import shutil
from collections import deque
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, assert_never

import msgspec
import trio

from motorpool.actors.files.disk_space import require_room
from motorpool.codecs.media.containers import Container
from motorpool.runtime import Actor, ChildSpec, Failure, Kind, Ref, Request

__all__ = [
    "SEGMENT_STORE",
    "DeleteRuns",
    "EndRun",
    "SegmentStore",
    "SegmentStoreMessage",
    "SegmentsEvicted",
    "StoreSegment",
    "segment_path",
    "segment_store_spec",
]


class StoreSegment(msgspec.Struct, Request[int], frozen=True, gc=False):
    """Write a segment of a run; the answer is the lowest index of it that is still there.

    Fails with OSError where the disk does not take it; nothing of it is left then.
    """

    run: str
    """Names the playback: never used again."""
    owner: Ref[Any]
    index: int
    content: bytes
    container: Container


class EndRun(msgspec.Struct, frozen=True, gc=False):
    """No more comes of it: it may go before those that run."""

    run: str


class DeleteRuns(msgspec.Struct, frozen=True, gc=False):
    """Remove all runs of `owner`."""

    owner: Ref[Any]


class SegmentsEvicted(msgspec.Struct, frozen=True, gc=False):
    """Told to the owner: these had to make room for another's."""

    run: str
    first_kept: int | None
    """The lowest index that is still there; None when the whole run is gone."""


SegmentStoreMessage = StoreSegment | EndRun | DeleteRuns
SEGMENT_STORE: Kind[None, SegmentStoreMessage] = Kind("segment_files")


FOLDER = "playback"
"""Of the data folder."""


def segment_path(data: Path, run: str, index: int, container: Container) -> Path:
    """Where a segment lies."""
    return data / FOLDER / run / f"{index}.{container.suffix}"


@dataclass(slots=True)
class _Run:
    owner: Ref[Any]
    kept: deque[tuple[int, int, Container]] = field(default_factory=deque)
    """Index, bytes and container of each segment."""
    bytes: int = 0
    runs: bool = True


class SegmentStore(Actor[SegmentStoreMessage]):
    """Keeps what lies on disk under `quota_bytes`, but for one segment of each playback that runs."""

    def __init__(self, data: Path, quota_bytes: int, reserve_bytes: int = 0) -> None:
        """`reserve_bytes` of the disk stay free, whatever the quota allows."""
        self._data = data
        self._reserve = reserve_bytes
        self._quota = quota_bytes
        self._runs: dict[str, _Run] = {}
        self._bytes = 0

    async def start(self) -> None:
        """Remove what an earlier life left."""
        await _remove(self._data / FOLDER)

    def handle(self, message: SegmentStoreMessage) -> object:
        """One message."""
        match message:
            case StoreSegment():
                return self._store(message)
            case EndRun():
                if message.run in self._runs:
                    self._runs[message.run].runs = False
                return None
            case DeleteRuns():
                return self._forget(message)
            case _:
                assert_never(message)

    async def _store(self, message: StoreSegment) -> int | Failure:
        run = self._runs.setdefault(message.run, _Run(message.owner))
        size = len(message.content)
        await self._make_room(size, run)
        path = segment_path(self._data, message.run, message.index, message.container)
        try:
            await trio.to_thread.run_sync(_write, path, message.content, self._reserve)
        except OSError as error:
            return Failure(error)
        run.kept.append((message.index, size, message.container))
        run.bytes += size
        self._bytes += size
        return run.kept[0][0]

    async def _make_room(self, size: int, writing: _Run) -> None:
        for name, run in [(name, run) for name, run in self._runs.items() if not run.runs]:
            if self._bytes + size <= self._quota:
                return
            self.context.log.info("playback %s made room for another", name)
            await self._drop(name, run)
            run.owner.offer(SegmentsEvicted(name, None))
        for name, run in list(self._runs.items()):
            lost: list[Path] = []
            while self._bytes + size > self._quota and len(run.kept) > (run is not writing):
                index, its_size, container = run.kept.popleft()
                run.bytes -= its_size
                self._bytes -= its_size
                lost.append(segment_path(self._data, name, index, container))
            if lost:
                await trio.to_thread.run_sync(_unlink, lost)
                if run is not writing:
                    run.owner.offer(SegmentsEvicted(name, run.kept[0][0]))

    async def _forget(self, message: DeleteRuns) -> None:
        for name, run in list(self._runs.items()):
            if run.owner == message.owner:
                await self._drop(name, run)

    async def _drop(self, name: str, run: _Run) -> None:
        del self._runs[name]
        self._bytes -= run.bytes
        await _remove(self._data / FOLDER / name)


def _write(path: Path, content: bytes, reserve_bytes: int) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        require_room(path.parent, len(content), reserve_bytes)
        path.write_bytes(content)
    except OSError:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)
        raise


def _unlink(paths: list[Path]) -> None:
    for path in paths:
        path.unlink(missing_ok=True)


async def _remove(folder: Path) -> None:
    await trio.to_thread.run_sync(partial(shutil.rmtree, folder, ignore_errors=True))


def segment_store_spec(
    data: Path, quota_bytes: int, reserve_bytes: int = 0
) -> ChildSpec[SegmentStoreMessage]:
    """Its place in the tree, above the playbacks."""
    return ChildSpec(
        kind=SEGMENT_STORE,
        factory=lambda: SegmentStore(data, quota_bytes, reserve_bytes),
        resident=False,
        mailbox_size=100,
    )
