"""The phase of many players on few streams: how long a viewer waits for a segment."""

import time

from motorpool.bench.figures import Goal, Summary
from motorpool.bench.load.plan import Mark, ViewerLoad, ViewerResult
from motorpool.bench.load.program import run_program
from motorpool.bench.phases import NAME
from motorpool.bench.phases.broadcast import FULL, CameraFleet
from motorpool.bench.phases.streams import SETTLE_SECONDS
from motorpool.bench.server import EMAIL

WARM_SECONDS = 8.0
"""Warm-up; the viewers join during its first half."""
TIMEOUT_SECONDS = 60.0


def measure_viewers(summary: Summary, cameras: CameraFleet, viewers: int, seconds: float) -> None:
    """Measure `viewers` players on the running streams."""
    warm_seconds = min(WARM_SECONDS, max(2.0, seconds))
    load = ViewerLoad(
        host=cameras.server.host,
        port=int(cameras.server.url.rpartition(":")[2]),
        email=EMAIL,
        password=cameras.server.password,
        streams=cameras.streams,
        viewers=viewers,
        seconds=seconds,
        warm_seconds=warm_seconds,
    )
    time.sleep(min(SETTLE_SECONDS, seconds))
    with run_program("viewers", load) as program:
        program.wait_for(Mark, warm_seconds + TIMEOUT_SECONDS)
        span = cameras.watch(seconds)
        seen = program.wait_for(ViewerResult, TIMEOUT_SECONDS)
    title = f"{viewers} viewers on {cameras.streaming} streams"
    none = (Goal(0),)
    summary.add(NAME, f"{title}: segment p50", seen.segment_p50_ms, "ms")
    summary.add(NAME, f"{title}: segment p99", seen.segment_p99_ms, "ms", goals=(Goal(300),))
    summary.add(NAME, f"{title}: segment worst", seen.segment_worst_ms, "ms")
    summary.add(NAME, f"{title}: playlist p99", seen.playlist_p99_ms, "ms")
    summary.add(NAME, f"{title}: segments", seen.segments / seconds, "segments/s")
    summary.add(NAME, f"{title}: playlists", seen.playlists / seconds, "playlists/s")
    summary.add(NAME, f"{title}: playlists held until the next segment", seen.held / seconds, "playlists/s")
    summary.add(NAME, f"{title}: failed requests", seen.failures, "requests", goals=none)
    summary.add(NAME, f"{title}: segments missed", seen.missed, "segments", goals=none)
    summary.add(NAME, f"{title}: pictures that stood still", seen.stalls, "stalls", goals=none)
    summary.add(NAME, f"{title}: server at work", span.server_share, "cores")
    summary.add(NAME, f"{title}: viewers at work", seen.cpu_share, "cores", goals=(Goal(FULL),))
