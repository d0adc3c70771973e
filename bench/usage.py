"""CPU and memory that a measured server and its database use."""

import math
import time

import msgspec

from motorpool.bench import machine
from motorpool.bench.measured_server import MeasuredServer


class Reading(msgspec.Struct, frozen=True):
    """The counters at one instant; NaN where they cannot be known."""

    instant: float
    """`time.perf_counter`."""
    server_seconds: float
    database_seconds: float
    waiting_seconds: float
    """Time in which the server waited for a core."""
    resident_bytes: float
    """Of the server alone."""


class Usage(msgspec.Struct, frozen=True):
    """Shares of a core used between two readings; NaN where they cannot be known."""

    seconds: float
    server_share: float
    """Share of a core."""
    database_share: float
    waiting_share: float
    """Share of the time in which the server was runnable and had no core."""

    def server_us(self, count: float) -> float:
        """Return the CPU microseconds of the server for each of `count` pieces of work; NaN of none."""
        return self.server_share * self.seconds / count * 1e6 if count else math.nan

    def database_us(self, count: float) -> float:
        """Return the CPU microseconds of the database for each of `count` pieces of work; NaN of none."""
        return self.database_share * self.seconds / count * 1e6 if count else math.nan


def read_usage(server: MeasuredServer) -> Reading:
    """Read the counters now."""
    return Reading(
        time.perf_counter(),
        server.cpu_seconds(),
        server.database_cpu_seconds(),
        server.waiting_seconds(),
        server.resident_bytes(),
    )


def read_process(pid: int) -> Reading:
    """Read the counters of a process that is no measured server."""
    nan = math.nan
    return Reading(time.perf_counter(), machine.cpu_seconds(pid), nan, nan, nan)


def usage_between(first: Reading, second: Reading) -> Usage:
    """Return the usage from one reading to the other."""
    seconds = second.instant - first.instant
    return Usage(
        seconds,
        (second.server_seconds - first.server_seconds) / seconds,
        (second.database_seconds - first.database_seconds) / seconds,
        (second.waiting_seconds - first.waiting_seconds) / seconds,
    )
