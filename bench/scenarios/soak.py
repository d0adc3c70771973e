"""Everything at once at about half load for a long time, then rest: does the server hold more and more?"""

import time
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import msgspec

from motorpool.bench.figures import Goal, Summary
from motorpool.bench.growth import Sample, growth_per_hour, sampled, table_rows, take_sample
from motorpool.bench.load.plan import (
    ChurnLoad,
    ChurnResult,
    Mark,
    RequestLoad,
    RequestResult,
    TerminalLoad,
    TerminalResult,
    ViewerLoad,
    ViewerResult,
)
from motorpool.bench.load.program import LoadFailed, LoadProgram, run_program
from motorpool.bench.options import BenchError, Options, Step
from motorpool.bench.phases.broadcast import CameraFleet, open_cameras
from motorpool.bench.server import EMAIL, Server, run_server
from motorpool.bench.vehicles import media_loop

NAME = "soak"
TITLE = "devices, cameras, viewers, API, WebSockets, edits for --minutes: memory, tasks, descriptors"
SERVER = "own"
STEPS = 4
POSITIONS_OF_A_TERMINAL = 1.0
"""A second."""
VIEWERS_OF_A_STREAM = 2
CHURN_PHONES = 200
SAMPLES = 240
"""At most, over the load."""
MIN_INTERVAL_SECONDS = 5.0
RESTART_SECONDS = 30.0
"""Between two changes of the number of streams."""
REST_SECONDS = 90.0
"""After the load: longer than a stream or a connection lives without its peers."""
LOGIN_SECONDS = 120.0
ANSWER_SECONDS = 90.0
WARM_SHARE = 1 / 3
"""Of the load, whose growth is not judged: caches fill, connections to the database open."""
GROWTH_MB_PER_HOUR = 20.0
"""Limit of the slope of memory after the warm-up."""
NOISE_MB = 10.0
"""So much may memory grow after the warm-up of a short run, whatever the slope."""
LEFT_FILES = 24
"""Descriptors that may stay open after the rest: connections to the database, and worker processes."""
LEFT_TASKS = 24
"""Tasks that may stay after the rest: each connection to the database and each worker has some."""


def run(options: Options, summary: Summary, step: Step) -> None:
    """Run the load, take samples, rest, and judge the growth."""
    seconds = options.span(options.minutes * 60)
    with run_server() as server:
        loop_file = server.folder / "loop"
        media_loop.write_loop(media_loop.make_loop(), loop_file)
        with server.client() as client:
            client.get("/devices").raise_for_status()
        first = take_sample(server, time.monotonic())
        rows = table_rows(server)
        step(f"a load of {seconds / 60:g} minutes")
        with sampled(server, max(min(MIN_INTERVAL_SECONDS, seconds / 4), seconds / SAMPLES)) as samples:
            try:
                _load(options, summary, server, loop_file, seconds)
            except LoadFailed as error:
                raise BenchError(str(error)) from error
            step("rest")
        loaded = samples.pop()
        rested = time.monotonic()
        time.sleep(min(REST_SECONDS, seconds))
        last = take_sample(server, rested - loaded.seconds)
        step("verdict")
        crashes = server.log.count(" crashed: ")
        _report_tables(summary, rows, table_rows(server))
        summary.samples += [msgspec.to_builtins(each) for each in (*samples, loaded, last)]
    step("done")
    _report_samples(summary, seconds, first, [*samples, loaded], last)
    summary.add(NAME, "actors crashed", crashes, "actors", goals=(Goal(0),))
    missed = [figure.metric for figure in summary.figures if _is_missed(summary, figure.metric)]
    if missed:
        raise BenchError(f"past their limits: {', '.join(missed)}")


def _load(options: Options, summary: Summary, server: Server, loop_file: Path, seconds: float) -> None:
    """Run all load programs side by side, and restart some of the streams meanwhile."""
    with ExitStack() as stack:

        def begin(name: str, load: TerminalLoad | RequestLoad | ChurnLoad | ViewerLoad) -> LoadProgram:
            return stack.enter_context(run_program(name, load))

        cameras = stack.enter_context(open_cameras(server, loop_file, "137", options.soak_streams))
        cameras.set_streaming_count(options.soak_streams)
        terminals = begin("terminals", _terminal_load(server, options, seconds))
        terminals.wait_for(Mark, LOGIN_SECONDS)
        token = cameras.client.post("/session/token").raise_for_status().text
        address = httpx.URL(server.url)
        steady = max(1, options.soak_streams * 4 // 5)
        programs = {
            "requests": begin("requests", _request_load(server, cameras, token, options, seconds)),
            "churn": begin(
                "churn",
                ChurnLoad(
                    host=server.host,
                    http_port=address.port or 80,
                    jt808_port=server.jt808_port,
                    osmand_port=server.osmand_port,
                    email=EMAIL,
                    password=server.password,
                    token=token,
                    phones=tuple(f"138{number:08d}" for number in range(1, CHURN_PHONES + 1)),
                    sockets=options.soak_sockets,
                    seconds=seconds,
                ),
            ),
            "viewers": begin(
                "viewers",
                ViewerLoad(
                    host=server.host,
                    port=address.port or 80,
                    email=EMAIL,
                    password=server.password,
                    streams=cameras.streams[:steady],
                    viewers=steady * VIEWERS_OF_A_STREAM,
                    seconds=seconds,
                    warm_seconds=1.0,
                ),
            ),
        }
        cpu, begun = server.cpu_seconds(), time.monotonic()
        _restart_streams(cameras, steady, options.soak_streams, seconds)
        share = (server.cpu_seconds() - cpu) / (time.monotonic() - begun)
        summary.add(NAME, "server at work", share, "cores")
        _report_load(
            summary,
            terminals.wait_for(TerminalResult, ANSWER_SECONDS),
            programs["requests"].wait_for(RequestResult, ANSWER_SECONDS),
            programs["churn"].wait_for(ChurnResult, ANSWER_SECONDS),
            programs["viewers"].wait_for(ViewerResult, ANSWER_SECONDS),
        )
        cameras.set_streaming_count(0)


def _restart_streams(cameras: CameraFleet, steady: int, count: int, seconds: float) -> None:
    """Stop a fifth of the streams and start them again, over and over."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        time.sleep(min(RESTART_SECONDS, left))
        cameras.set_streaming_count(steady if cameras.streaming == count else count)


def _terminal_load(server: Server, options: Options, seconds: float) -> TerminalLoad:
    first = (datetime.now(UTC) - timedelta(days=1)).replace(microsecond=0)
    return TerminalLoad(
        host=server.host,
        port=server.jt808_port,
        phones=tuple(f"135{number:08d}" for number in range(1, options.terminals + 1)),
        mode="paced",
        seconds=seconds,
        rate=options.terminals * POSITIONS_OF_A_TERMINAL,
        first_epoch=first.timestamp(),
    )


def _request_load(
    server: Server, cameras: CameraFleet, token: str, options: Options, seconds: float
) -> RequestLoad:
    day = (datetime.now(UTC) - timedelta(days=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    device = cameras.devices[0]
    # Long lists are streamed, without the Content-Length that the load program needs.
    paths = (
        f"/api/devices/{device}",
        "/api/devices?limit=50",
        f"/api/devices?id={device}",
        f"/api/positions?deviceId={device}&from={day}&to={datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        "/api/groups",
        "/api/server",
        "/api/statistics?from=2026-01-01T00:00:00Z&to=2099-01-01T00:00:00Z",
        "/api/session",
    )
    lines = (f"Host: localhost\r\nAuthorization: Bearer {token}\r\nAccept: application/json\r\n\r\n").lstrip()
    return RequestLoad(
        host=server.host,
        port=httpx.URL(server.url).port or 80,
        messages=tuple(f"GET {path} HTTP/1.1\r\n{lines}" for path in paths),
        rate=options.soak_requests,
        seconds=seconds,
    )


def _report_load(
    summary: Summary,
    terminals: TerminalResult,
    requests: RequestResult,
    churn: ChurnResult,
    viewers: ViewerResult,
) -> None:
    none = (Goal(0),)
    summary.add(NAME, "positions", terminals.answers / terminals.seconds, "messages/s")
    summary.add(NAME, "positions p99", terminals.p99_ms, "ms")
    summary.add(NAME, "positions rejected", terminals.rejected, "messages", goals=none)
    summary.add(NAME, "API requests", requests.answers / requests.seconds, "requests/s")
    summary.add(NAME, "API requests p99", requests.p99_ms, "ms")
    summary.add(NAME, "API requests failed", requests.failures, "requests", goals=none)
    summary.add(NAME, "segments", viewers.segments, "segments")
    summary.add(NAME, "segments p99", viewers.segment_p99_ms, "ms")
    summary.add(NAME, "viewers' requests failed", viewers.failures, "requests")
    for name, count in sorted(churn.counts.items()):
        summary.add(NAME, f"churn: {name}", count, "messages" if name == "messages" else "times")
    summary.add(NAME, "churn: failed", churn.failures, "times", goals=none)
    for reason in (*requests.reasons, *churn.reasons):
        summary.note(f"{NAME}: {reason}")


def _report_samples(
    summary: Summary, seconds: float, first: Sample, samples: Sequence[Sample], last: Sample
) -> None:
    warm = [each for each in samples if each.seconds >= samples[-1].seconds * WARM_SHARE]
    hours = seconds * (1 - WARM_SHARE) / 3600
    for name, sample in (("at the start", first), ("warm", warm[0]), ("loaded", samples[-1])):
        summary.add(NAME, f"memory {name}", sample.resident_bytes / 1e6, "MB")
    summary.add(NAME, "memory, most", max(each.resident_bytes for each in samples) / 1e6, "MB")
    summary.add(NAME, "memory after the rest", last.resident_bytes / 1e6, "MB")
    summary.add(
        NAME,
        "memory growth after the warm-up",
        growth_per_hour(warm, lambda each: each.resident_bytes / 1e6),
        "MB/h",
        goals=(Goal(max(GROWTH_MB_PER_HOUR, round(NOISE_MB / hours, 1))),),
    )
    summary.add(NAME, "tasks, most", max(each.tasks for each in samples), "tasks")
    summary.add(NAME, "tasks left", last.tasks - first.tasks, "tasks", goals=(Goal(LEFT_TASKS),))
    summary.add(NAME, "descriptors, most", max(each.open_files for each in samples), "files")
    summary.add(
        NAME, "descriptors left", last.open_files - first.open_files, "files", goals=(Goal(LEFT_FILES),)
    )
    summary.add(NAME, "actors, most", max(each.actors for each in samples), "actors")
    summary.add(NAME, "actors after the rest", last.actors, "actors")
    stall = max(each.longest_stall_ms for each in samples)
    summary.add(NAME, "longest event loop stall", stall, "ms")
    summary.add(NAME, "event loop stalls over 200 ms", last.stalls - first.stalls, "times")
    summary.add(NAME, "database grew by", (last.database_bytes - first.database_bytes) / 1e6, "MB")


def _report_tables(summary: Summary, before: dict[str, int], after: dict[str, int]) -> None:
    for name, rows in after.items():
        if grown := rows - before.get(name, 0):
            summary.add(NAME, f"rows of {name}", grown, "rows")


def _is_missed(summary: Summary, metric: str) -> bool:
    return any(
        not goal.is_met(figure)
        for figure in summary.figures
        if (figure.scenario, figure.metric) == (NAME, metric)
        for goal in summary.goals_of(figure)
    )
