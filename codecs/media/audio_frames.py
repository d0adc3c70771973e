"""Units of sound: how long each one lasts, and AAC made whole (docs/protocols/jt1078.md#audio)."""

import msgspec

from motorpool.codecs.media import adts
from motorpool.codecs.media.units import AccessUnit, Coding

RATE = 8000
"""Samples a second of all codings but AAC."""
ADPCM_HEAD_BYTES = 4
"""Before the codes: predictor low and high, step index, 0."""
_LONGEST_UNIT = RATE
"""Samples of the longest unit that is believed: a second."""


class Sounding(msgspec.Struct, frozen=True, gc=False):
    """A unit of sound and its length."""

    payload: bytes
    samples: int
    rate: int
    """Samples a second."""
    g726_bits: int
    """Of a sample; 0 for all other codings."""
    changed: bool
    """Another coding, rate or number of channels than the unit before."""


class Sounds:
    """Reads one camera's units of sound in order."""

    def __init__(self) -> None:
        self._layout: tuple[Coding, bytes] | None = None
        self._timestamp: int | None = None
        self._rate = 0

    def take(self, unit: AccessUnit) -> Sounding | None:
        """The unit with its length, AAC with a head where it had none; None for what cannot be decoded."""
        payload, coding = unit.payload, unit.coding
        if coding is Coding.AAC:
            layout = self._layout
            if layout is not None and adts.is_plain_frame(payload, layout[1]):
                return Sounding(payload, adts.FRAME_SAMPLES, self._rate, 0, False)
            if not adts.has_head(payload):
                if not 0 < len(payload) <= adts.LARGEST_FRAME:
                    return None
                payload = adts.head(len(payload)) + payload
            extent = adts.extent(payload)
            if extent is None:
                return None
            self._rate = extent.rate
            return Sounding(payload, *extent, 0, self._changes((coding, adts.fixed_part(payload))))

        spacing = 0 if self._timestamp is None else unit.timestamp - self._timestamp
        self._timestamp = unit.timestamp
        bits = g726_bits(len(payload), spacing) if coding is Coding.G726 else 0
        if bits:
            samples = 8 * len(payload) // bits
        elif coding is Coding.ADPCM:
            samples = 2 * (len(payload) - ADPCM_HEAD_BYTES)
        else:
            samples = len(payload)
        if not 0 < samples <= _LONGEST_UNIT:
            return None
        return Sounding(payload, samples, RATE, bits, self._changes((coding, b"")))

    def _changes(self, layout: tuple[Coding, bytes]) -> bool:
        before, self._layout = self._layout, layout
        return before is not None and before != layout


def g726_bits(size: int, spacing_ms: int = 0) -> int:
    """Bits of a sample, 2 to 5, by a unit's bytes: its spacing decides, else it is 40 ms long, else 20."""
    for milliseconds in (spacing_ms, 40, 20, 30, 60):
        samples = milliseconds * RATE // 1000
        if samples > 0 and 8 * size % samples == 0 and 2 <= 8 * size // samples <= 5:
            return 8 * size // samples
    return 4
