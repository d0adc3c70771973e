"""Hundreds of cameras to HLS in one process; every picture and sound is checked.

One server, several phases: all streams (without readers for the CPU, with readers for the check), live
captures, many viewers on few streams, and streams whose G.711 must be transcoded.
"""

import tempfile
from pathlib import Path

from motorpool.bench.figures import Goal, Summary
from motorpool.bench.load.program import LoadFailed
from motorpool.bench.options import BenchError, Options, Step
from motorpool.bench.phases import NAME
from motorpool.bench.phases.broadcast import open_cameras
from motorpool.bench.phases.captures import measure_captures
from motorpool.bench.phases.streams import Measured, measure_starts, measure_streams
from motorpool.bench.phases.viewers import measure_viewers
from motorpool.bench.references import ffmpeg_cpu_seconds
from motorpool.bench.server import Server, run_server
from motorpool.bench.vehicles import media_loop
from motorpool.codecs.media.units import AudioCoding

TITLE = "JT/T 1078 cameras to HLS: CPU beside ffmpeg, each frame and sound checked; captures, viewers, G.711"
SERVER = "own"
STEPS = 15
REFERENCE_SECONDS = 300
CAPTURED = 100
"""Number of streams with a capture each."""
WATCHED = 20
VIEWERS_OF_A_STREAM = 25
TELEPHONE = 100
"""Streams with G.711: transcoding them costs about as much as three times that many with AAC."""
AAC_PHONES, TELEPHONE_PHONES = "135", "136"


def run(options: Options, summary: Summary, step: Step) -> None:
    """Measure ffmpeg, then all phases on one server."""
    seconds = options.span(20.0)
    with tempfile.TemporaryDirectory(prefix="motorpool-bench-") as name:
        folder = Path(name)
        step("ffmpeg")
        copied_ms, transcoded_ms = _measure_ffmpeg(folder)
        unit = "ms CPU/stream second"
        summary.add(NAME, "ffmpeg", copied_ms, unit)
        summary.add(NAME, "ffmpeg, G.711 to AAC", transcoded_ms, unit)
        try:
            with run_server() as server:
                _measure_copied(server, options.streams, seconds, folder, summary, step, copied_ms)
                _measure_transcoded(server, options.streams, seconds, folder, summary, step, transcoded_ms)
        except LoadFailed as error:
            raise BenchError(str(error)) from error
        step("done")


def _measure_copied(
    server: Server, streams: int, seconds: float, folder: Path, summary: Summary, step: Step, ffmpeg_ms: float
) -> None:
    step(f"starting {streams} streams")
    measured = Measured(
        title=f"{streams} streams",
        reference="ffmpeg",
        reference_ms=ffmpeg_ms,
        goals=(Goal(2.5, of_ratio=True),),
    )
    with open_cameras(server, folder / "copied", AAC_PHONES, streams) as cameras:
        resident = server.resident_bytes()
        measure_starts(summary, cameras, streams)
        measure_streams(summary, step, cameras, seconds, folder / "segments", measured)
        per_stream = (server.resident_bytes() - resident) / streams / 1e6
        summary.add(NAME, "memory of a stream", per_stream, "MB")
        cameras.set_streaming_count(min(CAPTURED, streams))
        measure_captures(summary, step, cameras, seconds, folder / "captures")
        cameras.set_streaming_count(min(WATCHED, streams))
        viewers = VIEWERS_OF_A_STREAM * cameras.streaming
        step(f"{viewers} viewers on {cameras.streaming} streams")
        measure_viewers(summary, cameras, viewers, seconds)
        cameras.set_streaming_count(0)


def _measure_transcoded(
    server: Server, streams: int, seconds: float, folder: Path, summary: Summary, step: Step, ffmpeg_ms: float
) -> None:
    count = min(TELEPHONE, streams)
    step(f"starting {count} streams with G.711")
    measured = Measured(
        title=f"{count} G.711 streams", reference="ffmpeg transcoding", reference_ms=ffmpeg_ms
    )
    with open_cameras(server, folder / "transcoded", TELEPHONE_PHONES, count) as cameras:
        cameras.set_streaming_count(count)
        measure_streams(summary, step, cameras, seconds, folder / "telephone", measured)


def _measure_ffmpeg(folder: Path) -> tuple[float, float]:
    """Return the CPU for a stream second of ffmpeg copying AAC, and transcoding G.711; keep both loops."""
    units = media_loop.make_loop()
    media_loop.write_loop(units, folder / "copied")
    media_loop.write_transport_stream(units, REFERENCE_SECONDS, folder / "copied.ts")
    telephone = media_loop.make_loop(AudioCoding.G711A)
    media_loop.write_loop(telephone, folder / "transcoded")
    media_loop.write_transport_stream(telephone, REFERENCE_SECONDS, folder / "pictures.ts")
    media_loop.write_telephone_sound(telephone, REFERENCE_SECONDS, folder / "sound.alaw")
    copied = ffmpeg_cpu_seconds(folder / "copied.ts")
    transcoded = ffmpeg_cpu_seconds(folder / "pictures.ts", telephone_sound=folder / "sound.alaw")
    return copied / REFERENCE_SECONDS * 1000, transcoded / REFERENCE_SECONDS * 1000
