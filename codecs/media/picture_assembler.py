"""Access units of one camera into pictures that can be muxed (docs/protocols/jt1078.md#pictures)."""

import msgspec

from motorpool.codecs.media.annexb import SetKey
from motorpool.codecs.media.units import AccessUnit, Coding
from motorpool.codecs.media.video_codecs import VIDEO_CODECS, VideoCodec

_MAX_PENDING_BYTES = 64 << 10


class CodedPicture(msgspec.Struct, frozen=True, gc=False):
    """One coded picture; a key frame with all that a decoder needs."""

    payload: bytes
    keyframe: bool
    """Decodable from here: a key frame by its NAL type, with its parameter sets in front."""
    changed: bool = False
    """Its parameter sets or its coding differ from those of the pictures before."""


class PictureAssembler:
    """Joins parameter sets that come alone to the next picture, and repeats them for key frames without."""

    def __init__(self) -> None:
        self.coding: Coding | None = None
        """Of the last unit; None before the first."""
        self._codec: VideoCodec
        self._sets: dict[SetKey, bytes] = {}
        self._used_sets: dict[SetKey, bytes] | None = None
        """Those of the last key frame."""
        self._pending = b""

    def push(self, unit: AccessUnit) -> CodedPicture | None:
        """Return the unit as a picture; None for parameter sets alone, which wait for the next picture."""
        if unit.coding is not self.coding:
            self.coding = unit.coding
            self._codec = VIDEO_CODECS[unit.coding]
            self._sets = {}
            self._pending = b""
        codec = self._codec
        payload = unit.payload
        found = codec.scan(payload)
        if not found.has_picture:
            if found.sets:
                self._remember(found.sets, codec.root_sets)
                if len(self._pending) + len(payload) <= _MAX_PENDING_BYTES:
                    self._pending += payload
            return None
        if self._pending:
            payload = self._pending + payload
            found = codec.scan(payload)
            self._pending = b""
        if found.sets:
            self._remember(found.sets, codec.root_sets)
        if not found.keyframe:
            return CodedPicture(payload, keyframe=False)
        if not _contains_types(self._sets, codec.required_sets):
            return CodedPicture(payload, keyframe=False)
        if not _contains_types(found.sets, codec.required_sets):
            missing = [self._sets[key] for key in sorted(self._sets) if key not in found.sets]
            payload = codec.insert_sets(payload, missing)
        changed = self._used_sets is not None and self._used_sets != self._sets
        self._used_sets = dict(self._sets)
        return CodedPicture(payload, keyframe=True, changed=changed)

    def _remember(self, sets: dict[SetKey, bytes], root_sets: frozenset[int]) -> None:
        if any(key[0] in root_sets and self._sets.get(key, new) != new for key, new in sets.items()):
            # The other root sets stay; what builds on the one that is replaced does not.
            self._sets = {key: old for key, old in self._sets.items() if key[0] in root_sets}
        self._sets.update(sets)


def _contains_types(sets: dict[SetKey, bytes], required: frozenset[int]) -> bool:
    return required.issubset({nal_type for nal_type, _ in sets})
