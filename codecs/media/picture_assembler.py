"""Access units with NAL units into pictures that can be muxed (docs/protocols/jt1078.md#pictures)."""

from collections.abc import Callable

from motorpool.codecs.media.annexb import DELTA_PICTURE, ScannedUnit, SetKey, insert_units
from motorpool.codecs.media.video_codec import CodedPicture

_MAX_PENDING_BYTES = 64 << 10


class PictureAssembler:
    """Joins parameter sets that come alone to the next picture, and repeats them for key frames without."""

    def __init__(
        self,
        scan: Callable[[bytes], ScannedUnit],
        is_delimiter: Callable[[int], bool],
        required_sets: frozenset[int],
        root_sets: frozenset[int],
    ) -> None:
        """`scan` parses an access unit up to its first slice; `is_delimiter` knows what must stay in front.

        `required_sets` are the NAL unit types of parameter sets without which a key frame does not decode,
        `root_sets` those on which the others build: a new one voids the others.
        """
        self._scan = scan
        self._is_delimiter = is_delimiter
        self._required_sets = required_sets
        self._root_sets = root_sets
        self._sets: dict[SetKey, bytes] = {}
        self._pending = b""

    def push(self, payload: bytes) -> CodedPicture | None:
        """Return the unit as a picture; None for parameter sets alone, which wait for the next picture."""
        found = self._scan(payload)
        if found is DELTA_PICTURE and not self._pending:
            return CodedPicture(payload, keyframe=False)
        if not found.has_picture:
            if found.sets:
                self._remember(found.sets)
                if len(self._pending) + len(payload) <= _MAX_PENDING_BYTES:
                    self._pending += payload
            return None
        if self._pending:
            payload = self._pending + payload
            found = self._scan(payload)
            self._pending = b""
        if found.sets:
            self._remember(found.sets)
        if not found.keyframe:
            return CodedPicture(payload, keyframe=False)
        if not _contains_types(self._sets, self._required_sets):
            return CodedPicture(payload, keyframe=False)
        if not _contains_types(found.sets, self._required_sets):
            missing = [self._sets[key] for key in sorted(self._sets) if key not in found.sets]
            payload = insert_units(payload, missing, self._is_delimiter)
        return CodedPicture(payload, keyframe=True, configuration=dict(self._sets))

    def _remember(self, sets: dict[SetKey, bytes]) -> None:
        root_sets = self._root_sets
        if any(key[0] in root_sets and self._sets.get(key, new) != new for key, new in sets.items()):
            # The other root sets stay; what builds on the one that is replaced does not.
            self._sets = {key: old for key, old in self._sets.items() if key[0] in root_sets}
        self._sets.update(sets)


def _contains_types(sets: dict[SetKey, bytes], required: frozenset[int]) -> bool:
    return required.issubset({nal_type for nal_type, _ in sets})
