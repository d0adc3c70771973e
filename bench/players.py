"""Players of a live playlist that count stalls and errors: Chromium with hls.js, and ffmpeg."""

import base64
import json
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterable

import msgspec

from motorpool.bench.chromium import run_in_chromium
from motorpool.bench.options import BenchError

GAP_SECONDS = 6.0
"""Time without progress that counts as a stall of ffmpeg: three segments, which it plays on arrival."""
START_SECONDS = 90.0
"""Allowed for a player to start and to end, beside the time that it plays."""


class Played(msgspec.Struct, frozen=True):
    """Result of a play."""

    seconds: float
    """Seconds of the stream that were played."""
    stalls: int
    complaints: tuple[str, ...]
    ages: tuple[float, ...] = ()
    """Seconds from the time stamp in a picture to its display, for some of the pictures."""
    parts: int = 0
    """Partial segments that were requested (Low-Latency HLS)."""
    started: float = 0.0
    """Seconds from the request until 0.2 s were played, in Chromium."""


def play_in_chromium(
    url: str,
    email: str,
    password: str,
    seconds: float,
    *,
    playlist: str | None = None,
    stock: bool = False,
) -> Played:
    """Play the first vehicle's camera in the console, or the playlist with this path.

    `stock`: the playlist by hls.js with its default settings, without its first five seconds.

    Raises:
        BenchError: Chromium or Playwright is missing, or playback does not start.
    """
    options = [] if playlist is None else ["--playlist", playlist]
    if stock:
        options.append("--stock")
    line = run_in_chromium(
        "load.browser",
        url,
        email,
        "--seconds",
        str(seconds),
        *options,
        password=password,
        seconds=seconds + START_SECONDS,
    )
    found = json.loads(line)
    ages = tuple(found["ages"])
    complaints = tuple(found["complaints"])
    return Played(
        found["played_seconds"],
        found["stalls"],
        complaints,
        ages,
        found["parts"],
        found["started_seconds"],
    )


def play_in_ffmpeg(url: str, email: str, password: str, seconds: float) -> Played:
    """Decode the live playlist with ffmpeg for `seconds` of real time.

    Raises:
        BenchError: ffmpeg is missing, or playback does not start.
    """
    program = shutil.which("ffmpeg")
    if program is None:
        raise BenchError("the ffmpeg program is not installed")
    secret = base64.b64encode(f"{email}:{password}".encode()).decode()
    command = [program, "-nostdin", "-loglevel", "warning", "-stats_period", "0.5", "-progress", "pipe:1"]
    command += ["-headers", f"Authorization: Basic {secret}\r\n", "-i", url]
    # Times as the camera had them (-1 is the input's own base, in every ffmpeg): no player insists on a
    # steady rate.
    command += ["-fps_mode", "passthrough", "-enc_time_base", "-1", "-f", "null", "-"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        complaints: list[str] = []
        reader_thread = threading.Thread(target=_keep_lines, args=(process, complaints))
        reader_thread.start()
        end = threading.Timer(seconds, process.terminate)
        end.start()
        assert process.stdout is not None
        shown, stalls = follow_progress(process.stdout, time.monotonic)
        end.cancel()
        process.kill()
        reader_thread.join()
    if not shown:
        raise BenchError(f"ffmpeg shows nothing: {' '.join(complaints[-1:])}")
    return Played(shown, stalls, tuple(complaints))


def _keep_lines(process: subprocess.Popen[str], complaints: list[str]) -> None:
    assert process.stderr is not None
    for line in process.stderr:
        if len(complaints) < 100:
            complaints.append(line.strip())


def follow_progress(lines: Iterable[str], monotonic: Callable[[], float]) -> tuple[float, int]:
    """Read ffmpeg's progress to its end; return the seconds played and the number of stalls."""
    first: float | None = None
    shown, stalls, grown = 0.0, 0, monotonic()
    for line in lines:
        name, _, value = line.strip().partition("=")
        if name != "out_time_us" or not value.lstrip("-").isdecimal():
            continue
        at = int(value) / 1e6
        if first is None:
            first = at
        if at - first > shown:
            # The wait for the first picture is the start, not a stall.
            if shown and monotonic() - grown > GAP_SECONDS:
                stalls += 1
            shown, grown = at - first, monotonic()
    return shown, stalls
