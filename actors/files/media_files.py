"""Photos, files of alarms and images of devices: their names, and how they are kept within the quota of each
device (docs/decisions/0014).
"""

import secrets
from datetime import UTC, datetime
from pathlib import Path, PurePath
from urllib.parse import quote

import trio

from motorpool.actors.files.file_retention import DeviceQuota
from motorpool.actors.files.media_store import MEDIA, MediaStore, folder_name, media_key
from motorpool.codecs.reports import MediaFile

PICTURES = frozenset({".jpg", ".jpeg", ".png"})
STILL = ".still"
"""Before the extension of pictures that a user took of a video, also of an old one."""
IMAGE = "device"
"""File name of a device's image, without the extension."""
WRITERS = 4
"""Photos and images written at the same time: a slow disk leaves threads to live segments."""
NAME_TIME = "%Y%m%d%H%M%S"
"""Format of the UTC time with which names begin."""

_WRITERS = trio.CapacityLimiter(WRITERS)


def media_name(now: datetime, extension: str) -> str:
    """Return a name for a new file: the time and a random part that cannot be guessed."""
    return f"{now:{NAME_TIME}}-{secrets.token_urlsafe(12)}.{extension}"


def media_url(unique_id: str, name: str) -> str:
    """Return where a file of a device is served; it changes with the `unique_id`."""
    return f"/api/{MEDIA}/{quote(unique_id, safe='')}/{quote(name)}"


def newest_picture(store: MediaStore, unique_id: str, oldest: datetime) -> tuple[str, datetime] | None:
    """Return the name of the newest picture that the device sent, and when; None without one since `oldest`.

    Blocks.
    """
    found = ""
    since = f"{oldest:{NAME_TIME}}"
    for entry in store.list("[0-9]*", folder_name(unique_id)):
        name = entry.key.name
        time, dash, _ = name.partition("-")
        *earlier, suffix = PurePath(name).suffixes or [""]
        if dash and time.isdecimal() and len(time) == len(since) and suffix in PICTURES:
            found = found if STILL in earlier else max(found, name)
    if found < since:
        return None
    return found, datetime.strptime(found.partition("-")[0], NAME_TIME).replace(tzinfo=UTC)


def measure(store: MediaStore, unique_id: str, name: str) -> tuple[int, str]:
    """Return the size of a file in bytes, and the SHA-256 of its content in hexadecimal digits. Blocks.

    Raises:
        FileNotFoundError: there is no such file.
    """
    with store.open(media_key(unique_id, name)) as file:
        return file.size, file.sha256()


class MediaFiles:
    """Writes the photos, files of alarms and images of all devices."""

    def __init__(self, store: MediaStore, quota: DeviceQuota | None = None) -> None:
        self.store = store
        self.quota = quota
        """Quota of each device; None: no quota."""

    def limit(self, quota_bytes: int) -> None:
        """Set the quota of each device; 0: none."""
        if self.quota is not None:
            self.quota.limit(quota_bytes)

    async def save(self, unique_id: str, media: MediaFile, now: datetime) -> str:
        """Write the file in a thread and return its name.

        The oldest files of the device are removed where it exceeds the quota. After the return the file
        survives a power failure; a crash before leaves either the whole file or none.

        Raises:
            OSError: the file cannot be written.
        """
        key = media_key(unique_id, media_name(now, media.extension))

        def write() -> None:
            self.store.save(key, media.content)
            if self.quota is not None:
                self.quota.add(self.store, key, len(media.content))

        await trio.to_thread.run_sync(write, limiter=_WRITERS)
        return key.name

    async def save_image(self, unique_id: str, extension: str, content: bytes) -> str:
        """Write the image of a device, replacing an earlier one, and return its name.

        Raises:
            OSError: the image cannot be written; an earlier one stays.
        """
        key = media_key(unique_id, f"{IMAGE}.{extension}")

        def write() -> None:
            self.store.save(key, content)
            for other in self.store.list(f"{IMAGE}.*", key.folder):
                if other.key != key:
                    self.store.delete(other.key)

        await trio.to_thread.run_sync(write, limiter=_WRITERS)
        return key.name


def open_media_files(data: Path, *, reserve_bytes: int = 0) -> MediaFiles:
    """Return the files of devices in the data folder.

    A quota of each device (`MediaFiles.limit`) holds once it is known which files stay.
    """
    store = MediaStore(data / MEDIA, reserve_bytes=reserve_bytes)
    return MediaFiles(store, DeviceQuota(0, exempt=None))
