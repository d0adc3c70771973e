"""The worst known anonymous requests to each port while terminals report, and then the worst user."""

import re
import time
from datetime import UTC, datetime, timedelta

import httpx

from motorpool.bench.figures import Goal, Summary
from motorpool.bench.load.plan import AttackLoad, AttackResult, Mark, TerminalLoad, TerminalResult
from motorpool.bench.load.program import LoadFailed, run_program
from motorpool.bench.options import BenchError, Options, Step
from motorpool.bench.phases import worst_user
from motorpool.bench.server import Server, run_server

NAME = "attack"
TITLE = (
    "anonymous attacks on each port, and the worst user, while terminals report: acknowledgements, answers"
)
SERVER = "own"
STEPS = 6
TIMEOUT_SECONDS = 120.0
SOURCE = "127.0.0.66"
"""The attackers come from one address, as an attacker does; terminals and the administrator from another."""
SCALE = 1.0
CALM_SECONDS = 40.0
"""After the attack, until half-sent requests have reached their deadlines and freed memory is returned, which
is looked for every ten seconds. However short the attack was, this takes no less."""
LEFT = Goal(50)
"""Megabytes that may be left of it."""


def run(options: Options, summary: Summary, step: Step) -> None:
    """Measure terminals alone, then under attack, then what is left of it."""
    seconds = options.span(20.0)
    with run_server() as server, server.client() as client:
        _open_registration(client)
        try:
            step(f"{options.terminals} terminals alone")
            log_bytes = _log_bytes(server)
            alone = _report(server, options.terminals, seconds)
            time.sleep(min(seconds, 2.0))  # for the lines about their end
            # Terminals connect in both spans, and each is two lines.
            expected_log = 2 * _log_bytes(server) - log_bytes
            step("all attacks at once")
            before = server.resident_bytes()
            attacked, result, most = _attack(server, options.terminals, seconds)
        except LoadFailed as error:
            raise BenchError(str(error)) from error
        _add_terminals(summary, "alone", alone, ())
        _add_terminals(summary, "under attack", attacked, (Goal(250),))
        summary.add(NAME, "memory under attack, grown by", (most - before) / 1e6, "MB")
        step("afterwards")
        time.sleep(min(seconds, 2.0))  # for the lines about their end
        summary.add(NAME, "memory afterwards, grown by", _left(server, before), "MB", goals=(LEFT,))
        begun = time.perf_counter()
        client.get("/devices").raise_for_status()
        summary.add(NAME, "GET /devices afterwards", (time.perf_counter() - begun) * 1000, "ms")
        figures = client.get(f"{server.url}/metrics").raise_for_status().text
        summary.add(
            NAME, "event loop stalls of more than 0.2 s", _metric(figures, "motorpool_loop_stalls_total"), ""
        )
        longest = _metric(figures, "motorpool_loop_longest_stall_seconds")
        summary.add(NAME, "longest event loop stall", longest * 1000, "ms")
        more_log = (_log_bytes(server) - expected_log) / 1e3
        summary.add(NAME, "log of the attack", more_log, "kB", goals=(Goal(100),))
        for name, attempts in sorted(result.attempts.items()):
            summary.note(f"{name}: {attempts} attempts, {result.ended.get(name, 0)} ended by the server")
        try:
            terminals = _terminals(server, options.terminals, seconds)
            worst_user.measure(server, summary, NAME, seconds, terminals, step)
        except LoadFailed as error:
            raise BenchError(str(error)) from error
        step("done")


def _left(server: Server, before: int) -> float:
    """Wait until the memory of the attack is returned, or should have been; return what is left in MB."""
    deadline = time.monotonic() + CALM_SECONDS
    while (left := (server.resident_bytes() - before) / 1e6) > LEFT.limit and time.monotonic() < deadline:
        time.sleep(1.0)
    return left


def _log_bytes(server: Server) -> int:
    return (server.folder / "server.log").stat().st_size


def _open_registration(client: httpx.Client) -> None:
    settings = client.get("/server").raise_for_status().json()
    client.put("/server", json={**settings, "registration": True}).raise_for_status()


def _add_terminals(summary: Summary, title: str, result: TerminalResult, goals: tuple[Goal, ...]) -> None:
    summary.add(NAME, f"terminals {title}", result.answers / result.seconds, "messages/s")
    summary.add(NAME, f"acknowledgement {title}, p50", result.p50_ms, "ms")
    summary.add(NAME, f"acknowledgement {title}, p99", result.p99_ms, "ms", goals=goals)
    summary.add(NAME, f"acknowledgement {title}, worst", result.worst_ms, "ms")
    if result.rejected or result.late:
        summary.note(f"{title}: {result.rejected} messages rejected, {result.late} late")


def _terminals(server: Server, count: int, seconds: float) -> TerminalLoad:
    first = (datetime.now(UTC) - timedelta(days=1)).replace(microsecond=0)
    return TerminalLoad(
        host=server.host,
        port=server.jt808_port,
        phones=tuple(f"137{number:08d}" for number in range(1, count + 1)),
        mode="paced",
        seconds=seconds,
        rate=float(count),
        first_epoch=first.timestamp(),
    )


def _report(server: Server, count: int, seconds: float) -> TerminalResult:
    with run_program("terminals", _terminals(server, count, seconds)) as terminals:
        return terminals.wait_for(TerminalResult, seconds + TIMEOUT_SECONDS)


def _attack(server: Server, count: int, seconds: float) -> tuple[TerminalResult, AttackResult, int]:
    """Return what terminals and attackers say, and the most memory of the server in bytes."""
    load = AttackLoad(
        host=server.host,
        source=SOURCE,
        http_port=httpx.URL(server.url).port or 80,
        jt808_port=server.jt808_port,
        osmand_port=server.osmand_port,
        media_port=server.media_ports[0],
        seconds=seconds + 2.0,
        scale=SCALE,
    )
    most = 0
    with run_program("terminals", _terminals(server, count, seconds)) as terminals:
        terminals.wait_for(Mark, TIMEOUT_SECONDS, lambda mark: mark.name == "ready")
        with run_program("attackers", load) as attackers:
            end = time.monotonic() + seconds + 2.0
            while time.monotonic() < end:
                time.sleep(0.1)
                most = max(most, server.resident_bytes())
            result = attackers.wait_for(AttackResult, TIMEOUT_SECONDS)
        return terminals.wait_for(TerminalResult, seconds + TIMEOUT_SECONDS), result, most


def _metric(figures: str, name: str) -> float:
    found = re.search(rf"^{name} (\S+)$", figures, re.MULTILINE)
    return float(found[1]) if found else 0.0
