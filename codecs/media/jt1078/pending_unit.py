"""The unit under way of one channel, and how far its device is to be believed when it counts its packets.

Some count each kind, some the connection, some nothing (docs/protocols/jt1078.md#sequence-numbers): a
count is believed once it has been seen to go on, and then tells what was lost, what comes again and what
comes late.
"""

from collections import deque
from dataclasses import dataclass, field

from motorpool.codecs.media.jt1078.packet_header import AUDIO, LAST
from motorpool.codecs.media.video_codec import VideoCodec

_STEADY_UNITS = 8
"""Units without a hole in their sequence after which a device is believed to count."""
_MAX_STEADY_UNITS = 64
"""Each hole halves what was counted so: after three in a row such a device is believed still."""
KNOWN_BYTES = 16
"""At the end of a unit's first packet: they tell it from another of the same number and stamp."""
_FURTHEST_REPEAT = 256
"""A larger step back is a restart of the count, not a packet that came before or comes late."""
_LATEST_MS = 10_000
"""A picture stamped further back belongs to a clock that was set, and is not late."""
_RECENT_UNITS = 32
"""How many of the last key frames or units of audio are remembered, to recognize repeated packets."""


@dataclass(slots=True)
class PendingUnit:
    """The unfinished unit of one channel's pictures or audio, with the header fields of its first packet."""

    channel: int
    is_audio: bool
    parts: list[bytes] = field(default_factory=list)
    size: int = 0
    is_damaged: bool = False
    has_gap: bool = False
    """The sequence jumped since the unit began."""
    steady_units: int = 0
    sequence: int = -1
    """The number that the next packet should have."""
    data_type: int = 0
    payload_type: int = -1
    timestamp: int = 0
    interval: int = 0
    coding: VideoCodec | None = None
    recent: deque[tuple[int, int, bytes]] = field(default_factory=lambda: deque(maxlen=_RECENT_UNITS))
    """Sequence, timestamp and last bytes of the first packets of the last key frames or units of audio."""

    def note_complete(self) -> None:
        """Count a unit that came complete and in sequence."""
        if self.steady_units < _MAX_STEADY_UNITS:
            self.steady_units += 1

    def note_gap(self) -> None:
        """Note a packet out of sequence: one was lost, if the device counts its packets."""
        # A device that never counts must not lose its pictures: only one that has counted before is trusted.
        if self.steady_units >= _STEADY_UNITS:
            self.is_damaged = True
        self.has_gap = True
        self.steady_units >>= 1

    def is_stale(self, sequence: int, kind: int, timestamp: int, ending: bytes) -> bool:
        """Whether a packet out of sequence came before (proxies send again what they sent) or comes late.

        Some begin their count and clock anew with a key frame and lose nothing by it: key frames and sound
        are stale only where they are known by how their packet ends.
        """
        back = (self.sequence - sequence) & 0xFFFF
        if self.steady_units < _STEADY_UNITS or not 0 < back <= _FURTHEST_REPEAT:
            return False
        if kind & 15 >= LAST:
            return True
        if 0 < kind >> 4 < AUDIO:
            return 0 <= self.timestamp - timestamp <= _LATEST_MS
        return (sequence, timestamp, ending) in self.recent
