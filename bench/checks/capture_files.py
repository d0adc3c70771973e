"""Checks capture files: every unit is what was sent, in order, and the beginning decodes."""

from fractions import Fraction
from pathlib import Path

import av

from motorpool.bench.checks.media_integrity import (
    Findings,
    StreamChecker,
    Timed,
    read_original,
    sized_units,
    without_adts,
)
from motorpool.bench.checks.segments import drawn_number
from motorpool.bench.vehicles.media_loop import FRAMES_PER_SECOND, LOOP_FRAMES, read_number_message

DECODED_FRAMES = 2 * FRAMES_PER_SECOND
_TICK = Fraction(1, 90_000)


def check_capture(loop_file: Path, path: Path) -> Findings:
    """Check an MP4 file against the loop that its camera sent."""
    checker = StreamChecker(read_original(loop_file))
    found = checker.findings
    pictures: list[tuple[int, list[bytes]]] = []
    sounds: list[Timed] = []
    try:
        with av.open(str(path)) as container:
            for packet in container.demux():
                if packet.size and packet.pts is not None and packet.time_base is not None:
                    ticks = round(packet.pts * packet.time_base / _TICK)
                    if packet.stream.type == "video":
                        pictures.append((ticks, sized_units(bytes(packet))))
                    else:
                        sounds.append((ticks, without_adts(bytes(packet))))
        drawn = _decode_begin(path)
    except (av.FFmpegError, IndexError):
        found.broken = 1
        return found
    numbers = [read_number_message(b"".join(units)) for _, units in pictures[: len(drawn)]]
    found.decoded = 1
    found.broken = int(not pictures or drawn != [n if n is None else n % LOOP_FRAMES for n in numbers])
    checker.check_file(pictures, sounds)
    return found


def _decode_begin(path: Path) -> list[int | None]:
    drawn: list[int | None] = []
    with av.open(str(path)) as container:
        container.streams.video[0].thread_type = "NONE"
        for frame in container.decode(video=0):
            drawn.append(drawn_number(frame))
            if len(drawn) == DECODED_FRAMES:
                break
    return drawn
