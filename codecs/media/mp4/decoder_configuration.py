"""Decoder configuration boxes of H.264 and H.265 in MP4 (ISO/IEC 14496-15: avcC 5.3.3, hvcC 8.3.3)."""

from struct import pack

import msgspec

from motorpool.codecs.media import annexb, h264, h265
from motorpool.codecs.media.mp4.boxes import box

_H264_PROFILES_WITH_FORMAT = frozenset((100, 110, 122, 144, 244))
"""Profiles whose avcC names the sample format."""
_GENERAL_TIER = slice(3, 15)
"""Of an H.265 sequence parameter set: profile, compatibility, constraints and level, as in hvcC."""


class PictureFormat(msgspec.Struct, frozen=True):
    """Size and sample format of decoded pictures."""

    width: int = 0
    """Pixels; 0 where the key frame does not decode."""
    height: int = 0
    chroma: int = 1
    """By `chroma_format_idc`: 1 is 4:2:0."""
    depth: int = 8
    """Bits of a luma sample."""


def avc_configuration(keyframe: bytes, picture_format: PictureFormat) -> bytes:
    """Return the avcC box of a key frame."""
    units = annexb.nal_units(keyframe)
    sequence = [unit for unit in units if unit[0] & 31 == h264.SPS and len(unit) > 3][:31]
    picture = [unit for unit in units if unit[0] & 31 == h264.PPS][:255]
    profile = sequence[0][1:4] if sequence else bytes(3)
    content = b"\1" + profile + bytes((0xFC | 3, 0xE0 | len(sequence))) + _join_with_lengths(sequence)
    content += bytes((len(picture),)) + _join_with_lengths(picture)
    if profile[0] in _H264_PROFILES_WITH_FORMAT:
        content += bytes(
            (
                0xFC | picture_format.chroma,
                0xF8 | picture_format.depth - 8,
                0xF8 | picture_format.depth - 8,
                0,
            )
        )
    return box(b"avcC", content)


def hevc_configuration(keyframe: bytes, picture_format: PictureFormat) -> bytes:
    """Return the hvcC box of a key frame."""
    units = annexb.nal_units(keyframe)
    sets = [
        (kind, [unit for unit in units if unit[0] >> 1 & 63 == kind])
        for kind in (h265.VPS, h265.SPS, h265.PPS)
    ]
    sequence = sets[1][1][0].replace(b"\0\0\3", b"\0\0")[:15].ljust(15, b"\0") if sets[1][1] else bytes(15)
    layers = (sequence[2] >> 1 & 7) + 1
    content = b"\1" + sequence[_GENERAL_TIER]
    content += pack(
        ">HBBBBHB",
        0xF000,
        0xFC,
        0xFC | picture_format.chroma,
        0xF8 | picture_format.depth - 8,
        0xF8 | picture_format.depth - 8,
        0,
        layers << 3 | (sequence[2] & 1) << 2 | 3,
    )
    content += bytes((len(sets),))
    for kind, of_kind in sets:
        content += pack(">BH", 0x80 | kind, len(of_kind)) + _join_with_lengths(of_kind)
    return box(b"hvcC", content)


def _join_with_lengths(units: list[bytes]) -> bytes:
    return b"".join(len(unit).to_bytes(2) + unit for unit in units)
