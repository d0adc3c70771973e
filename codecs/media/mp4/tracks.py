"""Tracks of an MP4 file with their sample entries (ISO/IEC 14496-12, 8.5.2; esds: 14496-14, 5.6).

The entries of video are `avc1` and `hvc1`, which every player knows, although key frames repeat their
parameter sets in the samples: there a player finds a set that changes later.
"""

from struct import pack

from motorpool.codecs.media import adts
from motorpool.codecs.media.mp4.boxes import Track, box, full_box
from motorpool.codecs.media.video_codec import PictureFormat, VideoCodec

_RESOLUTION = 0x0048_0000
"""72 dots an inch, the template value of ISO/IEC 14496-12, 12.1.3."""


def video_track(codec: VideoCodec, keyframe: bytes, picture_format: PictureFormat) -> Track:
    """Return a video track that begins with this key frame, which holds all that a decoder needs."""
    width, height = picture_format.width, picture_format.height
    entry = box(
        codec.sample_entry,
        pack(">6xH16xHHII4xH32xHh", 1, width, height, _RESOLUTION, _RESOLUTION, 1, 24, -1),
        codec.decoder_configuration(keyframe, picture_format),
    )
    return Track(b"vide", entry, width, height)


def audio_track(config: bytes) -> Track:
    """Return a track of AAC with this AudioSpecificConfig (ISO/IEC 14496-3, 1.6.2.1)."""
    rate = adts.SAMPLE_RATES[int.from_bytes(config) >> 7 & 15]
    channels = int.from_bytes(config) >> 3 & 15
    decoder = _descriptor(4, pack(">BBxHII", 0x40, 0x15, 0, 0, 0) + _descriptor(5, config))
    stream = _descriptor(3, bytes(3) + decoder + _descriptor(6, b"\2"))
    # A rate that does not fit the field is in the configuration alone.
    shown_rate = rate << 16 if rate < 1 << 16 else 0
    entry = box(
        b"mp4a", pack(">6xH8xHHxxxxI", 1, channels or 2, 16, shown_rate), full_box(b"esds", 0, 0, stream)
    )
    return Track(b"soun", entry)


def _descriptor(tag: int, content: bytes) -> bytes:
    assert len(content) < 128, len(content)
    return bytes((tag, len(content))) + content
