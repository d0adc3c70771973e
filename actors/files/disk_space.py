"""The disk space that files of devices leave to the database, which cannot store positions on a full disk."""

import errno
import os
from pathlib import Path
from typing import NamedTuple


class DiskSpace(NamedTuple):
    """The space of a disk, in bytes."""

    free: int
    """What this process may still use."""
    total: int


def disk_space(folder: Path) -> DiskSpace:
    """Measure the disk that a folder is on. Blocks for some microseconds. Raises OSError."""
    state = os.statvfs(folder)
    return DiskSpace(state.f_bavail * state.f_frsize, state.f_blocks * state.f_frsize)


def require_free_space(folder: Path, size: int, reserve_bytes: int) -> None:
    """Check that `size` bytes can be written to `folder` without using the reserve.

    Blocks for some microseconds.

    Raises:
        OSError: ENOSPC, or the folder does not exist.
    """
    if disk_space(folder).free < size + reserve_bytes:
        raise OSError(errno.ENOSPC, f"less than {reserve_bytes >> 20} MiB of the disk would be free")
