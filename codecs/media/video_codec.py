"""The interface of a video codec: everything in which codecs differ, in one object."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import msgspec

from motorpool.codecs.media.containers import Container


class CodedPicture(msgspec.Struct, frozen=True, gc=False):
    """One coded picture; a key frame with all that a decoder needs."""

    payload: bytes
    keyframe: bool
    """Decodable from here, whatever the device marked."""
    configuration: object = None
    """What else a key frame's decoder was set up by; players are told when it differs from the one before."""


class PictureParser(Protocol):
    """Parses the pictures of one camera in order."""

    def push(self, payload: bytes) -> CodedPicture | None:
        """Return an access unit as a picture; None where it holds none."""


class PictureFormat(msgspec.Struct, frozen=True):
    """Size and sample format of decoded pictures."""

    width: int = 0
    """Pixels; 0 where the key frame does not decode."""
    height: int = 0
    chroma: int = 1
    """By `chroma_format_idc`: 1 is 4:2:0."""
    depth: int = 8
    """Bits of a luma sample."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class VideoCodec:
    """How pictures are recognized, parsed, decoded and written into files; equal only to itself."""

    ffmpeg_name: str
    """FFmpeg's name of the decoder and of the codec in an MPEG-TS stream."""
    container: Container
    """The container of its HLS segments."""
    make_parser: Callable[[], PictureParser]
    recognizes: Callable[[bytes], bool]
    """Whether an access unit begins as only key frames of this codec do."""
    sample_entry: bytes
    """Box type of its sample entry in MP4."""
    decoder_configuration: Callable[[bytes, PictureFormat], bytes]
    """The box in its sample entry, made from a key frame."""
    to_mp4_sample: Callable[[bytes], bytes]
    """An access unit as an MP4 sample."""
    stream_type: int = 0
    """In the program map of MPEG-TS, as are the descriptors; 0 where it has another container."""
    stream_descriptors: bytes = b""
    delimiter: bytes = b""
    """The access unit delimiter that MPEG-TS wants before each picture, behind a start code of four bytes."""
