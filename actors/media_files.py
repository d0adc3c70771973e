"""Files that devices upload: `media/{uniqueId}/{name}` under the data folder (decisions 14)."""

import re
import secrets
from datetime import datetime
from pathlib import Path

import trio

from motorpool.codecs.reports import MediaFile

__all__ = ["save_media"]


async def save_media(folder: Path, unique_id: str, media: MediaFile, now: datetime) -> str:
    """Write the file, in a thread, and give its name: the time and what nobody can guess.

    A crash leaves either the whole file or none.

    Raises:
        OSError: the disk does not take it.
    """
    # An identity is free text: whatever it is, it names one folder below ours.
    home = folder / (re.sub(r"[/\\\0]", "_", unique_id).lstrip(".") or "_")
    name = f"{now:%Y%m%d%H%M%S}-{secrets.token_urlsafe(12)}.{media.extension}"

    def write() -> None:
        home.mkdir(parents=True, exist_ok=True)
        part = home / f".{name}.part"
        try:
            part.write_bytes(media.content)
            part.rename(home / name)
        except OSError:
            part.unlink(missing_ok=True)
            raise

    await trio.to_thread.run_sync(write)
    return name
