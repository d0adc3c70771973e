"""Locks that say whether a process still writes a file, for servers that share a folder.

A lock is held through the open file and ends with the process, however it ends; so what a crash has left is
told from what another server is writing (flock(2); over NFS since version 4). All functions block.
"""

import fcntl
import os
from pathlib import Path
from typing import BinaryIO

_ATTEMPTS = 3


def create_locked(path: Path) -> BinaryIO:
    """Create a file, locked until it is closed; without a buffer.

    Raises:
        FileExistsError: there is such a file.
        OSError: it cannot be created.
    """
    for _ in range(_ATTEMPTS):
        file = path.open("xb", buffering=0)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            continue
        # Before it was locked, another server may have taken it for one that a crash has left.
        if os.fstat(file.fileno()).st_nlink:
            return file
        file.close()
    raise FileExistsError(f"{path}: another process removes it")


def lock_unwritten(path: Path, *, buffered: bool = True) -> BinaryIO | None:
    """Open a file for changes and lock it until it is closed; None if a process is writing it.

    Raises:
        OSError: there is no such file.
    """
    file: BinaryIO = path.open("r+b") if buffered else path.open("r+b", buffering=0)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return None
    except OSError:
        # A file system without locks belongs to one server.
        return file
    return file


def is_locked(path: Path) -> bool:
    """Return whether a process is writing a file, or may be, as it cannot be opened."""
    try:
        file = lock_unwritten(path)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    if file is None:
        return True
    file.close()
    return False
