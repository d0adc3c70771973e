"""Hundreds of cameras become HLS in one process; every picture and sound is accounted for.

One server, one phase after the other: the most streams (judged without readers, proved with them), live
captures, many viewers on few streams, and streams whose telephone sound must be transcoded.
"""

import tempfile
from pathlib import Path

from motorpool.bench.figures import Goal, Report
from motorpool.bench.load.program import LoadFailed
from motorpool.bench.options import BenchError, Options, Step
from motorpool.bench.phases import NAME
from motorpool.bench.phases.broadcast import open_broadcast
from motorpool.bench.phases.captures import measure_captures
from motorpool.bench.phases.streams import Measured, measure_starts, measure_streams
from motorpool.bench.phases.viewers import measure_viewers
from motorpool.bench.references import ffmpeg_cpu_seconds
from motorpool.bench.server import Server, run_server
from motorpool.bench.vehicles import footage
from motorpool.codecs.media.units import Coding

TITLE = "JT/T 1078 cameras to HLS: CPU beside ffmpeg, each frame and sound proved; captures, viewers, G.711"
STEPS = 15
REFERENCE_SECONDS = 300
CAPTURED = 100
"""Streams with a capture each."""
WATCHED = 20
VIEWERS_OF_A_STREAM = 25
TELEPHONE = 100
"""Streams with G.711: transcoding them costs about as much as three times that many with AAC."""
AAC_PHONES, TELEPHONE_PHONES = "135", "136"


def run(options: Options, report: Report, step: Step) -> None:
    """Measure ffmpeg, then all phases on one server."""
    seconds = options.span(20.0)
    with tempfile.TemporaryDirectory(prefix="motorpool-bench-") as name:
        folder = Path(name)
        step("ffmpeg")
        copied_ms, transcoded_ms = _measure_ffmpeg(folder)
        unit = "ms CPU/stream second"
        report.add(NAME, "ffmpeg", copied_ms, unit)
        report.add(NAME, "ffmpeg, G.711 to AAC", transcoded_ms, unit)
        try:
            with run_server() as server:
                _measure_copied(server, options.streams, seconds, folder, report, step, copied_ms)
                _measure_transcoded(server, options.streams, seconds, folder, report, step, transcoded_ms)
        except LoadFailed as error:
            raise BenchError(str(error)) from error
        step("done")


def _measure_copied(
    server: Server, streams: int, seconds: float, folder: Path, report: Report, step: Step, ffmpeg_ms: float
) -> None:
    step(f"starting {streams} streams")
    measured = Measured(
        title=f"{streams} streams",
        reference="ffmpeg",
        reference_ms=ffmpeg_ms,
        goals=(Goal(2.5, of_ratio=True),),
    )
    with open_broadcast(server, folder / "copied", AAC_PHONES, streams) as broadcast:
        resident = server.resident_bytes()
        measure_starts(report, broadcast, streams)
        measure_streams(report, step, broadcast, seconds, folder / "segments", measured)
        per_stream = (server.resident_bytes() - resident) / streams / 1e6
        report.add(NAME, "memory of a stream", per_stream, "MB")
        broadcast.film_with(min(CAPTURED, streams))
        measure_captures(report, step, broadcast, seconds, folder / "captures")
        broadcast.film_with(min(WATCHED, streams))
        viewers = VIEWERS_OF_A_STREAM * broadcast.on_air
        step(f"{viewers} viewers on {broadcast.on_air} streams")
        measure_viewers(report, broadcast, viewers, seconds)
        broadcast.film_with(0)


def _measure_transcoded(
    server: Server, streams: int, seconds: float, folder: Path, report: Report, step: Step, ffmpeg_ms: float
) -> None:
    count = min(TELEPHONE, streams)
    step(f"starting {count} streams with G.711")
    measured = Measured(
        title=f"{count} G.711 streams", reference="ffmpeg transcoding", reference_ms=ffmpeg_ms
    )
    with open_broadcast(server, folder / "transcoded", TELEPHONE_PHONES, count) as broadcast:
        broadcast.film_with(count)
        measure_streams(report, step, broadcast, seconds, folder / "telephone", measured)


def _measure_ffmpeg(folder: Path) -> tuple[float, float]:
    """CPU of a stream second where ffmpeg copies AAC, and where it makes it of G.711; keeps both films."""
    shots = footage.film_loop()
    footage.write_loop(shots, folder / "copied")
    footage.write_transport_stream(shots, REFERENCE_SECONDS, folder / "copied.ts")
    telephone = footage.film_loop(Coding.G711A)
    footage.write_loop(telephone, folder / "transcoded")
    footage.write_transport_stream(telephone, REFERENCE_SECONDS, folder / "pictures.ts")
    footage.write_telephone_sound(telephone, REFERENCE_SECONDS, folder / "sound.alaw")
    copied = ffmpeg_cpu_seconds(folder / "copied.ts")
    transcoded = ffmpeg_cpu_seconds(folder / "pictures.ts", telephone_sound=folder / "sound.alaw")
    return copied / REFERENCE_SECONDS * 1000, transcoded / REFERENCE_SECONDS * 1000
