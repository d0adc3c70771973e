"""How much of the memory that the operating system allows this process, or its service, is in use.

A process that exceeds the limit of its control group (of a container, or of a service of systemd) is killed.
What the kernel can take back at once, the cache of files, does not count as used.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

MEMBERSHIP = Path("/proc/self/cgroup")
ROOT = Path("/sys/fs/cgroup")
UNLIMITED_BYTES = 1 << 60
"""Version 1 of control groups writes a number of about this size where there is no limit."""


class Memory(NamedTuple):
    """A limit, and what is used of it, in bytes."""

    limit: int
    used: int


class _Files(NamedTuple):
    """Names of the files of a version of control groups, and of the lines about the cache of files."""

    limit: str
    used: str
    cache: tuple[str, ...]


_VERSION_1 = _Files(
    "memory.limit_in_bytes", "memory.usage_in_bytes", ("total_inactive_file", "total_active_file")
)
_VERSION_2 = _Files("memory.max", "memory.current", ("inactive_file", "active_file"))


class MemoryLimit:
    """The limits of the control groups that this process is in, of the outer ones too."""

    def __init__(self, membership: Path = MEMBERSHIP, root: Path = ROOT) -> None:
        self._groups = tuple(_groups(membership, root))

    def read(self) -> Memory | None:
        """Return the limit that is nearest; None where there is none. Blocks for some microseconds."""
        found = [memory for folder, files in self._groups if (memory := _read(folder, files)) is not None]
        return min(found, key=lambda memory: memory.limit - memory.used, default=None)


def _groups(membership: Path, root: Path) -> Iterator[tuple[Path, _Files]]:
    """Yield the folder of each control group of memory that is there, the innermost first."""
    try:
        lines = membership.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        number, controllers, path = line.split(":", 2)
        if "memory" in controllers.split(","):
            base, files = root / "memory", _VERSION_1
        elif number == "0":
            base, files = root, _VERSION_2
        else:
            continue
        # In a container the folder of the path may be outside, and that of the container is the base.
        inner = base / path.lstrip("/")
        for folder in (inner, *inner.parents):
            if folder.is_relative_to(base) and (folder / files.limit).exists():
                yield folder, files


def _read(folder: Path, files: _Files) -> Memory | None:
    try:
        limit = (folder / files.limit).read_text().strip()
        if limit == "max" or int(limit) >= UNLIMITED_BYTES:
            return None
        used = int((folder / files.used).read_text())
        pairs = (line.split() for line in (folder / "memory.stat").read_text().splitlines())
        cache = sum(int(value) for name, value in pairs if name in files.cache)
    except (OSError, ValueError):
        return None
    return Memory(int(limit), max(0, used - cache))
