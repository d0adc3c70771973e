"""Which reader takes an item: by its id and length, the other items of the location, and the model.

Makers reuse each other's ids, so an item is taken only with a length that is known, and a block only in the
first form that it fills exactly (docs/decisions/0277).
"""

from collections.abc import Callable

from motorpool.codecs.devices.jt808.items import TYRE_ALARM_ITEMS, tyre_alarm
from motorpool.codecs.devices.jt808.vendors import (
    aovx,
    holloo,
    hubs,
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
_Choice = Callable[[int, Body, Model], ItemReader | None]

VENDOR_NUMBERS: dict[int, tuple[str, float]] = {**supply.NUMBERS, **locks.NUMBERS, **sensors.NUMBERS}
"""Items that are one number, as in `items.py: NUMERIC_ITEMS`; `vendor_reader` precedes them."""

_READERS: Readers = {
    **supply.READERS,
    **networks.READERS,
    **locks.READERS,
    **sensors.READERS,
}
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


def _choose_2a(item: int, body: Body, _: Model) -> ItemReader | None:
    if item != 0x2A_02:
        return None
    return sensors.inputs_of_recorder if _is_recorder(body) else _inputs_if_any


def _choose_33(item: int, body: Body, _: Model) -> ItemReader | None:
    if item == 0x33_01:
        return Quantity("mode" if 0xEB in _ids(body) or 0x32_02 in body else "satBeidou").read
    return supply.lock_text if item & 0xFF >= 15 else None


def _choose_57(item: int, _: Body, model: Model) -> ItemReader | None:
    return sensors.driving_57_with_door if item == 0x57_08 and model.has_door_input else _READERS.get(item)


def _choose_66(item: int, _: Body, __: Model) -> ItemReader | None:
    if item in TYRE_ALARM_ITEMS:
        return first_of(_tyre_alarm, _READERS.get(item))
    return _READERS.get(item)


def _choose_e1(item: int, body: Body, _: Model) -> ItemReader | None:
    if item == 0xE1_02 and not _ids(body).isdisjoint((0xEA, 0xEB, 0xEC, 0xED)):
        return _volts_or_engine_speed
    return _READERS.get(item)


def _choose_e2(item: int, _: Body, model: Model) -> ItemReader | None:
    return _unread if item == 0xE2_04 and not model.is_e2_fuel else None


def _choose_e6(item: int, _: Body, __: Model) -> ItemReader | None:
    return first_of(obd.obd_text, _READERS.get(item)) if item & 0xFF >= 7 else None


def _choose_e8(item: int, _: Body, model: Model) -> ItemReader | None:
    return jimi.blocks if model.has_e8_blocks and item & 0xFF >= 3 else _E8.get(item)


def _choose_ea(item: int, _: Body, __: Model) -> ItemReader | None:
    return first_of(holloo.reads_block(holloo.EA), hubs.sensors) if item & 0xFF > 2 else None


def _choose_eb(_: int, __: Body, ___: Model) -> ItemReader:
    return item_eb


def _choose_ec(item: int, body: Body, _: Model) -> ItemReader:
    is_fuel = _is_recorder(body) and item & 0xFF >= 2 and not item & 1
    other = _recorder_fuel if is_fuel else _READERS.get(item)
    return first_of(holloo.reads_block(holloo.EC), other)


def _choose_f3(item: int, _: Body, model: Model) -> ItemReader | None:
    if model.is_f3_tags:
        return aovx.tags
    return _READERS.get(item) or obd.obd_block


def _choose_f6(item: int, body: Body, _: Model) -> ItemReader:
    own = _READERS.get(item)
    if item == 0xF6_02:
        own = Quantity("airPressure").read
    if not _ids(body).isdisjoint((0xF2, 0xF7)):
        return first_of(locks.imei_bcd if item == 0xF6_08 else None, aovx.sensors, own)
    return first_of(own, aovx.sensors)


def _choose_f8(item: int, _: Body, model: Model) -> ItemReader | None:
    if item == 0xF8_02 and model.is_f8_steps:
        return Quantity("steps").read
    if item & 0xFF >= 19 and model.is_f8_identity:
        return aovx.identity
    return _READERS.get(item)


def _with_block(block: holloo.Block) -> _Choice:
    read = holloo.reads_block(block)
    return lambda item, _, __: first_of(read, _READERS.get(item))


def _unread(_: bytes, __: ItemRecord) -> bool:
    return False


_E8: Readers = {0xE8_03: Quantity("lockStatus").read}
_F7: Readers = of_lengths(0xF7, (4, 5, 6), aovx.battery)
_CHOICES: dict[int, _Choice] = {
    0x2A: _choose_2a,
    0x32: lambda item, _, __: Quantity("satGps").read if item == 0x32_01 else None,
    0x33: _choose_33,
    0x57: _choose_57,
    0x66: _choose_66,
    0xE1: _choose_e1,
    0xE2: _choose_e2,
    0xE6: _choose_e6,
    0xE8: _choose_e8,
    0xEA: _choose_ea,
    0xEB: _choose_eb,
    0xEC: _choose_ec,
    0xED: _with_block(holloo.ED),
    0xEE: _with_block(holloo.EE),
    0xF3: _choose_f3,
    0xF6: _choose_f6,
    0xF7: lambda item, _, __: _F7.get(item),
    0xF8: _choose_f8,
    0xF9: lambda _, __, ___: aovx.fix,
    0xFA: _with_block(holloo.FA),
    0xFB: lambda item, _, __: first_of(holloo.cells, _READERS.get(item)),
}
"""Ids whose reader depends on more than the length."""


def vendor_reader(item: int, body: Body, model: Model) -> ItemReader | None:
    """Return what reads an item, id << 8 | length; None where nothing does: it may be a number."""
    if not item & 0xFF:
        return None
    choose = _CHOICES.get(item >> 8)
    if choose is not None:
        return choose(item, body, model)
    reader = _READERS.get(item)
    return reader or (obd.SEQUENCE.get(item) if 0x80_01 in body else None)


def is_read_late(item: int) -> bool:
    """Whether the meaning of an item depends on what others of the location turn out to be."""
    return item == 0xE1_02
