"""How a load program talks to its parent: JSON lines on its standard output."""

import resource
import sys

import msgspec

from motorpool.bench.load.plan import Told


def tell(told: Told) -> None:
    """Write one line to the parent."""
    sys.stdout.write(msgspec.json.encode(told).decode() + "\n")
    sys.stdout.flush()


def percentile_ms(ordered: list[float], share: float) -> float:
    """Take a percentile of ordered seconds, in milliseconds; 0 where nothing was measured."""
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] * 1000 if ordered else 0.0


def raise_file_limit() -> None:
    """Allow as many sockets as the system lets us have."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
