"""What the head of an MP4 file says of a track: the sample entries of H.264, H.265 and AAC.

ISO/IEC 14496-12 8.5.2, 14496-15 (avcC 5.3.3, hvcC 8.3.3), 14496-14 (esds 5.6). The entries are `avc1` and
`hvc1`, which every player knows, although key frames repeat their parameter sets in the samples: a set that
changes later is found there, and who reads the entry alone has the first one.
"""

from struct import pack

import av
import msgspec
from av.video.codeccontext import VideoCodecContext

from motorpool.codecs.media import adts, annexb
from motorpool.codecs.media.mp4.boxes import box, full_box
from motorpool.codecs.media.units import Coding

__all__ = ["Track", "picture_track", "sound_track"]

_RESOLUTION = 0x0048_0000
"""72 dots an inch, which nobody reads."""
_H264_WITH_FORMAT = frozenset((100, 110, 122, 144, 244))
"""Profiles whose avcC names the format of the samples."""
_GENERAL_TIER = slice(3, 15)
"""Of an H.265 sequence parameter set: profile, compatibility, constraints and level, as hvcC has them."""


class Track(msgspec.Struct, frozen=True):
    """A track as its samples begin."""

    kind: bytes
    """Handler: `vide` or `soun`."""
    entry: bytes
    """Its sample entry."""
    width: int = 0
    height: int = 0


class _Look(msgspec.Struct, frozen=True):
    """What a decoder makes of a picture; zeros where it makes nothing."""

    width: int = 0
    height: int = 0
    chroma: int = 1
    """4:2:0; by `chroma_format_idc`."""
    depth: int = 8


def picture_track(coding: Coding, keyframe: bytes) -> Track:
    """A track of pictures that begins with this key frame, which holds its parameter sets.

    Blocking: the picture is decoded once, some milliseconds.
    """
    look = _look_at(coding, keyframe)
    sets = annexb.units(keyframe)
    if coding is Coding.H264:
        kind, configuration = b"avc1", _avc_configuration(sets, look)
    else:
        kind, configuration = b"hvc1", _hevc_configuration(sets, look)
    entry = box(
        kind,
        pack(">6xH16xHHII4xH32xHh", 1, look.width, look.height, _RESOLUTION, _RESOLUTION, 1, 24, -1),
        configuration,
    )
    return Track(b"vide", entry, look.width, look.height)


def sound_track(config: bytes) -> Track:
    """A track of AAC with this AudioSpecificConfig."""
    rate = adts.SAMPLE_RATES[int.from_bytes(config) >> 7 & 15]
    channels = int.from_bytes(config) >> 3 & 15
    decoder = _descriptor(4, pack(">BBxHII", 0x40, 0x15, 0, 0, 0) + _descriptor(5, config))
    stream = _descriptor(3, bytes(3) + decoder + _descriptor(6, b"\2"))
    # Rates that do not fit the field stand in the configuration alone.
    shown_rate = rate << 16 if rate < 1 << 16 else 0
    entry = box(
        b"mp4a", pack(">6xH8xHHxxxxI", 1, channels or 2, 16, shown_rate), full_box(b"esds", 0, 0, stream)
    )
    return Track(b"soun", entry)


def _descriptor(tag: int, content: bytes) -> bytes:
    assert len(content) < 128, len(content)
    return bytes((tag, len(content))) + content


def _look_at(coding: Coding, picture: bytes) -> _Look:
    decoder = av.CodecContext.create(coding.value, "r")
    assert isinstance(decoder, VideoCodecContext)
    decoder.thread_count = 1
    try:
        frames = decoder.decode(av.Packet(picture)) + decoder.decode(None)
    except av.FFmpegError:
        return _Look()
    if not frames:
        return _Look()
    frame = frames[0]
    form = frame.format
    if len(form.components) < 3:
        chroma = 0
    elif form.chroma_width(64) == 64:
        chroma = 3
    else:
        chroma = 1 if form.chroma_height(64) < 64 else 2
    return _Look(frame.width, frame.height, chroma, form.components[0].bits)


def _avc_configuration(units: list[bytes], look: _Look) -> bytes:
    sequence = [unit for unit in units if unit[0] & 31 == 7 and len(unit) > 3][:31]
    picture = [unit for unit in units if unit[0] & 31 == 8][:255]
    profile = sequence[0][1:4] if sequence else bytes(3)
    content = b"\1" + profile + bytes((0xFC | 3, 0xE0 | len(sequence))) + _with_lengths(sequence)
    content += bytes((len(picture),)) + _with_lengths(picture)
    if profile[0] in _H264_WITH_FORMAT:
        content += bytes((0xFC | look.chroma, 0xF8 | look.depth - 8, 0xF8 | look.depth - 8, 0))
    return box(b"avcC", content)


def _hevc_configuration(units: list[bytes], look: _Look) -> bytes:
    sets = [(kind, [unit for unit in units if unit[0] >> 1 & 63 == kind]) for kind in (32, 33, 34)]
    sequence = sets[1][1][0].replace(b"\0\0\3", b"\0\0")[:15].ljust(15, b"\0") if sets[1][1] else bytes(15)
    layers = (sequence[2] >> 1 & 7) + 1
    content = b"\1" + sequence[_GENERAL_TIER]
    content += pack(
        ">HBBBBHB",
        0xF000,
        0xFC,
        0xFC | look.chroma,
        0xF8 | look.depth - 8,
        0xF8 | look.depth - 8,
        0,
        layers << 3 | (sequence[2] & 1) << 2 | 3,
    )
    content += bytes((len(sets),))
    for kind, of_kind in sets:
        content += pack(">BH", 0x80 | kind, len(of_kind)) + _with_lengths(of_kind)
    return box(b"hvcC", content)


def _with_lengths(units: list[bytes]) -> bytes:
    return b"".join(len(unit).to_bytes(2) + unit for unit in units)
