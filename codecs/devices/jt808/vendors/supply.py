"""Items of supply, charge, distance and fuel (docs/protocols/jt808-vendors.md#supply-distance-and-fuel)."""

from motorpool.codecs.devices.jt808.vendors.record import ItemRecord, Readers

_CHARGING = 0xFF
"""Sent instead of a percentage while the battery is charging."""


def _decivolts(value: bytes, record: ItemRecord) -> None:
    record.add_volts(int.from_bytes(value, "big") / 10)


def _percent_or_charging(value: bytes, record: ItemRecord) -> None:
    if value[0] == _CHARGING:
        record.attributes["charge"] = True
    else:
        record.attributes["batteryLevel"] = value[0]


def _level(value: bytes, record: ItemRecord) -> None:
    """A level from 0 to 10 and a percentage, which some leave 0."""
    level, percent = value
    record.attributes["batteryLevel"] = percent if 1 <= percent <= 100 else min(level, 10) * 10


def _percent_and_volts(value: bytes, record: ItemRecord) -> None:
    volts = int.from_bytes(value[2:4], "big") / 100
    record.add_volts(volts)
    if value[1] or record.attributes.get("battery") == volts:  # 0 beside the supply's voltage is no level
        record.attributes["batteryLevel"] = value[1]


def _charge_and_percent(value: bytes, record: ItemRecord) -> None:
    record.attributes["charge"] = value[0] == 0
    record.attributes["batteryLevel"] = value[1]


def _radio_and_supplies(value: bytes, record: ItemRecord) -> None:
    record.attributes |= {
        "rssi": value[0],
        "power": int.from_bytes(value[1:3], "big") / 1000,
        "battery": int.from_bytes(value[3:5], "big") / 1000,
        "sat": value[5],
    }


def lock_text(value: bytes, record: ItemRecord) -> bool:
    """Read `*M00,...#`: from character 8 the state of the lock, whose third to fifth are 0.01 V."""
    digits = value[10:13]
    if not value.startswith(b"*M00") or not digits.isdigit() or len(digits) < 3:
        return False
    record.attributes["battery"] = int(digits) / 100
    return True


NUMBERS: dict[int, tuple[str, float]] = {
    0x61_02: ("power", -100),
    0x82_02: ("power", -10),
    0xF1_04: ("power", -1000),
    0xFE_02: ("power", -10),
    0x69_02: ("battery", -100),
    0xD5_02: ("battery", -100),
    0x62_02: ("battery", -10),
    0xE1_02: ("power", -10),
    0xFE_01: ("batteryLevel", 1),
    0x68_02: ("batteryLevel", -100),
    0xE2_04: ("fuel", -10),
    0xAC_04: ("odometer", 1),
    0xFE_04: ("odometer", 1),
}
"""Items that are one number, as in `items.py: NUMERIC_ITEMS`."""

READERS: Readers = {
    0xD3_02: _decivolts,
    0xD4_01: _percent_or_charging,
    0xE1_01: _percent_or_charging,
    0xE9_01: _percent_or_charging,
    0x56_02: _level,
    0xE3_06: _percent_and_volts,
    0xE4_02: _charge_and_percent,
    0xEE_06: _radio_and_supplies,
}
