"""Hundreds of cameras become HLS in one process; every picture is accounted for."""

import statistics
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx

from motorpool.bench import footage
from motorpool.bench.figures import Goal, Report
from motorpool.bench.load.plan import CameraLoad, CameraResult, Mark, ReaderLoad, ReaderResult, Streaming
from motorpool.bench.load.program import LoadFailed, LoadProgram, run_program
from motorpool.bench.options import BenchError, Options, Step
from motorpool.bench.references import ffmpeg_cpu_seconds
from motorpool.bench.server import EMAIL, Server, run_server

NAME = "live"
TITLE = "JT/T 1078 cameras to HLS: CPU of a stream second beside ffmpeg, every frame checked, time to start"
STEPS = 6
REFERENCE_SECONDS = 300
TARGET_SECONDS = 2.0
"""The server's usual target duration."""
START_SPREAD_SECONDS = 2.0
"""Over which the streams start, so that key frames are spread as on a real day."""
TIMED_STARTS = 10
"""Streams started one by one when all others run, with a look at the clock."""
SETTLE_SECONDS = 3.0
FULL_CLIENT = 0.9
"""Of a core: beyond it the senders, not the server, set the pace."""
LATE_MS = 250.0
LOGIN_SECONDS = 60.0
"""Allowed for connecting and registering all terminals."""
START_SECONDS = 20.0
"""Allowed for the last camera to film once it was told to."""
CHECK_SECONDS = 900.0
"""Allowed for decoding all that was read."""


def run(options: Options, report: Report, step: Step) -> None:
    """Measure ffmpeg, then the server without readers, then with one on every stream."""
    seconds = options.span(20.0)
    with tempfile.TemporaryDirectory(prefix="motorpool-bench-") as name:
        folder = Path(name)
        step("ffmpeg")
        shots = footage.film_loop()
        footage.write_loop(shots, folder / "loop")
        footage.write_transport_stream(shots, REFERENCE_SECONDS, folder / "in.ts")
        ffmpeg_ms = ffmpeg_cpu_seconds(folder / "in.ts") / REFERENCE_SECONDS * 1000
        report.add(NAME, "ffmpeg", ffmpeg_ms, "ms CPU/stream second")
        with run_server() as server:
            load = CameraLoad(
                host=server.host,
                port=server.jt808_port,
                phones=tuple(f"135{number:08d}" for number in range(1, options.streams + 1)),
                film=str(folder / "loop"),
            )
            try:
                with run_program("cameras", load) as cameras:
                    _measure(server, cameras, load, seconds, folder / "segments", report, step, ffmpeg_ms)
            except LoadFailed as error:
                raise BenchError(str(error)) from error


def _measure(
    server: Server,
    cameras: LoadProgram,
    load: CameraLoad,
    seconds: float,
    segments: Path,
    report: Report,
    step: Step,
    ffmpeg_ms: float,
) -> None:
    step(f"starting {len(load.phones)} streams")
    cameras.hear(Mark, LOGIN_SECONDS)
    resident = server.resident_bytes()
    with server.client() as client:
        listed = client.get("/devices", params={"all": "true"}).json()
        ids = {device["uniqueId"]: device["id"] for device in listed}
        devices = [ids[phone] for phone in load.phones]
        timed = min(TIMED_STARTS, max(1, len(devices) // 2))
        _start_streams(client, devices[:-timed])
        starts = [_time_start(client, device) for device in devices[-timed:]]
    _await_streams(cameras, len(devices))
    must = Goal(TARGET_SECONDS + 1.5)
    report.add(NAME, "first segment after videoStart, worst", max(starts), "s", goals=(must,))
    report.add(NAME, "first segment after videoStart, median", statistics.median(starts), "s")
    time.sleep(min(SETTLE_SECONDS, seconds))

    step("without readers")
    cpu = _cpu_ms(server, seconds, len(devices))
    goal = (Goal(3.0, of_ratio=True),)
    unit = "ms CPU/stream second"
    report.add(NAME, "without readers", cpu, unit, reference="ffmpeg", beside=ffmpeg_ms, goals=goal)
    report.add(NAME, "memory of a stream", (server.resident_bytes() - resident) / len(devices) / 1e6, "MB")

    step("one reader on every stream")
    readers = ReaderLoad(
        url=server.url,
        email=EMAIL,
        password=server.password,
        streams=tuple((device, 1) for device in devices),
        folder=str(segments),
    )
    with run_program("readers", readers) as program:
        program.hear(Mark, LOGIN_SECONDS)
        cpu = _cpu_ms(server, seconds, len(devices))
        report.add(NAME, "with readers", cpu, unit, reference="ffmpeg", beside=ffmpeg_ms)
        program.stop()
        cameras.stop()
        sent = cameras.hear(CameraResult, START_SECONDS)
        step("decoding all that was read")
        seen = program.hear(ReaderResult, CHECK_SECONDS)
    _report_seen(report, sent, seen)
    step("done")


def _report_seen(report: Report, sent: CameraResult, seen: ReaderResult) -> None:
    report.add(NAME, "segments read", seen.segments, "segments")
    report.add(NAME, "frames checked", seen.frames, "frames")
    report.add(NAME, "frame numbers left out or repeated", seen.holes, "frames", goals=(Goal(0),))
    report.add(NAME, "segments that do not decode", seen.broken, "segments", goals=(Goal(0),))
    report.add(NAME, "segments missed by the reader", seen.missed, "segments")
    report.add(NAME, "streams that were never read", seen.unread, "streams", goals=(Goal(0),))
    report.add(NAME, "playlist p50", seen.p50_ms, "ms")
    report.add(NAME, "playlist p99", seen.p99_ms, "ms")
    report.add(NAME, "EXTINF sum less PTS span, worst", seen.drift_ms, "ms", goals=(Goal(1.0),))
    if sent.cpu_share > FULL_CLIENT or sent.late_ms > LATE_MS:
        report.note(
            f"live: the sender was at {sent.cpu_share:.0%} of a core and up to {sent.late_ms:.0f} ms late;"
            " the server could do more"
        )
    if sent.stalled:
        report.note(
            f"live: {sent.stalled} units found their socket full: the server was slower than the cameras"
        )
    if seen.cpu_share > FULL_CLIENT:
        report.note(f"live: the readers were at {seen.cpu_share:.0%} of a core")


def _cpu_ms(server: Server, seconds: float, streams: int) -> float:
    """Let the streams run so long; CPU of the server for each of their seconds, in milliseconds."""
    begun, cpu = time.perf_counter(), server.cpu_seconds()
    time.sleep(seconds)
    used = server.cpu_seconds() - cpu
    return used / (time.perf_counter() - begun) / streams * 1000


def _start_streams(client: httpx.Client, devices: list[int]) -> None:
    begun = time.perf_counter()

    def start(place: int) -> None:
        time.sleep(max(0.0, begun + place / len(devices) * START_SPREAD_SECONDS - time.perf_counter()))
        _order_start(client, devices[place])

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(start, range(len(devices))))


def _order_start(client: httpx.Client, device: int) -> None:
    order = {"deviceId": device, "type": "videoStart", "attributes": {"channel": 1}}
    answer = client.post("/commands/send", json=order)
    if answer.status_code != 200:
        raise BenchError(f"videoStart answered {answer.status_code}: {answer.text[:200]}")


def _time_start(client: httpx.Client, device: int) -> float:
    """Seconds from videoStart to the first segment in the playlist."""
    begun = time.perf_counter()
    _order_start(client, device)
    while time.perf_counter() - begun < 4 * TARGET_SECONDS + 10:
        if ".ts" in client.get(f"/stream/{device}/1/live.m3u8").text:
            return time.perf_counter() - begun
        time.sleep(0.02)
    raise BenchError(f"device {device} has no segment long after videoStart")


def _await_streams(cameras: LoadProgram, count: int) -> None:
    """Wait until all cameras film."""
    filming = 0
    deadline = time.monotonic() + START_SECONDS
    while filming < count:
        try:
            filming = cameras.hear(Streaming, deadline - time.monotonic()).cameras
        except LoadFailed as error:
            raise BenchError(f"only {filming} of {count} cameras film: {error}") from error
