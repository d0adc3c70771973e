"""Ensures that only one server at a time uses a data folder."""

import fcntl
import os
from pathlib import Path
from typing import Self

from motorpool.storage.errors import AlreadyRunning, SetupFailed


class DataLock:
    """A lock on a folder, held until it is released, the `with` block or the process ends."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file: int | None = None

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def acquire(self) -> None:
        """Lock the folder; create it if it does not exist.

        Raises:
            AlreadyRunning: Another process holds the lock.
            SetupFailed: The folder cannot be created or locked.
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

    @property
    def descriptor(self) -> int | None:
        """The file that is locked, while it is: a process that inherits it holds the lock as well."""
        return self._file

    def release(self) -> None:
        """Release the lock. The lock file is kept, because another server may have it open."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
