"""A vehicle's camera with its microphone: pictures and sound as access units of JT/T 1078.

All functions block: drawing and encoding a picture of 640 by 360 takes about 2 ms of CPU (H.265: 8 ms).
"""

from datetime import datetime
from fractions import Fraction

import av
import msgspec
from av.video.codeccontext import VideoCodecContext
from PIL import Image

from motorpool.bench.vehicles.microphone import Microphone
from motorpool.bench.vehicles.route import VehicleState
from motorpool.bench.vehicles.scenery import Scenery
from motorpool.codecs.media.h264 import H264
from motorpool.codecs.media.h265 import H265
from motorpool.codecs.media.units import AccessUnit, AudioCoding
from motorpool.codecs.media.video_codec import VideoCodec


class VideoFormat(msgspec.Struct, frozen=True, kw_only=True):
    """Format of a camera's video and sound."""

    width: int = 640
    height: int = 360
    frames_per_second: int = 15
    kbps: int = 400
    key_seconds: float = 1.0
    """Seconds between key frames."""
    coding: VideoCodec = H264
    sound: AudioCoding | None = AudioCoding.AAC
    """AAC (16 kHz, ADTS) or G.711 A-law (8 kHz); None: no sound."""
    stamped: bool = False
    """Whether the squares in the picture encode its time in milliseconds instead of its number."""
    squares: bool = True
    """Whether there are squares, by which a program identifies the picture."""


class Camera:
    """Encodes one channel; frame numbers count from 0 without gaps."""

    def __init__(self, vehicle: str, channel: int, video: VideoFormat) -> None:
        self.video = video
        self._channel = channel
        self._scenery = Scenery(
            vehicle, channel, width=video.width, height=video.height, squares=video.squares
        )
        self._encoder = _video_encoder(video)
        self._microphone = Microphone(video.sound) if video.sound is not None else None
        self._frames = 0
        self._begun: datetime | None = None
        self._latest_ms = 0

    @property
    def frames(self) -> int:
        """Pictures encoded so far."""
        return self._frames

    def encode_frame(self, moment: VehicleState, instant: datetime) -> list[AccessUnit]:
        """Return one picture, preceded by the sound since the last one."""
        if self._begun is None:
            self._begun = instant
        timestamp = round(instant.timestamp() * 1000)
        code = timestamp if self.video.stamped else self._frames
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
                for milliseconds, payload in self._microphone.encode_until(elapsed, moment.speed)
            ]
        units += [
            AccessUnit(
                channel=self._channel,
                coding=self.video.coding,
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


def _video_encoder(video: VideoFormat) -> VideoCodecContext:
    """Create an encoder without delay and with one thread: each picture is output at once."""
    keys = max(1, round(video.frames_per_second * video.key_seconds))
    if video.coding is H265:
        encoder = av.CodecContext.create("libx265", "w")
        params = f"log-level=error:pools=1:frame-threads=1:repeat-headers=1:keyint={keys}:min-keyint={keys}"
        options = {"preset": "ultrafast", "tune": "zerolatency", "x265-params": params + ":scenecut=0"}
    else:
        encoder = av.CodecContext.create("libx264", "w")
        options = {"preset": "ultrafast", "tune": "zerolatency", "x264-params": f"scenecut=0:keyint={keys}"}
        encoder.thread_count = 1
    encoder.width, encoder.height = video.width, video.height
    encoder.pix_fmt = "yuv420p"
    encoder.framerate = Fraction(video.frames_per_second)
    encoder.time_base = Fraction(1, video.frames_per_second)
    encoder.bit_rate = video.kbps * 1000
    encoder.gop_size = keys
    encoder.options = options
    return encoder


def _frame(picture: Image.Image) -> av.VideoFrame:
    """Convert a YCbCr picture to a frame with chroma at half the resolution."""
    frame = av.VideoFrame(picture.width, picture.height, "yuv420p")
    # The colour of every second pixel costs a tenth of the mean of four.
    half = picture.resize((picture.width // 2, picture.height // 2), Image.Resampling.NEAREST)
    channels = (picture.getchannel("Y"), half.getchannel("Cb"), half.getchannel("Cr"))
    for plane, channel in zip(frame.planes, channels, strict=True):
        content = channel.tobytes()
        if plane.line_size != channel.width:
            rows = (content[start : start + channel.width] for start in range(0, len(content), channel.width))
            content = b"".join(row.ljust(plane.line_size, b"\0") for row in rows)
        plane.update(content)
    return frame
