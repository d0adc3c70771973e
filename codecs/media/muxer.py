"""Media fragments into segment files, in memory; nothing is decoded."""

import io
from fractions import Fraction
from operator import itemgetter

import av
import msgspec
from av.stream import Stream

from motorpool.codecs.errors import CodecError
from motorpool.codecs.media.audio_parser import RATE
from motorpool.codecs.media.containers import Container
from motorpool.codecs.media.fragments import MediaFragment
from motorpool.codecs.media.timestamps import TICKS_PER_SECOND

_TICK = Fraction(1, TICKS_PER_SECOND)
_VIDEO_PID = 0x100
_AUDIO_PID = 0x101
_OPTIONS = {"mpegts_flags": "initial_discontinuity", "mpegts_copyts": "1"}


def _write_mpeg_ts(fragment: MediaFragment) -> bytes:
    """Write tables first, the same packet identifiers each time."""
    file = io.BytesIO()
    with av.open(file, "w", format="mpegts", options=_OPTIONS) as output:
        frames: list[tuple[int, Stream, bytes, bool]] = []
        if fragment.coding is not None:
            video = output.add_mux_stream(fragment.coding.ffmpeg_name)
            video.id = _VIDEO_PID
            video.time_base = _TICK
            frames += [
                (picture.pts, video, picture.payload, picture.keyframe) for picture in fragment.pictures
            ]
        if fragment.audio_frames or fragment.has_audio:
            audio = output.add_mux_stream("aac", rate=RATE)  # the ADTS headers tell the true rate
            audio.id = _AUDIO_PID
            audio.time_base = _TICK
            frames += [(frame.pts, audio, frame.payload, True) for frame in fragment.audio_frames]
        frames.sort(key=itemgetter(0))
        for pts, stream, payload, keyframe in frames:
            packet = av.Packet(payload)
            packet.stream = stream
            packet.time_base = _TICK
            packet.pts = packet.dts = pts
            packet.is_keyframe = keyframe
            output.mux_one(packet)
    return file.getvalue()


MPEG_TS = Container(name="MPEG-TS", suffix="ts", media_type="video/mp2t", write=_write_mpeg_ts)

CONTAINERS = (MPEG_TS,)
"""All formats in which segments may be listed and served."""


class Segment(msgspec.Struct, frozen=True, gc=False):
    """One segment file, or a part of one, and what a playlist says of it."""

    start: int
    """90 kHz ticks, not wrapped; in MPEG-TS modulo 2**33."""
    end: int
    discontinuity: bool
    independent: bool
    data: bytes
    pictures: int
    """How many it holds."""
    arrived_at: float
    """When its first unit arrived: monotonic seconds, as passed to `Segmenter.push`."""
    complete: bool = True
    """False for a part that is followed by another; the segment's file is the parts, joined."""
    container: Container = MPEG_TS
    initialization: bytes = b""
    """The initialization section; empty if the previous one still applies, or the container has none."""

    @property
    def duration(self) -> float:
        """Seconds, exact to the tick."""
        return (self.end - self.start) / TICKS_PER_SECOND


def mux(fragment: MediaFragment) -> Segment:
    """Write a fragment as a file in the container of its codec, in MPEG-TS where it has no pictures.

    Its audio is AAC. Blocking: about 0.2 ms for a second of stream.

    Raises:
        CodecError: FFmpeg rejects the bytes; the stream's next fragment may do.
    """
    container = MPEG_TS if fragment.coding is None else fragment.coding.container
    write_initialization = container.write_initialization
    try:
        data = container.write(fragment)
        initialization = write_initialization(fragment) if write_initialization else b""
    except av.FFmpegError as error:
        raise CodecError(f"cannot be muxed: {error}") from error
    return Segment(
        fragment.start,
        fragment.end,
        fragment.discontinuity,
        fragment.independent,
        data,
        len(fragment.pictures),
        fragment.arrived_at,
        fragment.complete,
        container,
        initialization,
    )
