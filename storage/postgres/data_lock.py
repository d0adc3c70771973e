"""One server at a time on one data folder."""

import fcntl
import os
from pathlib import Path

from motorpool.storage.errors import AlreadyRunning, SetupFailed

__all__ = ["DataLock"]


class DataLock:
    """Holds a folder for this process until released or ended, however it ends."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file: int | None = None

    def acquire(self) -> None:
        """Take the folder, made if there is none.

        Raises:
            AlreadyRunning: somebody else has it.
            SetupFailed: it cannot be used at all.
        """
        path = self._folder / ".lock"
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise SetupFailed(f"the data folder {self._folder} cannot be used: {error.strerror}") from error
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.read(file, 32)
            os.close(file)
            if not isinstance(error, BlockingIOError):
                raise SetupFailed(f"{path} cannot be locked: {error.strerror}") from error
            raise AlreadyRunning(
                str(self._folder), int(holder) if holder.strip().isdigit() else None
            ) from error
        os.ftruncate(file, 0)
        os.write(file, b"%d\n" % os.getpid())
        self._file = file

    def release(self) -> None:
        """Let the folder go; the file stays, because another server may be waiting at it."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
