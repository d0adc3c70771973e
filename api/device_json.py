"""The JSON of devices in lists, encoded again when the row or the status has changed.

It is the same for all who may read a device; which ones a list has is asked of the database each time.
"""

from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from motorpool.actors.messages.topics import DeviceStatus
from motorpool.actors.words.record_json import encode
from motorpool.storage.records import Device

MAX_BYTES = 16 << 20
"""Of all JSON that is kept."""


class _Encoded(NamedTuple):
    row: Device
    """As it was read; a row that is read again is another object."""
    status: DeviceStatus
    text: msgspec.Raw
    size: int


class DeviceJsonCache:
    """Keeps the JSON of the devices encoded last, without their attributes if `bare`."""

    def __init__(self, *, bare: bool = False, max_bytes: int = MAX_BYTES) -> None:
        self._bare = bare
        self._max_bytes = max_bytes
        self._encoded: dict[int, _Encoded] = {}
        self._bytes = 0

    def encode_all(self, devices: Iterable[tuple[Device, DeviceStatus]]) -> list[msgspec.Raw]:
        """Return the JSON of each, with its status."""
        encoded = self._encoded
        found = []
        for row, status in devices:
            kept = encoded.get(row.id)
            if kept is None or kept.row is not row or kept.status != status:
                kept = self._encode(row, status)
            found.append(kept.text)
        if self._bytes > self._max_bytes:
            self._drop_oldest()
        return found

    def _encode(self, row: Device, status: DeviceStatus) -> _Encoded:
        shown = status.fill_in(row)
        text = encode(msgspec.structs.replace(shown, attributes={}) if self._bare else shown)
        kept = _Encoded(row, status, msgspec.Raw(text), len(text))
        # Dictionaries keep the order in which they were filled: the one encoded last goes to the end.
        former = self._encoded.pop(row.id, None)
        self._bytes += kept.size - (former.size if former is not None else 0)
        self._encoded[row.id] = kept
        return kept

    def _drop_oldest(self) -> None:
        """Keep the newest half."""
        for device_id in list(self._encoded):
            if self._bytes <= self._max_bytes // 2:
                return
            self._bytes -= self._encoded.pop(device_id).size
