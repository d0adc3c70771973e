"""Items of cells and access points (docs/protocols/jt808-vendors.md#cells-and-wi-fi)."""

from operator import itemgetter
from struct import Struct

from motorpool.codecs.devices.jt808.vendors.fields import pieces
from motorpool.codecs.devices.jt808.vendors.record import ItemReader, ItemRecord, Readers, of_lengths

_CELL_8 = Struct(">HBHHB")
_CELL_10 = Struct(">HBHIB")
_CELL_66 = Struct(">BHIH")
_CELL_FIELDS = ("mcc", "mnc", "lac", "cell", "signal")


def cells(form: str, fields: str) -> ItemReader:
    """Return a reader of cells whose fields have this form and order: `">HHIH"` and `"mcc mnc cell lac"`."""
    layout, names = Struct(form), fields.split()
    ordered = itemgetter(*(names.index(name) for name in _CELL_FIELDS if name in names))

    def read(value: bytes, record: ItemRecord) -> None:
        for cell in layout.iter_unpack(value):
            record.add_cell(*ordered(cell))

    return read


def _counted_cells(value: bytes, record: ItemRecord) -> bool:
    """A count and cells of 8 bytes, or of 10 with a cell number of four."""
    for form in (_CELL_8, _CELL_10):
        if len(value) == 1 + value[0] * form.size:
            for cell in form.iter_unpack(value[1:]):
                record.add_cell(*cell)
            return True
    return False


def _cells_of_one_country(value: bytes, record: ItemRecord) -> bool:
    if len(value) % _CELL_66.size != 2:
        return False
    mcc = int.from_bytes(value[:2], "big")
    for signal, mnc, cell, lac in _CELL_66.iter_unpack(value[2:]):
        record.add_cell(mcc, mnc, lac, cell, signal)
    return True


def _cells_of_one_network(value: bytes, record: ItemRecord) -> None:
    mcc, mnc = int.from_bytes(value[:2], "big"), int.from_bytes(value[2:4], "big")
    for cell in pieces(value[4:], 8):
        record.add_cell(mcc, mnc, int.from_bytes(cell[:3], "big"), int.from_bytes(cell[3:7], "big"), cell[7])


def _counted_points(value: bytes, record: ItemRecord) -> bool:
    is_counted = len(value) == 1 + value[0] * 7
    if is_counted:
        _points(value[1:], record)
    return is_counted


def _points(value: bytes, record: ItemRecord) -> None:
    for point in pieces(value, 7):
        record.add_point(point[:6], point[6])


def addresses_as_text(value: bytes, record: ItemRecord) -> bool:
    """Read a count and `address,signal,...`."""
    words = value[1:].decode("ascii", "replace").rstrip(",\0").split(",")
    if len(words) % 2:
        return False
    found: list[tuple[bytes, int]] = []
    for address, signal in zip(words[::2], words[1::2], strict=True):
        if len(signal) > 4:
            return False
        try:
            found.append((bytes.fromhex(address.replace(":", "")), int(signal)))
        except ValueError:
            return False
    for octets, strength in found:
        record.add_point(octets, strength)
    return True


READERS: Readers = {
    **of_lengths(0x53, (1 + cells * size for size in (8, 10) for cells in range(1, 32)), _counted_cells),
    **of_lengths(0x5D, range(11, 256, 10), _counted_cells),
    **of_lengths(0x66, range(11, 256, 9), _cells_of_one_country),
    **of_lengths(0xE1, range(12, 256, 8), _cells_of_one_network),
    0xEE_0A: cells(">HBHIB", "mcc mnc lac cell signal"),
    0xFD_0A: cells(">HHIH", "mcc mnc cell lac"),
    **of_lengths(0xF0, range(13, 256, 13), cells(">HHIIB", "mcc mnc cell lac signal")),
    0xFF_0C: cells(">HHII", "mcc mnc lac cell"),
    **of_lengths(0x54, range(8, 256, 7), _counted_points),
    **of_lengths(0xEC, range(7, 256, 7), _points),
    **of_lengths(0xF4, range(7, 256, 7), _points),
    **of_lengths(0x50, range(7, 256, 7), _points),
}
