"""References of the bench: bare servers, and the ffmpeg program (docs/decisions/0034)."""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from motorpool.bench.options import BenchError


@contextlib.contextmanager
def run_echo() -> Iterator[tuple[int, int]]:
    """Start the echo server as a process; yield its port and process id."""
    with _run("echo") as address:
        yield address


@contextlib.contextmanager
def run_bare(body: bytes) -> Iterator[tuple[int, int]]:
    """Start a bare Quart-Trio server that answers with these bytes; yield its port and process id."""
    with tempfile.NamedTemporaryFile(prefix="motorpool-bench-") as file:
        file.write(body)
        file.flush()
        with _run("bare", file.name) as address:
            yield address


@contextlib.contextmanager
def _run(name: str, *arguments: str) -> Iterator[tuple[int, int]]:
    process = subprocess.Popen(
        [sys.executable, "-m", f"motorpool.bench.load.{name}", *arguments], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            raise BenchError(f"the {name} server did not start")
        yield int(line), process.pid
    finally:
        process.kill()
        process.communicate()


def ffmpeg_cpu_seconds(transport_stream: Path, *, telephone_sound: Path | None = None) -> float:
    """Return the CPU seconds (user and system) of one run of ffmpeg from that file to HLS, with its start-up.

    Copies what is in it; `telephone_sound`, G.711 A-law at 8 kHz, is transcoded to AAC beside it.

    Raises:
        BenchError: there is no ffmpeg, or it fails.
    """
    program = shutil.which("ffmpeg")
    if program is None:
        raise BenchError("the ffmpeg program is not installed; the reference cannot be measured")
    with tempfile.TemporaryDirectory(prefix="motorpool-bench-") as folder:
        arguments = ["-nostdin", "-loglevel", "error", "-i", str(transport_stream)]
        if telephone_sound is not None:
            arguments += ["-f", "alaw", "-ar", "8000", "-ac", "1", "-i", str(telephone_sound)]
        arguments += ["-c:v", "copy", "-c:a", "copy" if telephone_sound is None else "aac"]
        arguments += ["-f", "hls", "-hls_time", "2", "-hls_list_size", "6"]
        arguments += ["-hls_flags", "delete_segments", str(Path(folder) / "out.m3u8")]
        process = subprocess.Popen([program, *arguments], stdin=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise BenchError(f"ffmpeg ended with code {process.returncode}")
        return usage.ru_utime + usage.ru_stime
