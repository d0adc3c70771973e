"""Films made for the tests: each picture carries its number as sixteen black or white columns."""

import io
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

import av
import pytest

from motorpool.codecs.media import adts
from motorpool.codecs.media.h264 import H264
from motorpool.codecs.media.units import AccessUnit, AudioCoding, Coding

BITS = 16
COLUMN = 16
HEIGHT = 64


def drawn(number: int) -> av.VideoFrame:
    """A picture that shows `number`."""
    frame = av.VideoFrame(BITS * COLUMN, HEIGHT, "yuv420p")
    row = b"".join((b"\xeb" if number >> bit & 1 else b"\x10") * COLUMN for bit in range(BITS))
    luma = frame.planes[0]
    luma.update(row.ljust(luma.line_size, b"\x10") * HEIGHT)
    for plane in frame.planes[1:]:
        plane.update(b"\x80" * plane.buffer_size)
    return frame


def shown(frame: av.VideoFrame) -> int:
    """The number that a picture shows."""
    luma = frame.planes[0]
    middle = bytes(luma)[HEIGHT // 2 * luma.line_size :]
    return sum((middle[bit * COLUMN + COLUMN // 2] > 125) << bit for bit in range(BITS))


@lru_cache
def filmed(coding: Coding, count: int, gop: int, size: tuple[int, int] = (256, 64)) -> tuple[bytes, ...]:
    """Coded pictures numbered from 0, a key frame with parameter sets each `gop`."""
    encoder = av.CodecContext.create("libx264" if coding is H264 else "libx265", "w")
    encoder.width, encoder.height = size
    encoder.pix_fmt = "yuv420p"
    encoder.framerate = Fraction(25)
    encoder.time_base = Fraction(1, 25)
    encoder.max_b_frames = 0
    keys = f"keyint={gop}:min-keyint={gop}:scenecut=0"
    if coding is H264:
        encoder.options = {"preset": "ultrafast", "tune": "zerolatency", "x264-params": keys}
    else:
        params = f"{keys}:bframes=0:repeat-headers=1:log-level=none:pools=none:frame-threads=1"
        encoder.options = {"preset": "ultrafast", "x265-params": params}
    packets = []
    for number in range(count):
        frame = drawn(number)
        if size != (256, 64):
            frame = frame.reformat(*size)
        frame.pts = number
        packets += encoder.encode(frame)
    packets += encoder.encode(None)
    return tuple(bytes(packet) for packet in packets)


@lru_cache
def sounded(codec: str, seconds: int, rate: int = 8000) -> tuple[bytes, ...]:
    """Coded sound; AAC with heads, all else in units of 40 ms."""
    encoder = av.CodecContext.create(codec, "w")
    encoder.sample_rate = rate
    encoder.layout = "mono"
    encoder.format = "fltp" if codec == "aac" else "s16"
    encoder.time_base = Fraction(1, rate)
    packets = []
    step = rate * seconds if codec == "aac" else 320
    for start in range(0, rate * seconds, step):
        frame = av.AudioFrame(encoder.format.name, "mono", step)
        for plane in frame.planes:
            plane.update(bytes(plane.buffer_size))
        frame.sample_rate = rate
        frame.pts = start
        frame.time_base = Fraction(1, rate)
        packets += encoder.encode(frame)
    packets += encoder.encode(None)
    if codec == "aac":
        return tuple(adts.header(len(bytes(packet)), rate) + bytes(packet) for packet in packets)
    return tuple(bytes(packet) for packet in packets)


def on_air(
    pictures: tuple[bytes, ...] = (),
    sounds: tuple[bytes, ...] = (),
    *,
    coding: Coding = H264,
    sound_coding: Coding = AudioCoding.AAC,
    sound_ms: float = 128,
    start: int = 1_000,
    channel: int = 1,
    gop: int = 25,
) -> list[AccessUnit]:
    """What a camera sends: pictures each 40 ms and sound, in the order of their times."""
    units = [
        AccessUnit(channel, coding, number % gop == 0, start + 40 * number, payload, 40)
        for number, payload in enumerate(pictures)
    ]
    units += [
        AccessUnit(channel, sound_coding, False, start + round(sound_ms * number), payload)
        for number, payload in enumerate(sounds)
    ]
    return sorted(units, key=lambda unit: unit.timestamp)


class Played:
    """What a player gets out of segments."""

    def __init__(self, data: bytes) -> None:
        self.numbers: list[int] = []
        self.picture_times: list[int] = []
        self.sound_times: list[int] = []
        self.samples = 0
        self.pids: set[int] = set()
        with av.open(io.BytesIO(data), format="mpegts") as container:
            self.pids = {stream.id for stream in container.streams}
            for packet in container.demux():
                if packet.pts is not None:
                    is_video = packet.stream.type == "video"
                    (self.picture_times if is_video else self.sound_times).append(packet.pts)
                for frame in packet.decode():
                    if isinstance(frame, av.VideoFrame):
                        self.numbers.append(shown(frame))
                    else:
                        self.samples += frame.samples


@pytest.fixture(scope="session")
def film() -> Callable[..., tuple[bytes, ...]]:
    return filmed


@pytest.fixture(scope="session")
def sound() -> Callable[..., tuple[bytes, ...]]:
    return sounded


@pytest.fixture(scope="session")
def camera() -> Callable[..., list[AccessUnit]]:
    return on_air


@pytest.fixture(scope="session")
def play() -> type[Played]:
    return Played
