"""A vehicle's camera with its microphone: pictures and sound as the access units of JT/T 1078.

Everything here blocks and belongs into one thread: a picture of 640 by 360 costs about 2 ms of CPU to draw
and encode (H.265: 8 ms).
"""

from datetime import datetime
from fractions import Fraction

import av
import msgspec
from av.video.codeccontext import VideoCodecContext
from PIL import Image

from motorpool.bench.vehicles.microphone import Microphone
from motorpool.bench.vehicles.route import Moment
from motorpool.bench.vehicles.scenery import Scenery
from motorpool.codecs.media.units import AccessUnit, Coding


class Film(msgspec.Struct, frozen=True, kw_only=True):
    """How a camera films."""

    width: int = 640
    height: int = 360
    frames_per_second: int = 15
    kbps: int = 400
    key_seconds: float = 1.0
    """Between key frames."""
    coding: Coding = Coding.H264
    sound: Coding | None = Coding.AAC
    """AAC (16 kHz, ADTS) or G.711 A-law (8 kHz); None: mute."""
    stamped: bool = False
    """The squares in the picture hold its time, in milliseconds, instead of its number."""


class Camera:
    """Films one channel; frame numbers count from 0 and never leave one out."""

    def __init__(self, vehicle: str, channel: int, film: Film) -> None:
        self.film = film
        self._channel = channel
        self._scenery = Scenery(vehicle, channel, width=film.width, height=film.height)
        self._encoder = _video_encoder(film)
        self._microphone = Microphone(film.sound) if film.sound is not None else None
        self._frames = 0
        self._begun: datetime | None = None
        self._latest_ms = 0

    @property
    def frames(self) -> int:
        """Pictures filmed so far."""
        return self._frames

    def film_moment(self, moment: Moment, instant: datetime) -> list[AccessUnit]:
        """One picture of that moment, led by the sound since the picture before."""
        if self._begun is None:
            self._begun = instant
        timestamp = round(instant.timestamp() * 1000)
        code = timestamp if self.film.stamped else self._frames
        picture = self._scenery.draw(moment, instant, self._frames, code)
        frame = _frame(picture)
        frame.pts = self._frames
        packets = self._encoder.encode(frame)
        units: list[AccessUnit] = []
        if self._microphone is not None:
            elapsed = (instant - self._begun).total_seconds()
            origin = round(self._begun.timestamp() * 1000)
            units += [
                AccessUnit(
                    channel=self._channel,
                    coding=self._microphone.coding,
                    keyframe=False,
                    timestamp=origin + milliseconds,
                    payload=payload,
                )
                for milliseconds, payload in self._microphone.hear(elapsed, moment.speed)
            ]
        units += [
            AccessUnit(
                channel=self._channel,
                coding=self.film.coding,
                keyframe=packet.is_keyframe,
                timestamp=timestamp,
                payload=bytes(packet),
                frame_interval=timestamp - self._latest_ms if self._frames else 0,
            )
            for packet in packets
        ]
        self._latest_ms = timestamp
        self._frames += 1
        return units


def _video_encoder(film: Film) -> VideoCodecContext:
    """Make an encoder without delay: each picture put in comes out at once, in one thread."""
    keys = max(1, round(film.frames_per_second * film.key_seconds))
    if film.coding is Coding.H265:
        encoder = av.CodecContext.create("libx265", "w")
        params = f"log-level=error:pools=1:frame-threads=1:repeat-headers=1:keyint={keys}:min-keyint={keys}"
        options = {"preset": "ultrafast", "tune": "zerolatency", "x265-params": params + ":scenecut=0"}
    else:
        encoder = av.CodecContext.create("libx264", "w")
        options = {"preset": "ultrafast", "tune": "zerolatency", "x264-params": f"scenecut=0:keyint={keys}"}
        encoder.thread_count = 1
    encoder.width, encoder.height = film.width, film.height
    encoder.pix_fmt = "yuv420p"
    encoder.framerate = Fraction(film.frames_per_second)
    encoder.time_base = Fraction(1, film.frames_per_second)
    encoder.bit_rate = film.kbps * 1000
    encoder.gop_size = keys
    encoder.options = options
    return encoder


def _frame(picture: Image.Image) -> av.VideoFrame:
    """Make a frame of a YCbCr picture, chroma at half the resolution."""
    frame = av.VideoFrame(picture.width, picture.height, "yuv420p")
    # Every second pixel's colour will do, and costs a tenth of the mean of four.
    half = picture.resize((picture.width // 2, picture.height // 2), Image.Resampling.NEAREST)
    channels = (picture.getchannel("Y"), half.getchannel("Cb"), half.getchannel("Cr"))
    for plane, channel in zip(frame.planes, channels, strict=True):
        content = channel.tobytes()
        if plane.line_size != channel.width:
            rows = (content[start : start + channel.width] for start in range(0, len(content), channel.width))
            content = b"".join(row.ljust(plane.line_size, b"\0") for row in rows)
        plane.update(content)
    return frame
