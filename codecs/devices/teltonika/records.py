"""The records of codecs 7, 8, 8 extended and 16 (docs/protocols/teltonika.md#records)."""

from datetime import UTC, datetime, timedelta
from struct import Struct
from typing import Any, Final

import msgspec

from motorpool.codecs.devices.attributes import add_alarms
from motorpool.codecs.devices.draft import Draft
from motorpool.codecs.devices.network import cell_tower, network_of
from motorpool.codecs.devices.teltonika.elements import (
    Family,
    add_elements,
    add_long_element,
    take_card,
    take_cells,
)
from motorpool.codecs.reader import ByteReader
from motorpool.codecs.reports import PositionReport
from motorpool.codecs.units import KNOTS_PER_KMH, checked_coordinates

CODEC_7, CODEC_8, CODEC_8_EXTENDED, CODEC_16 = 0x07, 0x08, 0x8E, 0x10
RECORD_CODECS: Final = frozenset((CODEC_7, CODEC_8, CODEC_8_EXTENDED, CODEC_16))
_UNITS_PER_DEGREE = 10_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EPOCH_OF_CODEC_7 = datetime(2007, 1, 1, tzinfo=UTC)
_HEADER = Struct(">QBiihHBH")
"""Time, priority, longitude, latitude, altitude, course, satellites, speed."""
_SPEED = 24
"""The element with the speed of the vehicle."""
_NO_SPEED = frozenset((0xFF, 0xFFFF))


class _Layout(msgspec.Struct, frozen=True):
    """Sizes of the fields of IO elements, in bytes."""

    number: int
    count: int
    has_cause: bool = False
    has_long_elements: bool = False


_LAYOUTS: Final = {
    CODEC_8: _Layout(1, 1),
    CODEC_8_EXTENDED: _Layout(2, 2, has_long_elements=True),
    CODEC_16: _Layout(2, 1, has_cause=True),
}


def read_record(codec: int, reader: ByteReader, family: Family, *, has_long_values: bool) -> PositionReport:
    """Read a record.

    Args:
        codec: 8, 8 extended or 16.
        reader: the records that are left.
        family: what the elements mean in the device's model.
        has_long_values: whether there is a group of values of 16 bytes, which some devices add to codec 8.
    """
    milliseconds, priority, longitude, latitude, altitude, course, satellites, speed = _HEADER.unpack(
        reader.take(_HEADER.size)
    )
    attributes: dict[str, Any] = {"priority": priority, "sat": satellites}
    layout = _LAYOUTS[codec]
    if event := reader.uint(layout.number):
        attributes["event"] = event
    if layout.has_cause:
        reader.skip(1)
    elements = _read_elements(reader, layout, has_long_values=has_long_values and codec == CODEC_8)
    long_elements = []
    if layout.has_long_elements:
        long_elements = [(reader.uint16(), reader.take(reader.uint16())) for _ in range(reader.uint16())]
    checked_coordinates(latitude / _UNITS_PER_DEGREE, longitude / _UNITS_PER_DEGREE)
    add_elements(attributes, elements, family)
    for number, value in long_elements:
        add_long_element(attributes, number, value)
    if family.is_six:
        take_card(attributes)
    for number, value in elements:
        if number == _SPEED:
            speed = int.from_bytes(value, "big")
    if speed in _NO_SPEED and not satellites:
        speed = 0
    towers = take_cells(attributes, family)
    return PositionReport(
        attributes,
        _EPOCH + timedelta(milliseconds=milliseconds),
        # Without a fix the device repeats the last place, or has none.
        located=bool(satellites or latitude or longitude),
        valid=bool(satellites),
        latitude=latitude / _UNITS_PER_DEGREE,
        longitude=longitude / _UNITS_PER_DEGREE,
        altitude=float(altitude),
        speed=speed * KNOTS_PER_KMH,
        course=float(course) if course <= 360 else 0.0,
        network=network_of(towers) if towers else None,
    )


def _read_elements(reader: ByteReader, layout: _Layout, *, has_long_values: bool) -> list[tuple[int, bytes]]:
    reader.skip(layout.count)  # of all groups
    elements: list[tuple[int, bytes]] = []
    width = layout.number
    for size in (1, 2, 4, 8, 16) if has_long_values else (1, 2, 4, 8):
        count = reader.uint(layout.count)
        if not count:
            continue
        step = width + size
        group = reader.take(count * step)
        elements += [
            (int.from_bytes(group[at : at + width], "big"), group[at + width : at + step])
            for at in range(0, count * step, step)
        ]
    return elements


def read_record_of_codec_7(reader: ByteReader) -> PositionReport:
    """Read a record of GH3000."""
    word = reader.uint32()
    moment = _EPOCH_OF_CODEC_7 + timedelta(seconds=word & 0x3FFF_FFFF)
    draft = Draft({"priority": word >> 30}, moment)
    mask = reader.uint8()
    if mask & 1:
        _read_place_of_codec_7(reader, draft)
    for bit, size in ((2, 1), (4, 2), (8, 4)):
        if mask & bit:
            for _ in range(reader.uint8()):
                _add_value_of_codec_7(draft.attributes, reader.uint8(), reader.uint(size))
    return draft.report()


def _read_place_of_codec_7(reader: ByteReader, draft: Draft) -> None:
    attributes, mask = draft.attributes, reader.uint8()
    latitude, longitude = (reader.float32(), reader.float32()) if mask & 1 else (0.0, 0.0)
    if mask & 2:
        draft.altitude = float(reader.sint(2))
    if mask & 4:
        draft.course = reader.uint8() * 360 / 256
    if mask & 8:
        draft.speed = reader.uint8() * KNOTS_PER_KMH
    if mask & 16:
        attributes["sat"] = reader.uint8()
    if mask & 32:
        draft.towers.append(cell_tower(None, None, reader.uint16(), reader.uint16()))
    if mask & 64:
        attributes["rssi"] = reader.uint8()
    if mask & 128:
        attributes["operator"] = str(reader.uint32())
    draft.set_place(latitude, longitude)
    draft.located = bool(mask & 1)
    draft.valid = draft.located and attributes.get("sat") != 0


def _add_value_of_codec_7(attributes: dict[str, Any], number: int, value: int) -> None:
    match number:
        case 1:
            attributes["batteryLevel"] = min(100, value)
        case 2:
            attributes["usbConnected"] = value == 1
        case 5:
            attributes["uptime"] = value
        case 20 | 21 | 22:
            attributes[("hdop", "vdop", "pdop")[number - 20]] = value / 10
        case 67:
            attributes["battery"] = value / 1000
        case 221:
            attributes["button"] = value
        case 222:
            if value == 1:
                add_alarms(attributes, ("sos",))
        case 240:
            attributes["motion"] = value == 1
        case 244:
            attributes["roaming"] = value == 1
        case _:
            attributes[f"io{number}"] = value
