"""Writes files and folders that survive a power failure once the function returns.

The content of a file lasts after fsync(2) of the file; its name, whether it was created or renamed, lasts
only after fsync(2) of the folder. All functions block.
"""

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedWriter
from pathlib import Path

COPY_BYTES = 1 << 20
"""Bytes of a file that are in memory while it is copied."""


def sync_folder(folder: Path) -> None:
    """Make the names in a folder last.

    Raises:
        OSError: there is no such folder, or the disk fails.
    """
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def make_folder(folder: Path, mode: int = 0o777) -> None:
    """Create a folder and its parents where they are missing; `mode` applies to those created.

    Raises:
        OSError: a folder cannot be created.
    """
    if folder.is_dir():
        return
    make_folder(folder.parent, mode)
    folder.mkdir(mode=mode, exist_ok=True)
    sync_folder(folder.parent)


def move_into_place(part: Path, path: Path) -> None:
    """Rename `part`, whose content was synchronized before, to `path`, replacing what is there.

    Raises:
        OSError: the file keeps its name, or its new name may not last.
    """
    part.replace(path)
    sync_folder(path.parent)
    if part.parent != path.parent:
        sync_folder(part.parent)


def write_file(path: Path, content: bytes, mode: int = 0o666) -> None:
    """Write a file in an existing folder; a crash leaves the whole file, or what was there before.

    Raises:
        OSError: the file cannot be written; what was there before stays.
    """
    with _replacing(path, mode) as file:
        file.write(content)


def copy_file(source: Path, path: Path) -> None:
    """Copy a file, from another file system as well, into an existing folder; as `write_file`.

    Raises:
        OSError: the file cannot be read or written; what was there before stays.
    """
    with source.open("rb") as content, _replacing(path, 0o666) as file:
        shutil.copyfileobj(content, file, COPY_BYTES)


@contextmanager
def _replacing(path: Path, mode: int) -> Iterator[BufferedWriter]:
    """Open a file that takes the place of `path` at the end of the block."""
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        opened = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        with os.fdopen(opened, "wb") as file:
            yield file
            file.flush()
            os.fsync(opened)
        move_into_place(part, path)
    except OSError:
        part.unlink(missing_ok=True)
        raise
