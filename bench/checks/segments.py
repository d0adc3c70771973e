"""Checks segments of live streams: units are what was sent, times add up, the first segments decode."""

from pathlib import Path

import av
import msgspec
from PIL import Image

from motorpool.bench.checks.media_integrity import (
    TICKS_PER_MS,
    Findings,
    StreamChecker,
    Timed,
    nal_units,
    read_original,
    ticks_between,
    without_adts,
)
from motorpool.bench.vehicles.frame_numbers import read_number
from motorpool.bench.vehicles.media_loop import LOOP_FRAMES, read_number_message

DECODED = 1
"""Segments of each stream that are also decoded: the first ones, which must begin with parameter sets."""


class Segment(msgspec.Struct, frozen=True):
    """The units of one segment."""

    pictures: list[Timed]
    """Annex B."""
    sounds: list[Timed]
    drawn: list[int | None]
    """Numbers drawn into the decoded pictures; empty if the segment was not decoded."""


def read_segment(path: Path, *, decode: bool) -> Segment | None:
    """Demultiplex a segment; None if it cannot be read."""
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


def check_stream(loop_file: Path, folder: Path, durations: dict[int, float]) -> Findings:
    """Check the segments of one stream in order; `durations` are EXTINF in seconds by index."""
    checker = StreamChecker(read_original(loop_file))
    found = checker.findings
    earlier: int | None = None
    began, listed = 0, 0.0
    for place, index in enumerate(sorted(durations)):
        segment = read_segment(folder / f"{index}.ts", decode=place < DECODED)
        if segment is None or not segment.pictures:
            found.broken += 1
            earlier = None
            continue
        found.decoded += place < DECODED
        found.broken += place < DECODED and segment.drawn != _expected_numbers(segment)
        first = min(segment.pictures, key=lambda picture: picture[0])[0]
        if earlier is None or index != earlier + 1:
            checker.reset()
            began, listed = first, 0.0
        found.drift_ms = max(found.drift_ms, abs(listed * 1000 - ticks_between(first, began) / TICKS_PER_MS))
        pictures = [(ticks, nal_units(content)) for ticks, content in segment.pictures]
        checker.check_file(pictures, [(ticks, without_adts(frame)) for ticks, frame in segment.sounds])
        listed += durations[index]
        earlier = index
    return found


def _expected_numbers(segment: Segment) -> list[int | None]:
    """Return the numbers that must be drawn into the pictures, from those they carry."""
    numbers = [read_number_message(content) for _, content in segment.pictures]
    return [number if number is None else number % LOOP_FRAMES for number in numbers]


def drawn_number(frame: av.VideoFrame) -> int | None:
    """Read the number drawn into a picture, from its brightness alone."""
    plane = frame.planes[0]
    picture = Image.frombuffer("L", (plane.line_size, plane.height), bytes(plane), "raw", "L", 0, 1)
    return read_number(picture.crop((0, 0, frame.width, frame.height)))
