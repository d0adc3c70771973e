"""Which reader takes an item: by its id and length, the other items of the location, and the model.

Makers reuse each other's ids, so an item is taken only with a length that is known, and a block only in the
first form that it fills exactly (docs/decisions/0277).
"""

from motorpool.codecs.devices.jt808.items import TYRE_ALARM_ITEMS, tyre_alarm
from motorpool.codecs.devices.jt808.vendors import (
    aovx,
    holloo,
    jimi,
    locks,
    networks,
    obd,
    sensors,
    supply,
)
from motorpool.codecs.devices.jt808.vendors.bsj import item_eb
from motorpool.codecs.devices.jt808.vendors.fields import Quantity
from motorpool.codecs.devices.jt808.vendors.models import Model
from motorpool.codecs.devices.jt808.vendors.record import (
    ItemReader,
    ItemRecord,
    Readers,
    first_of,
    of_lengths,
)

Body = frozenset[int]
"""The items of a location, each id << 8 | length."""

VENDOR_NUMBERS: dict[int, tuple[str, float]] = {**supply.NUMBERS, **locks.NUMBERS, **sensors.NUMBERS}
"""Items that are one number, as in `items.py: NUMERIC_ITEMS`; `vendor_reader` precedes them."""

_READERS: Readers = {
    **supply.READERS,
    **networks.READERS,
    **locks.READERS,
    **sensors.READERS,
    0xE8_03: Quantity("lockStatus").read,
    **of_lengths(0xF7, (4, 5, 6), aovx.battery),
}
_HOLLOO = {
    **{
        block.item: holloo.reads_block(block)
        for block in (holloo.EA, holloo.EC, holloo.ED, holloo.EE, holloo.FA)
    },
    0xFB: holloo.cells,
}
READ_LATE = 0xE1_02
"""The item whose meaning depends on what others of the location turn out to be."""
_RECORDER_ITEMS = frozenset((0x14, 0x15, 0x16, 0x17, 0x18))
_RECORDER_CAMERAS = 0xEF_0D


def _ids(body: Body) -> frozenset[int]:
    return frozenset(item >> 8 for item in body)


def _is_recorder(body: Body) -> bool:
    return _RECORDER_CAMERAS in body or not _RECORDER_ITEMS.isdisjoint(_ids(body))


_SUPPLY = Quantity("power", -10)
_ENGINE_SPEED = Quantity("rpm")


def _volts_or_engine_speed(value: bytes, record: ItemRecord) -> None:
    (_ENGINE_SPEED if record.is_holloo else _SUPPLY).read(value, record)


def _inputs_if_any(value: bytes, record: ItemRecord) -> None:
    if value[0]:
        sensors.inputs_of_recorder(value, record)
    else:
        record.attributes["sleep"] = value[1]


def _recorder_fuel(value: bytes, record: ItemRecord) -> None:
    """Fuel and, in a scale that is not known, temperature and humidity."""
    record.attributes["fuel2"] = int.from_bytes(value[:2], "big") / 10


def _tyre_alarm(value: bytes, record: ItemRecord) -> bool:
    return tyre_alarm(value, record.attributes, record.alarms)


def _unread(_: bytes, __: ItemRecord) -> bool:
    return False


def vendor_reader(item: int, body: Body, model: Model) -> ItemReader | None:
    """Return what reads an item, id << 8 | length; None where nothing does: it may be a number."""
    size, own = item & 0xFF, _READERS.get(item)
    match item >> 8:
        case _ if not size:
            return None
        case 0x2A if size == 2:
            return sensors.inputs_of_recorder if _is_recorder(body) else _inputs_if_any
        case 0x32 if size == 1:
            return Quantity("satGps").read
        case 0x33 if size == 1:
            return Quantity("mode" if 0xEB in _ids(body) or 0x32_02 in body else "satBeidou").read
        case 0x33 if size >= 15:
            return supply.lock_text
        case 0x57 if size == 8 and model.has_door_input:
            return sensors.driving_57_with_door
        case 0x66 if item in TYRE_ALARM_ITEMS:
            return first_of(_tyre_alarm, own)
        case 0xE1 if size == 2 and not _ids(body).isdisjoint((0xEA, 0xEB, 0xEC, 0xED)):
            return _volts_or_engine_speed
        case 0xE2 if size == 4 and not model.is_e2_fuel:
            return _unread
        case 0xE6 if size >= 7:
            return first_of(obd.obd_text, own)
        case 0xE8 if size >= 3 and model.has_e8_blocks:
            return jimi.blocks
        case 0xE8 if size > 3:
            return jimi.likely_blocks
        case 0xEA if size > 2:
            return first_of(_HOLLOO[0xEA], sensors.hub)
        case 0xEB:
            return item_eb
        case 0xEC:
            is_fuel = _is_recorder(body) and size >= 2 and not size & 1
            return first_of(_HOLLOO[0xEC], _recorder_fuel if is_fuel else own)
        case 0xED | 0xEE | 0xFA | 0xFB as item_id:
            return first_of(_HOLLOO[item_id], own)
        case 0xF3:
            return aovx.tags if model.is_f3_tags else own or first_of(obd.obd_block, aovx.likely_tags)
        case 0xF6 if model.is_f3_tags:
            return first_of(aovx.sensors, own)
        case 0xF6:
            own = Quantity("airPressure").read if size == 2 else own
            if _ids(body).isdisjoint((0xF2, 0xF7)):
                return first_of(own, aovx.sensors)
            return first_of(locks.imei_bcd if size == 8 else None, aovx.sensors, own)
        case 0xF8 if size == 2 and model.is_f8_steps:
            return Quantity("steps").read
        case 0xF8 if size >= 19:
            return aovx.identity if model.is_f8_identity else aovx.likely_identity
        case 0xF9:
            return aovx.fix
        case _:
            return own or (obd.SEQUENCE.get(item) if 0x80_01 in body else None)
