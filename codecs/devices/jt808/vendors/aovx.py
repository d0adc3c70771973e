"""Blocks of AOVX trackers: tags, sensors, battery, identity (docs/protocols/jt808-vendors.md#aovx)."""

from motorpool.codecs.devices.jt808.vendors.fields import ascii_text, axes, iccid_digits
from motorpool.codecs.devices.jt808.vendors.locks import is_imei
from motorpool.codecs.devices.jt808.vendors.record import ItemRecord
from motorpool.codecs.errors import Truncated
from motorpool.codecs.reader import ByteReader

_TAG_SIZES = (10, 2, 2, 2, 2, 6, 2, 2)
"""Bytes of what a tag has, by bit of the mask."""
_SENSOR_SIZES = (2, 2, 2, 6, 10, 2)
_MOTION_EVENT = 2
_IDENTITY_BYTES = 19
_WEAKEST = 0x80
"""Of signals in dBm: -128."""
_CHARGING = (2, 3)


def _size(sizes: tuple[int, ...], mask: int) -> int | None:
    """Return the bytes that a mask announces; None where it has a bit that is not known."""
    if mask >> len(sizes) or any(mask >> bit & 1 and not size for bit, size in enumerate(sizes)):
        return None
    return sum(size for bit, size in enumerate(sizes) if mask >> bit & 1)


def tags(value: bytes, record: ItemRecord) -> bool:
    """Read item 0xF3: Bluetooth tags, all with the fields that one mask announces."""
    mask = value[0]
    size = 7 + (_size(_TAG_SIZES, mask) or 0)
    if (len(value) - 1) % size:
        return False
    attributes, fields = record.attributes, ByteReader(value, 1)
    for number in range(1, (len(value) - 1) // size + 1):
        tag = f"tag{number}"
        attributes[f"{tag}Mac"] = fields.take(6).hex()
        attributes[f"{tag}Rssi"] = fields.sint(1)
        if mask & 1 and (name := ascii_text(fields.take(10))):
            attributes[f"{tag}Name"] = name
        if mask & 2:
            fields.skip(2)  # its firmware
        if mask & 4:
            attributes[f"{tag}Battery"] = fields.uint16() / 1000
        if mask & 8:
            attributes[f"{tag}Temp"] = fields.sint(2) / 10
        if mask & 16:
            attributes[f"{tag}Humidity"] = fields.sint(2) / 10
        fields.skip(6 * (mask >> 5 & 1) + 2 * (mask >> 6 & 1) + 2 * (mask >> 7 & 1))
    return True


def likely_tags(value: bytes, record: ItemRecord) -> bool:
    """Read item 0xF3 of a device whose model is not known, where all signals are in dBm."""
    size = 7 + (_size(_TAG_SIZES, value[0]) or 0)
    signals = value[7::size]
    if not signals or min(signals) < _WEAKEST or (len(value) - 1) % size:
        return False
    record.is_aovx = True
    return tags(value, record)


def likely_identity(value: bytes, record: ItemRecord) -> bool:
    """Read item 0xF8 of a device whose model is not known, where an IMEI is in its place."""
    record.is_aovx = is_identity = is_imei(value[1:9].hex()) and identity(value, record)
    return is_identity


def sensors(value: bytes, record: ItemRecord) -> bool:
    """Read item 0xF6: an event and the sensors that a mask announces, told by its exact size."""
    if len(value) < 2 or _size(_SENSOR_SIZES, value[1]) != len(value) - 2:
        return False
    attributes, mask, fields = record.attributes, value[1], ByteReader(value, 2)
    attributes["event"] = value[0]
    if value[0] == _MOTION_EVENT:
        attributes["motion"] = True
    if mask & 1:
        attributes["lightSensor"] = fields.uint16()
    if mask & 2:
        attributes["temp1"] = fields.sint(2) / 10
    if mask & 4:
        attributes["humidity"] = fields.sint(2) / 10
    if mask & 8:
        attributes["gSensor"] = axes(fields.take(6))
    if mask & 16:
        fields.skip(10)  # thresholds
    if mask & 32:
        attributes["airPressure"] = fields.uint16()
    return True


def battery(value: bytes, record: ItemRecord) -> None:
    """Read item 0xF7 of four to six bytes: millivolts, state of charge, percentage."""
    record.attributes["battery"] = int.from_bytes(value[:4], "big") / 1000
    if len(value) > 4:
        record.attributes["charge"] = value[4] in _CHARGING
    if len(value) > 5:
        record.attributes["batteryLevel"] = value[5]


def identity(value: bytes, record: ItemRecord) -> bool:
    """Read item 0xF8: mode, IMEI, ICCID, name of the model."""
    if len(value) < _IDENTITY_BYTES:
        return False
    imei = value[1:9].hex()
    record.attributes["mode"] = value[0]
    record.add_known(
        {
            "imei": imei[1:] if imei.isdecimal() and imei[0] == "0" else "",
            "iccid": iccid_digits(value[9:19].hex()),
            "model": ascii_text(value[19:]),
        }
    )
    return True


def fix(value: bytes, record: ItemRecord) -> bool:
    """Read item 0xF9: what a mask announces of the fix, told by its exact size."""
    if len(value) < 3:
        return False  # a mask alone says nothing
    mask = int.from_bytes(value[:2], "big")
    fields = ByteReader(value, 2)
    try:
        fields.skip(4 * (mask & 1) + 4 * (mask >> 1 & 1))  # age of the fix, seconds switched on
        hdop = fields.uint16() / 10 if mask & 4 else None
        fields.skip(6 * (mask >> 3 & 1) + 8 * (mask >> 5 & 1))  # time of the fix
        degrees = fields.sint(2) / 10 if mask & 64 else None
        fields.skip(4 * (mask >> 6 & 1))
    except Truncated:
        return False
    if fields.remaining or mask & ~0x6F:
        return False
    record.add_known({"hdop": hdop, "temp3": degrees})
    return True
