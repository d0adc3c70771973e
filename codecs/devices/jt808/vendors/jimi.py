"""Item 0xE8 of Jimi's dashcams (docs/protocols/jt808-vendors.md#jimi)."""

from motorpool.codecs.devices.jt808.alarm_labels import AlarmLabel
from motorpool.codecs.devices.jt808.items import add_alarm_label
from motorpool.codecs.devices.jt808.vendors.fields import Quantity, walk
from motorpool.codecs.devices.jt808.vendors.record import ItemRecord

_UPLOAD, _SUPPLY, _STATES = 0x2002, 0x2003, 0x2005
_LAST_ALARM = 0x0FFF
_IGNITION = {0x0C03: True, 0x0C04: False}
_ALARMS = {
    0x0001: "fault",
    0x0400: "hardAcceleration",
    0x0401: "hardBraking",
    0x0402: "hardCornering",
    0x0403: "overspeed",
    0x0405: "accident",
    0x0406: "vibration",
    0x0407: "tow",
    0x0408: "geofenceEnter",
    0x0409: "geofenceExit",
    0x040C: "door",
    0x0412: "hardAcceleration",
    0x0413: "hardBraking",
    0x0414: "hardCornering",
    0x0415: "laneChange",
    0x0416: "accident",
    0x0417: "accident",
    0x0C01: "sos",
    0x0C02: "lowPower",
    0x0C05: "general",
    0x0C0E: "powerCut",
    0x0C0F: "lowBattery",
    0x0C10: "powerOff",
    0x0C12: "tampering",
}
"""Other kinds below 0x1000 are general alarms."""
_KINDS = frozenset((_UPLOAD, _SUPPLY, _STATES, *_IGNITION, *_ALARMS))
_STATE_QUANTITIES = {
    0x0001: Quantity("battery", -100),
    0x0002: Quantity("dataUsage"),
    0x0003: Quantity("batteryLevel"),
    0x0007: Quantity("hdop", -10),
    0x2001: Quantity("power", -10),
}
_CHARGE, _ICCID = 0x0004, 0x0005
_LEVELS = 6


def likely_blocks(value: bytes, record: ItemRecord) -> bool:
    """Read the item of a device whose model is not known, where it is a list of kinds that are."""
    fields = walk(value)
    return fields is not None and fields[0][0] in _KINDS and blocks(value, record)


def blocks(value: bytes, record: ItemRecord) -> bool:
    """Read blocks of kind, length and data; where they are no blocks the first kind counts."""
    fields = walk(value)
    if fields is None:
        kind = int.from_bytes(value[:2], "big")
        if kind not in _ALARMS and kind not in _IGNITION:
            return False
        fields = [(kind, value[3:])]
    for kind, content in fields:
        if 0 < kind <= _LAST_ALARM:
            _alarm(kind, content, record)
        elif kind == _UPLOAD and len(content) >= 2:
            record.attributes["uploadMode"] = content[0]
            if content[1] == 1:
                record.attributes["archive"] = True
        elif kind == _SUPPLY and len(content) >= 7:
            _supply(content, record)
        elif kind != _STATES or not _states(content, record):
            record.keep_unknown(f"0xE8{kind:04X}", content)
    return True


def _alarm(kind: int, content: bytes, record: ItemRecord) -> None:
    if kind in _IGNITION:
        record.attributes["ignition"] = _IGNITION[kind]
    else:
        record.alarms.append(_ALARMS.get(kind, "general"))
    add_alarm_label(AlarmLabel.parse(content[:16]), record.attributes)


def _supply(content: bytes, record: ItemRecord) -> None:
    record.attributes |= {
        "charge": content[0] == 1,
        "battery": int.from_bytes(content[2:4], "big") / 100,
        "rssi": content[4],
        "power": int.from_bytes(content[5:7], "big") / 100,
    }
    if 0 < content[1] <= _LEVELS:
        record.attributes["batteryLevel"] = round(content[1] * 100 / _LEVELS)


def _states(content: bytes, record: ItemRecord) -> bool:
    fields = walk(content)
    if fields is None:
        return False
    for number, value in fields:
        quantity = _STATE_QUANTITIES.get(number)
        if quantity is not None and len(value) in (1, 2, 4):
            quantity.read(value, record)
        elif number == _CHARGE and len(value) == 1:
            record.attributes["charge"] = value[0] == 0
        elif number == _ICCID and len(value) == 10:
            record.attributes["iccid"] = value.hex()[:19]
        else:
            record.keep_unknown(f"0xE82005{number:04X}", value)
    return True
