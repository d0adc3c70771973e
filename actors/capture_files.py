"""Files of captures, among the media of their device: written in batches, named so that nobody guesses them,
and the oldest removed for quota and age.

All of it is blocking and belongs in a thread.
"""

import os
import secrets
from collections.abc import Collection, Iterable
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

import msgspec

from motorpool.actors.disk_room import require_room
from motorpool.actors.media_files import folder_name
from motorpool.codecs.media.capture_file import HEAD_BYTES, CaptureFile, mend
from motorpool.codecs.media.cuts import Cut

__all__ = ["CaptureWriting", "Swept", "capture_name", "device_folder", "mend_all", "sweep"]

_NAMES = "capture-*.mp4"


def capture_name(now: datetime) -> str:
    """A name for a new file: the time and what nobody can guess."""
    return f"capture-{now:%Y%m%d%H%M%S}-{secrets.token_urlsafe(12)}.mp4"


class CaptureWriting:
    """One file, from the first cut on; before that there is none. For one thread at a time."""

    def __init__(self, home: Path, name: str, *, reserve_bytes: int = 0) -> None:
        """`reserve_bytes` of the disk stay free."""
        self.path = home / name
        self.size = 0
        """Bytes written so far."""
        self.duration = 0.0
        """Seconds."""
        self._reserve = reserve_bytes
        self._file: BinaryIO | None = None
        self._film: CaptureFile | None = None

    def write(self, cuts: Iterable[Cut]) -> None:
        """Send these on their way to the disk.

        Raises:
            OSError: the disk does not take it. What was written before stays, and is closed.
            CodecError: FFmpeg does not take a cut's sound.
        """
        for cut in cuts:
            self._append(cut)

    def finish(self) -> None:
        """Bring all of it onto the disk; raises OSError as `write` does."""
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

    def _append(self, cut: Cut) -> None:
        try:
            if self._film is None:
                self.path.parent.mkdir(parents=True, exist_ok=True)
            require_room(self.path.parent, cut.size, self._reserve)
            if self._film is None:
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
