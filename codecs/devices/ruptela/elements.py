"""The numbered values of a record (docs/protocols/ruptela.md#values)."""

from collections.abc import Mapping
from typing import Any, Final, Literal

import msgspec

from motorpool.codecs.devices.attributes import add_alarms


class _Number(msgspec.Struct, frozen=True):
    """A value that is a number."""

    key: str
    factor: float = 1
    divisor: float = 1
    is_signed: bool = False


_NUMBERS: Final[Mapping[int, _Number]] = {
    2: _Number("in1"),
    3: _Number("in2"),
    4: _Number("in3"),
    5: _Number("in4"),
    20: _Number("adc3"),
    21: _Number("adc4"),
    22: _Number("adc1"),
    23: _Number("adc2"),
    29: _Number("power", divisor=1000),
    30: _Number("battery", divisor=1000),
    32: _Number("deviceTemp", is_signed=True),
    39: _Number("engineLoad"),
    65: _Number("odometer"),
    74: _Number("temp3", divisor=10, is_signed=True),
    78: _Number("temp0", divisor=10, is_signed=True),
    79: _Number("temp1", divisor=10, is_signed=True),
    80: _Number("temp2", divisor=10, is_signed=True),
    94: _Number("rpm", 0.25),
    95: _Number("obdSpeed"),
    98: _Number("fuel", 100, 255),
    100: _Number("fuelConsumption", divisor=20),
    163: _Number("odometer", 5),
    164: _Number("tripOdometer", 5),
    165: _Number("obdSpeed", divisor=256),
    166: _Number("rpm", 0.125),
    197: _Number("rpm", 0.125),
    205: _Number("fuel"),
    207: _Number("fuelLevel", divisor=2.5),
    208: _Number("fuelUsed", 0.5),
    645: _Number("obdOdometer", 1000),
}
_FLAGS: Final = {13: "motion", 173: "motion", 170: "charge", 251: "ignition", 409: "ignition"}
_ALARMS: Final = {88: "jamming", 134: "hardBraking", 136: "hardAcceleration", 410: "tow", 411: "accident"}
"""Alarms of any value but 0."""
_ALARM_VALUES: Final = {415: (0, "gpsAntennaCut"), 758: (1, "tampering")}
"""Alarms of one value, and that value."""
_Form = Literal["hex", "text"]
_IDENTITIES: Final[tuple[tuple[tuple[int, ...], str, _Form], ...]] = (
    ((34,), "driverUniqueId", "hex"),
    ((126, 127), "driverUniqueId", "text"),
    ((155, 156), "driverUniqueId", "text"),
    ((760, 761), "tagId", "hex"),
)
"""Numbers of the values whose bytes together are an identity, and how it is written."""
_PARTS: Final = frozenset(number for numbers, _, _ in _IDENTITIES for number in numbers)
_OPERATOR = 150


def add_elements(attributes: dict[str, Any], elements: Mapping[int, bytes]) -> None:
    """Add what the values of a record mean, by their numbers; those without a meaning are `io<number>`."""
    for number, value in elements.items():
        amount = int.from_bytes(value, "big")
        if (known := _NUMBERS.get(number)) is not None:
            if known.is_signed:
                amount = int.from_bytes(value, "big", signed=True)
            is_plain = known.factor == known.divisor == 1
            attributes[known.key] = amount if is_plain else amount * known.factor / known.divisor
        elif number in _FLAGS:
            attributes[_FLAGS[number]] = amount != 0
        elif number in _ALARMS:
            if amount:
                add_alarms(attributes, (_ALARMS[number],))
        elif number in _ALARM_VALUES:
            expected, alarm = _ALARM_VALUES[number]
            if amount == expected:
                add_alarms(attributes, (alarm,))
        elif number == _OPERATOR:
            if amount:
                attributes["operator"] = str(amount)
        elif number not in _PARTS:
            attributes[f"io{number}"] = amount
    if not _PARTS.isdisjoint(elements):
        _add_identities(attributes, elements)


def _add_identities(attributes: dict[str, Any], elements: Mapping[int, bytes]) -> None:
    for numbers, key, form in _IDENTITIES:
        data = b"".join(elements.get(number, b"") for number in numbers)
        if not any(data):
            continue
        text = data.decode("ascii", "replace").strip("\0 ")
        is_text = form == "text" and text.isprintable() and "\ufffd" not in text
        if identity := text if is_text else data.hex():
            attributes[key] = identity
