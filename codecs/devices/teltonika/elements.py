"""The IO elements of a record: what each number stands for (docs/protocols/teltonika.md#elements)."""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Final

import msgspec

from motorpool.codecs.devices.attributes import add_alarms
from motorpool.codecs.devices.network import cell_tower
from motorpool.codecs.devices.teltonika.beacons import read_beacons, read_tags


class Family(msgspec.Struct, frozen=True):
    """A model's share of the elements whose meaning depends on the model."""

    is_six: bool = False
    """FMx6xx, which have elements of trucks."""
    has_cells: bool = False
    """Cell and area in elements of their own."""
    has_neighbours: bool = False
    """Up to four cells, each in four elements."""
    numbers: Mapping[int, "_Number"] = {}
    """The elements that are numbers."""
    alarms: Mapping[int, Mapping[int, str] | str] = {}
    """The elements that are alarms: by the value, or the same for any but 0."""


MODELS: Final = (
    *("FMB003", "FMB120", "FMB125", "FMB130", "FMB140", "FMB150", "FMB204", "FMB640", "FMB920"),
    *("FMC003", "FMC125", "FMC130", "FMC150", "FMC640", "FMC650", "FMC920", "FMM130", "FMM640", "FMM650"),
    *("FMP100", "FMT100", "FMU130", "MSP500", "MTB100", "TAT100", "TFT100", "TMT250", "TST100"),
)
"""The usual ones, as the console offers them; others are read by their first letters."""
_FMB_MODELS = re.compile(r"FM[B-Z].*|MTB100|MSP500")
_SIX_MODELS = re.compile(r"FM.6..")
_CELL_MODELS = re.compile(r"T.T...")
_ALL, _FMB, _FMB_NOT_SIX, _FMB_OR_T, _NOT_SIX, _SIX, _FMB003 = range(7)
"""Groups of models that have an element; FMB are later devices as well, T the small ones such as TAT100."""


class _Number(msgspec.Struct, frozen=True):
    """An element that is a number."""

    key: str
    divisor: float = 1
    signed_bits: int = 0
    """Bits of a signed number; 0: unsigned."""
    group: int = _ALL
    is_flag: bool = False


def _numbers(
    first: int, keys: str, divisor: float = 1, signed_bits: int = 0, group: int = _ALL
) -> dict[int, _Number]:
    """Return numbers of one kind, whose elements follow each other."""
    return {
        first + place: _Number(key, divisor, signed_bits, group) for place, key in enumerate(keys.split())
    }


def _flags(first: int, keys: str, group: int = _ALL) -> dict[int, _Number]:
    return {first + place: _Number(key, group=group, is_flag=True) for place, key in enumerate(keys.split())}


_NUMBERS: Final[Mapping[int, _Number]] = {
    **_flags(1, "in1 in2 in3 in4"),
    **_numbers(9, "adc1 adc2", 1000, group=_FMB),
    **_numbers(12, "fuelUsed", 1000, group=_FMB),
    **_numbers(13, "fuelConsumption", 100, group=_FMB),
    **_numbers(16, "odometer"),
    **_numbers(17, "axisX axisY axisZ", signed_bits=16),
    **_numbers(21, "rssi"),
    **_numbers(25, "bleTemp1 bleTemp2 bleTemp3 bleTemp4", 100, 16),
    **_numbers(30, "faultCount engineLoad", group=_FMB),
    **_numbers(32, "coolantTemp", signed_bits=8, group=_FMB),
    **_numbers(36, "rpm", group=_FMB),
    **_numbers(43, "milDistance", group=_FMB),
    **_numbers(57, "hybridBatteryLevel", group=_FMB),
    **_numbers(66, "power battery batteryCurrent", 1000),
    **_numbers(72, "temp1 temp2 temp3 temp4", 10, 32, _FMB),
    **_numbers(80, "dataMode", group=_NOT_SIX),
    **_numbers(81, "obdSpeed throttle", group=_FMB_NOT_SIX),
    **_numbers(83, "fuelUsed fuel", 10, group=_FMB_NOT_SIX),
    **_numbers(85, "rpm", group=_FMB_NOT_SIX),
    **_numbers(87, "obdOdometer", group=_FMB_NOT_SIX),
    **_numbers(89, "fuelLevel", group=_FMB_NOT_SIX),
    **_numbers(107, "fuelUsed", 10, group=_FMB),
    **_numbers(110, "fuelConsumption", 10, group=_FMB),
    **_numbers(113, "batteryLevel", group=_FMB_OR_T),
    **_numbers(115, "engineTemp", 10, 16, _FMB),
    **_flags(179, "out1 out2"),
    **_numbers(181, "pdop hdop", 10),
    **_numbers(199, "tripOdometer"),
    **_numbers(200, "sleepMode", group=_FMB_OR_T),
    **_flags(239, "ignition motion"),
    **_numbers(389, "obdOdometer", 0.001, group=_FMB003),
    **_flags(662, "door", _FMB),
    **_numbers(701, "bleTemp1 bleTemp2 bleTemp3 bleTemp4", 10, 16, _SIX),
    **_numbers(10644, "tempProbe1 tempProbe2 tempProbe3 tempProbe4 tempProbe5 tempProbe6", 100, 16, _FMB),
    **_numbers(10800, "eyeTemp1 eyeTemp2 eyeTemp3 eyeTemp4", 100, 16, _FMB),
    **_numbers(10832, "eyeRoll1 eyeRoll2 eyeRoll3 eyeRoll4", signed_bits=16, group=_FMB),
}
_ALARMS: Final[Mapping[int, tuple[int, Mapping[int, str] | str]]] = {
    175: (_FMB, {0: "geofenceExit", **dict.fromkeys(range(1, 256), "geofenceEnter")}),
    236: (_ALL, "general"),
    246: (_FMB, "tow"),
    247: (_FMB, "accident"),
    249: (_FMB, "jamming"),
    251: (_FMB, "idle"),
    252: (_FMB, "powerCut"),
    253: (_ALL, {1: "hardAcceleration", 2: "hardBraking", 3: "hardCornering"}),
}
"""Models that count, and the alarms by the value of the element, or the same for any but 0."""
_TEXTS: Final[Mapping[int, str]] = {256: "vin", 325: "vin", 281: "dtcs"}
_TAGS: Final = frozenset((548, 10828, 10829, 10831, 11317))
_NEIGHBOURS: Final = tuple(
    (f"io{1200 + number}", *(f"io{287 + 3 * number + place}" for place in range(3))) for number in range(4)
)
"""Network, area, cell and signal of each."""
_ICCID, _SPEED, _DRIVER, _OPERATOR, _TROUBLE_CODES, _BEACONS = 11, 24, 78, 241, 281, 385


@lru_cache(maxsize=256)
def family_of(model: str) -> Family:
    """Return the family of a model in capitals; empty: only what all models have."""
    is_fmb, is_six = _FMB_MODELS.fullmatch(model) is not None, _SIX_MODELS.fullmatch(model) is not None
    is_t = _CELL_MODELS.fullmatch(model) is not None
    groups = {
        _FMB: is_fmb,
        _FMB_NOT_SIX: is_fmb and not is_six,
        _FMB_OR_T: is_fmb or is_t,
        _NOT_SIX: (is_fmb and not is_six) or is_t,
        _SIX: is_six,
        _FMB003: model == "FMB003",
    }
    return Family(
        is_six=is_six,
        has_cells=is_fmb or is_t,
        has_neighbours=is_t,
        numbers={number: each for number, each in _NUMBERS.items() if groups.get(each.group, True)},
        alarms={number: alarms for number, (group, alarms) in _ALARMS.items() if groups.get(group, True)},
    )


def add_elements(attributes: dict[str, Any], elements: Iterable[tuple[int, bytes]], family: Family) -> None:
    """Add what elements say; those that no model names are `io<number>`.

    Cells, and the halves of a driver's card, are left to the record.
    """
    numbers = family.numbers
    for number, value in elements:
        known = numbers.get(number)
        if known is None or len(value) > 8:
            _add_other(attributes, number, value, family)
            continue
        if known.is_flag:
            attributes[known.key] = any(value)
            continue
        amount = int.from_bytes(value, "big")
        if known.signed_bits:
            amount &= (1 << known.signed_bits) - 1
            if amount >> known.signed_bits - 1:
                amount -= 1 << known.signed_bits
        attributes[known.key] = amount if known.divisor == 1 else amount / known.divisor


def _add_other(attributes: dict[str, Any], number: int, value: bytes, family: Family) -> None:
    if (alarms := family.alarms.get(number)) is not None:
        amount = int.from_bytes(value, "big")
        name = (alarms if amount else None) if isinstance(alarms, str) else alarms.get(amount)
        if name is not None:
            add_alarms(attributes, (name,))
    elif number == _OPERATOR:
        attributes["operator"] = str(int.from_bytes(value, "big"))
    elif number == _ICCID and len(value) == 8:
        attributes["iccid"] = str(int.from_bytes(value, "big", signed=True))
    elif number == _DRIVER:
        if any(value):
            attributes["driverUniqueId"] = value[::-1].hex().upper()
    elif number != _SPEED:
        attributes[f"io{number}"] = int.from_bytes(value, "big") if len(value) <= 8 else value.hex()


def add_long_element(attributes: dict[str, Any], number: int, value: bytes) -> None:
    """Add what an element that has a length says; those that are not known are `io<number>`, in digits."""
    if number in _TEXTS:
        if text := value.decode("ascii", "replace").strip("\0 "):
            attributes[_TEXTS[number]] = text.replace(",", " ") if number == _TROUBLE_CODES else text
    elif number == _BEACONS:
        read_beacons(value, attributes)
    elif number in _TAGS:
        read_tags(value, attributes)
    else:
        attributes[f"io{number}"] = value.hex()


def take_cells(attributes: dict[str, Any], family: Family) -> list[dict[str, Any] | None]:
    """Take the elements of cells out of the attributes; return the cells, None for those not known."""
    if not family.has_cells:
        return []
    cells = [_take_cell(attributes)]
    if family.has_neighbours:
        for network, area, cell, rssi in _NEIGHBOURS:
            if area in attributes and cell in attributes:
                # Without the country, so that the network says nothing either.
                attributes.pop(network, None)
                places = attributes.pop(area), attributes.pop(cell)
                cells.append(cell_tower(None, None, *places, attributes.pop(rssi, None)))
    return cells


def _take_cell(attributes: dict[str, Any]) -> dict[str, Any] | None:
    area = attributes.pop("io206", 0)
    cell_2g, cell_4g = attributes.pop("io205", 0), attributes.pop("io636", 0)
    operator = attributes.get("operator", "")
    country, network = (int(operator[:3]), int(operator[3:])) if len(operator) > 3 else (None, None)
    return cell_tower(country, network, area, cell_4g or cell_2g)


def take_card(attributes: dict[str, Any]) -> None:
    """Replace the two elements of a driver's card by `driverUniqueId`."""
    halves = (attributes.pop("io195", 0), attributes.pop("io196", 0))
    card = b"".join(half.to_bytes(8, "big") for half in halves).decode("ascii", "replace").strip("\0 ")
    if card:
        attributes["driverUniqueId"] = card
