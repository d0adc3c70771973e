"""Terminates PostgreSQL processes that an earlier server process left running."""

import os
import signal
from contextlib import suppress
from pathlib import Path

import trio

_POLL_SECONDS = 0.02


def pid_file_lines(cluster: Path) -> list[str]:
    """Return the lines of the file that a postmaster keeps while it runs; none without the file."""
    try:
        return (cluster / "postmaster.pid").read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        return []


def processes(cluster: Path) -> list[int]:
    """Return the ids of the PostgreSQL processes of this cluster, the postmaster first."""
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
        # The working directory of every PostgreSQL process is its data folder.
        with suppress(OSError):
            if os.readlink(f"/proc/{name}/cwd") == home and _is_postgres(int(name)):
                found.append(int(name))
    return found


async def terminate_orphans(cluster: Path, *, seconds: float) -> bool:
    """Terminate the processes of the cluster, by force if necessary, and remove its postmaster.pid.

    Return whether any process was running. The caller must hold the lock of the data folder.
    """
    running = processes(cluster)
    for sign, share in ((signal.SIGINT, 0.6), (signal.SIGQUIT, 0.2), (signal.SIGKILL, 0.2)):
        left = processes(cluster)
        if not left:
            break
        # The postmaster signals its children; without a postmaster each process is signalled.
        signalled = left if sign == signal.SIGKILL or _postmaster(cluster) is None else left[:1]
        for pid in signalled:
            with suppress(OSError):
                os.kill(pid, sign)
        with trio.move_on_after(seconds * share):
            while processes(cluster):  # noqa: ASYNC110 - they are not child processes
                await trio.sleep(_POLL_SECONDS)
    if not processes(cluster):
        # Another program may reuse the process id, which PostgreSQL would take for a running postmaster.
        (cluster / "postmaster.pid").unlink(missing_ok=True)
    return bool(running)


def _postmaster(cluster: Path) -> int | None:
    first = pid_file_lines(cluster)[:1]
    pid = int(first[0]) if first and first[0].strip().isdigit() else 0
    if pid <= 1:
        return None
    home = os.path.realpath(cluster)
    with suppress(OSError):
        if os.readlink(f"/proc/{pid}/cwd") == home and _is_postgres(pid):
            return pid
    # If its working directory is not readable, its command line names the cluster.
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
