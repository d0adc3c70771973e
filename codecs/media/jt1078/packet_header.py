"""The head of a JT/T 1078 media packet: its two widths, what its numbers mean, what devices put wrong.

See docs/protocols/jt1078.md#packet and docs/protocols/jt1078.md#width-of-the-sim.
"""

from struct import Struct

from motorpool.codecs.media.h264 import H264
from motorpool.codecs.media.h265 import H265
from motorpool.codecs.media.units import AudioCoding
from motorpool.codecs.media.video_codec import VideoCodec

MAGIC = b"01cd"
MAGIC_NUMBER = int.from_bytes(MAGIC)

HEADERS = {
    width: Struct(
        f">IxBH{width}sBBQHHH"
    )  # magic, mark and payload type, sequence, SIM, channel, type and fragmentation
    for width in (6, 10)  # mark, timestamp, ms since key frame, ms since picture, length
}
"""The video header by bytes of SIM. Audio lacks the two intervals, transparent data the timestamp too."""

AUDIO, TRANSPARENT = 3, 4
"""Data types; those below are pictures: 0 I, 1 P, 2 B."""
WHOLE, FIRST, LAST, MIDDLE = 0, 1, 2, 3
"""Fragmentation marks."""

VIDEO_CODECS = {98: H264, 99: H265}
AUDIO_CODINGS = {
    6: AudioCoding.G711A,
    7: AudioCoding.G711U,
    8: AudioCoding.G726,
    19: AudioCoding.AAC,
    26: AudioCoding.ADPCM,
    21: AudioCoding.AAC,  # HE-AAC and AAC-LC are not distinguished here: the ADTS header does
    24: AudioCoding.AAC,
}
"""By payload type (JT/T 1078-2016, table 12), as far as it is supported."""

_PAYLOAD_NAMES = (
    *("G.721", "G.722", "G.723", "G.728", "G.729", "G.711 A-law", "G.711 µ-law", "G.726", "G.729A"),
    *("DVI4 (3)", "DVI4 (4)", "DVI4 (8 kHz)", "DVI4 (16 kHz)", "LPC", "PCM, stereo", "PCM, mono"),
    *("MPEG audio", "LPCM", "AAC", "WMA", "HE-AAC", "PCM voice", "PCM audio", "AAC-LC", "MP3", "ADPCM"),
    *("MPEG-4 audio", "AMR"),
)
"""Of sound, from payload type 1 on."""


def payload_type_name(number: int) -> str:
    """Return the name of a coding of sound by its payload type."""
    is_known = 0 < number <= len(_PAYLOAD_NAMES)
    return _PAYLOAD_NAMES[number - 1] if is_known else f"a coding of sound with the number {number}"


def recognize_codec(payload: bytes) -> VideoCodec | None:
    """Return the codec of which an access unit begins a stream; None where it does not tell."""
    return next((codec for codec in VIDEO_CODECS.values() if codec.recognizes(payload)), None)


def split_hisilicon(payload: bytes) -> list[bytes]:
    """Sound without HiSilicon's `00 01 L 00` heads, a piece for each; as it is where there is none."""
    pieces = []
    start = 0
    while start < len(payload):
        if len(payload) - start <= 4 or payload[start : start + 2] != b"\0\1" or payload[start + 3] != 0:
            return [payload]
        # L counts 16 bit words behind the head: 0xA0 for 320 bytes.
        stop = start + 4 + 2 * payload[start + 2]
        if not start + 4 < stop <= len(payload):
            return [payload]
        pieces.append(payload[start + 4 : stop])
        start = stop
    return pieces or [payload]


def sim_width(data: bytes, position: int) -> int | None:
    """Bytes of SIM in the packets at `position`: 6, 10, 0 for no packet, None for too few bytes.

    The reading counts whose packet is followed by another one.
    """
    if data[position : position + 4] != MAGIC[: len(data) - position]:
        return 0
    if len(data) - position < HEADERS[10].size:
        return None
    stops = {width: stop for width in (6, 10) if (stop := _packet_stop(data, position, width)) is not None}
    numbers = {width: data[position + 8 : position + 8 + width].hex() for width in stops}
    if not any(number.isdecimal() for number in numbers.values()):
        # Some trackers have hexadecimal digits: that must be more than chance.
        found = {width: _followed(data, stop) for width, stop in stops.items()}
        return next((width for width in found if found[width]), None if None in found.values() else 0)
    stops = {width: stops[width] for width in stops if numbers[width].isdecimal()}
    if len(stops) == 2:
        followed = {width: _followed(data, stop) for width, stop in stops.items()}
        if any(followed.values()):
            stops = {width: stops[width] for width in stops if followed[width]}
        else:
            stops = {width: stops[width] for width in stops if followed[width] is None}
            if stops:
                return None  # the second packet decides
    if len(stops) == 2:
        return 10 if data[position + 8 : position + 10] == b"\0\0" else 6
    return next(iter(stops), 0)


def _packet_stop(data: bytes, position: int, width: int) -> int | None:
    """Where the packet ends when read with this width; None where its fields make no sense."""
    _, _, _, _, _, kind, timestamp, since_key, _, length = HEADERS[width].unpack_from(data, position)
    data_type = kind >> 4
    if data_type > TRANSPARENT or kind & 15 > MIDDLE:
        return None
    if data_type < AUDIO:
        return position + width + 24 + int(length)
    if data_type == AUDIO:
        return position + width + 20 + int(since_key)
    return position + width + 12 + (int(timestamp) >> 48)


def _followed(data: bytes, stop: int) -> bool | None:
    """Whether another packet begins at `stop`; None while the bytes to tell are not there."""
    seen = data[stop : stop + 4]
    if seen == MAGIC:
        return True
    return None if MAGIC.startswith(seen) else False
