"""Keeps what the server stores from other users of the machine."""

import os
import stat
from pathlib import Path


def use_private_umask() -> None:
    """Make new files and folders of this process accessible to its own user alone.

    If that is root, other users may enter folders, though not list them: PostgreSQL runs as another user.
    """
    os.umask(0o066 if os.geteuid() == 0 else 0o077)


def hide_from_others(folder: Path) -> None:
    """Take from users who are neither the owner nor in the group what they may do in a folder of this user.

    For data of earlier releases. Raises OSError if that is not possible.
    """
    found = folder.stat()
    mode = stat.S_IMODE(found.st_mode)
    if found.st_uid != os.geteuid() or mode & stat.S_ISVTX:
        return
    hidden = mode & ~(0o006 if os.geteuid() == 0 else 0o007)
    if hidden != mode:
        folder.chmod(hidden)


def is_readable_by_others(file: Path) -> bool:
    """Return whether any user of the machine may read a file, as far as the file itself says."""
    try:
        return bool(file.stat().st_mode & stat.S_IROTH)
    except OSError:
        return False
