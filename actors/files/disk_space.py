"""Room on the disk that files of devices leave to the database: on a full one it stores no position."""

import errno
import os
from pathlib import Path

__all__ = ["require_room"]


def require_room(folder: Path, size: int, reserve_bytes: int) -> None:
    """Refuse to write `size` bytes into `folder` where they would eat into the reserve.

    Blocking, some microseconds.

    Raises:
        OSError: ENOSPC, or the folder is not there.
    """
    state = os.statvfs(folder)
    if state.f_bavail * state.f_frsize < size + reserve_bytes:
        raise OSError(errno.ENOSPC, f"less than {reserve_bytes >> 20} MiB of the disk would be free")
