"""A server with very many devices: how long it takes to start, what it holds, and a long list of them."""

import time

from motorpool.bench.figures import Goal, Summary
from motorpool.bench.options import BenchError, Options, Step
from motorpool.bench.server import Server, run_server

NAME = "size"
TITLE = "a server with --devices devices: its start, its memory, and a list of 100,000 of them"
SERVER = "own"
STEPS = 4
LISTED = 100_000
"""Devices there are when they are listed."""
LISTS = 5
"""Of the lists after the first, which reads all rows, the one in the middle counts."""
LIST_SECONDS = Goal(0.8)
START_SECONDS = Goal(5)
MEMORY_MB = Goal(2000)
SETTLE_SECONDS = 2.0
"""After the start, before memory is read."""
TIMEOUT_SECONDS = 120.0
_FILL = """
    with made as (
        insert into devices (name, unique_id, attributes)
        select 'Van ' || n, '20' || lpad(n::text, 10, '0'), '{{"fuelCapacity": 60}}'
        from generate_series({first}, {last}) as n
        returning id
    )
    insert into device_states select id, now() from made
"""


def run(options: Options, summary: Summary, step: Step) -> None:
    """List as many devices as are usual in a list, then start again with all of them."""
    count = options.devices
    listed = min(LISTED, count)
    with run_server() as server:
        step(f"a list of {listed:,} devices")
        _fill(server, 1, listed)
        server.restart()
        first, later = _time_lists(server, listed)
        summary.add(NAME, f"first list of {listed:,} devices", first, "s")
        summary.add(NAME, f"list of {listed:,} devices", later, "s", goals=(LIST_SECONDS,))
        step(f"{count:,} devices")
        if count > listed:
            _fill(server, listed + 1, count)
        server.stop()
        step("start")
        begun = time.perf_counter()
        server.start()
        seconds = time.perf_counter() - begun
        cpu = server.cpu_seconds()
        time.sleep(SETTLE_SECONDS)
        summary.add(NAME, f"start with {count:,} devices", seconds, "s", goals=(START_SECONDS,))
        summary.add(NAME, f"start with {count:,} devices, CPU of the server", cpu, "s")
        memory = server.resident_bytes() / 1e6
        summary.add(NAME, f"memory with {count:,} devices", memory, "MB", goals=(MEMORY_MB,))
        step("done")


def _fill(server: Server, first: int, last: int) -> None:
    server.run_sql(_FILL.format(first=first, last=last))
    server.run_sql("vacuum analyze devices, device_states")


def _time_lists(server: Server, count: int) -> tuple[float, float]:
    """Return the seconds of the first list of `count` devices, and of one in the middle of those after it.

    Raises:
        BenchError: they are not all listed.
    """
    seconds = []
    with server.client() as client:
        for _ in range(1 + LISTS):
            begun = time.perf_counter()
            answer = client.get("/devices", params={"all": "true"}, timeout=TIMEOUT_SECONDS)
            seconds.append(time.perf_counter() - begun)
            found = answer.content.count(b'"uniqueId":')
            if answer.status_code != 200 or found != count:
                raise BenchError(f"GET /devices answered {answer.status_code} with {found} devices")
    return seconds[0], sorted(seconds[1:])[LISTS // 2]
