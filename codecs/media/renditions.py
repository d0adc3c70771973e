"""Renditions of files: a small picture of a photo or film, and a film as MP4 that browsers play.

FFmpeg parses what devices sent: the server calls this in processes of their own
(`actors/video/media_worker.py`). The format is told by the first bytes and never guessed by FFmpeg, which
also knows formats that name other files.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction

import av
from av.container import InputContainer, OutputContainer
from av.stream import Stream
from av.video.codeccontext import VideoCodecContext
from av.video.stream import VideoStream

from motorpool.codecs.errors import CodecError
from motorpool.codecs.media.h264 import H264
from motorpool.codecs.media.h265 import H265
from motorpool.codecs.media.snapshot import MAX_PIXELS, encode_frame

PICTURE_WIDTH = 480
"""Pixels; what is narrower keeps its size."""
HEAD_BYTES = 400
"""So many tell the format."""
RATE = 25
"""Pictures a second where the stream does not say."""
_RATES = (1, 120)
"""Rates that are believed."""
_TRIED_PACKETS = 300
"""A film without a picture in these has none."""
_RAW = {"h264": "h264", "h265": "hevc"}
"""Extensions of streams without a container, and their formats."""
FILMS = frozenset({"mov", "avi", "asf", "mpegts", *_RAW.values()})
"""Formats of films."""
_PLAYED_CODECS = frozenset({"h264", "hevc"})
_PLAYED_SOUND = frozenset({"aac", "mp3"})


def format_of(head: bytes, extension: str) -> str | None:
    """Return the format of a file, as FFmpeg calls it, by its first bytes; None where it is none of these.

    A stream without a container has no signature: the kind of its first unit tells, or the extension.
    """
    if head[4:8] == b"ftyp":
        return "mov"
    if head[:4] == b"RIFF" and head[8:12] == b"AVI ":
        return "avi"
    if head[:4] == b"\x30\x26\xb2\x75":
        return "asf"
    if head[:3] == b"\xff\xd8\xff":
        return "jpeg_pipe"
    if head[:8] == b"\x89PNG\r\n\x1a\n":
        return "png_pipe"
    if head[:2] == b"BM" and extension == "bmp":
        return "bmp_pipe"
    if head[:1] == b"G" and head[188:189] == b"G":
        return "mpegts"
    if head[:4] == b"\0\0\0\1" or head[:3] == b"\0\0\1":
        if H264.recognizes(head):
            return "h264"
        if H265.recognizes(head):
            return "hevc"
        return _RAW.get(extension)
    return None


def is_playable(head: bytes) -> bool:
    """Whether browsers take a film as it is: MP4."""
    return format_of(head, "") == "mov"


def encode_picture(path: str, file_format: str) -> bytes:
    """Return the first picture of a photo or film as JPEG, at most `PICTURE_WIDTH` wide. Blocking.

    Raises:
        CodecError: there is none that decodes.
    """
    try:
        with _open(path, file_format) as source:
            stream = _video_of(source)
            decoder = stream.codec_context
            decoder.thread_count = 1
            decoder.options = {"max_pixels": str(MAX_PIXELS)}
            for number, packet in enumerate(source.demux(stream)):
                try:
                    frames = decoder.decode(packet)
                except av.FFmpegError:
                    frames = []
                for frame in frames:
                    return encode_frame(frame, PICTURE_WIDTH)
                if number >= _TRIED_PACKETS:
                    break
    except (av.FFmpegError, ValueError, MemoryError) as error:
        raise CodecError(f"no picture can be made of it: {_reason(error)}") from error
    raise CodecError("no picture can be made of it: none in it decodes")


def film_length(path: str, file_format: str) -> int:
    """Return the milliseconds that a film lasts, 0 where that cannot be told. Blocking.

    A container says it; of a stream without one the pictures are counted, as `write_film` times them.

    Raises:
        CodecError: it is no film.
    """
    try:
        with _open(path, file_format) as source:
            if file_format in _RAW.values():
                rate = _rate_of(_video_of(source))
                return round(1000 * sum(1 for _ in _pictures(source)) / rate)
            return max(0, (source.duration or 0) * 1000 // av.time_base)
    except (av.FFmpegError, ValueError, MemoryError) as error:
        raise CodecError(f"its length cannot be told: {error}") from error


def write_film(path: str, file_format: str, target: str) -> None:
    """Write a film as MP4 with its index in front; nothing is encoded again. Blocking.

    Sound that MP4 players do not take is left out. Pictures of streams that have no times follow each other
    at the rate that the stream tells, else at `RATE`.

    Raises:
        CodecError: it is no film, has no whole picture, or its coding is one that browsers do not play.
    """
    try:
        with _open(path, file_format) as source:
            stream = _video_of(source)
            context = stream.codec_context
            if stream.codec.name not in _PLAYED_CODECS:
                raise CodecError(f"it cannot be played: browsers do not play {stream.codec.name}")
            if not 0 < context.width * context.height <= MAX_PIXELS:
                raise CodecError(f"it cannot be played: {context.width} by {context.height} pixels")
            with av.open(target, "w", format="mp4", options={"movflags": "faststart"}) as output:
                if file_format in _RAW.values():
                    written = _copy_raw(path, file_format, source, output)
                else:
                    written = _copy(source, output)
                if not written:
                    raise CodecError("it cannot be played: there is no whole picture in it")
    except (av.FFmpegError, ValueError, MemoryError) as error:
        raise CodecError(f"it cannot be played: {_reason(error)}") from error


def _reason(error: Exception) -> object:
    """Return what went wrong without the path of the file, which is the server's affair."""
    return (error.strerror if isinstance(error, av.FFmpegError) else None) or error


def _open(path: str, file_format: str) -> InputContainer:
    return av.open(
        path, format=file_format, options={"protocol_whitelist": "file", "max_pixels": str(MAX_PIXELS)}
    )


def _video_of(source: InputContainer) -> VideoStream:
    if not source.streams.video:
        raise CodecError("there is no picture in it")
    return source.streams.video[0]


def _video_in(output: OutputContainer, stream: VideoStream) -> VideoStream:
    video = output.add_stream_from_template(stream)
    if stream.codec.name == "hevc":
        video.codec_context.codec_tag = "hvc1"  # Safari plays no hev1
    return video


def _copy_raw(path: str, file_format: str, source: InputContainer, output: OutputContainer) -> int:
    """Copy a stream that has no times; return the number of pictures."""
    stream = _video_of(source)
    rate = _rate_of(stream)
    video = _video_in(output, stream)
    order = _shown_order(path, file_format) if stream.codec_context.has_b_frames else None
    written = 0
    for packet in _pictures(source):
        packet.stream = video
        packet.time_base = 1 / rate
        packet.dts = written
        packet.pts = written if order is None else order[written]
        packet.duration = 1
        output.mux_one(packet)
        written += 1
    return written


def _rate_of(stream: VideoStream) -> Fraction:
    """Return the pictures a second of a stream that has no times: those that it tells, else `RATE`."""
    told = stream.codec_context.framerate
    return told if told and _RATES[0] <= told <= _RATES[1] else Fraction(RATE)


def _pictures(source: InputContainer) -> "Iterator[av.Packet[VideoStream]]":
    """Yield the pictures of a stream without a container, from the first key frame on."""
    has_begun = False
    for packet in source.demux(_video_of(source)):
        has_begun |= packet.is_keyframe
        if has_begun and packet.size:
            yield packet


def _shown_order(path: str, file_format: str) -> Sequence[int] | None:
    """Return for each picture when it is shown, counted in pictures and never before it is decoded.

    Only the decoder knows the order of pictures that depend on later ones. None where some do not decode.
    """
    shown: dict[int, int] = {}
    count = 0
    with _open(path, file_format) as source:
        decoder = _video_of(source).codec_context
        decoder.thread_count = 1
        for packet in _pictures(source):
            packet.pts = packet.dts = count
            count += 1
            _note_shown(decoder, packet, shown)
        _note_shown(decoder, None, shown)
    if len(shown) != count:
        return None
    delay = max(coded - place for coded, place in shown.items())
    return [shown[coded] + delay for coded in range(count)]


def _note_shown(
    decoder: VideoCodecContext, packet: "av.Packet[VideoStream] | None", shown: dict[int, int]
) -> None:
    try:
        frames = decoder.decode(packet)
    except av.FFmpegError:
        return
    for frame in frames:
        if frame.pts is not None:
            shown.setdefault(frame.pts, len(shown))


def _copy(source: InputContainer, output: OutputContainer) -> int:
    """Copy pictures and sound with their times; return the number of pictures."""
    video = _video_of(source)
    copied: dict[int, Stream] = {video.index: _video_in(output, video)}
    for sound in source.streams.audio[:1]:
        if sound.codec.name in _PLAYED_SOUND:
            copied[sound.index] = output.add_stream_from_template(sound)
    written = 0
    for packet in source.demux([source.streams[index] for index in copied]):
        is_picture = packet.stream.index == video.index
        if packet.dts is None or (not written and not (is_picture and packet.is_keyframe)):
            continue
        if packet.pts is None:
            packet.pts = packet.dts
        packet.stream = copied[packet.stream.index]
        output.mux_one(packet)
        written += is_picture
    return written
