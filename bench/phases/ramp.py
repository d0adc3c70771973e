"""The highest rate of messages whose latencies stay within a bound."""

import msgspec

from motorpool.bench.load.clients import Measured, ReportingClients

GROWTH = 1.5
"""Of the rate, from one try to the next, until one does not keep the bound."""
PRECISION = 0.05
"""Of the rate that is found."""
MIN_SHARE = 0.97
"""Of the messages that are due, which the server must have answered within the span."""
MAX_TRIES = 16


class Tried(msgspec.Struct, frozen=True):
    """A rate, and what came of it."""

    rate: float
    measured: Measured
    is_kept: bool
    """Whether 99 of 100 latencies were within the bound, and the answers kept up with the messages."""


def find_highest_rate(
    clients: ReportingClients, bound_ms: float, guess: float, seconds: float
) -> list[Tried]:
    """Try rates for some seconds each, from a quarter of a guess on: up until one fails, then between.

    Raises:
        LoadFailed: a load program ended.
    """
    tried: list[Tried] = []
    low, high, rate = 0.0, 0.0, max(1.0, guess / 4)
    while len(tried) < MAX_TRIES and (not high or high > low * (1 + PRECISION)):
        measured = clients.measure(seconds, rate)
        is_kept = measured.result.p99_ms <= bound_ms and measured.rate >= MIN_SHARE * rate
        tried.append(Tried(rate, measured, is_kept))
        if is_kept:
            low = rate
        else:
            high = rate
        if not high:
            rate *= GROWTH
        elif low:
            rate = (low + high) / 2
        else:
            rate /= 2
    return tried
