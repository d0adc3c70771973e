"""Proves that what came out is what was sent: pictures and sound of the film loop, byte by byte and in order.

A picture is known by the number that it carries, a frame of AAC by its bytes; which turn of the loop a sound
belongs to is told by the pictures beside it. So a loss of a whole turn is seen as well. Parameter sets and
delimiters, which a server may add or repeat, are left out of the comparison. Sound that the server had to
transcode can only be counted: its frames must follow each other without a gap.
"""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import msgspec

from motorpool.bench.vehicles.footage import (
    FRAME_MS,
    LOOP_MS,
    Shot,
    number_message,
    read_loop,
    read_number_message,
)
from motorpool.codecs.media.units import Coding

TICKS_PER_MS = 90
PTS_SPAN = 1 << 33
"""Where MPEG-TS times wrap."""
TRANSCODED_TICKS = 128 * TICKS_PER_MS
"""Of 1,024 samples of telephone sound."""
_REPEATED = frozenset((7, 8, 9))
"""NAL units of H.264 (table 7-1) that are no part of a picture: parameter sets and delimiters."""

Timed = tuple[int, bytes]
"""A coded unit behind its time, in ticks of 90 kHz that may wrap."""


class Findings(msgspec.Struct):
    """What was looked at, and what is wrong with it."""

    frames: int = 0
    sounds: int = 0
    """Frames of AAC."""
    holes: int = 0
    """Places where pictures or sounds were left out, repeated or exchanged."""
    strangers: int = 0
    """Pictures and sounds that are not, byte for byte, what was sent."""
    beside_ms: float = 0.0
    """The furthest that a sound lay from its place beside the pictures."""
    decoded: int = 0
    """Files that were decoded besides."""
    broken: int = 0
    """Files that are not what they should be: cannot be read, or decode to other pictures."""
    drift_ms: float = 0.0
    """The sum of EXTINF less the span of the picture times, the greatest of all streams."""

    def add(self, other: "Findings") -> None:
        """Take in another stream's."""
        self.frames += other.frames
        self.sounds += other.sounds
        self.holes += other.holes
        self.strangers += other.strangers
        self.beside_ms = max(self.beside_ms, other.beside_ms)
        self.decoded += other.decoded
        self.broken += other.broken
        self.drift_ms = max(self.drift_ms, other.drift_ms)


class Original:
    """What was sent, as it can be recognised."""

    def __init__(self, shots: Sequence[Shot]) -> None:
        pictures = [shot for shot in shots if shot.is_picture]
        self._pictures = [(_essential(nal_units(p.head)), _essential(nal_units(p.slices))) for p in pictures]
        sounds = [shot for shot in shots if shot.coding is Coding.AAC]
        self._sounds = {without_adts(shot.slices): place for place, shot in enumerate(sounds)}
        self._sound_ms = [shot.milliseconds for shot in sounds]

    @property
    def has_its_own_sound(self) -> bool:
        """Sound goes through as it is; else it is transcoded."""
        return bool(self._sounds)

    def is_picture(self, number: int, units: list[bytes]) -> bool:
        """Whether these NAL units are picture `number`, all of it and nothing else."""
        head, slices = self._pictures[number % len(self._pictures)]
        return _essential(units) == [*head, number_message(number)[4:], *slices]

    def sound_number(self, frame: bytes, milliseconds: float) -> tuple[int, float] | None:
        """Which sound this is, and how far it lies from its place; None for one that was never sent.

        `milliseconds` is the time since picture 0.
        """
        place = self._sounds.get(frame)
        if place is None:
            return None
        since = milliseconds - self._sound_ms[place]
        turn = round(since / LOOP_MS)
        return turn * len(self._sound_ms) + place, abs(since - turn * LOOP_MS)


class Witness:
    """Follows one stream from file to file."""

    def __init__(self, original: Original) -> None:
        self.findings = Findings()
        self._original = original
        self.interrupt()

    def interrupt(self) -> None:
        """What comes next does not follow what came last."""
        self._picture: int | None = None
        self._sound: int | None = None
        self._sound_end: int | None = None
        self._first: int | None = None

    def take(self, pictures: Sequence[tuple[int, list[bytes]]], sounds: Sequence[Timed]) -> None:
        """Look at one file's units: pictures as NAL units, sounds as bare frames of AAC."""
        found = self.findings
        found.frames += len(pictures)
        found.sounds += len(sounds)
        is_new = True
        for ticks, units in pictures:
            number = next((n for n in map(read_number_message, units) if n is not None), None)
            if number is None:
                found.strangers += 1
                continue
            found.strangers += not self._original.is_picture(number, units)
            found.holes += self._picture is not None and number != self._picture + 1
            self._picture = number
            if is_new:
                self._first, is_new = ticks - number * FRAME_MS * TICKS_PER_MS, False
        take = self._take_sound if self._original.has_its_own_sound else self._take_transcoded
        for ticks, frame in sounds:
            take(ticks, frame)

    def _take_sound(self, ticks: int, frame: bytes) -> None:
        milliseconds = apart(ticks, self._first or 0) / TICKS_PER_MS
        recognised = self._original.sound_number(frame, milliseconds)
        if recognised is None:
            self.findings.strangers += 1
            return
        number, beside_ms = recognised
        self.findings.beside_ms = max(self.findings.beside_ms, beside_ms)
        self.findings.holes += self._sound is not None and number != self._sound + 1
        self._sound = number

    def _take_transcoded(self, ticks: int, frame: bytes) -> None:
        self.findings.strangers += not frame
        gap = 0 if self._sound_end is None else abs(apart(ticks, self._sound_end))
        self.findings.holes += gap > TRANSCODED_TICKS // 2
        self._sound_end = ticks + TRANSCODED_TICKS


@lru_cache(maxsize=4)
def read_original(film: Path) -> Original:
    """The original of a loop that `footage.write_loop` has written; read once by a process."""
    return Original(read_loop(film))


def apart(later: int, earlier: int) -> int:
    """Ticks from one time to another, which may lie on the other side of the wrap."""
    return (later - earlier + PTS_SPAN // 2) % PTS_SPAN - PTS_SPAN // 2


def nal_units(stream: bytes) -> list[bytes]:
    """The NAL units of an Annex B stream."""
    return [unit.rstrip(b"\0") for unit in stream.split(b"\0\0\1")[1:]]


def sized_units(sample: bytes) -> list[bytes]:
    """The NAL units of a sample in an MP4 file, each led by its length in four bytes."""
    units, place = [], 0
    while place + 4 <= len(sample):
        end = place + 4 + int.from_bytes(sample[place : place + 4])
        units.append(sample[place + 4 : end])
        place = end
    return units


def without_adts(frame: bytes) -> bytes:
    """A frame of AAC without its ADTS head (ISO 13818-7, 6.2), if it has one."""
    if len(frame) < 7 or frame[0] != 0xFF or frame[1] & 0xF0 != 0xF0:
        return frame
    return frame[7:] if frame[1] & 1 else frame[9:]


def _essential(units: list[bytes]) -> list[bytes]:
    return [unit for unit in units if not unit or unit[0] & 31 not in _REPEATED]
