"""Key frames decoded: to a JPEG image, or to learn their format.

FFmpeg's decoders parse what cameras sent: the server calls them in processes of their own
(`actors/video/decoders.py`).
"""

from fractions import Fraction

import av
from av.video.codeccontext import VideoCodecContext

from motorpool.codecs.errors import CodecError
from motorpool.codecs.media.video_codec import PictureFormat

MAX_PIXELS = 1 << 25
"""More than 8K has. A parameter set may claim a size for which there is not enough memory."""
_QUANTIZER = 4
"""On FFmpeg's scale from 2 (best) to 31: as fine as quality 85 of libjpeg."""


def encode_jpeg(decoder_name: str, keyframe: bytes) -> bytes:
    """Return a key frame with its parameter sets as JPEG, in its own size. Blocking: some milliseconds.

    Raises:
        CodecError: it does not decode, or not to a picture.
    """
    try:
        return encode_frame(_decode(decoder_name, keyframe))
    except (av.FFmpegError, ValueError, MemoryError) as error:
        raise CodecError(f"the key frame does not decode: {error}") from error


def probe_format(decoder_name: str, keyframe: bytes) -> PictureFormat:
    """Return size and sample format of a key frame with its parameter sets. Blocking: some milliseconds.

    Raises:
        CodecError: it does not decode, or not to a picture.
    """
    try:
        frame = _decode(decoder_name, keyframe)
    except (av.FFmpegError, ValueError, MemoryError) as error:
        raise CodecError(f"the key frame does not decode: {error}") from error
    pixel_format = frame.format
    if len(pixel_format.components) < 3:
        chroma = 0
    elif pixel_format.chroma_width(64) == 64:
        chroma = 3
    else:
        chroma = 1 if pixel_format.chroma_height(64) < 64 else 2
    return PictureFormat(frame.width, frame.height, chroma, pixel_format.components[0].bits)


def _decode(decoder_name: str, keyframe: bytes) -> av.VideoFrame:
    decoder = av.CodecContext.create(decoder_name, "r")
    assert isinstance(decoder, VideoCodecContext)
    decoder.thread_count = 1
    decoder.options = {"max_pixels": str(MAX_PIXELS)}
    for packet in (av.Packet(keyframe), None):
        for frame in decoder.decode(packet):
            return frame
    raise CodecError("the key frame does not decode: there is no picture in it")


def encode_frame(frame: av.VideoFrame, max_width: int | None = None) -> bytes:
    """Return a picture as JPEG, made smaller where it is wider than `max_width` pixels. Blocking.

    Raises:
        av.FFmpegError: FFmpeg does not encode it.
    """
    encoder = av.CodecContext.create("mjpeg", "w")
    encoder.thread_count = 1
    # JPEG has the full colour range, cameras have the limited one.
    width, height = frame.width, frame.height
    if max_width is not None and width > max_width:
        width, height = max_width, max(2, height * max_width // width // 2 * 2)
    picture = frame.reformat(width, height, format="yuvj420p")
    picture.pts = 0
    encoder.width, encoder.height, encoder.pix_fmt = picture.width, picture.height, "yuvj420p"
    encoder.time_base = Fraction(1, 25)
    encoder.qmin = encoder.qmax = _QUANTIZER
    return b"".join(bytes(packet) for part in (picture, None) for packet in encoder.encode(part))
