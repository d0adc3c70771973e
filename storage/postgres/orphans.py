"""PostgreSQL processes that an earlier life of ours left on our data."""

import os
import signal
from contextlib import suppress
from pathlib import Path

import trio

__all__ = ["processes", "terminate_orphans"]

_POLL_SECONDS = 0.02


def processes(cluster: Path) -> list[int]:
    """Return the PostgreSQL processes that work on this cluster, the postmaster first."""
    postmaster = _postmaster(cluster)
    found = [postmaster] if postmaster is not None else []
    home = os.path.realpath(cluster)
    try:
        names = os.listdir("/proc")
    except OSError:
        return found
    for name in names:
        if not name.isdigit() or int(name) in found:
            continue
        # Every PostgreSQL process lives in its data folder.
        with suppress(OSError):
            if os.readlink(f"/proc/{name}/cwd") == home and _is_postgres(int(name)):
                found.append(int(name))
    return found


async def terminate_orphans(cluster: Path, *, seconds: float) -> bool:
    """End what still runs on the cluster, orderly if it can be, and remove the mark it left.

    Whether anything ran. Only for who holds the folder's lock.
    """
    running = processes(cluster)
    for sign, share in ((signal.SIGINT, 0.6), (signal.SIGQUIT, 0.2), (signal.SIGKILL, 0.2)):
        left = processes(cluster)
        if not left:
            break
        # The postmaster tells the others; without one each is told.
        told = left if sign == signal.SIGKILL or _postmaster(cluster) is None else left[:1]
        for pid in told:
            with suppress(OSError):
                os.kill(pid, sign)
        with trio.move_on_after(seconds * share):
            while processes(cluster):  # noqa: ASYNC110 - nobody tells us of the end of no child of ours
                await trio.sleep(_POLL_SECONDS)
    if not processes(cluster):
        # Another program may have got the number since; PostgreSQL would take it for its own.
        (cluster / "postmaster.pid").unlink(missing_ok=True)
    return bool(running)


def _postmaster(cluster: Path) -> int | None:
    try:
        first = (cluster / "postmaster.pid").read_text(encoding="utf-8", errors="replace").partition("\n")[0]
    except OSError:
        return None
    pid = int(first) if first.strip().isdigit() else 0
    if pid <= 1:
        return None
    home = os.path.realpath(cluster)
    with suppress(OSError):
        if os.readlink(f"/proc/{pid}/cwd") == home and _is_postgres(pid):
            return pid
    # Where we may not look into its folder, its command line names it.
    with suppress(OSError):
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        if os.fsencode(cluster) in words or os.fsencode(home) in words:
            return pid
    return None


def _is_postgres(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/comm").read_text(encoding="utf-8", errors="replace").strip() == "postgres"
    except OSError:
        return False
