"""Checks the segments of live streams: is each unit what was sent, do the times add up, do samples decode."""

from pathlib import Path

import av
import msgspec
from PIL import Image

from motorpool.bench.checks.media_integrity import (
    TICKS_PER_MS,
    Findings,
    Timed,
    Witness,
    apart,
    nal_units,
    read_original,
    without_adts,
)
from motorpool.bench.vehicles.footage import LOOP_FRAMES, read_number_message
from motorpool.bench.vehicles.frame_numbers import read_number

DECODED = 1
"""Segments of each stream that are decoded besides: the first ones, which the parameter sets must open."""


class Segment(msgspec.Struct, frozen=True):
    """What one segment holds."""

    pictures: list[Timed]
    """Annex B."""
    sounds: list[Timed]
    drawn: list[int | None]
    """The places in the loop that stand in the decoded pictures; empty where it was not decoded."""


def read_segment(path: Path, *, decode: bool) -> Segment | None:
    """Take a segment apart; None where it cannot be read."""
    pictures: list[Timed] = []
    sounds: list[Timed] = []
    drawn: list[int | None] = []
    try:
        with av.open(str(path)) as container:
            video = container.streams.video[0]
            video.thread_type = "NONE"
            for packet in container.demux():
                is_video = packet.stream.type == "video"
                if packet.size:
                    kept = pictures if is_video else sounds
                    kept.append((packet.pts or 0, bytes(packet)))
                if is_video and decode:
                    drawn += [
                        drawn_number(frame) for frame in packet.decode() if isinstance(frame, av.VideoFrame)
                    ]
    except (av.FFmpegError, IndexError):
        return None
    return Segment(pictures, sounds, drawn)


def check_stream(film: Path, folder: Path, durations: dict[int, float]) -> Findings:
    """Check the segments of one stream, in their order; `durations` are their EXTINF by index."""
    witness = Witness(read_original(film))
    found = witness.findings
    earlier: int | None = None
    began, listed = 0, 0.0
    for place, index in enumerate(sorted(durations)):
        segment = read_segment(folder / f"{index}.ts", decode=place < DECODED)
        if segment is None or not segment.pictures:
            found.broken += 1
            earlier = None
            continue
        found.decoded += place < DECODED
        found.broken += place < DECODED and segment.drawn != _announced(segment)
        first = min(segment.pictures, key=lambda picture: picture[0])[0]
        if earlier is None or index != earlier + 1:
            witness.interrupt()
            began, listed = first, 0.0
        found.drift_ms = max(found.drift_ms, abs(listed * 1000 - apart(first, began) / TICKS_PER_MS))
        pictures = [(ticks, nal_units(content)) for ticks, content in segment.pictures]
        witness.take(pictures, [(ticks, without_adts(frame)) for ticks, frame in segment.sounds])
        listed += durations[index]
        earlier = index
    return found


def _announced(segment: Segment) -> list[int | None]:
    """The places in the loop that the pictures must show, by the numbers they carry."""
    numbers = [read_number_message(content) for _, content in segment.pictures]
    return [number if number is None else number % LOOP_FRAMES for number in numbers]


def drawn_number(frame: av.VideoFrame) -> int | None:
    """Read the number drawn into a picture, from its brightness alone."""
    plane = frame.planes[0]
    picture = Image.frombuffer("L", (plane.line_size, plane.height), bytes(plane), "raw", "L", 0, 1)
    return read_number(picture.crop((0, 0, frame.width, frame.height)))
