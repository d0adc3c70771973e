"""Two servers on one database that NATS links: commands one hop away, what watching costs, throughput."""

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta

import httpx
import msgspec
import trio

from motorpool.bench.cluster.cluster import Cluster, Start, open_cluster
from motorpool.bench.cluster.frequent_schedules import text_command
from motorpool.bench.figures import Goal, Summary
from motorpool.bench.latencies import Latencies
from motorpool.bench.load.plan import Mark, Span, TerminalLoad, TerminalResult
from motorpool.bench.load.program import LoadFailed, run_program
from motorpool.bench.measured_server import device_ids
from motorpool.bench.options import BenchError, Options, Step
from motorpool.bench.phases.registration import connected_fleet
from motorpool.bench.server import Server, start_process

NAME = "nodes"
TITLE = "two servers that NATS links: commands to a device of the other, CPU of the other, throughput"
SERVER = "own"
STEPS = 7
TERMINALS = 20
"""Terminals that get commands."""
SENDERS = 400
"""Terminals that saturate servers."""
WATCHED = 2_000
"""Terminals that the other server is told of: each sends less often than that, so none of it is left out."""
RATES = 2_000.0, 8_000.0
"""Positions a second. What the other server takes for those beyond the first rate is without what it does ten
times a second for any number of them."""
FAN_OUT_US = 3.0
PREFIX = "138"
PREFIXES = "139"
"""Of terminals that saturate servers; the place follows."""
WARM_SECONDS = 3.0
HOP_MS = 20.0
SHARE = 0.9
"""Positions per CPU second that two servers do at least, of what one does."""
HOME, OTHER = 0, 1
LINKED_SECONDS = 30.0


class Spent(msgspec.Struct, frozen=True):
    """What positions cost at a rate."""

    rate: float
    home: float
    other: float
    """CPU seconds of the servers, less what each takes without them."""
    answers: int


class Throughput(msgspec.Struct, frozen=True):
    """What servers do of positions when each terminal sends again as soon as it is answered."""

    answers: int
    seconds: float
    cpu_seconds: float
    """Of all servers together."""

    @property
    def per_cpu_second(self) -> float:
        """Positions."""
        return self.answers / self.cpu_seconds if self.cpu_seconds else 0.0


class Outcome(msgspec.Struct, frozen=True):
    """What was measured."""

    at_home: Latencies
    one_hop: Latencies
    refused: int
    """Commands that were queued or refused."""
    spent: tuple[Spent, ...]
    """At each of the rates."""
    by_one: Throughput
    """Of a server without another one."""
    by_two: Throughput


def run(options: Options, summary: Summary, step: Step) -> None:
    """Measure commands and positions of two servers."""
    outcome = measure(options.span(10.0), step)
    summary.add_latencies(NAME, "command at home", outcome.at_home)
    summary.add_latencies(NAME, "command one hop away", outcome.one_hop, goals=(Goal(HOP_MS),))
    summary.add(NAME, "commands queued or refused", outcome.refused, "commands", goals=(Goal(0),))
    for spent in outcome.spent:
        for name, cpu in (("the home", spent.home), ("the other server", spent.other)):
            metric = f"CPU of {name} per position, {spent.rate:,.0f}/s"
            summary.add(NAME, metric, cpu / max(1, spent.answers) * 1e6, "µs")
    few, many = outcome.spent[0], outcome.spent[-1]
    if more := many.answers - few.answers:
        further = (many.other - few.other) / more * 1e6
        goals = (Goal(FAN_OUT_US),)
        summary.add(NAME, "CPU of the other server per further position", further, "µs", goals=goals)
    for name, each in (("one server", outcome.by_one), ("two servers", outcome.by_two)):
        summary.add(NAME, f"saturated, {name}", each.answers / each.seconds, "positions/s")
        summary.add(NAME, f"positions per CPU second, {name}", each.per_cpu_second, "positions/s")
    if outcome.by_one.per_cpu_second:
        share = outcome.by_two.per_cpu_second / outcome.by_one.per_cpu_second
        goals = (Goal(SHARE, at_least=True),)
        summary.add(NAME, "positions per CPU second, two servers to one", share, "", goals=goals)


def measure(seconds: float, step: Step, start: Start = start_process) -> Outcome:
    """Run the servers with NATS, and measure for so long each; `start` as in `run_server`.

    Raises:
        BenchError: a server does not start, or there is no NATS.
    """

    async def run_one() -> Throughput:
        async with open_cluster((1,), linked=True, start=start) as cluster:
            return await trio.to_thread.run_sync(_saturate, cluster.servers, seconds)

    async def run_both(by_one: Throughput) -> Outcome:
        async with open_cluster(linked=True, start=start) as cluster:
            return await trio.to_thread.run_sync(_measure, cluster, seconds, step, by_one)

    try:
        step("one server, saturated")
        by_one = trio.run(run_one)
        step("NATS and two servers start")
        return trio.run(run_both, by_one)
    except BaseExceptionGroup as group:
        found = group.subgroup((BenchError, LoadFailed))
        raise BenchError(f"{(found or group).exceptions[0]}") from None


def _measure(cluster: Cluster, seconds: float, step: Step, by_one: Throughput) -> Outcome:
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
    step(f"{' and '.join(f'{rate:g}' for rate in RATES)} positions a second")
    spent = _spend(home, other, seconds)
    step("two servers, saturated")
    by_two = _saturate(cluster.servers, seconds)
    return Outcome(near, far, near_refused + far_refused, spent, by_one, by_two)


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


def _load(server: Server, prefix: str, count: int) -> TerminalLoad:
    return TerminalLoad(
        host=server.host,
        port=server.jt808_port,
        phones=tuple(f"{prefix}{number:0{11 - len(prefix)}d}" for number in range(1, count + 1)),
        first_epoch=(datetime.now(UTC) - timedelta(hours=1)).replace(microsecond=0).timestamp(),
    )


def _spend(home: Server, other: Server, seconds: float) -> tuple[Spent, ...]:
    """Send positions to one server, and compare the CPU of both with that of the same time without."""
    servers = (home, other)
    found = []
    with run_program("terminals", _load(home, PREFIX, WATCHED)) as program:
        program.wait_for(Mark, seconds + 60.0)
        program.send_line(_span(WARM_SECONDS, RATES[0]))
        program.wait_for(TerminalResult, WARM_SECONDS + 60.0)
        # Logged in, and still.
        idle = _cpu(servers, seconds)
        for rate in RATES:
            program.send_line(_span(seconds, rate))
            busy = _cpu(servers, seconds)
            answers = program.wait_for(TerminalResult, seconds + 60.0).answers
            found.append(Spent(rate, busy[0] - idle[0], busy[1] - idle[1], answers))
    return tuple(found)


def _saturate(servers: Sequence[Server], seconds: float) -> Throughput:
    """Let terminals of all servers send as fast as they are answered."""
    with ExitStack() as stack:
        programs = [
            stack.enter_context(
                run_program("terminals", _load(server, f"{PREFIXES}{place}", SENDERS // len(servers)))
            )
            for place, server in enumerate(servers)
        ]
        for program in programs:
            program.wait_for(Mark, seconds + 60.0)
        for length in (WARM_SECONDS, seconds):
            start = time.perf_counter() + 0.5
            for program in programs:
                program.send_line(_span(length, 0.0, start))
            time.sleep(max(0.0, start - time.perf_counter()))
            spent = sum(_cpu(servers, length))
            answers = sum(program.wait_for(TerminalResult, length + 60.0).answers for program in programs)
    return Throughput(answers, seconds, spent)


def _span(seconds: float, rate: float, start: float = 0.0) -> str:
    return msgspec.json.encode(Span(start=start, seconds=seconds, rate=rate)).decode()


def _cpu(servers: Sequence[Server], seconds: float) -> list[float]:
    """Return the CPU seconds of each server in so many seconds."""
    before = [server.cpu_seconds() for server in servers]
    time.sleep(seconds)
    return [server.cpu_seconds() - spent for server, spent in zip(servers, before, strict=True)]
