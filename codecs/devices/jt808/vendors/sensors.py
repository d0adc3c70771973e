"""Items of sensors, driving and states (docs/protocols/jt808-vendors.md#sensors-driving-and-states)."""

from struct import Struct

from motorpool.codecs.devices.jt808.vendors.fields import (
    Quantity,
    axes,
    percent_of_255,
    pieces,
    sign_magnitude,
    walk,
)
from motorpool.codecs.devices.jt808.vendors.record import ItemRecord, Readers, of_lengths

_ABSENT = 0xFFFF
_RESERVED = Struct(">HHI")
_ENGINE = Struct(">HHBBBB2xH8xH")
_HARSH_57 = {8: "hardAcceleration", 9: "hardBraking", 10: "hardCornering"}
_HARSH_F4 = {
    0: "hardAcceleration",
    1: "hardBraking",
    2: "hardBraking",
    3: "hardCornering",
    4: "accident",
    5: "accident",
}
_HARSH_7C = {0: "hardAcceleration", 1: "hardBraking", 2: "hardCornering", 3: "accident", 4: "tampering"}
_ALARMS_E7 = {0: "vibration", 1: "sos", 2: "sos", 3: "sos"}
_KNOWN_DRUM_STATES = 3
_HUB_ALARMS = 0x11
_HUB_QUANTITIES = {
    0x13: Quantity("externalIlluminance"),
    0x14: Quantity("externalAirPressure"),
    0x15: Quantity("externalHumidity", -10),
    0x16: Quantity("externalTemp", -10, -50),
}


def _temperatures(value: bytes, record: ItemRecord) -> None:
    for number, word in enumerate(pieces(value, 2), 1):
        raw = int.from_bytes(word, "big")
        if raw != _ABSENT:
            record.attributes[f"temp{number}"] = sign_magnitude(raw) / 10


def _humidities(value: bytes, record: ItemRecord) -> None:
    for number, word in enumerate(pieces(value, 2), 1):
        raw = int.from_bytes(word, "big")
        if raw != _ABSENT:
            record.attributes[f"humidity{number}"] = raw / 10


def _radio_sensors(value: bytes, record: ItemRecord) -> None:
    """Sensors with a number and an address of their own."""
    for entry in pieces(value, 11):
        number = entry[0]
        record.attributes[f"temp{number}"] = _with_fraction(entry[7], entry[8])
        record.attributes[f"humidity{number}"] = _with_fraction(entry[9], entry[10])


def _with_fraction(whole: int, fraction: int) -> float:
    """Return a signed whole part with 255ths of the same sign."""
    signed = whole - 256 if whole > 127 else whole
    part = fraction / 255
    return round(signed - part if signed < 0 else signed + part, 2)


def _g_sensor(value: bytes, record: ItemRecord) -> None:
    record.attributes["gSensor"] = axes(value)


def _altitude(value: bytes, record: ItemRecord) -> None:
    record.altitude = int.from_bytes(value, "big", signed=True)


def _tyres(value: bytes, record: ItemRecord) -> None:
    for entry in pieces(value, 8):
        pressure = int.from_bytes(entry[4:6], "big")
        if pressure or entry[6]:
            wheel = f"tire{entry[0]}"
            record.attributes |= {
                f"{wheel}SensorId": entry[1:4].hex(),
                f"{wheel}Pressure": round((pressure & 0x3FF) * 0.025, 3),
                f"{wheel}Temp": entry[6] - 50,
                f"{wheel}Status": entry[7],
            }


def _driving_57(value: bytes, record: ItemRecord) -> None:
    alarms, switches, _ = _RESERVED.unpack(value)
    record.add_alarms(_HARSH_57, alarms)
    record.attributes["input"] = switches


def driving_57_with_door(value: bytes, record: ItemRecord) -> None:
    """Read item 0x57 of models whose last word says whether a door was opened."""
    if _RESERVED.unpack(value)[2] >> 16 & 1:
        record.alarms.append("door")
        record.attributes["door"] = True
    _driving_57(value, record)


def _driving_f4(value: bytes, record: ItemRecord) -> None:
    bits = int.from_bytes(value, "big")
    record.add_alarms(_HARSH_F4, bits)
    record.attributes |= {"in1": bits >> 6 & 1 == 1, "in2": bits >> 7 & 1 == 1}


def _driving_7c(value: bytes, record: ItemRecord) -> bool:
    entries = walk(value[1:], 1) if value[0] == 0x7C else None
    if entries is None:
        return False
    for number, content in entries:
        if number == 1 and len(content) == 4:
            record.add_alarms(_HARSH_7C, int.from_bytes(content, "big"))
        else:
            record.keep_unknown(f"0xFE7C{number:02X}", content)
    return True


def _vibration_d0(value: bytes, record: ItemRecord) -> None:
    record.add_alarms({3: "vibration"}, int.from_bytes(value, "big"))


def _alarms_e7(value: bytes, record: ItemRecord) -> None:
    record.add_alarms(_ALARMS_E7, int.from_bytes(value[:2], "big"))


def _motion(value: bytes, record: ItemRecord) -> bool:
    if value[0] > 1:
        return False
    record.attributes["motion"] = value[0] == 1
    return True


def _armed(value: bytes, record: ItemRecord) -> None:
    if value[0] < 2:
        record.attributes["armed"] = value[0] == 1


def _mode_and_charge(value: bytes, record: ItemRecord) -> None:
    record.attributes |= {"mode": value[0], "charge": value[3] & 1 == 1}


def _drum(value: bytes, record: ItemRecord) -> bool:
    if value[0] > _KNOWN_DRUM_STATES:
        return False
    record.attributes["rotation"] = value[0]
    return True


def _fence(value: bytes, record: ItemRecord) -> None:
    record.attributes["geofence"] = str(value[0])


def _analogue(value: bytes, record: ItemRecord) -> None:
    record.attributes["adc1"] = int.from_bytes(value[:2], "big") / 100
    record.attributes["adc2"] = int.from_bytes(value[2:], "big") / 100


def inputs_of_recorder(value: bytes, record: ItemRecord) -> None:
    """Read item 0x2A of video recorders: the states of sleep, and eight inputs in the upper byte."""
    record.attributes["sleep"] = value[1]
    record.attributes.update((f"in{number}", value[0] >> number - 1 & 1 == 1) for number in range(1, 9))


def hub(value: bytes, record: ItemRecord) -> bool:
    """Read item 0xEA of hubs that collect sensors: a kind, then id, length and value of each
    (docs/protocols/jt808-vendors.md#sensor-hubs).
    """
    fields = walk(value[1:], 1)
    if fields is None:
        return False
    for number, content in fields:
        quantity = _HUB_QUANTITIES.get(number)
        if quantity is not None and len(content) in (1, 2, 4):
            quantity.read(content, record)
        elif number == _HUB_ALARMS and len(content) in (2, 15):
            record.attributes["externalAlarms"] = int.from_bytes(content[:2], "big")
        else:
            record.keep_unknown(f"0xEA{number:02X}", content)
    return True


def _nothing(_: bytes, __: ItemRecord) -> bool:
    return True


def _engine(value: bytes, record: ItemRecord) -> None:
    volts, turns, speed, throttle, load, coolant, rate, used = _ENGINE.unpack(value)
    record.attributes |= {
        "battery": volts / 10,
        "rpm": turns,
        "obdSpeed": speed,
        "throttle": percent_of_255(throttle),
        "engineLoad": percent_of_255(load),
        "coolantTemp": coolant - 40,
        "fuelConsumption": rate / 100,
        "fuelUsed": used / 100,
    }


NUMBERS: dict[int, tuple[str, float]] = {
    0xF5_02: ("illuminance", 1),
    0xF6_02: ("airPressure", 1),
    0xF7_02: ("humidity", -10),
    0xEA_02: ("mode", 1),
}
"""Items that are one number, as in `items.py: NUMERIC_ITEMS`."""

READERS: Readers = {
    **of_lengths(0x51, range(2, 17, 2), _temperatures),
    **of_lengths(0x58, range(2, 256, 2), _humidities),
    **of_lengths(0xE6, range(11, 256, 11), _radio_sensors),
    0xF5_06: _g_sensor,
    0xF8_02: Quantity("temp2", -10, -50).read,
    0xCD_02: _altitude,
    **of_lengths(0x77, range(8, 256, 8), _tyres),
    0x57_08: _driving_57,
    0xF4_02: _driving_f4,
    **of_lengths(0xFE, range(5, 256), _driving_7c),
    0xD0_04: _vibration_d0,
    0xE7_08: _alarms_e7,
    0xE5_01: _motion,
    0xF3_01: _armed,
    0xF6_04: _mode_and_charge,
    0x52_01: _drum,
    0xFC_01: _fence,
    0xA7_04: _analogue,
    0x18_05: _nothing,
    0x91_16: _engine,
}
