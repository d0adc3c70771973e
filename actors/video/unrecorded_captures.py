"""Rows for files of captures that have none, as of servers up to 0.3.0: these forgot their captures when they
started, unless they were of a cluster.
"""

import secrets
from collections import defaultdict
from datetime import UTC, datetime

import trio

from motorpool.actors.files.media_store import MediaEntry, MediaStore, folder_name
from motorpool.actors.video.capture_files import CAPTURE_NAMES, time_of_name
from motorpool.storage.database.database import Database
from motorpool.storage.devices import devices
from motorpool.storage.video import captures
from motorpool.storage.video.captures import KEPT_OF_DEVICE, FoundFile

FOUND = "not known: the file was found without a record"
"""Stands in place of the reason why such a capture has ended."""
BATCH_ROWS = 1_000
"""Files of one statement."""


async def record_captures(database: Database, store: MediaStore) -> int:
    """Store rows for the files that have none, of each device the latest; return how many were found.

    Must run after what a crash has left was repaired.

    Raises:
        StorageError: the database does not answer.
    """
    entries = await trio.to_thread.run_sync(_latest, store)
    without_row = await captures.without_row(database, [entry.key.name for entry in entries])
    if not without_row:
        return 0
    folders = {folder_name(unique_id): number for number, unique_id in await devices.unique_ids(database)}
    found = [
        FoundFile(
            id=secrets.token_hex(8),
            device_id=folders[key.folder],
            file_name=key.name,
            started_at=started_at,
            completed_at=datetime.fromtimestamp(modified, UTC),
            size=size,
        )
        for key, size, modified in entries
        if key.name in without_row and key.folder in folders and (started_at := time_of_name(key.name))
    ]
    for first in range(0, len(found), BATCH_ROWS):
        await captures.add_found(database, found[first : first + BATCH_ROWS], FOUND)
    return len(found)


def _latest(store: MediaStore) -> list[MediaEntry]:
    """Return the files of captures for which a device may have rows. Blocks."""
    folders: dict[str, list[MediaEntry]] = defaultdict(list)
    for entry in store.list(CAPTURE_NAMES):
        folders[entry.key.folder].append(entry)
    # Names begin with the time.
    return [entry for entries in folders.values() for entry in sorted(entries)[-KEPT_OF_DEVICE:]]
