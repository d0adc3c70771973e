"""Mutated messages to every port, while terminals that behave go on reporting: nothing may crash."""

import contextlib
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import httpx

from motorpool.bench.figures import Goal, Summary
from motorpool.bench.growth import read_metrics
from motorpool.bench.load.logins import connect_terminals
from motorpool.bench.load.plan import (
    FuzzedTracker,
    FuzzLoad,
    FuzzResult,
    Mark,
    TerminalLoad,
    TerminalResult,
)
from motorpool.bench.load.program import LoadFailed, run_program
from motorpool.bench.options import BenchError, Options, Step
from motorpool.bench.server import Server, run_server
from motorpool.bench.vehicles.trackers import TRACKERS
from motorpool.codecs.devices import CODECS

NAME = "fuzz"
TITLE = "mutated messages to every port for --minutes (--seed): crashes, answers with 500, log, memory"
SERVER = "own"
STEPS = 2
PHONE = "13900000001"
GOOD_TERMINALS = 20
GOOD_RATE = 20.0
ANSWER_SECONDS = 90.0
LOG_MB_PER_MINUTE = 3.0
"""Known devices write a line for each connection and its end."""
CRASH = " crashed: "
"""In log lines of the supervisors."""


def run(options: Options, summary: Summary, step: Step) -> None:
    """Send mutations for the whole time, then count what they did."""
    seconds = options.span(options.minutes * 60)
    with run_server() as server:
        with contextlib.closing(connect_terminals(server.host, server.jt808_port, [PHONE])[0]):
            step(f"mutations for {seconds / 60:g} minutes")
            memory, log = server.resident_bytes(), len(server.log)
            fuzz, good = _load(server, options.seed, seconds)
        step("counting")
        metrics = read_metrics(server)
        lines = server.log
        grown = server.resident_bytes() - memory
    given_up = metrics.get("motorpool_actors_given_up_total", 0.0)
    summary.add(NAME, "actors given up", given_up, "actors", goals=(Goal(0),))
    volume = (len(lines) - log) / 1e6 / (seconds / 60)
    summary.add(NAME, "log", volume, "MB/min", goals=(Goal(LOG_MB_PER_MINUTE),))
    summary.add(NAME, "memory grown by", grown / 1e6, "MB")
    judge(summary, fuzz, good, [line for line in lines.splitlines() if CRASH in line], options.seed)


def judge(
    summary: Summary, fuzz: FuzzResult, good: TerminalResult, crashes: Sequence[str], seed: int
) -> None:
    """Report what the mutations did; `crashes` are lines of the server's log.

    Raises:
        BenchError: something crashed, or was not answered as it must be.
    """
    none = (Goal(0),)
    for name, count in sorted(fuzz.sent.items()):
        summary.add(NAME, f"mutations, {name}", count, "messages")
    for status, count in sorted(fuzz.statuses.items()):
        summary.add(NAME, f"HTTP answers, {status}", count, "answers")
    summary.add(NAME, "actors crashed", len(crashes), "lines", goals=none)
    summary.add(NAME, "HTTP answers of 500 and above", fuzz.server_error_count, "answers", goals=none)
    summary.add(NAME, "HTTP requests not answered", fuzz.silent, "requests", goals=none)
    summary.add(NAME, "good terminals answered", good.answers, "messages")
    summary.add(NAME, "good terminals rejected", good.rejected, "messages", goals=none)
    summary.add(NAME, "good terminals p99", good.p99_ms, "ms")
    for line in (*crashes[:5], *fuzz.server_errors[:5]):
        summary.note(f"{NAME}: {line[:600]}")
    if crashes or fuzz.server_error_count or fuzz.silent or good.rejected:
        raise BenchError(
            f"{len(crashes)} crashes, {fuzz.server_error_count} answers of 500 and above,"
            f" {fuzz.silent} requests not answered, {good.rejected} good messages rejected (seed {seed})"
        )


def _load(server: Server, seed: int, seconds: float) -> tuple[FuzzResult, TerminalResult]:
    """Run the mutations and the good terminals side by side."""
    with server.client() as client:
        token = client.post("/session/token").raise_for_status().text
        devices = client.get("/devices", params={"all": "true"}).raise_for_status().json()
        trackers = _trackers(server, client)
    load = FuzzLoad(
        host=server.host,
        http_port=httpx.URL(server.url).port or 80,
        jt808_port=server.jt808_port,
        osmand_port=server.osmand_port,
        media_ports=server.media_ports,
        trackers=trackers,
        token=token,
        phone=PHONE,
        device_id=next(device["id"] for device in devices if device["uniqueId"] == PHONE),
        seed=seed,
        seconds=seconds,
    )
    first = (datetime.now(UTC) - timedelta(days=1)).replace(microsecond=0)
    terminals = TerminalLoad(
        host=server.host,
        port=server.jt808_port,
        phones=tuple(f"135{number:08d}" for number in range(1, GOOD_TERMINALS + 1)),
        mode="paced",
        seconds=seconds,
        warm_seconds=0.0,
        rate=GOOD_RATE,
        first_epoch=first.timestamp(),
    )
    try:
        with run_program("terminals", terminals) as reporting, run_program("fuzz", load) as program:
            reporting.wait_for(Mark, ANSWER_SECONDS)
            began = time.monotonic()
            fuzz = program.wait_for(FuzzResult, seconds + ANSWER_SECONDS)
            left = began + seconds + ANSWER_SECONDS - time.monotonic()
            return fuzz, reporting.wait_for(TerminalResult, left)
    except LoadFailed as error:
        raise BenchError(str(error)) from error


def _trackers(server: Server, client: httpx.Client) -> tuple[FuzzedTracker, ...]:
    """Register a device of each protocol, and of each of its models that differ."""
    trackers: list[FuzzedTracker] = []
    for protocol, tracker in sorted(TRACKERS.items()):
        for model in ("", *tracker.models):
            unique_id = f"359{len(trackers):0{tracker.digits - 3}d}"
            device = {"name": f"{protocol} {model}", "uniqueId": unique_id, "model": model}
            client.post("/devices", json=device).raise_for_status()
            port = CODECS[protocol].port + server.offset
            trackers.append(FuzzedTracker(protocol, port, unique_id, model))
    return tuple(trackers)
