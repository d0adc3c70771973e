"""Item 0xEB: blocks of BSJ and other small trackers, cells, or a time zone
(docs/protocols/jt808-vendors.md#item-eb).
"""

from struct import Struct

from motorpool.codecs.devices.jt808.vendors import networks
from motorpool.codecs.devices.jt808.vendors.fields import Quantity, ascii_text, iccid_digits, is_printable
from motorpool.codecs.devices.jt808.vendors.holloo import EB, reads_block
from motorpool.codecs.devices.jt808.vendors.record import ItemReader, ItemRecord, first_of

_CELL = Struct(">HHB")
_CELL_12 = Struct(">HHBHIB")
_SUPPLY_LOST = 1
"""Bit of 0x0089 on which makers disagree."""
_POWER_CUT_ALARM = 1 << 8
"""Bit of the location's alarm word."""
_EVENTS_89 = {
    4: "accident",
    8: "hardAcceleration",
    9: "hardBraking",
    12: "removing",
    25: "hardCornering",
    30: "jamming",
    31: "jamming",
}
"""Bits of 0x0089 that are 0 when it happens."""
_EVENTS_C5 = {6: "vibration", 14: "removing"}
_MOVING, _STILL = 0, 1
_LOW_BATTERY_STATES = (3, 4)


def _walk(block: bytes) -> list[tuple[int, bytes]] | None:
    """Return ids and values; the length in front of an id counts the id."""
    fields: list[tuple[int, bytes]] = []
    start, end = 0, len(block)
    while start + 4 <= end:
        stop = start + 2 + int.from_bytes(block[start : start + 2], "big")
        if not start + 4 <= stop <= end:
            return None
        fields.append((int.from_bytes(block[start + 2 : start + 4], "big"), block[start + 4 : stop]))
        start = stop
    return fields if fields and start == end else None


def _fuel_1(value: bytes, record: ItemRecord) -> None:
    record.attributes["fuel1"] = int.from_bytes(value[:2], "big") / 10


def _fuel_2(value: bytes, record: ItemRecord) -> bool:
    try:
        litres = float(value.decode("ascii"))
    except ValueError:
        return False
    if not 0 <= litres < 100_000:  # neither NaN
        return False
    record.attributes["fuel2"] = litres
    return True


def _supply_or_cell(value: bytes, record: ItemRecord) -> None:
    record.add_volts(int.from_bytes(value, "big") / 1000)


def _version(value: bytes, record: ItemRecord) -> None:
    record.add_known({"versionFw": ascii_text(value).rstrip(";")})


def _events(value: bytes, record: ItemRecord) -> None:
    happened = ~int.from_bytes(value, "big")
    record.add_alarms(_EVENTS_89, happened)
    if happened & 2:
        record.attributes["sleep"] = 2  # as item 0x2A has it
    if happened & _SUPPLY_LOST and (
        record.alarm_word & _POWER_CUT_ALARM or record.attributes.get("power") == 0
    ):
        record.alarms.append("powerCut")


def _iccid_bcd(value: bytes, record: ItemRecord) -> None:
    record.add_known({"iccid": iccid_digits(value.hex())})


def _iccid_text(value: bytes, record: ItemRecord) -> None:
    record.add_known({"iccid": iccid_digits(ascii_text(value))})


def _imei(value: bytes, record: ItemRecord) -> bool:
    text = ascii_text(value)
    if not (text.isascii() and text.isdigit()):
        return False
    record.attributes["imei"] = text
    return True


def _states_c5(value: bytes, record: ItemRecord) -> None:
    word = int.from_bytes(value, "big")
    record.add_alarms(_EVENTS_C5, ~word)
    if (state := word >> 23 & 3) in (_MOVING, _STILL):
        record.attributes["motion"] = state == _MOVING


def _battery_alarm(value: bytes, record: ItemRecord) -> None:
    record.attributes["batteryAlarm"] = value[0]
    if value[0] in _LOW_BATTERY_STATES:
        record.alarms.append("lowBattery")


def _cell_12(value: bytes, record: ItemRecord) -> bool:
    mcc, mnc, count, lac, cell, signal = _CELL_12.unpack(value)
    if count != 1:
        return False
    record.add_cell(mcc, mnc, lac, cell, signal)
    return True


def _cell_text(value: bytes, record: ItemRecord) -> bool:
    words = ascii_text(value).split(";")
    if len(words) < 4 or not all(word.isdigit() and len(word) < 11 for word in words[:4]):
        return False
    mcc, mnc, lac, cell = map(int, words[:4])
    record.add_cell(mcc, mnc, lac, cell)
    return True


_BY_LENGTH: dict[int, ItemReader] = {
    0x0001_03: _fuel_1,
    0x002D_04: Quantity("power", -1000).read,
    0x002D_02: _supply_or_cell,
    0x0030_01: Quantity("rssi").read,
    0x0031_01: Quantity("sat").read,
    0x0089_04: _events,
    0x00A8_01: Quantity("batteryLevel").read,
    0x00E1_01: Quantity("batteryLevel").read,
    0x00B2_0A: _iccid_bcd,
    0x00FB_14: _iccid_text,
    0x00C5_04: _states_c5,
    0x00C6_01: _battery_alarm,
    0x00CE_02: Quantity("power", -100).read,
    0x00D5_0F: _imei,
    0x00D8_09: networks.cells(">HBHI", "mcc mnc lac cell"),
    0x00D8_0C: _cell_12,
}
"""By id << 8 | length."""
_BY_ID: dict[int, ItemReader] = {
    0x0023: _fuel_2,
    0x00A3: _version,
    0x00B9: networks.addresses_as_text,
    0x0024: _cell_text,
}


def _blocks(value: bytes, record: ItemRecord) -> bool:
    fields = _walk(value)
    if fields is None:
        return False
    # Whether the supply is lost is known once its voltage is.
    for number, content in sorted(fields, key=lambda field: field[0] == 0x0089):
        read = _BY_LENGTH.get(number << 8 | len(content)) or _BY_ID.get(number)
        if read is None or len(content) > 0xFF or read(content, record) is False:
            record.keep_unknown(f"0xEB{number:04X}", content)
    return True


def _cells(value: bytes, record: ItemRecord) -> bool:
    mcc = int.from_bytes(value[:2], "big")
    if len(value) < 8 or (len(value) - 3) % _CELL.size or not 200 <= mcc <= 999:
        return False
    for lac, cell, signal in _CELL.iter_unpack(value[3:]):
        record.add_cell(mcc, value[2], lac, cell, signal)
    return True


def _zone(value: bytes, record: ItemRecord) -> bool:
    if not is_printable(value):
        return False
    record.attributes["timezone"] = value.decode("ascii").strip()
    return True


item_eb = first_of(_blocks, reads_block(EB), _cells, _zone)
"""Reads item 0xEB in the first of its forms that fits it exactly."""
