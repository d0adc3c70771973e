"""A backup that is sent as it is made: nothing of it is kept, and the reader decides how fast it goes.

It is the archive of `motorpool backup`, with the dump in parts (backup_archive.py), and without the files at
the top of the data folder: the key of its secrets stays where it is.
"""

from collections.abc import AsyncGenerator
from contextlib import closing, suppress
from itertools import islice
from pathlib import Path
from typing import BinaryIO

import trio

from motorpool.api.exports.backup_archive import ArchiveStream, Manifest, files_of, open_file, part_name
from motorpool.storage.postgres import dumps

PART_BYTES = 4 << 20
"""Bytes of a part of the dump, which memory holds."""
PIECE_BYTES = 256 << 10
"""Bytes of a file that are read at once."""


async def stream_backup(url: str, data: Path, manifest: Manifest) -> AsyncGenerator[bytes, None]:
    """Yield the archive of a database and a data folder, piece by piece.

    Raises:
        SetupFailed: the database cannot be dumped.
        ValueError: a file has changed while it was read.
        OSError: a file cannot be read.
    """
    archive = ArchiveStream()
    number = 0
    async with dumps.running_dump(url) as dump:
        held = bytearray()
        while chunk := await dump.read():
            held += chunk
            if len(held) >= PART_BYTES:
                number += 1
                yield _whole(archive, part_name(number), bytes(held))
                held.clear()
    number += 1
    yield _whole(archive, part_name(number), bytes(held))
    # After the dump, so that every file named in it is included.
    with closing(files_of(data, ())) as files:
        while (found := await trio.to_thread.run_sync(next, files, None)) is not None:
            name, path = found
            opened = await trio.to_thread.run_sync(open_file, path)
            if opened is None:
                continue
            file, status = opened
            with file:
                yield archive.begin(
                    name, status.st_size, mode=status.st_mode & 0o777, modified=status.st_mtime
                )
                left = status.st_size
                while left and (piece := await _read(file, min(PIECE_BYTES, left))):
                    left -= len(piece)
                    yield archive.write(piece)
                yield archive.end()
    end = await trio.to_thread.run_sync(archive.finish, manifest)
    for start in range(0, len(end), PIECE_BYTES):
        yield end[start : start + PIECE_BYTES]


def measure_files(data: Path, most: int) -> tuple[int, int]:
    """Return how many files a backup has, counted up to one more than `most`, and their bytes."""
    count = size = 0
    for _, path in islice(files_of(data, ()), most + 1):
        with suppress(OSError):
            size += path.lstat().st_size
        count += 1
    return count, size


def _whole(archive: ArchiveStream, name: str, content: bytes) -> bytes:
    return archive.begin(name, len(content)) + archive.write(content) + archive.end()


async def _read(file: BinaryIO, size: int) -> bytes:
    return await trio.to_thread.run_sync(file.read, size)
