"""Values from the items of one location that are more than numbers under a key."""

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from motorpool.codecs.devices.network import access_point, cell_tower, network_of

SHOWN_BYTES = 32
"""Bytes of an unknown item that are kept where that is configured."""

_CELL_VOLTS = 6.0
_NO_AREA = frozenset((0xFF_FFFF, 0xFFFF_FFFF))
"""Unknown location areas of three and four bytes; `cell_tower` knows the others."""
_NO_ADDRESS = frozenset((bytes(6), b"\xff" * 6))


class ItemRecord(msgspec.Struct):
    """Where readers of items put what they read."""

    attributes: dict[str, Any]
    alarms: list[str] = []
    alarm_word: int = 0
    """The alarm bits of the location."""
    keeps_unknown: bool = False
    altitude: int | None = None
    """Metres, where an item has them."""
    is_holloo: bool = False
    """Whether a block in the form of Holloo was among the items."""
    is_aovx: bool = False
    """Whether an item was one of AOVX's assets' where the model does not say so."""
    towers: list[dict[str, Any]] = []
    points: list[dict[str, Any]] = []

    @property
    def network(self) -> dict[str, Any] | None:
        """The cells and access points, in the form of the API's `network`; None without any."""
        return network_of(self.towers, self.points) if self.towers or self.points else None

    def add_alarms(self, names: dict[int, str], bits: int) -> None:
        """Add the alarms whose bits are set."""
        if bits:
            self.alarms.extend(name for bit, name in names.items() if bits >> bit & 1)

    def add_cell(self, mcc: int, mnc: int, lac: int, cell: int, signal: int | None = None) -> None:
        """Add a cell unless its area or number is unknown; `signal` is a byte, in dBm where negative."""
        if lac not in _NO_AREA:
            strength = signal - 256 if signal is not None and signal > 127 else signal
            tower = cell_tower(mcc, mnc, lac, cell, strength)
            if tower is not None:
                self.towers.append(tower)

    def add_point(self, address: bytes, signal: int | None = None) -> None:
        """Add an access point with an address of six bytes; `signal` as in `add_cell`."""
        if address not in _NO_ADDRESS and len(address) == 6:
            strength = signal - 256 if signal is not None and signal > 127 else signal
            self.points.append(access_point(address.hex(), strength))

    def add_volts(self, volts: float) -> None:
        """Add a voltage of which the message does not say whose it is: below 6 V the battery's, as a lithium
        cell has less and vehicles have 12 or 24, else the supply's (docs/protocols/jt808-vendors.md#volts).
        """
        self.attributes["battery" if volts < _CELL_VOLTS else "power"] = volts

    def add_known(self, fields: dict[str, Any]) -> None:
        """Add the fields that have a value: neither None nor an empty text."""
        self.attributes.update((key, value) for key, value in fields.items() if value not in (None, ""))

    def keep_unknown(self, name: str, value: bytes) -> None:
        """Keep a value that is not understood, in hexadecimal digits, if that is configured."""
        if self.keeps_unknown and value:
            self.attributes[f"item{name}"] = value[:SHOWN_BYTES].hex()


ItemReader = Callable[[bytes, ItemRecord], bool | None]
"""Reads the value of an item; False where it is not what it might have been, and nothing was read."""
Readers = dict[int, ItemReader]
"""By id << 8 | length, or by id."""


def of_lengths(item_id: int, lengths: Iterable[int], read: ItemReader) -> Readers:
    """Return a reader under each length of an item."""
    return {item_id << 8 | length: read for length in lengths if 0 < length < 256}


def first_of(*readers: ItemReader | None) -> ItemReader:
    """Return a reader that tries each in turn."""
    tried = tuple(reader for reader in readers if reader is not None)

    def read(value: bytes, record: ItemRecord) -> bool:
        return any(reader(value, record) is not False for reader in tried)

    return tried[0] if len(tried) == 1 else read
