"""The phase of captures: their CPU, and a check of their files."""

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from pathlib import Path

import httpx

from motorpool.bench.checks.capture_files import check_capture
from motorpool.bench.checks.media_integrity import Findings
from motorpool.bench.figures import Goal, Summary
from motorpool.bench.options import BenchError, Step
from motorpool.bench.phases import NAME
from motorpool.bench.phases.broadcast import CameraFleet
from motorpool.bench.phases.streams import MAX_SOUND_OFFSET_MS, SETTLE_SECONDS

BEGIN_SECONDS = 8.0
"""Captures begin with the next segment; they are measured once all have written a few."""


def measure_captures(
    summary: Summary, step: Step, cameras: CameraFleet, seconds: float, folder: Path
) -> None:
    """Measure the running streams without and with a capture each, then check every file.

    Without captures before and after, since the speed of a machine varies.
    """
    count, unit = cameras.streaming, "ms CPU/stream second"
    time.sleep(min(SETTLE_SECONDS, seconds))
    step(f"{count} streams without captures")
    before = cameras.watch(seconds)
    step(f"{count} streams, each captured")
    client = cameras.client
    with ThreadPoolExecutor(4) as pool:
        names = list(pool.map(partial(_begin, client), cameras.devices[:count]))
    time.sleep(min(BEGIN_SECONDS, seconds))
    captured = cameras.watch(seconds)
    with ThreadPoolExecutor(4) as pool:
        ended = list(pool.map(partial(_end, client), names))
    time.sleep(min(SETTLE_SECONDS, seconds))
    step(f"{count} streams without captures again")
    after = cameras.watch(seconds)
    alone_ms = (before.cpu_ms + after.cpu_ms) / 2
    step("checking the captures")
    with ThreadPoolExecutor(4) as pool:
        paths = list(pool.map(partial(_fetch, client, folder), ended))
    found = _check(cameras.loop_file, paths)
    title = f"{count} captures"
    summary.add(NAME, f"{count} streams without captures", alone_ms, unit)
    summary.add(
        NAME,
        f"{count} streams with captures",
        captured.cpu_ms,
        unit,
        reference="without captures",
        beside=alone_ms,
        goals=(Goal(1.2, of_ratio=True),),
    )
    none = (Goal(0),)
    summary.add(NAME, f"{title}: files", sum(path.stat().st_size for path in paths) / 1e6, "MB")
    summary.add(NAME, f"{title}: frames checked", found.frames, "frames")
    summary.add(NAME, f"{title}: sounds checked", found.sounds, "frames")
    summary.add(NAME, f"{title}: left out or repeated", found.gaps, "frames", goals=none)
    summary.add(NAME, f"{title}: not what was sent", found.altered, "frames", goals=none)
    summary.add(NAME, f"{title}: files broken", found.broken, "files", goals=none)
    beside = (Goal(MAX_SOUND_OFFSET_MS),)
    summary.add(NAME, f"{title}: sound beside its picture, worst", found.sound_offset_ms, "ms", goals=beside)


def _begin(client: httpx.Client, device: int) -> str:
    return str(_json(client.post(f"/captures?deviceId={device}&channel=1&live=true"))["id"])


def _end(client: httpx.Client, name: str) -> Mapping[str, object]:
    """End a capture and return its record, which names the file."""
    record = _json(client.delete(f"/captures/{name}"))
    if record["status"] != "COMPLETE" or not record["url"]:
        raise BenchError(f"a capture ended as {record['status']}: {record['reason']}")
    return record


def _fetch(client: httpx.Client, folder: Path, record: Mapping[str, object]) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / str(record["fileName"])
    # The client's base address ends with /api, with which the URL begins.
    with client.stream("GET", str(record["url"]).removeprefix("/api")) as answer, path.open("wb") as file:
        if answer.status_code != 200:
            raise BenchError(f"the file of a capture was answered with {answer.status_code}")
        for piece in answer.iter_bytes():
            file.write(piece)
    if path.stat().st_size != record["size"]:
        raise BenchError(f"a capture says it has {record['size']} bytes, its file has {path.stat().st_size}")
    return path


def _check(loop_file: Path, paths: Sequence[Path]) -> Findings:
    found = Findings()
    with ProcessPoolExecutor() as pool:
        for each in pool.map(partial(check_capture, loop_file), paths):
            found.add(each)
    return found


def _json(answer: httpx.Response) -> Mapping[str, object]:
    if answer.status_code != 200:
        raise BenchError(f"{answer.request.method} of a capture: {answer.status_code} {answer.text[:200]}")
    record: Mapping[str, object] = answer.json()
    return record
