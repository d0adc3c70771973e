"""Files of captures, among the media of their device: written in batches, named so that nobody guesses them,
and the oldest removed for quota and age.

All of it is blocking and belongs in a thread.
"""

import os
import secrets
from collections.abc import Collection, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

import msgspec

from motorpool.actors.media_files import folder_name
from motorpool.codecs.media.capture_file import HEAD_BYTES, CaptureFile, mend
from motorpool.codecs.media.cuts import Cut
from motorpool.codecs.media.segmenter import Segmenter
from motorpool.codecs.media.units import AccessUnit

__all__ = ["Batch", "CaptureWriting", "Swept", "capture_name", "device_folder", "mend_all", "sweep"]

FRAGMENT_SECONDS = 2.0
"""A crash costs at most so much of the film, and the time from one key frame to the next."""
_NAMES = "capture-*.mp4"

Batch = Sequence[tuple[list[AccessUnit], bool, float]]
"""Units, whether some before them are missing, and when they arrived (monotonic seconds)."""


def capture_name(now: datetime) -> str:
    """A name for a new file: the time and what nobody can guess."""
    return f"capture-{now:%Y%m%d%H%M%S}-{secrets.token_urlsafe(12)}.mp4"


class CaptureWriting:
    """One file, from the first whole fragment on; before that there is none. For one thread at a time."""

    def __init__(self, home: Path, name: str, *, live: bool) -> None:
        """`live` as the segmenter has it: a recording comes as fast as the device likes."""
        self.path = home / name
        self.size = 0
        """Bytes written so far."""
        self.duration = 0.0
        """Seconds."""
        self._segmenter = Segmenter(FRAGMENT_SECONDS, live=live)
        self._file: BinaryIO | None = None
        self._film: CaptureFile | None = None

    def write(self, batch: Batch) -> None:
        """Take units; what they complete is on its way to the disk.

        Raises:
            OSError: the disk does not take it. What was written before stays, and is closed.
        """
        segmenter = self._segmenter
        for units, lossy, now in batch:
            if lossy:
                self._append(segmenter.discontinuity())
            for unit in units:
                self._append(segmenter.push(unit, now))

    def finish(self) -> None:
        """Write what is still open, and bring all of it onto the disk; raises OSError as `write` does."""
        self._append(self._segmenter.flush())
        if self._film is None or self._file is None:
            return
        try:
            # The film first: should the machine fail here, an old head with all of the film plays.
            os.fsync(self._file.fileno())
            self._film.finish()
            os.fsync(self._file.fileno())
        finally:
            self.close()

    def close(self) -> None:
        """Leave the file as it is."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _append(self, cut: Cut | None) -> None:
        if cut is None:
            return
        try:
            if self._film is None:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                self._file = self.path.open("xb", buffering=0)
                self._film = CaptureFile(self._file)
            self._film.write(cut)
        except OSError:
            self.close()
            if self._film is not None and not self.size:
                self.path.unlink(missing_ok=True)
            raise
        self.size = self._film.size
        self.duration = self._film.duration


def device_folder(media: Path, unique_id: str) -> Path:
    """Where the files of a device lie."""
    return media / folder_name(unique_id)


def mend_all(media: Path, keep: Collection[str] = ()) -> list[str]:
    """Make readable what a crash of the server has left, but for `keep`; the names of what was mended.

    What holds nothing whole is removed.
    """
    mended = []
    for path in media.glob(f"*/{_NAMES}"):
        with suppress(OSError):
            if path.name not in keep:
                with path.open("r+b") as file:
                    if mend(file):
                        mended.append(path.name)
                if path.stat().st_size <= HEAD_BYTES:
                    path.unlink()
    return mended


class Swept(msgspec.Struct, frozen=True):
    """What looking through the files found."""

    total_bytes: int
    """Of what is left."""
    removed: tuple[str, ...]
    """Names of files that are gone."""


def sweep(media: Path, *, quota_bytes: int, oldest: datetime | None, keep: Collection[str] = ()) -> Swept:
    """Remove files last written before `oldest`, and the oldest ones until the rest fits the quota.

    `quota_bytes` 0 is none. Files named in `keep` are being written and stay, but count.
    """
    files: list[tuple[float, int, Path]] = []
    for path in media.glob(f"*/{_NAMES}"):
        with suppress(OSError):  # gone meanwhile, with its device
            state = path.lstat()
            files.append((state.st_mtime, state.st_size, path))
    files.sort()
    total = sum(size for _, size, _ in files)
    limit = oldest.timestamp() if oldest is not None else 0.0
    removed: list[str] = []
    for modified, size, path in files:
        if modified >= limit and not (quota_bytes and total > quota_bytes):
            break
        if path.name in keep:
            continue
        with suppress(OSError):
            path.unlink()
            removed.append(path.name)
            total -= size
    return Swept(total, tuple(removed))
