"""The main phase: many streams, first without readers, then each read and checked."""

import statistics
import time
from pathlib import Path

import msgspec

from motorpool.bench.figures import Goal, Summary
from motorpool.bench.load.plan import Mark, ReaderLoad, ReaderResult
from motorpool.bench.load.program import run_program
from motorpool.bench.options import BenchError, Step
from motorpool.bench.phases import NAME
from motorpool.bench.phases.broadcast import FULL, CameraFleet, Measurement, report_senders
from motorpool.bench.server import EMAIL

TARGET_SECONDS = 2.0
"""The server's default target duration."""
TIMED_STARTS = 10
"""Streams whose starts are timed, one by one, while all others run."""
SETTLE_SECONDS = 3.0
START_SECONDS = 60.0
"""Time for the readers to start."""
CHECK_SECONDS = 900.0
"""Time for checking everything that was read."""
MAX_SOUND_OFFSET_MS = 100.0
"""Largest offset of sound from its pictures."""


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """Title, reference and goals of the figures."""

    title: str
    """Prefix of each figure."""
    reference: str
    reference_ms: float
    goals: tuple[Goal, ...] = ()
    """Goals for the CPU without readers."""


def measure_starts(summary: Summary, cameras: CameraFleet, count: int) -> None:
    """Start `count` cameras, and time the last few from the command to the first segment."""
    timed = min(TIMED_STARTS, max(1, count // 2))
    cameras.set_streaming_count(count - timed)
    starts = []
    for device in cameras.devices[count - timed : count]:
        starts.append(_time_start(cameras, device))
        cameras.streaming += 1
    cameras.await_cameras()
    must = Goal(TARGET_SECONDS + 1.5)
    summary.add(NAME, "first segment after videoStart, worst", max(starts), "s", goals=(must,))
    summary.add(NAME, "first segment after videoStart, median", statistics.median(starts), "s")


def measure_streams(
    summary: Summary, step: Step, cameras: CameraFleet, seconds: float, folder: Path, measured: Measured
) -> None:
    """Measure the running streams, and check every picture and sound."""
    title, reference_ms = measured.title, measured.reference_ms

    def add(metric: str, span: Measurement, goals: tuple[Goal, ...] = ()) -> None:
        name, unit = f"{title} {metric}", "ms CPU/stream second"
        reference = measured.reference
        summary.add(NAME, name, span.cpu_ms, unit, reference=reference, beside=reference_ms, goals=goals)

    time.sleep(min(SETTLE_SECONDS, seconds))
    step(f"{title} without readers")
    span = cameras.watch(seconds)
    add("without readers", span, measured.goals)
    report_senders(summary, title, span)
    step(f"{title}, one reader on every stream")
    readers = ReaderLoad(
        url=cameras.server.url,
        email=EMAIL,
        password=cameras.server.password,
        streams=cameras.streams,
        folder=str(folder),
        loop_file=str(cameras.loop_file),
    )
    with run_program("readers", readers) as program:
        program.wait_for(Mark, START_SECONDS)
        span = cameras.watch(seconds)
        add("with readers", span)
        program.stop()
        step(f"{title}: checking all that was read")
        seen = program.wait_for(ReaderResult, CHECK_SECONDS)
    _report_seen(summary, title, seen)


def _report_seen(summary: Summary, title: str, seen: ReaderResult) -> None:
    found, none = seen.findings, (Goal(0),)

    def add(metric: str, value: float, unit: str, *, goals: tuple[Goal, ...] = ()) -> None:
        summary.add(NAME, f"{title}: {metric}", value, unit, goals=goals)

    add("segments read", seen.segments, "segments")
    add("segments missed by the reader", seen.missed, "segments", goals=none)
    add("streams that were never read", seen.never_read, "streams", goals=none)
    add("frames checked", found.frames, "frames")
    add("sounds checked", found.sounds, "frames")
    add("left out or repeated", found.gaps, "frames", goals=none)
    add("not what was sent", found.altered, "frames", goals=none)
    add("segments decoded", found.decoded, "segments")
    add("segments broken", found.broken, "segments", goals=none)
    add("sound beside its picture, worst", found.sound_offset_ms, "ms", goals=(Goal(MAX_SOUND_OFFSET_MS),))
    add("EXTINF sum less PTS span, worst", found.drift_ms, "ms", goals=(Goal(1.0),))
    add("playlist p50", seen.p50_ms, "ms")
    add("playlist p99", seen.p99_ms, "ms")
    if seen.cpu_share > FULL:
        summary.note(f"{NAME}, {title}: the readers were at {seen.cpu_share:.0%} of a core")


def _time_start(cameras: CameraFleet, device: int) -> float:
    """Seconds from videoStart to the first segment in the playlist."""
    begun = time.perf_counter()
    cameras.order("videoStart", device)
    while time.perf_counter() - begun < 4 * TARGET_SECONDS + 10:
        if ".ts" in cameras.client.get(f"/stream/{device}/1/live.m3u8").text:
            return time.perf_counter() - begun
        time.sleep(0.02)
    raise BenchError(f"device {device} has no segment long after videoStart")
