"""Resources that a server of the bench holds over time, and whether they grow."""

import statistics
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import httpx
import msgspec

from motorpool.bench import machine
from motorpool.bench.server import Server

_TABLES = """
    select coalesce(pg_partition_root(relid), relid)::regclass::text, sum(n_live_tup)
    from pg_stat_user_tables group by 1 order by 1
"""
"""Estimates of PostgreSQL, which follow within a second or two; partitions count for their table."""


class Sample(msgspec.Struct, frozen=True, kw_only=True):
    """The server at one instant."""

    seconds: float
    """Since the first sample."""
    resident_bytes: int
    """Of the server process, without its workers and PostgreSQL."""
    open_files: int
    tasks: int
    actors: int
    longest_stall_ms: float
    """Of the event loop, within the last one to two minutes."""
    stalls: int
    """Stops of more than 200 ms since the start."""
    database_bytes: int


def read_metrics(server: Server) -> dict[str, float]:
    """Read `/metrics`: for each name the sum over all labels."""
    text = httpx.get(f"{server.url}/metrics", timeout=60.0).raise_for_status().text
    found: dict[str, float] = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            name, _, value = line.rpartition(" ")
            name = name.partition("{")[0]
            found[name] = found.get(name, 0.0) + float(value)
    return found


def take_sample(server: Server, began: float) -> Sample:
    """Read everything now; `began` is when the first sample was taken (`time.monotonic`)."""
    metrics = read_metrics(server)
    [[size]] = server.fetch_sql("select pg_database_size(current_database())")
    return Sample(
        seconds=time.monotonic() - began,
        resident_bytes=server.resident_bytes(),
        open_files=machine.open_files(server.process.pid),
        tasks=int(metrics["motorpool_loop_tasks"]),
        actors=int(metrics["motorpool_actors_alive"]),
        longest_stall_ms=metrics["motorpool_loop_longest_stall_seconds"] * 1000,
        stalls=int(metrics["motorpool_loop_stalls_total"]),
        database_bytes=int(size),
    )


def table_rows(server: Server) -> dict[str, int]:
    """Return the estimated number of rows of each table."""
    return {name: int(rows) for name, rows in server.fetch_sql(_TABLES)}


@contextmanager
def sampled(server: Server, interval_seconds: float) -> Iterator[list[Sample]]:
    """Take samples during the block, and a last one at its end.

    Raises:
        BenchError, httpx.HTTPError: at the end of the block, where a sample could not be taken.
    """
    samples: list[Sample] = []
    began = time.monotonic()
    over = threading.Event()
    failures: list[BaseException] = []

    def watch() -> None:
        try:
            while not over.wait(interval_seconds):
                samples.append(take_sample(server, began))
        except BaseException as error:
            failures.append(error)

    samples.append(take_sample(server, began))
    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield samples
    finally:
        over.set()
        thread.join()
    if failures:
        raise failures[0]
    samples.append(take_sample(server, began))


def growth_per_hour(samples: Sequence[Sample], value: Callable[[Sample], float]) -> float:
    """Return the slope of a value (least squares), for an hour; 0 of fewer than two samples."""
    if len(samples) < 2:
        return 0.0
    line = statistics.linear_regression([one.seconds for one in samples], [value(one) for one in samples])
    return line.slope * 3600
