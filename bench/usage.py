"""CPU and memory that a server of the bench and its database use."""

import time

import msgspec

from motorpool.bench.server import Server


class Reading(msgspec.Struct, frozen=True):
    """The counters at one instant."""

    instant: float
    """`time.perf_counter`."""
    server_seconds: float
    database_seconds: float
    """Of the embedded PostgreSQL."""
    waiting_seconds: float
    """Time in which the server waited for a core."""
    resident_bytes: int
    """Of the server alone."""


class Usage(msgspec.Struct, frozen=True):
    """Shares of a core used between two readings."""

    seconds: float
    server_share: float
    """Share of a core."""
    database_share: float
    waiting_share: float
    """Share of the time in which the server was runnable and had no core."""


def read_usage(server: Server) -> Reading:
    """Read the counters now."""
    return Reading(
        time.perf_counter(),
        server.cpu_seconds(),
        server.database_cpu_seconds(),
        server.waiting_seconds(),
        server.resident_bytes(),
    )


def usage_between(first: Reading, second: Reading) -> Usage:
    """Return the usage from one reading to the other."""
    seconds = second.instant - first.instant
    return Usage(
        seconds,
        (second.server_seconds - first.server_seconds) / seconds,
        (second.database_seconds - first.database_seconds) / seconds,
        (second.waiting_seconds - first.waiting_seconds) / seconds,
    )
