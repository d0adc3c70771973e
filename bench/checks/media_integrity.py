"""Checks that received media is what was sent: every picture and sound, byte for byte and in order.

A picture is identified by the number that it carries, an AAC frame by its bytes; the pictures beside a sound
tell which repetition of the loop it belongs to, so that the loss of a whole repetition is found as well.
Parameter sets and delimiters, which a server may add or repeat, are not compared. Transcoded sound can only
be counted: its frames must follow each other without a gap.
"""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import msgspec

from motorpool.bench.vehicles.media_loop import (
    FRAME_MS,
    LOOP_MS,
    LoopUnit,
    number_message,
    read_loop,
    read_number_message,
)
from motorpool.codecs.media.units import AudioCoding

TICKS_PER_MS = 90
PTS_SPAN = 1 << 33
"""Ticks after which MPEG-TS time stamps wrap."""
TRANSCODED_TICKS = 128 * TICKS_PER_MS
"""Of 1,024 samples of telephone sound."""
_REPEATED = frozenset((7, 8, 9))
"""NAL units of H.264 (table 7-1) that are no part of a picture: parameter sets and delimiters."""

Timed = tuple[int, bytes]
"""Time stamp in ticks of 90 kHz, which may wrap, and a coded unit."""


class Findings(msgspec.Struct):
    """Counts of checks and of errors."""

    frames: int = 0
    sounds: int = 0
    """AAC frames."""
    gaps: int = 0
    """Places where pictures or sounds are missing, repeated or out of order."""
    altered: int = 0
    """Pictures and sounds whose bytes differ from what was sent."""
    sound_offset_ms: float = 0.0
    """Largest offset of a sound from its place beside the pictures."""
    decoded: int = 0
    """Files that were also decoded."""
    broken: int = 0
    """Files that cannot be read, or that decode to other pictures."""
    drift_ms: float = 0.0
    """Largest difference, over all streams, of the sum of EXTINF and the span of the pictures' times."""

    def add(self, other: "Findings") -> None:
        """Add the findings of another stream."""
        self.frames += other.frames
        self.sounds += other.sounds
        self.gaps += other.gaps
        self.altered += other.altered
        self.sound_offset_ms = max(self.sound_offset_ms, other.sound_offset_ms)
        self.decoded += other.decoded
        self.broken += other.broken
        self.drift_ms = max(self.drift_ms, other.drift_ms)


class Original:
    """The loop that was sent, indexed so that received units can be identified."""

    def __init__(self, units: Sequence[LoopUnit]) -> None:
        pictures = [unit for unit in units if unit.is_video]
        self._pictures = [
            (_picture_units(nal_units(p.head)), _picture_units(nal_units(p.slices))) for p in pictures
        ]
        sounds = [unit for unit in units if unit.coding is AudioCoding.AAC]
        self._sounds = {without_adts(unit.slices): place for place, unit in enumerate(sounds)}
        self._sound_ms = [unit.milliseconds for unit in sounds]

    @property
    def has_its_own_sound(self) -> bool:
        """Whether the sound is AAC and passes unchanged; otherwise it is transcoded."""
        return bool(self._sounds)

    def is_picture(self, number: int, units: list[bytes]) -> bool:
        """Return whether these NAL units are exactly picture `number`."""
        head, slices = self._pictures[number % len(self._pictures)]
        return _picture_units(units) == [*head, number_message(number)[4:], *slices]

    def sound_number(self, frame: bytes, milliseconds: float) -> tuple[int, float] | None:
        """Return the number of a sound and its offset in milliseconds; None if it was never sent.

        `milliseconds` is the time since picture 0.
        """
        place = self._sounds.get(frame)
        if place is None:
            return None
        since = milliseconds - self._sound_ms[place]
        turn = round(since / LOOP_MS)
        return turn * len(self._sound_ms) + place, abs(since - turn * LOOP_MS)


class StreamChecker:
    """Checks the consecutive files of one stream."""

    def __init__(self, original: Original) -> None:
        self.findings = Findings()
        self._original = original
        self.reset()

    def reset(self) -> None:
        """Forget the position in the stream: the next file need not continue the last one."""
        self._picture: int | None = None
        self._sound: int | None = None
        self._sound_end: int | None = None
        self._first: int | None = None

    def check_file(self, pictures: Sequence[tuple[int, list[bytes]]], sounds: Sequence[Timed]) -> None:
        """Check the units of one file: pictures as NAL units, sounds as AAC frames without ADTS."""
        found = self.findings
        found.frames += len(pictures)
        found.sounds += len(sounds)
        is_new = True
        for ticks, units in pictures:
            number = next((n for n in map(read_number_message, units) if n is not None), None)
            if number is None:
                found.altered += 1
                continue
            found.altered += not self._original.is_picture(number, units)
            found.gaps += self._picture is not None and number != self._picture + 1
            self._picture = number
            if is_new:
                self._first, is_new = ticks - number * FRAME_MS * TICKS_PER_MS, False
        take = self._check_sound if self._original.has_its_own_sound else self._check_transcoded
        for ticks, frame in sounds:
            take(ticks, frame)

    def _check_sound(self, ticks: int, frame: bytes) -> None:
        milliseconds = ticks_between(ticks, self._first or 0) / TICKS_PER_MS
        recognised = self._original.sound_number(frame, milliseconds)
        if recognised is None:
            self.findings.altered += 1
            return
        number, sound_offset_ms = recognised
        self.findings.sound_offset_ms = max(self.findings.sound_offset_ms, sound_offset_ms)
        self.findings.gaps += self._sound is not None and number != self._sound + 1
        self._sound = number

    def _check_transcoded(self, ticks: int, frame: bytes) -> None:
        self.findings.altered += not frame
        gap = 0 if self._sound_end is None else abs(ticks_between(ticks, self._sound_end))
        self.findings.gaps += gap > TRANSCODED_TICKS // 2
        self._sound_end = ticks + TRANSCODED_TICKS


@lru_cache(maxsize=4)
def read_original(loop_file: Path) -> Original:
    """Read a loop written by `media_loop.write_loop`; cached in the process."""
    return Original(read_loop(loop_file))


def ticks_between(later: int, earlier: int) -> int:
    """Return the ticks from `earlier` to `later`, across a wrap if necessary."""
    return (later - earlier + PTS_SPAN // 2) % PTS_SPAN - PTS_SPAN // 2


def nal_units(stream: bytes) -> list[bytes]:
    """Split an Annex B stream into NAL units."""
    return [unit.rstrip(b"\0") for unit in stream.split(b"\0\0\1")[1:]]


def sized_units(sample: bytes) -> list[bytes]:
    """Split a sample of an MP4 file into NAL units, each preceded by its length in four bytes."""
    units, place = [], 0
    while place + 4 <= len(sample):
        end = place + 4 + int.from_bytes(sample[place : place + 4])
        units.append(sample[place + 4 : end])
        place = end
    return units


def without_adts(frame: bytes) -> bytes:
    """Strip the ADTS header (ISO 13818-7, section 6.2) from an AAC frame, if it has one."""
    if len(frame) < 7 or frame[0] != 0xFF or frame[1] & 0xF0 != 0xF0:
        return frame
    return frame[7:] if frame[1] & 1 else frame[9:]


def _picture_units(units: list[bytes]) -> list[bytes]:
    return [unit for unit in units if not unit or unit[0] & 31 not in _REPEATED]
