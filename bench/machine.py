"""Facts of the machine and the program, and CPU and memory of processes."""

import contextlib
import os
import platform
import subprocess
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def facts() -> dict[str, str | int | float]:
    """Return machine, interpreter, packages and commit, for the head of a report."""
    found: dict[str, str | int | float] = {
        "system": f"{platform.system()} {platform.release()}",
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_mb": os.sysconf("SC_PHYS_PAGES") * _PAGE_BYTES // 1_000_000,
        "python": platform.python_version(),
        "commit": _commit(),
    }
    for package in ("motorpool", "trio", "asyncpg", "av", "hypercorn", "msgspec"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def cpu_seconds(pid: int) -> float:
    """Return the user and system time of a process with all its threads.

    Raises:
        ProcessLookupError: there is no such process.
    """
    try:
        # The CPU-time clock of another process, as clock_getcpuclockid(3) makes it: /proc counts 10 ms steps.
        return time.clock_gettime((~pid << 3) | 2)
    except OSError as error:
        raise ProcessLookupError(pid) from error


def tree_cpu_seconds(pid: int) -> float:
    """Return the user and system time of a process and of its children that run; 0 if there is none."""
    total = 0.0
    for each in (pid, *children(pid)):
        with contextlib.suppress(ProcessLookupError):
            total += cpu_seconds(each)
    return total


def tree_bytes(pid: int) -> int:
    """Return the memory of a process and of its children; what they share counts in part for each (PSS)."""
    total = 0
    for each in (pid, *children(pid)):
        with contextlib.suppress(ProcessLookupError):
            for line in _read(each, "smaps_rollup").splitlines():
                if line.startswith("Pss:"):
                    total += int(line.split()[1]) * 1024
    return total


def listener(port: int) -> int | None:
    """Return the process that listens on a TCP port of this machine; None if it cannot be known."""
    sockets = set()
    for name in ("tcp", "tcp6"):
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/net/{name}").read_text(encoding="ascii").splitlines()[1:]:
                fields = line.split()
                if fields[3] == "0A" and int(fields[1].rpartition(":")[2], 16) == port:
                    sockets.add(f"socket:[{fields[9]}]")
    for pid in sorted(int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdecimal()):
        with contextlib.suppress(OSError):
            for descriptor in os.listdir(f"/proc/{pid}/fd"):
                with contextlib.suppress(FileNotFoundError):
                    if os.readlink(f"/proc/{pid}/fd/{descriptor}") in sockets:
                        return pid
    return None


def waiting_seconds(pid: int) -> float:
    """Return the time in which a process's main thread waited for a core; 0 if Linux does not count it.

    Raises:
        ProcessLookupError: there is no such process.
    """
    if not Path("/proc/self/schedstat").exists():
        return 0.0
    return int(_read(pid, "schedstat").split()[1]) / 1e9


def resident_bytes(pid: int) -> int:
    """Return the resident memory of a process (RSS).

    Raises:
        ProcessLookupError: there is no such process.
    """
    return int(_read(pid, "statm").split()[1]) * _PAGE_BYTES


def open_files(pid: int) -> int:
    """Return the number of open file descriptors of a process.

    Raises:
        ProcessLookupError: there is no such process.
    """
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))
    except FileNotFoundError:
        raise ProcessLookupError(pid) from None


def command_line(pid: int) -> list[str]:
    """Return the command line of a process.

    Raises:
        ProcessLookupError: there is no such process.
    """
    return _read(pid, "cmdline").split("\0")[:-1]


def children(pid: int) -> list[int]:
    """Return the children of a process."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                fields = _read(int(entry.name), "stat").rpartition(")")[2].split()
            except ProcessLookupError:
                continue
            if int(fields[1]) == pid:
                found.append(int(entry.name))
    return found


def _read(pid: int, name: str) -> str:
    try:
        return Path(f"/proc/{pid}/{name}").read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        raise ProcessLookupError(pid) from None


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.machine()


def _commit() -> str:
    folder = Path(__file__).resolve().parent
    try:
        found = subprocess.run(
            ["git", "describe", "--always", "--dirty"],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=5,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return "unknown"
    return found.stdout.strip() or "unknown"
