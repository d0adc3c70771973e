"""Item 0xEA of hubs that collect sensors (docs/protocols/jt808-vendors.md#sensor-hubs)."""

from motorpool.codecs.devices.jt808.vendors.fields import Quantity, walk
from motorpool.codecs.devices.jt808.vendors.record import ItemRecord

_ALARMS = 0x11
_ALARM_BYTES = 15
_QUANTITIES = {
    0x13: Quantity("externalIlluminance"),
    0x14: Quantity("externalAirPressure"),
    0x15: Quantity("externalHumidity", -10),
    0x16: Quantity("externalTemp", -10, -50),
}


def sensors(value: bytes, record: ItemRecord) -> bool:
    """Read a kind, then id, length and value of each sensor."""
    fields = walk(value[1:], 1)
    if fields is None:
        return False
    for number, content in fields:
        quantity = _QUANTITIES.get(number)
        if quantity is not None and len(content) in (1, 2, 4):
            quantity.read(content, record)
        elif number == _ALARMS and len(content) in (2, _ALARM_BYTES):
            record.attributes["externalAlarms"] = int.from_bytes(content[:2], "big")
        else:
            record.keep_unknown(f"0xEA{number:02X}", content)
    return True
