"""Bounds the log file of a running PostgreSQL server."""

import os
import shutil
from pathlib import Path

LOG_BYTES = 16 * 1024 * 1024
"""Size from which a log is rotated."""


def rotate_log(path: Path) -> None:
    """If the log is too large, move its last LOG_BYTES to `….log.old` and empty it. Blocks.

    The server keeps its log open and cannot be made to open another one, but it appends, so the file may be
    emptied. What it writes between copying and emptying is lost.

    Raises:
        OSError: the disk fails or is full; the log stays.
    """
    try:
        size = path.stat().st_size
    except FileNotFoundError:
        return
    if size <= LOG_BYTES:
        return
    part = path.with_suffix(".log.part")
    try:
        with path.open("rb") as log, part.open("wb") as copy:
            log.seek(max(0, size - LOG_BYTES))
            shutil.copyfileobj(log, copy)
        part.replace(path.with_suffix(".log.old"))
        os.truncate(path, 0)
    finally:
        part.unlink(missing_ok=True)
