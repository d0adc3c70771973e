"""Cuts into MPEG-TS segments, in memory, by PyAV; nothing is decoded."""

import io
from fractions import Fraction

import av
import msgspec
from av.stream import Stream

from motorpool.codecs.errors import CodecError
from motorpool.codecs.media.audio_frames import RATE
from motorpool.codecs.media.fragments import MediaFragment
from motorpool.codecs.media.timestamps import TICKS_PER_SECOND

_TICK = Fraction(1, TICKS_PER_SECOND)
_VIDEO_PID = 0x100
_AUDIO_PID = 0x101
_OPTIONS = {"mpegts_flags": "initial_discontinuity", "mpegts_copyts": "1"}


class Segment(msgspec.Struct, frozen=True, gc=False):
    """One MPEG-TS file and what a playlist says of it."""

    start: int
    """90 kHz ticks, not wrapped; in the file modulo 2**33."""
    end: int
    discontinuity: bool
    independent: bool
    data: bytes
    pictures: int
    arrived: float
    """When its first unit arrived, on the clock that `Segmenter.push` was told."""
    complete: bool = True
    """False for a part of a segment after which another comes; the segment's file is theirs, joined."""

    @property
    def duration(self) -> float:
        """Seconds, true to the tick."""
        return (self.end - self.start) / TICKS_PER_SECOND


def mux(cut: MediaFragment) -> Segment:
    """The cut as a file of its own: tables first, the same packet identifiers each time.

    Its sound is AAC (see `SoundCarrier`). Blocking: about 0.2 ms a second of stream.

    Raises:
        CodecError: FFmpeg does not take the bytes; the stream's next cut may do.
    """
    try:
        data = _file(cut)
    except av.FFmpegError as error:
        raise CodecError(f"cannot be muxed: {error}") from error
    return Segment(
        cut.start,
        cut.end,
        cut.discontinuity,
        cut.independent,
        data,
        len(cut.pictures),
        cut.arrived,
        cut.complete,
    )


def _file(cut: MediaFragment) -> bytes:
    file = io.BytesIO()
    with av.open(file, "w", format="mpegts", options=_OPTIONS) as container:
        units: list[tuple[int, Stream, bytes, bool]] = []
        if cut.coding is not None:
            video = container.add_mux_stream(cut.coding.value)
            video.id = _VIDEO_PID
            video.time_base = _TICK
            units += [(picture.pts, video, picture.payload, picture.keyframe) for picture in cut.pictures]
        if cut.sounds or cut.has_sound:
            audio = container.add_mux_stream("aac", rate=RATE)  # the heads tell the true rate
            audio.id = _AUDIO_PID
            audio.time_base = _TICK
            units += [(sound.pts, audio, sound.payload, True) for sound in cut.sounds]
        units.sort(key=_by_time)
        for pts, stream, payload, keyframe in units:
            packet = av.Packet(payload)
            packet.stream = stream
            packet.time_base = _TICK
            packet.pts = packet.dts = pts
            packet.is_keyframe = keyframe
            container.mux_one(packet)
    return file.getvalue()


def _by_time(unit: tuple[int, Stream, bytes, bool]) -> int:
    return unit[0]
