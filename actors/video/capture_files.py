"""Files of captures in the folder of their device: written, and repaired after a crash.

Unless a method says otherwise, it blocks and belongs in a thread.
"""

import os
import secrets
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import NamedTuple

from motorpool.actors.files.media_store import MediaKey, MediaStore
from motorpool.codecs.media.fragments import MediaFragment
from motorpool.codecs.media.mp4.capture_file import (
    HEADER_BYTES,
    CaptureFile,
    CaptureState,
    EncodedFragment,
    repair,
)
from motorpool.codecs.media.video_codec import PictureFormat, VideoCodec

CAPTURE_NAMES = "capture-*.mp4"
"""Pattern of the names that `new_file_name` makes."""
_NAME_TIME = "%Y%m%d%H%M%S"


def new_file_name(now: datetime) -> str:
    """Return a name for a new file: the time, and a part that cannot be guessed."""
    return f"capture-{now:{_NAME_TIME}}-{secrets.token_urlsafe(12)}.mp4"


def time_of_name(name: str) -> datetime | None:
    """Return the time in a file name; None if `new_file_name` has not made it."""
    try:
        return datetime.strptime(name.split("-")[1], _NAME_TIME).replace(tzinfo=UTC)
    except (IndexError, ValueError):
        return None


class CaptureWriter:
    """Writes one file, for one thread at a time."""

    def __init__(
        self,
        store: MediaStore,
        key: MediaKey,
        formats: Mapping[VideoCodec, PictureFormat],
        size: int,
        state: CaptureState | None = None,
    ) -> None:
        """Create the file, or go on with it; `size` is about the number of bytes that are written first.

        `formats` are of the first pictures of each coding, set before they are encoded.

        Raises:
            OSError: there is such a file, or it is not there; the disk is full or fails.
        """
        self.key = key
        self._file = store.create(key, size) if state is None else store.go_on(key, state.size, size)
        self._capture_file = CaptureFile(self._file.file, formats, state)
        self.size = self._capture_file.size
        """Bytes written so far."""
        self.duration = self._capture_file.duration
        """Seconds."""

    def state(self) -> CaptureState:
        """Return what another writer needs to go on with the file. Not blocking."""
        return self._capture_file.state()

    def encode(self, fragments: Iterable[MediaFragment]) -> list[EncodedFragment]:
        """Return what `write` takes; the fragments' audio is AAC.

        Not blocking. Cheaper right after a segment was made: the pictures are in the processor's cache.
        """
        encoded = (self._capture_file.encode(fragment) for fragment in fragments)
        return [each for each in encoded if each is not None]

    def write(self, encoded: Iterable[EncodedFragment]) -> None:
        """Write what `encode` returned.

        Raises:
            OSError: the disk is full or fails. What was written before stays, and is closed.
        """
        for each in encoded:
            try:
                self._file.require(len(each.content))
                self._capture_file.write(each)
            except OSError:
                if self.size:
                    self.close()
                else:
                    self.discard()
                raise
            self.size = self._capture_file.size
            self.duration = self._capture_file.duration

    def finish(self) -> None:
        """Bring all of it onto the disk, or remove it if that is nothing; raises OSError as `write` does."""
        if not self.size:
            self.discard()
            return
        try:
            # The samples first: should the machine fail here, an old header with all samples plays.
            self._file.sync()
            self._capture_file.finish()
            self._file.finish()
        finally:
            self.close()

    def close(self) -> None:
        """Leave the file as it is."""
        self._file.close()

    def discard(self) -> None:
        """Remove the file, so that another one can have its name."""
        self._file.discard()


class RepairedFile(NamedTuple):
    """A file that no process writes, after its repair."""

    size: int
    """In bytes; 0: nothing whole was in it, and it was removed."""
    was_cut: bool
    """Whether what a crash left within a fragment was cut off."""


def repair_one(store: MediaStore, key: MediaKey) -> RepairedFile | None:
    """Repair a file that a crash of a server may have left; None where a process is writing it.

    Raises:
        OSError: there is no such file, or the disk fails.
    """
    file = store.lock(key)
    if file is None:
        return None
    with file:
        was_cut = repair(file)
        size = file.seek(0, os.SEEK_END)
        if size <= HEADER_BYTES:
            store.delete(key)
            size = 0
        return RepairedFile(size, was_cut)


def repair_all(store: MediaStore) -> list[str]:
    """Repair the files that a crash of a server has left; return the names of the repaired.

    Files that this or another server is writing are left alone. What holds nothing whole is removed.
    """
    repaired = []
    for entry in store.list(CAPTURE_NAMES):
        with suppress(OSError):
            found = repair_one(store, entry.key)
            if found is not None and found.was_cut:
                repaired.append(entry.key.name)
    return repaired
