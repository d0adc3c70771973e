"""H.265: key frames and parameter sets (ITU-T H.265, table 7-1), hvcC in MP4 (ISO/IEC 14496-15, 8.3.3)."""

from functools import partial
from struct import pack

from motorpool.codecs.media import annexb
from motorpool.codecs.media.annexb import DELTA_PICTURE, ScannedUnit, SetKey, exp_golomb
from motorpool.codecs.media.mp4.boxes import box
from motorpool.codecs.media.muxer import MPEG_TS
from motorpool.codecs.media.picture_assembler import PictureAssembler
from motorpool.codecs.media.video_codec import PictureFormat, VideoCodec

VPS, SPS, PPS = 32, 33, 34
_DELIMITER = 35
_FIRST_BYTES = (b"\x40\x01", b"\x42\x01", b"\x44\x01", b"\x46\x01")
"""First bytes of a VPS, SPS, PPS or access unit delimiter."""
_GENERAL_TIER = slice(3, 15)
"""Profile, compatibility, constraints and level in a sequence parameter set, as in hvcC."""


def scan(payload: bytes) -> ScannedUnit:
    """Return what precedes the first slice. Key frames are the types 16 to 21: BLA, IDR and CRA."""
    if payload.startswith(b"\0\0\0\1") and len(payload) > 4 and payload[4] >> 1 < 16:
        return DELTA_PICTURE
    return annexb.scan(payload, _slice_keyframe, _set_key)


def is_delimiter(first_byte: int) -> bool:
    """Whether a NAL unit is the access unit delimiter, which must come first."""
    return first_byte >> 1 & 63 == _DELIMITER


def _slice_keyframe(first_byte: int) -> bool | None:
    nal_type = first_byte >> 1 & 63
    return 16 <= nal_type <= 21 if nal_type < 32 else None


def _set_key(unit: bytes) -> SetKey | None:
    nal_type = unit[0] >> 1 & 63 if len(unit) > 2 else 0
    if nal_type == VPS:
        return VPS, unit[2] >> 4
    if nal_type == SPS:
        return SPS, 0  # its id lies behind the profile; devices have one
    if nal_type == PPS:
        return PPS, exp_golomb(unit, 2)
    return None


def hevc_configuration(keyframe: bytes, picture_format: PictureFormat) -> bytes:
    """Return the hvcC box of a key frame."""
    units = annexb.nal_units(keyframe)
    sets = [(kind, [unit for unit in units if unit[0] >> 1 & 63 == kind]) for kind in (VPS, SPS, PPS)]
    sequence = sets[1][1][0].replace(b"\0\0\3", b"\0\0")[:15].ljust(15, b"\0") if sets[1][1] else bytes(15)
    chroma, depth = 0xFC | picture_format.chroma, 0xF8 | picture_format.depth - 8
    layers = ((sequence[2] >> 1 & 7) + 1) << 3 | (sequence[2] & 1) << 2 | 3
    content = (
        b"\1" + sequence[_GENERAL_TIER] + pack(">HBBBBHB", 0xF000, 0xFC, chroma, depth, depth, 0, layers)
    )
    content += bytes((len(sets),))
    for kind, of_kind in sets:
        content += pack(">BH", 0x80 | kind, len(of_kind)) + annexb.join_with_lengths(of_kind)
    return box(b"hvcC", content)


H265 = VideoCodec(
    ffmpeg_name="hevc",
    container=MPEG_TS,
    make_parser=partial(
        PictureAssembler, scan, is_delimiter, frozenset((VPS, SPS, PPS)), frozenset((VPS, SPS))
    ),
    recognizes=partial(annexb.begins_with, first_bytes=_FIRST_BYTES),
    sample_entry=b"hvc1",
    decoder_configuration=hevc_configuration,
    to_mp4_sample=annexb.to_length_prefixed,
    stream_type=0x24,
    stream_descriptors=b"\x05\x04HEVC",
    delimiter=b"\0\0\0\1\x46\x01\x50",
)
