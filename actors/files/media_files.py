"""Files of devices, stored as `media/{device folder}/{name}` in the data folder (docs/decisions/0014)."""

import contextlib
import hashlib
import os
import re
import secrets
import shutil
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from urllib.parse import quote

import trio

from motorpool.actors.files.disk_space import require_free_space
from motorpool.actors.files.file_retention import DeviceQuota
from motorpool.codecs.reports import MediaFile
from motorpool.storage.durable_files import make_folder, sync_folder, write_file

MEDIA = "media"
"""Name of the folder of all files of devices, in the data folder."""
PICTURES = frozenset({".jpg", ".jpeg", ".png"})
STILL = ".still"
"""Before the extension of pictures that a user took of a video, also of an old one."""
IMAGE = "device"
"""File name of a device's image, without the extension."""
FOLDER_MODE = 0o700
"""Mode of new folders: other accounts of the machine may not read what devices recorded."""
MARKER = ".folder"
"""An empty file in the folder of all devices, made by servers of a cluster."""
WRITERS = 4
"""Photos and images written at the same time: a slow disk leaves threads to live segments."""
DRAFT_SECONDS = 3600.0
"""Age from which an incomplete file is of no use."""
NAME_TIME = "%Y%m%d%H%M%S"
"""Of UTC, at the beginning of names."""
MAX_NAME_BYTES = 200
"""Longest folder name; file systems allow 255 bytes."""

_WRITERS = trio.CapacityLimiter(WRITERS)


def folder_name(unique_id: str) -> str:
    """Return the name of a device's folder: safe for any `unique_id`, and different for each."""
    name = re.sub(r"^\.|[%/\\\0]", lambda match: f"%{ord(match[0]):02X}", unique_id)
    if not name or len(os.fsencode(name)) > MAX_NAME_BYTES:
        return f"%~{hashlib.sha256(os.fsencode(unique_id)).hexdigest()}"
    return name


def media_name(now: datetime, extension: str) -> str:
    """Return a name for a new file: the time and a random part that cannot be guessed."""
    return f"{now:{NAME_TIME}}-{secrets.token_urlsafe(12)}.{extension}"


def newest_picture(folder: Path, oldest: datetime) -> tuple[Path, datetime] | None:
    """Return the newest picture that the device sent, and when; None without one since `oldest`. Blocks."""
    found = ""
    since = f"{oldest:{NAME_TIME}}"
    with contextlib.suppress(FileNotFoundError):
        for name in os.listdir(folder):
            time, dash, _ = name.partition("-")
            *earlier, suffix = Path(name).suffixes or [""]
            if dash and time.isdecimal() and len(time) == len(since) and suffix in PICTURES:
                found = found if STILL in earlier else max(found, name)
    if found < since:
        return None
    return folder / found, datetime.strptime(found.partition("-")[0], NAME_TIME).replace(tzinfo=UTC)


def measure(path: Path) -> tuple[int, str]:
    """Return the size of a file in bytes, and the SHA-256 of its content in hexadecimal digits. Blocks."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256")
        return file.tell(), digest.hexdigest()


def media_folder(data: Path) -> Path:
    """Return the folder of all files of devices; `data` is the data folder."""
    return data / MEDIA


def device_folder(media: Path, unique_id: str) -> Path:
    """Return the folder of one device; `media` is that of all devices."""
    return media / folder_name(unique_id)


def folder_identity(media: Path) -> str:
    """Return a text that two servers get alike only if they have the same folder of files. Blocks.

    A copy has another one. `media` is the folder of all devices; it is created if there is none.

    Raises:
        OSError: the folder cannot be written.
    """
    make_folder(media, FOLDER_MODE)
    # Not `touch`, which would set the time of the file again.
    opened = os.open(media / MARKER, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        state = os.fstat(opened)
    finally:
        os.close(opened)
    return f"{state.st_ino}-{state.st_mtime_ns}"


def media_url(unique_id: str, name: str) -> str:
    """Return where a file of a device is served; it changes with the `unique_id`."""
    return f"/api/{MEDIA}/{quote(unique_id, safe='')}/{quote(name)}"


async def save_media(
    folder: Path,
    unique_id: str,
    media: MediaFile,
    now: datetime,
    reserve_bytes: int = 0,
    quota: DeviceQuota | None = None,
) -> str:
    """Write the file in a thread and return its name; `reserve_bytes` of the disk stay free.

    The oldest files of the device are removed where it exceeds the `quota`.

    After the return the file survives a power failure; a crash before leaves either the whole file or none.

    Raises:
        OSError: the file cannot be written.
    """
    name = media_name(now, media.extension)
    target = device_folder(folder, unique_id)

    def write() -> None:
        _write(target, name, media.content, reserve_bytes)
        if quota is not None:
            quota.add(target / name)

    await trio.to_thread.run_sync(write, limiter=_WRITERS)
    return name


async def save_image(folder: Path, unique_id: str, extension: str, content: bytes) -> str:
    """Write the image of a device, replacing an earlier one, and return its name.

    Raises:
        OSError: the image cannot be written; an earlier one stays.
    """
    target = device_folder(folder, unique_id)
    name = f"{IMAGE}.{extension}"

    def write() -> None:
        _write(target, name, content)
        for other in target.glob(f"{IMAGE}.*"):
            if other.name != name:
                other.unlink(missing_ok=True)

    await trio.to_thread.run_sync(write, limiter=_WRITERS)
    return name


async def move_folder(folder: Path, unique_id: str, to: str) -> None:
    """Move a device's files to the folder of its new `unique_id`, replacing what is there.

    Raises:
        OSError: the files stay where they are.
    """
    old, new = device_folder(folder, unique_id), device_folder(folder, to)

    def move() -> None:
        if old.exists():
            shutil.rmtree(new, ignore_errors=True)
            old.rename(new)
            sync_folder(folder)

    await trio.to_thread.run_sync(move)


async def remove_folder(folder: Path, unique_id: str) -> None:
    """Remove a device's files; errors are ignored."""
    target = device_folder(folder, unique_id)
    await trio.to_thread.run_sync(partial(shutil.rmtree, target, ignore_errors=True))


def remove_drafts(media: Path, now: datetime) -> int:
    """Remove the incomplete photos and images of crashed servers; return their number. Blocks.

    Those of a running server are younger than an hour.
    """
    removed = 0
    for path in media.glob("*/.*.part"):
        with contextlib.suppress(OSError):
            if (
                not path.name.startswith(".upload-")
                and path.stat().st_mtime < now.timestamp() - DRAFT_SECONDS
            ):
                path.unlink()
                removed += 1
    return removed


def _write(target: Path, name: str, content: bytes, reserve_bytes: int = 0) -> None:
    make_folder(target, FOLDER_MODE)
    require_free_space(target, len(content), reserve_bytes)
    write_file(target / name, content)
