"""Any other message, read by the coordinates in it (docs/protocols/gl200.md#other-messages)."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from motorpool.codecs.devices.attributes import add_alarms
from motorpool.codecs.devices.draft import Draft
from motorpool.codecs.devices.gl200.fields import add_battery_level, hexadecimal, time_of
from motorpool.codecs.devices.gl200.record import LOCATION_FIELDS, Message, read_location
from motorpool.codecs.devices.network import cell_tower
from motorpool.codecs.reports import Report
from motorpool.codecs.text_fields import TextFields

_LEVEL = re.compile(r"[0-9]{1,3}")
_ALARMS: Final[Mapping[str, str]] = {
    "SOS": "sos",
    "SPD": "overspeed",
    "TOW": "tow",
    "IDL": "idle",
    "PNA": "powerOn",
    "PFA": "powerOff",
    "EPN": "powerRestored",
    "MPN": "powerRestored",
    "EPF": "powerCut",
    "MPF": "powerCut",
    "BPL": "lowBattery",
    "STT": "movement",
    "SWG": "geofence",
    "TMP": "temperature",
    "TEM": "temperature",
    "JDR": "jamming",
    "JDS": "jamming",
}
_BEHAVIOURS: Final = {
    0: "hardBraking",
    1: "hardAcceleration",
    2: "hardCornering",
    3: "hardBraking",
    4: "hardAcceleration",
}
_REPORT_TYPE = re.compile(r"[0-9A-Fa-f]{1,2}")
_CODE, _AREA, _CELL = re.compile(r"[0-9]{4}"), re.compile(r"[0-9A-Fa-f]{4}"), re.compile(r"[0-9A-Fa-f]{4,8}")
_FIX = re.compile(r"-?[0-9]{1,3}\.[0-9]{6}")


def read_other(message: Message, reports: list[Report]) -> bool:
    """Read a message by the first coordinates in it; return whether anything in it is known."""
    fields, attributes = message.fields, message.attributes
    values, start = fields.values, fields.at
    if (alarm := _ALARMS.get(message.kind)) is not None:
        add_alarms(attributes, (alarm,))
    at = next(
        (
            at
            for at in range(start + 4, len(values) - 2)
            if _FIX.fullmatch(values[at]) and _FIX.fullmatch(values[at + 1]) and time_of(values[at + 2])
        ),
        -1,
    )
    if at < 0:
        if _REPORT_TYPE.fullmatch(fields.peek(1)):
            _add_behaviour(message, int(fields.peek(1), 16))
        place = Draft(towers=_find_cell(values[start:]))
        if attributes or place.network is not None:
            message.report([place], reports)
            return True
        return False
    _add_behaviour(message, hexadecimal(values[at - 6]) if at - 6 >= start else None)
    message.fields = TextFields([*values, *[""] * LOCATION_FIELDS], at - 4)
    place = read_location(message)
    if place.located and len(values) > at + 7 and _LEVEL.fullmatch(values[-1]):
        add_battery_level(attributes, values[-1])
    message.report([place], reports)
    return True


def _find_cell(values: Sequence[str]) -> list[dict[str, Any] | None]:
    """Return the first cell, of the four fields of which the first two have four digits."""
    for at in range(len(values) - 3):
        country, operator, area, cell = values[at : at + 4]
        if (
            _CODE.fullmatch(country)
            and _CODE.fullmatch(operator)
            and _AREA.fullmatch(area)
            and _CELL.fullmatch(cell)
        ):
            return [cell_tower(int(country), int(operator), int(area, 16), int(cell, 16))]
    return []


def _add_behaviour(message: Message, report_type: int | None) -> None:
    """Add what the type of the report, one field before the number of locations, says."""
    if report_type is None:
        return
    low, high = report_type & 0xF, report_type >> 4
    match message.kind:
        case "HBM" if low in _BEHAVIOURS:
            add_alarms(message.attributes, (_BEHAVIOURS[low],))
        case "NMR":
            message.attributes["motion"] = report_type == 1
        case "DIS":
            message.attributes[f"in{high}"] = low == 1
        case "IGL":
            message.attributes["ignition"] = low == 1
