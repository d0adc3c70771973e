"""Shared by load programs: JSON lines on standard output, percentiles, the limit of open files."""

import resource
import sys

import msgspec

from motorpool.bench.load.plan import Message


def write_message(message: Message) -> None:
    """Write one message to the parent process."""
    sys.stdout.write(msgspec.json.encode(message).decode() + "\n")
    sys.stdout.flush()


def percentile_ms(ordered: list[float], share: float) -> float:
    """Return a percentile of sorted seconds, in milliseconds; 0 if nothing was measured."""
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] * 1000 if ordered else 0.0


def raise_file_limit() -> None:
    """Raise the limit of open files to the hard limit."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
