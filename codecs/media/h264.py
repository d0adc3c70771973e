"""H.264: key frames and parameter sets (ITU-T H.264, table 7-1), avcC in MP4 (ISO/IEC 14496-15, 5.3.3)."""

from functools import partial

from motorpool.codecs.media import annexb
from motorpool.codecs.media.annexb import DELTA_PICTURE, ScannedUnit, SetKey, exp_golomb
from motorpool.codecs.media.mp4.boxes import box
from motorpool.codecs.media.muxer import MPEG_TS
from motorpool.codecs.media.picture_assembler import PictureAssembler
from motorpool.codecs.media.video_codec import PictureFormat, VideoCodec

SPS, PPS = 7, 8
_DELIMITER = 9
_FIRST_BYTES = (b"\x67", b"\x47", b"\x27")
"""First byte of a sequence parameter set, with each nal_ref_idc."""
_PROFILES_WITH_FORMAT = frozenset((100, 110, 122, 144, 244))
"""Profiles whose avcC names the sample format."""


def scan(payload: bytes) -> ScannedUnit:
    """Return what precedes the first slice. A key frame is an IDR picture, whatever the device marked."""
    if payload.startswith(b"\0\0\0\1") and len(payload) > 4 and payload[4] & 31 == 1:
        return DELTA_PICTURE
    return annexb.scan(payload, _slice_keyframe, _set_key)


def is_delimiter(first_byte: int) -> bool:
    """Whether a NAL unit is the access unit delimiter, which must come first."""
    return first_byte & 31 == _DELIMITER


def _slice_keyframe(first_byte: int) -> bool | None:
    nal_type = first_byte & 31
    return nal_type == 5 if 1 <= nal_type <= 5 else None


def _set_key(unit: bytes) -> SetKey | None:
    nal_type = unit[0] & 31 if len(unit) > 1 else 0
    if nal_type == SPS:
        return SPS, exp_golomb(unit, 4)  # behind profile, constraints and level
    if nal_type == PPS:
        return PPS, exp_golomb(unit, 1)
    return None


def avc_configuration(keyframe: bytes, picture_format: PictureFormat) -> bytes:
    """Return the avcC box of a key frame."""
    units = annexb.nal_units(keyframe)
    sequence = [unit for unit in units if unit[0] & 31 == SPS and len(unit) > 3][:31]
    picture = [unit for unit in units if unit[0] & 31 == PPS][:255]
    profile = sequence[0][1:4] if sequence else bytes(3)
    content = b"\1" + profile + bytes((0xFC | 3, 0xE0 | len(sequence))) + annexb.join_with_lengths(sequence)
    content += bytes((len(picture),)) + annexb.join_with_lengths(picture)
    if profile[0] in _PROFILES_WITH_FORMAT:
        depth = 0xF8 | picture_format.depth - 8
        content += bytes((0xFC | picture_format.chroma, depth, depth, 0))
    return box(b"avcC", content)


H264 = VideoCodec(
    ffmpeg_name="h264",
    container=MPEG_TS,
    make_parser=partial(PictureAssembler, scan, is_delimiter, frozenset((SPS, PPS)), frozenset((SPS,))),
    recognizes=partial(annexb.begins_with, first_bytes=_FIRST_BYTES),
    sample_entry=b"avc1",
    decoder_configuration=avc_configuration,
    to_mp4_sample=annexb.to_length_prefixed,
    stream_type=0x1B,
    delimiter=b"\0\0\0\1\x09\xf0",
)
