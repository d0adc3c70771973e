"""The IO elements of a record: what each number stands for (docs/protocols/teltonika.md#elements)."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from motorpool.codecs.devices.attributes import add_alarms
from motorpool.codecs.devices.network import cell_tower
from motorpool.codecs.devices.teltonika.beacons import read_beacons, read_tags

__all__ = ["Element", "Family", "add_cell", "add_element", "card_of", "family_of", "speed_of"]

Element = bytes
"""The value of an element, of 1, 2, 4, 8 or any number of bytes."""


class Family(msgspec.Struct, frozen=True):
    """What a model has of the elements whose meaning depends on it."""

    is_fmb: bool = False
    """FMB and later devices."""
    is_six: bool = False
    """FMx6xx, which have elements of trucks."""
    has_cells: bool = False
    """Cell and area in elements of their own."""
    is_fmb003: bool = False


_FMB = re.compile(r"FM[B-Z].*|MTB100|MSP500")
_SIX = re.compile(r"FM.6..")
_CELLS = re.compile(r"T.T...")


def family_of(model: str) -> Family:
    """Return the family of a model in capitals; empty: only what all models have."""
    is_fmb = _FMB.fullmatch(model) is not None
    return Family(
        is_fmb=is_fmb,
        is_six=_SIX.fullmatch(model) is not None,
        has_cells=is_fmb or _CELLS.fullmatch(model) is not None,
        is_fmb003=model == "FMB003",
    )


_Counts = Callable[[Family], bool]


def _any(family: Family) -> bool:
    del family
    return True


def _fmb(family: Family) -> bool:
    return family.is_fmb


def _fmb_not_six(family: Family) -> bool:
    return family.is_fmb and not family.is_six


def _six(family: Family) -> bool:
    return family.is_six


class _Number(msgspec.Struct, frozen=True):
    """An element that is a number."""

    key: str
    divisor: float = 1
    signed_bits: int = 0
    """Bits of a signed number; 0: unsigned."""
    counts: _Counts = _any
    is_flag: bool = False


def _numbers(
    first: int, keys: str, divisor: float = 1, signed_bits: int = 0, counts: _Counts = _any
) -> dict[int, _Number]:
    """Return numbers of one kind, whose elements follow each other."""
    return {
        first + place: _Number(key, divisor, signed_bits, counts) for place, key in enumerate(keys.split())
    }


def _flags(first: int, keys: str, counts: _Counts = _any) -> dict[int, _Number]:
    return {
        first + place: _Number(key, counts=counts, is_flag=True) for place, key in enumerate(keys.split())
    }


_NUMBERS: Final[Mapping[int, _Number]] = {
    **_flags(1, "in1 in2 in3 in4"),
    **_numbers(9, "adc1 adc2", 1000, counts=_fmb),
    **_numbers(12, "fuelUsed", 1000, counts=_fmb),
    **_numbers(13, "fuelConsumption", 100, counts=_fmb),
    **_numbers(16, "odometer"),
    **_numbers(17, "axisX axisY axisZ", signed_bits=16),
    **_numbers(21, "rssi"),
    **_numbers(25, "bleTemp1 bleTemp2 bleTemp3 bleTemp4", 100, 16),
    **_numbers(30, "faultCount engineLoad", counts=_fmb),
    **_numbers(32, "coolantTemp", signed_bits=8, counts=_fmb),
    **_numbers(36, "rpm", counts=_fmb),
    **_numbers(43, "milDistance", counts=_fmb),
    **_numbers(57, "hybridBatteryLevel", counts=_fmb),
    **_numbers(66, "power battery batteryCurrent", 1000),
    **_numbers(72, "temp1 temp2 temp3 temp4", 10, 32, _fmb),
    **_numbers(80, "dataMode obdSpeed throttle", counts=_fmb_not_six),
    **_numbers(83, "fuelUsed fuel", 10, counts=_fmb_not_six),
    **_numbers(85, "rpm", counts=_fmb_not_six),
    **_numbers(87, "obdOdometer", counts=_fmb_not_six),
    **_numbers(89, "fuelLevel", counts=_fmb_not_six),
    **_numbers(107, "fuelUsed", 10, counts=_fmb),
    **_numbers(110, "fuelConsumption", 10, counts=_fmb),
    **_numbers(113, "batteryLevel", counts=_fmb),
    **_numbers(115, "engineTemp", 10, 16, _fmb),
    **_flags(179, "out1 out2"),
    **_numbers(181, "pdop hdop", 10),
    **_numbers(199, "tripOdometer sleepMode", counts=_fmb),
    **_flags(239, "ignition motion"),
    **_numbers(389, "obdOdometer", 0.001, counts=lambda family: family.is_fmb003),
    **_flags(662, "door", _fmb),
    **_numbers(701, "bleTemp1 bleTemp2 bleTemp3 bleTemp4", 10, 16, _six),
    **_numbers(10644, "tempProbe1 tempProbe2 tempProbe3 tempProbe4 tempProbe5 tempProbe6", 100, 16, _fmb),
    **_numbers(10800, "eyeTemp1 eyeTemp2 eyeTemp3 eyeTemp4", 100, 16, _fmb),
    **_numbers(10832, "eyeRoll1 eyeRoll2 eyeRoll3 eyeRoll4", signed_bits=16, counts=_fmb),
}
_ALARMS: Final[Mapping[int, tuple[_Counts, Mapping[int, str] | None, str]]] = {
    236: (_any, None, "general"),
    246: (_fmb, None, "tow"),
    247: (_fmb, None, "accident"),
    249: (_fmb, None, "jamming"),
    251: (_fmb, None, "idle"),
    252: (_fmb, None, "powerCut"),
    253: (_any, {1: "hardAcceleration", 2: "hardBraking", 3: "hardCornering"}, ""),
}
"""Models that count; the alarm by the value, or None and that of any value but 0."""
_TEXTS: Final[Mapping[int, str]] = {256: "vin", 325: "vin", 281: "dtcs"}
_TAGS: Final = frozenset((548, 10828, 10829, 10831, 11317))
_ICCID, _SPEED, _DRIVER, _GEOFENCE, _OPERATOR, _BEACONS = 11, 24, 78, 175, 241, 385
_CELL, _AREA, _CELL_4G, _CARD_START, _CARD_END = 205, 206, 636, 195, 196


def add_element(attributes: dict[str, Any], number: int, value: Element, family: Family) -> None:
    """Add what an element says; one that no model names is `io<number>`.

    The speed of element 24, cells and the halves of a driver's card are left to the record.
    """
    if (known := _NUMBERS.get(number)) is not None and len(value) <= 8 and known.counts(family):
        attributes[known.key] = _read_number(known, value)
    elif number in _ALARMS and _ALARMS[number][0](family):
        _, names, name = _ALARMS[number]
        amount = int.from_bytes(value, "big")
        found = names.get(amount) if names is not None else name if amount else None
        if found is not None:
            add_alarms(attributes, (found,))
    elif number == _GEOFENCE and family.is_fmb:
        add_alarms(attributes, ("geofenceEnter" if any(value) else "geofenceExit",))
    elif number == _OPERATOR:
        attributes["operator"] = str(int.from_bytes(value, "big"))
    elif number == _ICCID and len(value) == 8:
        attributes["iccid"] = str(int.from_bytes(value, "big", signed=True))
    elif number == _DRIVER:
        if any(value):
            attributes["driverUniqueId"] = value[::-1].hex().upper()
    elif number in _TEXTS:
        text = value.decode("ascii", "replace").strip("\0 ")
        if text:
            attributes[_TEXTS[number]] = text.replace(",", " ") if number == 281 else text
    elif number == _BEACONS:
        read_beacons(value, attributes)
    elif number in _TAGS:
        read_tags(value, attributes)
    elif len(value) <= 8:
        attributes[f"io{number}"] = int.from_bytes(value, "big")
    else:
        attributes[f"io{number}"] = value.hex()


def _read_number(known: _Number, value: bytes) -> bool | float:
    if known.is_flag:
        return any(value)
    number = int.from_bytes(value, "big")
    if known.signed_bits:
        number &= (1 << known.signed_bits) - 1
        if number >> known.signed_bits - 1:
            number -= 1 << known.signed_bits
    if known.divisor == 1:
        return number
    return number / known.divisor if known.divisor > 1 else number * round(1 / known.divisor)


def add_cell(
    values: Mapping[int, Element], attributes: dict[str, Any], family: Family
) -> dict[str, Any] | None:
    """Take the elements of a cell out of the attributes; return the cell, or None."""
    if not family.has_cells:
        return None
    area = _value(values, _AREA)
    cell = _value(values, _CELL_4G) or _value(values, _CELL)
    for number in (_CELL, _AREA, _CELL_4G):
        attributes.pop(f"io{number}", None)
    operator = attributes.get("operator", "")
    country, network = (int(operator[:3]), int(operator[3:])) if len(operator) > 3 else (None, None)
    return cell_tower(country, network, area, cell)


def card_of(values: Mapping[int, Element]) -> str:
    """Return the number of a driver's card, in two elements; empty where there is none."""
    return (values.get(_CARD_START, b"") + values.get(_CARD_END, b"")).decode("ascii", "replace").strip("\0 ")


def speed_of(values: Mapping[int, Element]) -> int | None:
    """Return the speed of element 24, in km/h; None where it is not there."""
    return int.from_bytes(values[_SPEED], "big") if _SPEED in values else None


def _value(values: Mapping[int, Element], number: int) -> int:
    return int.from_bytes(values.get(number, b""), "big")
