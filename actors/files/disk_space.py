"""The disk space that files of devices leave to the database, which cannot store positions on a full disk."""

import errno
import os
from pathlib import Path


def require_free_space(folder: Path, size: int, reserve_bytes: int) -> None:
    """Check that `size` bytes can be written to `folder` without using the reserve.

    Blocks for some microseconds.

    Raises:
        OSError: ENOSPC, or the folder does not exist.
    """
    state = os.statvfs(folder)
    if state.f_bavail * state.f_frsize < size + reserve_bytes:
        raise OSError(errno.ENOSPC, f"less than {reserve_bytes >> 20} MiB of the disk would be free")
