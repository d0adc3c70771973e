"""Files of devices: `media/{folder of the device}/{name}` under the data folder (docs/decisions/0014)."""

import hashlib
import os
import re
import secrets
import shutil
from datetime import datetime
from functools import partial
from pathlib import Path

import trio

from motorpool.actors.files.disk_space import require_room
from motorpool.codecs.reports import MediaFile

__all__ = [
    "MEDIA",
    "device_folder",
    "folder_name",
    "media_folder",
    "media_name",
    "move_folder",
    "remove_folder",
    "save_image",
    "save_media",
]

MEDIA = "media"
"""The folder of all files of devices, under the data folder."""
IMAGE = "device"
"""Name of a device's own picture, before its ending."""
LONGEST_BYTES = 200
"""Of a folder's name; file systems take 255."""


def folder_name(unique_id: str) -> str:
    """The folder of a device. An identity is free text: each names one folder, and none names two."""
    name = re.sub(r"^\.|[%/\\\0]", lambda found: f"%{ord(found[0]):02X}", unique_id)
    if not name or len(os.fsencode(name)) > LONGEST_BYTES:
        return f"%~{hashlib.sha256(os.fsencode(unique_id)).hexdigest()}"
    return name


def media_name(now: datetime, extension: str) -> str:
    """A name for a new file: the time and what nobody can guess."""
    return f"{now:%Y%m%d%H%M%S}-{secrets.token_urlsafe(12)}.{extension}"


def media_folder(data: Path) -> Path:
    """Return the folder of all files of devices; `data` is the data folder."""
    return data / MEDIA


def device_folder(media: Path, unique_id: str) -> Path:
    """Return the folder of one device; `media` is that of all devices."""
    return media / folder_name(unique_id)


async def save_media(
    folder: Path, unique_id: str, media: MediaFile, now: datetime, reserve_bytes: int = 0
) -> str:
    """Write the file, in a thread, and give its name; `reserve_bytes` of the disk stay free.

    A crash leaves either the whole file or none.

    Raises:
        OSError: the disk does not take it.
    """
    name = media_name(now, media.extension)
    home = device_folder(folder, unique_id)
    await trio.to_thread.run_sync(_write, home, name, media.content, reserve_bytes)
    return name


async def save_image(folder: Path, unique_id: str, extension: str, content: bytes) -> str:
    """Write the device's own picture in the place of any earlier one, and give its name.

    Raises:
        OSError: the disk does not take it; the earlier one stays.
    """
    home = device_folder(folder, unique_id)
    name = f"{IMAGE}.{extension}"

    def write() -> None:
        _write(home, name, content)
        for other in home.glob(f"{IMAGE}.*"):
            if other.name != name:
                other.unlink(missing_ok=True)

    await trio.to_thread.run_sync(write)
    return name


async def move_folder(folder: Path, unique_id: str, to: str) -> None:
    """Give a device's files to its new identity; they are another's no longer.

    Raises:
        OSError: they stay where they are.
    """
    old, new = device_folder(folder, unique_id), device_folder(folder, to)

    def move() -> None:
        if old.exists():
            shutil.rmtree(new, ignore_errors=True)
            old.rename(new)

    await trio.to_thread.run_sync(move)


async def remove_folder(folder: Path, unique_id: str) -> None:
    """Remove a device's files; what the disk refuses stays."""
    home = device_folder(folder, unique_id)
    await trio.to_thread.run_sync(partial(shutil.rmtree, home, ignore_errors=True))


def _write(home: Path, name: str, content: bytes, reserve_bytes: int = 0) -> None:
    home.mkdir(parents=True, exist_ok=True)
    require_room(home, len(content), reserve_bytes)
    part = home / f".{name}.{secrets.token_hex(4)}.part"
    try:
        part.write_bytes(content)
        part.rename(home / name)
    except OSError:
        part.unlink(missing_ok=True)
        raise
