"""Latencies as a histogram of constant relative error, which processes can add up."""

from collections.abc import Iterable, Iterator
from itertools import accumulate

import msgspec
import numpy as np

_EXACT_BITS = 11
_HALF = 1 << _EXACT_BITS - 1


def _bucket(microseconds: int) -> int:
    shift = max(0, microseconds.bit_length() - _EXACT_BITS)
    return shift * _HALF + (microseconds >> shift)


def _highest(bucket: int) -> int:
    """Return the largest number of microseconds that falls into a bucket."""
    shift = max(0, bucket // _HALF - 1)
    return (bucket - shift * _HALF + 1 << shift) - 1


class Latencies(msgspec.Struct, frozen=True):
    """How often which latency was measured.

    Buckets are those of an HdrHistogram with three significant digits: exact up to 2 ms, at most 0.1 % too
    long above, and so few that a load program can write them in one line.
    """

    counts: dict[int, int] = {}
    """Latencies by their bucket."""

    @classmethod
    def of(cls, seconds: Iterable[float]) -> "Latencies":
        """Count latencies in seconds."""
        microseconds = np.fromiter(seconds, dtype=np.float64) * 1e6
        # The few different values are told apart by numpy: millions of latencies take a moment.
        values, counts = np.unique(np.maximum(microseconds.round(), 0).astype(np.int64), return_counts=True)
        found: dict[int, int] = {}
        for value, count in zip(values.tolist(), counts.tolist(), strict=True):
            bucket = _bucket(value)
            found[bucket] = found.get(bucket, 0) + count
        return cls(found)

    @classmethod
    def total(cls, parts: Iterable["Latencies"]) -> "Latencies":
        """Add up latencies that were measured apart."""
        found: dict[int, int] = {}
        for part in parts:
            for bucket, count in part.counts.items():
                found[bucket] = found.get(bucket, 0) + count
        return cls(found)

    def __len__(self) -> int:
        """Number of latencies."""
        return sum(self.counts.values())

    def percentile_ms(self, share: float) -> float:
        """Return what at least this share of the latencies does not exceed; 0 if nothing was measured."""
        wanted = share * len(self)
        for reached, milliseconds in self._steps():
            if reached >= wanted:
                return milliseconds
        return 0.0

    def tail(self) -> list[tuple[float, float]]:
        """Return how rare longer latencies are, "one in so many", and the milliseconds: a logarithmic axis.

        Ten points for each power of ten, up to the longest.
        """
        count = len(self)
        found: list[tuple[float, float]] = []
        power = 0
        while count and (one_in := 10 ** (power / 10)) < count:
            found.append((round(one_in, 4), self.percentile_ms(1 - 1 / one_in)))
            power += 1
        return [*found, (float(count), self.percentile_ms(1.0))] if count else []

    def _steps(self) -> Iterator[tuple[int, float]]:
        buckets = sorted(self.counts)
        reached = accumulate(self.counts[bucket] for bucket in buckets)
        return zip(reached, (_highest(bucket) / 1000 for bucket in buckets), strict=True)


class Timed(msgspec.Struct, frozen=True, kw_only=True):
    """A result with latencies."""

    latencies: Latencies

    @property
    def p50_ms(self) -> float:
        """Median."""
        return self.latencies.percentile_ms(0.5)

    @property
    def p99_ms(self) -> float:
        """What one in a hundred exceeds."""
        return self.latencies.percentile_ms(0.99)

    @property
    def worst_ms(self) -> float:
        """The longest."""
        return self.latencies.percentile_ms(1.0)
