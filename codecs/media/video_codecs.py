"""The table of video codecs: everything in which one codec differs from another.

A new codec is a member of `Coding`, a module with its bitstream parser (as `h264`), a decoder configuration
for MP4, and an entry here. One whose segments are not MPEG-TS also needs a writer in `muxer`.
"""

from collections.abc import Callable
from dataclasses import dataclass

from motorpool.codecs.media import annexb, h264, h265
from motorpool.codecs.media.annexb import ScannedUnit
from motorpool.codecs.media.containers import MPEG_TS, Container
from motorpool.codecs.media.mp4.decoder_configuration import (
    PictureFormat,
    avc_configuration,
    hevc_configuration,
)
from motorpool.codecs.media.units import Coding


@dataclass(frozen=True, slots=True, kw_only=True)
class VideoCodec:
    """How the pictures of one coding are parsed, decoded and written into files."""

    coding: Coding
    ffmpeg_name: str
    """FFmpeg's name of the decoder and of the codec in an MPEG-TS stream."""
    segment_container: Container
    """What HLS segments of it are written as."""

    scan: Callable[[bytes], ScannedUnit]
    """Parse an access unit up to its first slice."""
    insert_sets: Callable[[bytes, list[bytes]], bytes]
    """Put parameter sets in front of an access unit's first picture."""
    required_sets: frozenset[int]
    """NAL unit types of the parameter sets without which a key frame does not decode."""
    root_sets: frozenset[int]
    """Those on which the others build: a new one voids the others."""
    first_bytes: tuple[bytes, ...]
    """How the first NAL unit of a key frame begins where only this codec's does."""

    sample_entry: bytes
    """Box type of its sample entry in MP4."""
    decoder_configuration: Callable[[bytes, PictureFormat], bytes]
    """The box in its sample entry, made from a key frame that holds its parameter sets."""
    to_mp4_sample: Callable[[bytes], bytes]
    """An access unit as an MP4 sample."""


VIDEO_CODECS = {
    codec.coding: codec
    for codec in (
        VideoCodec(
            coding=Coding.H264,
            ffmpeg_name="h264",
            segment_container=MPEG_TS,
            scan=h264.scan,
            insert_sets=h264.insert_sets,
            required_sets=frozenset((h264.SPS, h264.PPS)),
            root_sets=frozenset((h264.SPS,)),
            first_bytes=h264.FIRST_BYTES,
            sample_entry=b"avc1",
            decoder_configuration=avc_configuration,
            to_mp4_sample=annexb.to_length_prefixed,
        ),
        VideoCodec(
            coding=Coding.H265,
            ffmpeg_name="hevc",
            segment_container=MPEG_TS,
            scan=h265.scan,
            insert_sets=h265.insert_sets,
            required_sets=frozenset((h265.VPS, h265.SPS, h265.PPS)),
            root_sets=frozenset((h265.VPS, h265.SPS)),
            first_bytes=h265.FIRST_BYTES,
            sample_entry=b"hvc1",
            decoder_configuration=hevc_configuration,
            to_mp4_sample=annexb.to_length_prefixed,
        ),
    )
}


def sniff(payload: bytes) -> Coding | None:
    """Return the coding that the first NAL unit of an Annex B payload tells; None where it tells nothing."""
    start = payload.find(b"\0\0\1", 0, 8) + 3
    if start >= 3:
        for codec in VIDEO_CODECS.values():
            if payload.startswith(codec.first_bytes, start):
                return codec.coding
    return None
