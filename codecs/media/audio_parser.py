"""Units of audio: how long each lasts, and ADTS headers where missing (docs/protocols/jt1078.md#audio)."""

from collections import deque

import msgspec

from motorpool.codecs.media import adts
from motorpool.codecs.media.timestamps import TICKS_PER_SECOND
from motorpool.codecs.media.units import AccessUnit, AudioCoding

RATE = 8000
"""Samples per second of all codings but AAC."""
ADPCM_HEADER_BYTES = 4
"""Before the samples: predictor low and high, step index, 0."""
_MAX_UNIT_SAMPLES = RATE
"""A longer unit is rejected: it would last more than a second."""
_MAX_LEADING_UNITS = 500
"""10 s of the shortest."""


class ParsedAudio(msgspec.Struct, frozen=True, gc=False):
    """A unit of audio and its length."""

    coding: AudioCoding
    payload: bytes
    samples: int
    rate: int
    """Samples per second."""
    g726_bits: int
    """Bits of a sample; 0 for all other codings."""
    changed: bool
    """Coding, rate or number of channels differ from the unit before."""


class AudioParser:
    """Parses one camera's units of audio in order."""

    def __init__(self) -> None:
        self._layout: tuple[AudioCoding, bytes] | None = None
        self._timestamp: int | None = None
        self._rate = 0

    def push(self, coding: AudioCoding, unit: AccessUnit) -> ParsedAudio | None:
        """Return a unit with its length, AAC with an ADTS header; None for what cannot be decoded."""
        payload = unit.payload
        if coding is AudioCoding.AAC:
            layout = self._layout
            if layout is not None and adts.is_single_frame(payload, layout[1]):
                return ParsedAudio(coding, payload, adts.FRAME_SAMPLES, self._rate, 0, False)
            if not adts.has_header(payload):
                if not 0 < len(payload) <= adts.MAX_FRAME_BYTES:
                    return None
                payload = adts.header(len(payload)) + payload
            length = adts.measure(payload)
            if length is None:
                return None
            self._rate = length.rate
            return ParsedAudio(
                coding, payload, *length, 0, self._note_layout((coding, adts.fixed_part(payload)))
            )

        spacing = 0 if self._timestamp is None else unit.timestamp - self._timestamp
        self._timestamp = unit.timestamp
        bits = g726_bits(len(payload), spacing) if coding is AudioCoding.G726 else 0
        if bits:
            samples = 8 * len(payload) // bits
        elif coding is AudioCoding.ADPCM:
            samples = 2 * (len(payload) - ADPCM_HEADER_BYTES)
        else:
            samples = len(payload)
        if not 0 < samples <= _MAX_UNIT_SAMPLES:
            return None
        return ParsedAudio(coding, payload, samples, RATE, bits, self._note_layout((coding, b"")))

    def _note_layout(self, layout: tuple[AudioCoding, bytes]) -> bool:
        before, self._layout = self._layout, layout
        return before is not None and before != layout


class LeadingAudio:
    """Units, each with its time of arrival, that wait while it is not known whether pictures come."""

    def __init__(self) -> None:
        self._units: deque[tuple[ParsedAudio, AccessUnit, float]] = deque(maxlen=_MAX_LEADING_UNITS)
        self._ticks = 0

    def keep(self, audio: ParsedAudio, unit: AccessUnit, now: float) -> int:
        """Keep a unit; return the ticks of all that came since the last `take`."""
        self._units.append((audio, unit, now))
        self._ticks += audio.samples * TICKS_PER_SECOND // audio.rate
        return self._ticks

    def take(self) -> list[tuple[ParsedAudio, AccessUnit, float]]:
        """Return what is kept, and keep nothing."""
        kept = list(self._units)
        self._units.clear()
        self._ticks = 0
        return kept


def g726_bits(size: int, spacing_ms: int = 0) -> int:
    """Return the bits of a G.726 sample, 2 to 5, by a unit's bytes.

    Its spacing from the unit before decides, else it is taken to last 40 ms, else 20, 30 or 60.
    """
    for milliseconds in (spacing_ms, 40, 20, 30, 60):
        samples = milliseconds * RATE // 1000
        if samples > 0 and 8 * size % samples == 0 and 2 <= 8 * size // samples <= 5:
            return 8 * size // samples
    return 4
