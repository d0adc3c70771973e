"""Holloo's blocks: items 0xEA to 0xFC as lists of id, length, value
(docs/protocols/jt808-vendors.md#holloo-blocks).

Other makers use the same items otherwise: a block counts when it is filled exactly, all its ids are of its
kind, and one of them is known with its length.
"""

from collections.abc import Mapping
from typing import Final

import msgspec

from motorpool.codecs.devices.jt808.vendors.fields import Quantity, ascii_text, pieces, walk
from motorpool.codecs.devices.jt808.vendors.record import ItemReader, ItemRecord

_NUMBER_SIZES: Final = (1, 2, 4)
_WHEELS = 32


class Block(msgspec.Struct, frozen=True):
    """One of the blocks: what its ids are and mean."""

    item: int
    kinds: range
    """Upper bytes of its ids."""
    quantities: Mapping[int, Quantity] = {}
    """By id; of one, two or four bytes."""
    sizes: Mapping[int, int] = {}
    """Bytes of the quantities that have one size only, by id."""
    readers: Mapping[int, tuple[int, ItemReader]] = {}
    """Size (0: any) and reader of others, by id."""
    alarms: Mapping[int, str] = {}
    """Ids that are alarms."""

    def reader(self, number: int, size: int) -> ItemReader | None:
        """Return how a value is read; None where it is not known, or not with this size."""
        if (special := self.readers.get(number)) is not None:
            return special[1] if special[0] in (0, size) else None
        quantity = self.quantities.get(number)
        if quantity is None or size not in _NUMBER_SIZES or self.sizes.get(number, size) != size:
            return None
        return quantity.read


def reads_block(block: Block) -> ItemReader:
    """Return the reader of an item that may be this block."""

    def read(value: bytes, record: ItemRecord) -> bool:
        fields = walk(value)
        if fields is None or any(number >> 8 not in block.kinds for number, _ in fields):
            return False
        readers = [block.reader(number, len(content)) for number, content in fields]
        if not any(readers) and not any(number in block.alarms for number, _ in fields):
            return False
        record.is_holloo = True
        for (number, content), reader in zip(fields, readers, strict=True):
            if number in block.alarms:
                record.alarms.append(block.alarms[number])
            elif reader is None or reader(content, record) is False:
                record.keep_unknown(f"0x{block.item:02X}{number:04X}", content)
        return True

    return read


# Basic data


def _odometer(value: bytes, record: ItemRecord) -> None:
    record.attributes["odometer"] = int.from_bytes(value[1:], "big")


def _fuel_used(value: bytes, record: ItemRecord) -> None:
    record.attributes["fuelUsed"] = int.from_bytes(value[1:], "big") / 1000


def _states(value: bytes, record: ItemRecord) -> None:
    """Ten bytes of what the vehicle reports at all, ten of states."""
    reported, states = value[:10], value[10:]
    for bit, key in enumerate(("ignition", "armed", "footBrake")):
        if (reported[0] | states[0]) >> bit & 1:
            record.attributes[key] = states[0] >> bit & 1 == 1
    if (reported[1] | states[1]) & 0x3F:
        record.attributes["door"] = states[1] & 0x3F != 0


def _antenna(value: bytes, record: ItemRecord) -> None:
    if value[0] in (1, 2):
        record.alarms.append("gpsAntennaCut")


EA: Final = Block(
    0xEA,
    range(0x01),
    quantities={
        0x0005: Quantity("hours", 1000),
        0x0012: Quantity("power", -10),
        0x0013: Quantity("battery", -10),
        0x0014: Quantity("rssi"),
        0x0018: Quantity("sat"),
        0x0019: Quantity("hdop", -100),
        0x001F: Quantity("fuelEconomy", -100),
        0x0021: Quantity("co2"),
    },
    sizes={0x0012: 2, 0x0013: 1, 0x0014: 1},
    readers={
        0x0003: (5, _odometer),
        0x0004: (5, _fuel_used),
        0x0011: (20, _states),
        0x001B: (1, _antenna),
        0x001E: (4, lambda _, __: False),  # metres, but of what
    },
)

# Cars and trucks


def _fuel(value: bytes, record: ItemRecord) -> None:
    number = int.from_bytes(value, "big")
    if number & 0x8000:
        record.attributes["fuel"] = (number & 0x7FFF) / 10
    else:
        record.attributes["fuelLevel"] = number / 10


def _tyre_pressures(value: bytes, record: ItemRecord) -> None:
    for wheel, pressure in enumerate(value, 1):
        if pressure != 0xFF:
            record.attributes[f"tire{wheel}Pressure"] = pressure / 10


def _vin(value: bytes, record: ItemRecord) -> None:
    record.add_known({"vin": ascii_text(value)})


_CAR_QUANTITIES = {
    0x6010: Quantity("faultCount"),
    0x6040: Quantity("engineLoad"),
    0x6050: Quantity("coolantTemp", 1, -40),
    0x60A0: Quantity("fuelPressure"),
    0x60B0: Quantity("intakePressure"),
    0x60C0: Quantity("rpm"),
    0x60D0: Quantity("obdSpeed"),
    0x60F0: Quantity("intakeTemp", 1, -40),
    0x6100: Quantity("intakeFlow", -10),
    0x6110: Quantity("throttle", -10),
    0x6490: Quantity("pedal"),
    0x6907: Quantity("obdOdometer", 100),
}
_CAR_READERS = {0x62F0: (2, _fuel), 0x6905: (4, _tyre_pressures)}
EB: Final = Block(0xEB, range(0x60, 0x70), quantities=_CAR_QUANTITIES, readers=_CAR_READERS)
EC: Final = Block(
    0xEC,
    range(0x50, 0x70),
    quantities=_CAR_QUANTITIES
    | {
        0x5004: Quantity("throttle"),
        0x5005: Quantity("fuelConsumption", -20),
        0x5006: Quantity("fuelTemp", -32, -273),
        0x5007: Quantity("oilTemp", -32, -273),
        0x5008: Quantity("oilPressure", 4),
        0x5105: Quantity("ureaLevel", -2.5),
        0x5110: Quantity("fuelConsumption", -20),
        0x511F: Quantity("engineLoad"),
    },
    readers=_CAR_READERS | {0x5115: (0, _vin)},
)


# Electric vehicles


def _charge(value: bytes, record: ItemRecord) -> None:
    record.attributes["charge"] = value[0] in (2, 3, 6)


ED: Final = Block(
    0xED,
    range(0x70, 0x71),
    quantities={
        0x7001: Quantity("odometer", 100),
        0x7002: Quantity("batteryLevel"),
        0x7003: Quantity("obdSpeed"),
        0x700C: Quantity("driveVoltage", -10),
        0x700D: Quantity("driveCurrent", -100, -500),
        0x703F: Quantity("driveTemp", 1, -40),
    },
    readers={0x7004: (1, _charge)},
)

# Peripherals


def _drum(value: bytes, record: ItemRecord) -> bool:
    rotation = {0: 3, 1: 1, 2: 2}.get(value[0])  # as item 0x52 has it
    if rotation is None:
        return False
    record.attributes["rotation"] = rotation
    return True


def _tyres(value: bytes, record: ItemRecord) -> bool:
    mask = int.from_bytes(value[:4], "big")
    if len(value) != 4 + 4 * mask.bit_count():
        return False
    wheels = (wheel for wheel in range(1, _WHEELS + 1) if mask >> _WHEELS - wheel & 1)
    for wheel, entry in zip(wheels, pieces(value[4:], 4), strict=True):
        record.attributes |= {
            f"tire{wheel}Pressure": int.from_bytes(entry[:2], "big") / 100,
            f"tire{wheel}Temp": entry[2] - 40,
            f"tire{wheel}Status": entry[3],
        }
    return True


def _radio_sensor(value: bytes, record: ItemRecord) -> None:
    record.attributes |= {
        "tag1Temp": int.from_bytes(value[:2], "big", signed=True) / 10,
        "tag1Humidity": int.from_bytes(value[2:4], "big") / 10,
        "tag1Battery": int.from_bytes(value[4:6], "big") / 100,
        "tag1Rssi": value[7] - 256 if value[7] > 127 else value[7],
    }
    if not value[6]:
        record.alarms.append("removing")


EE: Final = Block(
    0xEE,
    range(0x30, 0x31),
    quantities={0x3001 + number: Quantity(f"temp{number}", -10, -40) for number in range(1, 5)},
    readers={0x3001: (1, _drum), 0x3006: (0, _tyres), 0x300D: (8, _radio_sensor)},
)

FA: Final = Block(
    0xFA,
    range(0x05),
    alarms={
        0x0101: "tow",
        0x0102: "parking",
        0x0103: "powerCut",
        0x0104: "powerRestored",
        0x0105: "lowPower",
        0x0106: "idle",
        0x0107: "overspeed",
        0x0108: "fatigueDriving",
        0x0109: "temperature",
        0x010F: "door",
        0x0110: "powerOn",
        0x0111: "hardAcceleration",
        0x0112: "hardBraking",
        0x0113: "hardCornering",
        0x0114: "accident",
        0x0115: "vibration",
        **dict.fromkeys(range(0x0200, 0x0300), "fault"),
        0x0401: "hardBraking",
        0x0402: "hardBraking",
        0x0403: "highRpm",
        0x0405: "tampering",
        0x0407: "tampering",
        0x0408: "removing",
        0x040A: "lowBattery",
        **dict.fromkeys(range(0x040B, 0x040F), "tampering"),
    },
)


def cells(value: bytes, record: ItemRecord) -> bool:
    """Read item 0xFB: the time, then `mcc,mnc,count` and area, cell and signal of each in ASCII."""
    words = ascii_text(value[6:]).rstrip(",").split(",")
    if not value[:6].hex().isdecimal() or len(words) < 6:
        return False
    if not all(word.removeprefix("-").isdecimal() and len(word) < 12 for word in words):
        return False
    mcc, mnc, count, *numbers = map(int, words)
    if count != len(numbers) // 3 or len(numbers) % 3:
        return False
    record.is_holloo = True
    for lac, cell, signal in zip(numbers[::3], numbers[1::3], numbers[2::3], strict=True):
        record.add_cell(mcc, mnc, lac, cell, signal)
    return True
