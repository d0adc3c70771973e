"""The line of a talk: what passes between the socket of the user and the connection of the terminal."""

import math
from collections.abc import Callable

import trio

from motorpool.codecs.media.audio_parser import RATE
from motorpool.codecs.media.units import AudioCoding
from motorpool.runtime import Signal

MAX_BYTES = 2 * RATE
"""Of sound that waits: one second of 16 bit samples."""

RESERVE_SAMPLES = 2 * RATE
SAMPLES_PER_SECOND = RATE * 5 // 4
"""What is taken of a side at once, and in the long run: clocks differ."""


class SoundQueue:
    """16 bit samples of one direction that wait; where they are too many, the oldest are dropped."""

    def __init__(self) -> None:
        self._pcm = bytearray()
        self.arrived = Signal()

    def __len__(self) -> int:
        return len(self._pcm)

    def put(self, pcm: bytes) -> int:
        """Add whole samples; return how many were dropped."""
        self._pcm += pcm
        excess = max(0, len(self._pcm) - MAX_BYTES)
        del self._pcm[:excess]
        self.arrived.set()
        return excess // 2

    def take(self, most: int) -> bytes:
        """Remove and return the oldest samples, at most this many bytes."""
        taken = bytes(self._pcm[:most])
        del self._pcm[:most]
        return taken


class SampleBudget:
    """How much of what a side sends is taken: as fast as it is heard, with some for bursts of the network."""

    def __init__(self) -> None:
        self._left = float(RESERVE_SAMPLES)
        self._earned_at = -math.inf

    def take(self, samples: int, now: float) -> bool:
        """Whether these samples may be taken now, in monotonic seconds."""
        earned = (now - self._earned_at) * SAMPLES_PER_SECOND
        self._left, self._earned_at = min(RESERVE_SAMPLES, self._left + earned), now
        if samples > self._left:
            return False
        self._left -= samples
        return True


class TalkLine:
    """One talk between a user and the driver of a vehicle."""

    def __init__(self, channel: int, talker: str, monotonic: Callable[[], float]) -> None:
        """`talker` is the name of the user."""
        self.channel = channel
        self.talker = talker
        self._monotonic = monotonic
        self.spoken = SoundQueue()
        """What the user says."""
        self.heard = SoundQueue()
        """What the microphone of the vehicle hears."""
        self.coding = AudioCoding.G711A
        """Of what is sent to the terminal."""
        self.g726_bits = 0
        """Bits of a sample, where it is G.726."""
        self.joined = trio.Event()
        """Set when the terminal has connected."""
        self.joined_at = math.inf
        """When it did, in monotonic seconds."""
        self.spoke_at = math.inf
        """When the user last said something, or else when the terminal connected, in monotonic seconds."""
        self.ended = trio.Event()
        self.reason = ""
        """Why it has ended, as users read it."""

    def speak(self, pcm: bytes, *, is_silent: bool) -> int:
        """Take what the user says; return how many samples were dropped."""
        if not is_silent:
            self.spoke_at = self._monotonic()
        return self.spoken.put(pcm)

    def join(self) -> None:
        """Note that the terminal has connected."""
        if not self.joined.is_set():
            self.joined_at = self.spoke_at = self._monotonic()
            self.joined.set()

    def end(self, reason: str) -> None:
        """End it; the first reason counts."""
        if not self.ended.is_set():
            self.reason = reason
            self.ended.set()
