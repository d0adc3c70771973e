"""Two servers on one database that NATS links: a command one hop away, and what watching costs the other."""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import httpx
import msgspec
import trio

from motorpool.bench.cluster.cluster import Cluster, Start, open_cluster
from motorpool.bench.cluster.frequent_schedules import text_command
from motorpool.bench.figures import Goal, Summary
from motorpool.bench.latencies import Latencies
from motorpool.bench.load.plan import TerminalLoad, TerminalResult
from motorpool.bench.load.program import LoadFailed, run_program
from motorpool.bench.measured_server import device_ids
from motorpool.bench.options import BenchError, Options, Step
from motorpool.bench.phases.registration import connected_fleet
from motorpool.bench.server import Server, start_process

NAME = "nodes"
TITLE = "two servers that NATS links: commands to a device of the other, CPU of the other for each position"
SERVER = "own"
STEPS = 4
TERMINALS = 20
"""Terminals that get commands."""
SENDERS = 400
RATE = 2_000.0
"""Positions a second."""
PREFIX = "138"
HOP_MS = 20.0
HOME, OTHER = 0, 1
LINKED_SECONDS = 30.0


class Spent(msgspec.Struct, frozen=True):
    """What positions cost."""

    home: float
    other: float
    """CPU seconds of the servers, less what each takes without them."""
    answers: int


class Outcome(msgspec.Struct, frozen=True):
    """What was measured."""

    at_home: Latencies
    one_hop: Latencies
    refused: int
    """Commands that were queued or refused."""
    spent: Spent


def run(options: Options, summary: Summary, step: Step) -> None:
    """Measure commands and positions of two servers."""
    outcome = measure(options.span(10.0), step)
    summary.add_latencies(NAME, "command at home", outcome.at_home)
    summary.add_latencies(NAME, "command one hop away", outcome.one_hop, goals=(Goal(HOP_MS),))
    summary.add(NAME, "commands queued or refused", outcome.refused, "commands", goals=(Goal(0),))
    spent = outcome.spent
    if spent.answers:
        summary.add(NAME, "CPU of the home per position", spent.home / spent.answers * 1e6, "µs")
        summary.add(NAME, "CPU of the other server per position", spent.other / spent.answers * 1e6, "µs")


def measure(seconds: float, step: Step, start: Start = start_process) -> Outcome:
    """Run the servers with NATS, and measure for so long each; `start` as in `run_server`.

    Raises:
        BenchError: a server does not start, or there is no NATS.
    """

    async def run_both() -> Outcome:
        async with open_cluster(linked=True, start=start) as cluster:
            return await trio.to_thread.run_sync(_measure, cluster, seconds, step)

    step("NATS and two servers start")
    try:
        return trio.run(run_both)
    except BaseExceptionGroup as group:
        found = group.subgroup((BenchError, LoadFailed))
        raise BenchError(f"{(found or group).exceptions[0]}") from None


def _measure(cluster: Cluster, seconds: float, step: Step) -> Outcome:
    home, other = cluster.servers[HOME], cluster.servers[OTHER]
    with (
        connected_fleet(home, TERMINALS),
        _client(cluster, home) as at_home,
        _client(cluster, other) as one_hop,
    ):
        devices = list(device_ids(at_home).values())
        _await(lambda: _send(one_hop, devices[0]))
        _await(lambda: _send(at_home, devices[0]))
        step("commands at home")
        near, near_refused = _send_for(at_home, devices, seconds)
        step("commands one hop away")
        far, far_refused = _send_for(one_hop, devices, seconds)
    step(f"{RATE:g} positions a second")
    return Outcome(near, far, near_refused + far_refused, _spend(home, other, seconds))


def _client(cluster: Cluster, server: Server) -> httpx.Client:
    headers = {"Authorization": f"Bearer {cluster.token}"}
    return httpx.Client(base_url=f"{server.url}/api", headers=headers, timeout=10.0)


def _send(client: httpx.Client, device: int) -> bool:
    command = text_command("stop")
    body = {"deviceId": device, "type": command["type"], "attributes": {"message": "stop", "noQueue": True}}
    return client.post("/commands/send", json=body).status_code == 200


def _await(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + LINKED_SECONDS
    while not is_so():
        if time.monotonic() > deadline:
            raise BenchError("the servers are not linked")
        time.sleep(0.1)


def _send_for(client: httpx.Client, devices: list[int], seconds: float) -> tuple[Latencies, int]:
    """Send one command after the other."""
    taken: list[float] = []
    failed = 0
    until = time.monotonic() + seconds
    while (began := time.monotonic()) < until:
        failed += not _send(client, devices[len(taken) % len(devices)])
        taken.append(time.monotonic() - began)
    return Latencies.of(taken), failed


def _spend(home: Server, other: Server, seconds: float) -> Spent:
    """Send positions to one server, and compare the CPU of both with that of the same time without."""
    idle = _cpu(home, other, lambda: time.sleep(seconds))
    load = TerminalLoad(
        host=home.host,
        port=home.jt808_port,
        phones=tuple(f"{PREFIX}{number:08d}" for number in range(1, SENDERS + 1)),
        mode="paced",
        rate=RATE,
        seconds=seconds,
        warm_seconds=0.0,
        first_epoch=(datetime.now(UTC) - timedelta(hours=1)).replace(microsecond=0).timestamp(),
    )
    results: list[TerminalResult] = []

    def send() -> None:
        with run_program("terminals", load) as program:
            results.append(program.wait_for(TerminalResult, seconds + 60.0))

    busy = _cpu(home, other, send)
    return Spent(busy[0] - idle[0], busy[1] - idle[1], results[0].answers)


def _cpu(home: Server, other: Server, work: Callable[[], None]) -> tuple[float, float]:
    before = home.cpu_seconds(), other.cpu_seconds()
    work()
    return home.cpu_seconds() - before[0], other.cpu_seconds() - before[1]
