"""What a server of the bench and its database use of the machine, from one moment to another."""

import time

import msgspec

from motorpool.bench.server import Server


class Reading(msgspec.Struct, frozen=True):
    """The counters at a moment."""

    instant: float
    """`time.perf_counter`."""
    server_seconds: float
    database_seconds: float
    """Of the embedded PostgreSQL."""
    waiting_seconds: float
    """Of the server, for a core."""
    resident_bytes: int
    """Of the server alone."""


class Usage(msgspec.Struct, frozen=True):
    """What was used between two readings."""

    seconds: float
    server_share: float
    """Of a core."""
    database_share: float
    waiting_share: float
    """Of the time, that the server could have gone on and had no core."""


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
    """How busy both were from one reading to the other."""
    seconds = second.instant - first.instant
    return Usage(
        seconds,
        (second.server_seconds - first.server_seconds) / seconds,
        (second.database_seconds - first.database_seconds) / seconds,
        (second.waiting_seconds - first.waiting_seconds) / seconds,
    )
