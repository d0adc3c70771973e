"""Quotas and retention of files in the folders of devices: of one device, and of all together.

Photos and files of alarms are named by `media_name`; captures are named otherwise and have settings of their
own. All functions block.
"""

import logging
import threading
from collections import OrderedDict
from collections.abc import Collection
from contextlib import suppress
from datetime import datetime

import msgspec

from motorpool.actors.files.media_store import RENDITIONS, MediaKey, MediaStore, original_of

MEDIA_NAMES = "[0-9]*-*.*"
"""Pattern of the names that `media_name` makes."""
KNOWN_FOLDERS = 10_000
"""Folders of devices whose size is remembered; the size of others is determined again."""
_log = logging.getLogger(__name__)


class SweepResult(msgspec.Struct, frozen=True):
    """What a sweep found."""

    total_bytes: int
    """Bytes of the files that remain."""
    removed: tuple[str, ...]
    """Names of the removed files."""


def sweep(
    store: MediaStore,
    names: str,
    folder: str | None = None,
    *,
    quota_bytes: int,
    free_to: int | None = None,
    oldest: datetime | None = None,
    exempt: Collection[str] = (),
    new: str = "",
) -> SweepResult:
    """Remove files last written before `oldest`, and the oldest ones until the others fit the quota.

    `names` is a pattern of file names, of one folder or of all devices. `quota_bytes` 0 is none; where it is
    exceeded, `free_to` bytes remain, by default the quota. Files that a process is writing stay, but count,
    as does the file named `new`; those in `exempt` stay and do not count. Renditions go with their files, and
    count as part of them.
    """
    limit = oldest.timestamp() if oldest is not None else 0.0
    entries = {entry.key: entry for entry in store.list(names, folder) if entry.key.name not in exempt}
    for rendition in store.list(RENDITIONS, folder):
        original = original_of(rendition.key)
        if original in entries:
            entry = entries[original]
            entries[original] = entry._replace(size=entry.size + rendition.size)
    files = sorted(entries.values(), key=lambda entry: (entry.modified, entry.size, entry.key))
    total = sum(entry.size for entry in files)
    enough = total
    if quota_bytes and total > quota_bytes:
        enough = quota_bytes if free_to is None else free_to
    removed: list[str] = []
    for key, size, modified in files:
        if modified >= limit and total <= enough:
            break
        if key.name == new:
            continue
        with suppress(OSError):  # removed meanwhile, with its device
            file = store.lock(key)
            if file is None:
                continue
            with file:
                store.delete(key)
            removed.append(key.name)
            total -= size
    return SweepResult(total, tuple(removed))


class DeviceQuota:
    """Keeps the photos and files of alarms of each device to a quota, while they are written.

    For several threads. The size of a folder is determined once and then counted.
    """

    def __init__(self, quota_bytes: int, exempt: Collection[str] | None = ()) -> None:
        """`quota_bytes` 0: no quota. `exempt` None: not known yet which files stay, so all do."""
        self._quota = quota_bytes
        self._exempt = None if exempt is None else frozenset(exempt)
        self._lock = threading.Lock()
        self._known: OrderedDict[str, int] = OrderedDict()

    def limit(self, quota_bytes: int) -> None:
        """Set the quota; 0: none. A device that has more is looked at with its next file."""
        with self._lock:
            self._quota = quota_bytes

    def exempt(self, names: Collection[str]) -> None:
        """Set the names of files that stay and do not count."""
        with self._lock:
            self._exempt = frozenset(names)

    def hold(self, name: str) -> None:
        """Add a file to those that stay and do not count."""
        with self._lock:
            if self._exempt is not None:
                self._exempt |= {name}

    def add(self, store: MediaStore, key: MediaKey, size: int) -> None:
        """Note a new file of `size` bytes; if its device has too many bytes, remove its oldest files.

        A tenth of the quota is freed at once, so that not each further file searches the folder. The new file
        stays, however large it is.
        """
        folder = key.folder
        with self._lock:
            quota, exempt = self._quota, self._exempt
            if not quota or exempt is None:
                return
            known = self._known.get(folder)
            if known is not None:
                self._known[folder] = known = known + size
        if known is not None and known <= quota:
            return
        free_to = quota - quota // 10
        result = sweep(
            store,
            MEDIA_NAMES,
            folder,
            quota_bytes=quota,
            free_to=free_to,
            exempt=exempt,
            new=key.name,
        )
        if result.removed:
            _log.info("removed %d files of %s, past the quota of a device", len(result.removed), folder)
        with self._lock:
            self._known[folder] = result.total_bytes
            self._known.move_to_end(folder)
            if len(self._known) > KNOWN_FOLDERS:
                self._known.popitem(last=False)
