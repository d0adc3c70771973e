"""Units of one camera into pictures that can be cut and muxed (docs/protocols/jt1078.md#pictures)."""

import msgspec

from motorpool.codecs.media import h264, h265
from motorpool.codecs.media.annexb import SetKey
from motorpool.codecs.media.units import AccessUnit, Coding

_MAX_PENDING_BYTES = 64 << 10
_START_CODE = b"\0\0\0\1"


class Picture(msgspec.Struct, frozen=True, gc=False):
    """One picture with all that a decoder needs at a key frame."""

    payload: bytes
    keyframe: bool
    """Decodable from here: a key frame by its NAL type, parameter sets in front of it."""
    changed: bool = False
    """Its parameter sets or its coding differ from those of the pictures before."""


class Pictures:
    """Joins parameter sets that come alone to the next picture, and remembers them for key frames without."""

    def __init__(self) -> None:
        self.coding: Coding | None = None
        self._sets: dict[SetKey, bytes] = {}
        self._played_sets: dict[SetKey, bytes] | None = None
        self._pending = b""

    def take(self, unit: AccessUnit) -> Picture | None:
        """The unit as a picture; None for parameter sets alone, which wait for the next picture."""
        codec = h264 if unit.coding is Coding.H264 else h265
        if unit.coding is not self.coding:
            self.coding = unit.coding
            self._sets = {}
            self._pending = b""
        payload = unit.payload
        found = codec.leading(payload)
        if not found.has_picture:
            if found.sets:
                self._remember(found.sets, codec.ROOT_SETS)
                if len(self._pending) + len(payload) <= _MAX_PENDING_BYTES:
                    self._pending += payload
            return None
        if self._pending:
            payload = self._pending + payload
            found = codec.leading(payload)
            self._pending = b""
        if found.sets:
            self._remember(found.sets, codec.ROOT_SETS)
        if not found.keyframe:
            return Picture(payload, keyframe=False)
        if not _hold(self._sets, codec.REQUIRED_SETS):
            return Picture(payload, keyframe=False)
        if not _hold(found.sets, codec.REQUIRED_SETS):
            payload = self._with_sets(payload, found.sets)
        changed = self._played_sets is not None and self._played_sets != self._sets
        self._played_sets = dict(self._sets)
        return Picture(payload, keyframe=True, changed=changed)

    def _remember(self, sets: dict[SetKey, bytes], root_sets: frozenset[int]) -> None:
        if any(key[0] in root_sets and self._sets.get(key, new) != new for key, new in sets.items()):
            # Sets of the same unit type and of those it builds on stay; what hung on the old root does not.
            self._sets = {key: old for key, old in self._sets.items() if key[0] in root_sets}
        self._sets.update(sets)

    def _with_sets(self, payload: bytes, own_sets: dict[SetKey, bytes]) -> bytes:
        """`payload` with the remembered sets that it lacks, behind its delimiter."""
        is_delimiter = h264.is_delimiter if self.coding is Coding.H264 else h265.is_delimiter
        lacking = [_START_CODE + self._sets[key] for key in sorted(self._sets) if key not in own_sets]
        start = payload.find(b"\0\0\1")
        at = 0
        if is_delimiter(payload[start + 3]):
            at = payload.find(b"\0\0\1", start + 3)
            at -= payload[at - 1] == 0
        return payload[:at] + b"".join(lacking) + payload[at:]


def _hold(sets: dict[SetKey, bytes], required: frozenset[int]) -> bool:
    return required.issubset({nal_type for nal_type, _ in sets})
