"""Checks live segments picture by picture: do they decode, is a number left out, do the times add up."""

from pathlib import Path

import av
import msgspec
from PIL import Image

from motorpool.bench.footage import LOOP_FRAMES, read_number_message
from motorpool.bench.framecode import read_number

PTS_SPAN = 1 << 33
"""Where MPEG-TS times wrap."""
PTS_RATE = 90_000


class SegmentChecks(msgspec.Struct):
    """What is wrong, and how much was looked at."""

    frames: int = 0
    holes: int = 0
    """Numbers left out or repeated."""
    broken: int = 0
    """Segments that do not decode to the pictures that were filmed."""
    drift_ms: float = 0.0
    """The sum of EXTINF less the span of the picture times, the greatest of all streams."""

    def add(self, other: "SegmentChecks") -> None:
        """Take in another stream's."""
        self.frames += other.frames
        self.holes += other.holes
        self.broken += other.broken
        self.drift_ms = max(self.drift_ms, other.drift_ms)


class Segment(msgspec.Struct, frozen=True):
    """What one segment holds."""

    numbers: list[int | None]
    """Of its pictures, by the SEI message."""
    first_pts: int
    is_sound: bool
    """It decodes, and every picture is the one its number says."""


def read_segment(content: Path) -> Segment:
    """Take a segment apart and decode it."""
    numbers: list[int | None] = []
    decoded: list[int | None] = []
    times: list[int] = []
    try:
        with av.open(str(content)) as container:
            video = container.streams.video[0]
            video.thread_type = "NONE"
            for packet in container.demux(video):
                if packet.size:
                    numbers.append(read_number_message(bytes(packet)))
                    times.append(packet.pts or 0)
                decoded += [_drawn_number(frame) for frame in packet.decode()]
    except (av.FFmpegError, IndexError):
        return Segment(numbers, min(times, default=0), is_sound=False)
    expected = [number if number is None else number % LOOP_FRAMES for number in numbers]
    return Segment(numbers, min(times, default=0), is_sound=bool(numbers) and decoded == expected)


def check_stream(folder: Path, durations: dict[int, float]) -> SegmentChecks:
    """Check the segments of one stream, in their order; `durations` are their EXTINF."""
    checks = SegmentChecks()
    following: int | None = None
    earlier: int | None = None
    first_pts, listed, span = None, 0.0, 0
    for index in sorted(durations):
        segment = read_segment(folder / f"{index}.ts")
        checks.frames += len(segment.numbers)
        checks.broken += not segment.is_sound
        # A segment that was missed is counted as such, not as a hole in what was read.
        if earlier is None or index != earlier + 1:
            following, first_pts, listed = None, segment.first_pts, 0.0
        else:
            assert first_pts is not None
            span = (segment.first_pts - first_pts) % PTS_SPAN
            checks.drift_ms = max(checks.drift_ms, abs(listed - span / PTS_RATE) * 1000)
        for number in segment.numbers:
            if number is None or (following is not None and number != following):
                checks.holes += 1
            following = None if number is None else number + 1
        listed += durations[index]
        earlier = index
    return checks


def _drawn_number(frame: av.VideoFrame) -> int | None:
    """Read the number drawn into a picture, from its brightness alone."""
    plane = frame.planes[0]
    picture = Image.frombuffer("L", (plane.line_size, plane.height), bytes(plane), "raw", "L", 0, 1)
    return read_number(picture.crop((0, 0, frame.width, frame.height)))
