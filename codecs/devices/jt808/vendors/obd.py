"""Engine data as items of locations: 0xF3, 0x80 to 0xA0, and `$OBD-RT` texts
(docs/protocols/jt808-vendors.md#engine-data).
"""

from typing import Any

from motorpool.codecs.devices.jt808.vendors.fields import Quantity, ascii_text, percent_of_255, walk
from motorpool.codecs.devices.jt808.vendors.record import ItemRecord, Readers, of_lengths

OBD_TEXT = b"$OBD-RT,"

_F3_QUANTITIES: dict[int, Quantity] = {
    0x0002: Quantity("obdSpeed", -10),
    0x0003: Quantity("rpm"),
    0x0004: Quantity("power", -1000),
    0x0005: Quantity("obdOdometer", 100),
    0x0007: Quantity("fuelConsumption", -10),
    0x0009: Quantity("coolantTemp", 1, -40),
    0x000B: Quantity("intakePressure"),
    0x000C: Quantity("intakeTemp", 1, -40),
    0x000D: Quantity("intakeFlow", -100),
    0x0100: Quantity("tripOdometer", 100),
    0x0102: Quantity("tripFuel", -10),
    0x0112: Quantity("hardAccelerationCount"),
    0x0113: Quantity("hardDecelerationCount"),
    0x0114: Quantity("hardCorneringCount"),
}
_LOAD, _THROTTLE, _VIN, _CVN, _CALID = 0x0008, 0x000E, 0x0050, 0x0051, 0x0052
_LAST_F3 = 0x01FF

_SEQUENCE_QUANTITIES: dict[int, Quantity] = {
    0x80: Quantity("obdSpeed"),
    0x81: Quantity("rpm"),
    0x82: Quantity("power", -10),
    0x83: Quantity("engineLoad"),
    0x84: Quantity("coolantTemp", 1, -40),
    0x85: Quantity("fuelConsumption"),
    0x86: Quantity("intakeTemp", 1, -40),
    0x87: Quantity("intakeFlow"),
    0x88: Quantity("intakePressure"),
    0x89: Quantity("throttle"),
    0x8C: Quantity("obdOdometer", 100),
    0x8D: Quantity("tripOdometer", 1000),
    0x8E: Quantity("fuelLevel"),
}

_TEXT_FIELDS = (
    "power rpm obdSpeed throttle engineLoad coolantTemp fuelConsumption fuelEconomy tripOdometer obdOdometer"
    " tripFuelUsed fuelUsed faultCount hardAccelerationCount hardDecelerationCount"
)
"""Fields of `$OBD-RT` in their order."""
_KILOMETRES = ("tripOdometer", "obdOdometer")
_MAX_VALUE = 1e12
"""No figure of a vehicle comes near."""


def obd_block(value: bytes, record: ItemRecord) -> bool:
    """Read item 0xF3 of OBD trackers; a field may have one byte or two."""
    fields = walk(value)
    if fields is None or any(number > _LAST_F3 for number, _ in fields):
        return False
    attributes = record.attributes
    for number, content in fields:
        quantity = _F3_QUANTITIES.get(number)
        if quantity is not None and len(content) in (1, 2, 4):
            quantity.read(content, record)
        elif number == _LOAD and len(content) == 2:
            attributes["engineLoad"] = int.from_bytes(content, "big") / 10
        elif number == _LOAD and len(content) == 1:
            attributes["engineLoad"] = percent_of_255(content[0])
        elif number == _THROTTLE and len(content) in (1, 2):
            attributes["throttle"] = percent_of_255(int.from_bytes(content, "big"))
        elif number == _VIN:
            record.add_known({"vin": ascii_text(content[:17])})
        elif number == _CVN:
            record.add_known({"cvn": content.hex()})
        elif number == _CALID:
            record.add_known({"calid": ascii_text(content)})
        else:
            record.keep_unknown(f"0xF3{number:04X}", content)
    return True


def read_obd_text(text: str) -> dict[str, Any]:
    """Return the fields of a `$OBD-RT,...` text; empty fields, and what is no number, are left out."""
    attributes: dict[str, Any] = {}
    for key, word in zip(_TEXT_FIELDS.split(), text.strip("\0\r\n ").split(",")[1:], strict=False):
        try:
            number = float(word)
        except ValueError:
            continue
        if not abs(number) < _MAX_VALUE:
            continue
        number *= 1000 if key in _KILOMETRES else 1
        attributes[key] = int(number) if number == int(number) and "." not in word else round(number, 5)
    speed = attributes.get("obdSpeed")
    if speed and "fuelConsumption" in attributes:  # l/100 km while driving, l/h while standing
        attributes["fuelConsumption"] = round(attributes["fuelConsumption"] * speed / 100, 5)
    return attributes


def obd_text(value: bytes, record: ItemRecord) -> bool:
    """Read an item that is a `$OBD-RT` text."""
    if not value.startswith(OBD_TEXT):
        return False
    record.attributes |= read_obd_text(value.decode("ascii", "replace"))
    return True


def _vin(value: bytes, record: ItemRecord) -> None:
    record.add_known({"vin": ascii_text(value)})


def _codes(value: bytes, record: ItemRecord) -> None:
    record.add_known({"dtcs": " ".join(ascii_text(value).replace(",", " ").split())})


SEQUENCE: Readers = {
    item_id << 8 | length: quantity.read
    for item_id, quantity in _SEQUENCE_QUANTITIES.items()
    for length in (1, 2, 4)
}
"""Items that have this meaning behind item 0x80 of one byte, by id << 8 | length."""
SEQUENCE |= {0x8B_11: _vin} | of_lengths(0xA0, range(1, 256), _codes)
