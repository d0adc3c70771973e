"""The JSON of devices in lists, encoded again when the row or the status has changed.

It is the same for all who may read a device; which ones a list has is asked of the database each time.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from motorpool.actors.messages.topics import DeviceStatus
from motorpool.actors.words.record_json import encode, quoted_time
from motorpool.storage import secret_attributes
from motorpool.storage.database.queries import Row
from motorpool.storage.devices import devices
from motorpool.storage.encryption import Keyring
from motorpool.storage.records import Device

MAX_BYTES = 16 << 20
"""Of all JSON that is kept."""
_Wire = msgspec.defstruct("DeviceWire", [(name, Any) for name in Device.__struct_encode_fields__], gc=False)
"""The fields of a device, whose values may be JSON."""


def encode_rows(rows: Sequence[Row], live: Mapping[int, DeviceStatus], keyring: Keyring) -> msgspec.Raw:
    """Return the JSON of `devices.rows_with_text` with their status, and commas between devices.

    The result equals the JSON of the records, but no records are made; attributes without secrets are copied.
    """
    raw, wire, may_hold = msgspec.Raw, _Wire, secret_attributes.may_hold
    found: list[object] = []
    for row in rows:
        status = live[row[0]]
        number, name, unique_id, *others, expiration, text = row.values()
        if may_hold(text):
            values = {**dict(row.items()), "attributes": msgspec.json.decode(text)}
            found.append(raw(encode(status.fill_in(devices.TABLE.from_row(values, keyring)))))
            continue
        last, until = _time(status.last_update), _time(expiration)
        found.append(
            wire(number, name, unique_id, status.status, last, status.position_id, *others, until, raw(text))
        )
    return raw(msgspec.json.encode(found)[1:-1])


def _time(instant: datetime | None) -> msgspec.Raw | None:
    return None if instant is None else msgspec.Raw(quoted_time(instant))


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
