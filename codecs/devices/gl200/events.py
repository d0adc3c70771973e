"""Messages about one thing each (docs/protocols/gl200.md#other-messages)."""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from motorpool.codecs.devices.attributes import add_alarms, put
from motorpool.codecs.devices.draft import Draft
from motorpool.codecs.devices.gl200.fields import (
    STATES,
    add_analog,
    add_battery_level,
    hexadecimal,
    millivolts,
    put_kilometres,
    real,
    working_time,
)
from motorpool.codecs.devices.gl200.record import Message, find_location, read_location
from motorpool.codecs.devices.network import access_point, cell_tower
from motorpool.codecs.errors import CodecError
from motorpool.codecs.numbers import parse_whole
from motorpool.codecs.reports import Report
from motorpool.codecs.text_fields import TextFields

_ADDRESS = re.compile(r"[0-9A-Fa-f]{12}")
_VOLTS = re.compile(r"[0-9]{1,2}\.[0-9]{1,3}")
_COUNTRY = re.compile(r"0?[2-7][0-9]{2}")
_OPERATOR = re.compile(r"[0-9]{1,4}")
_AREA = re.compile(r"[0-9A-Fa-f]{1,4}")
_CELL = re.compile(r"[0-9A-Fa-f]{1,8}")
_LEVEL = re.compile(r"[0-9]{1,3}")
_TEXT_PAYLOAD_BYTES = 2000
_MAX_POINTS = 15
_MAX_CELLS = 8
_FATIGUE = 1
_ACCESSORY_ITEMS: Final[tuple[tuple[str, Callable[[str], Any]], ...]] = (
    ("accessoryName", str),
    ("accessoryMac", str),
    ("accessoryStatus", parse_whole),
    ("accessoryVoltage", millivolts),
    ("accessoryTemp", real),
    ("accessoryHumidity", real),
)


def _read_located(message: Message, start: int, *, has_mask: bool = False) -> list[Draft]:
    """Go to the first location from a field on, and read it; return nothing where there is none."""
    fields = message.fields
    at = find_location(fields.values, fields.at + start)
    if at < 0:
        return []
    fields.at = at
    return [read_location(message, has_mask=has_mask)]


def _read_ignition(message: Message, reports: list[Report]) -> None:
    fields = message.fields
    message.attributes["ignition"] = message.kind.endswith("N")
    places = _read_located(message, 1, has_mask=True)
    if places:
        for text in (fields.peek(), fields.peek(1)):
            if ":" in text:
                put(message.attributes, "hours", working_time(text))
            else:
                put_kilometres(message.attributes, "odometer", text)
    message.report(places, reports)


def _read_information(message: Message, reports: list[Report]) -> None:
    fields, attributes = message.fields, message.attributes
    state = hexadecimal(fields.take())
    attributes |= STATES.get(state or 0, {})
    put(attributes, "iccid", fields.take() or None)
    put(attributes, "rssi", parse_whole(fields.take()))
    with suppress(CodecError):  # Some models say no more.
        _read_supply(attributes, fields, message.model)
    message.report((), reports)


def _read_supply(attributes: dict[str, Any], fields: TextFields, model: str) -> None:
    fields.skip(2)  # errors of the signal, whether there is an external supply
    if _ADDRESS.fullmatch(fields.peek()) or _ADDRESS.fullmatch(fields.peek(1)):
        if not _ADDRESS.fullmatch(fields.peek()):
            fields.skip()
        fields.skip()
        put(attributes, "deviceTemp", real(fields.take()))
        put(attributes, "humidity", real(fields.take()))
    text = fields.take()
    if "." in text:
        put_kilometres(attributes, "odometer", text)
    else:
        put(attributes, "power", millivolts(text))
    if model != "GV500VC" and not _VOLTS.fullmatch(fields.peek()):
        text = fields.take()
        if model not in ("GV350M", "GV310LAU"):
            put(attributes, "power2", millivolts(text))
    put(attributes, "battery", real(fields.take()))
    if fields.take() and fields.take() == "1":
        attributes["charge"] = True
    if model == "GV310LAU":
        fields.skip(5)  # lamps, saving of energy, antenna, time of the last fix, mask of the pins
        for number in (1, 2, 3):
            add_analog(attributes, number, fields.take())


def _read_switch(message: Message, reports: list[Report]) -> None:
    message.fields.skip()
    state = message.fields.take()
    if state in ("0", "1"):
        message.attributes["in1" if message.kind == "LSW" else "in2"] = state == "1"
    message.report(_read_located(message, 0), reports)


def _read_driver(message: Message, reports: list[Report]) -> None:
    message.fields.skip()
    put(message.attributes, "driverUniqueId", message.fields.take() or None)
    places = _read_located(message, 1)
    put_kilometres(message.attributes, "odometer", message.fields.peek() if places else "")
    message.report(places, reports)


def _read_data(message: Message, reports: list[Report]) -> None:
    fields = message.fields
    at = find_location(fields.values, fields.at + 4)
    put(message.attributes, "data", fields.peek(3 if at < 0 else at - 1 - fields.at) or None)
    message.report(_read_located(message, 4), reports)


def _read_transparent(message: Message, reports: list[Report]) -> None:
    fields = message.fields
    fields.skip(4)
    text = bytes.fromhex(fields.take()[:_TEXT_PAYLOAD_BYTES]).decode("ascii", "replace")
    if "COMB" in text:
        put(message.attributes, "fuel", real((text.split(",") + [""] * 3)[2]))
    else:
        message.attributes["result"] = text
    message.report((), reports)


def _read_network(message: Message, reports: list[Report]) -> None:
    """Read WIF, GSM and LBS: access points and cells, wherever they are."""
    values = message.fields.values[message.fields.at :]
    points: list[dict[str, Any]] = []
    towers: list[dict[str, Any] | None] = []
    first_cell, at = -1, 0
    while at < len(values):
        if _ADDRESS.fullmatch(values[at]):
            if len(points) < _MAX_POINTS:
                rssi = parse_whole(values[at + 1]) if at + 1 < len(values) else None
                points.append(access_point(values[at], rssi))
            at += 2
        elif message.kind != "WIF" and _is_cell(values[at : at + 4]):
            first_cell = at if first_cell < 0 else first_cell
            rssi = parse_whole(values[at + 4]) if at + 4 < len(values) else None
            if len(towers) < _MAX_CELLS:
                country, operator, area, cell = values[at : at + 4]
                towers.append(cell_tower(int(country), int(operator), int(area, 16), int(cell, 16), rssi))
            at += 6
        else:
            at += 1
    level = ""
    if message.kind == "WIF" and values:
        level = values[-1]
    elif message.kind == "LBS" and first_cell > 0:
        level = values[first_cell - 1]
    if _LEVEL.fullmatch(level):
        add_battery_level(message.attributes, level)
    message.report([Draft(towers=towers, points=points)], reports)


def _is_cell(values: Sequence[str]) -> bool:
    return (
        len(values) == 4
        and _COUNTRY.fullmatch(values[0]) is not None
        and _OPERATOR.fullmatch(values[1]) is not None
        and _AREA.fullmatch(values[2]) is not None
        and _CELL.fullmatch(values[3]) is not None
    )


def _read_accessory(message: Message, reports: list[Report]) -> None:
    """Read BAA and BID: the mask is before as many fields as it has bits."""
    fields = message.fields
    mask_at = fields.at + (4 if message.kind == "BAA" else 2)
    fields.at = mask_at
    mask = hexadecimal(fields.take()) or 0
    for bit, (name, parse) in enumerate(_ACCESSORY_ITEMS):
        if mask >> bit & 1:
            text = fields.take()
            put(message.attributes, name, parse(text) if text else None)
    message.report(_read_located(message, 0), reports)


def _read_fatigue(message: Message, reports: list[Report]) -> None:
    warning, degree = parse_whole(message.fields.take()), parse_whole(message.fields.take())
    if warning == _FATIGUE:
        add_alarms(message.attributes, ("fatigueDriving",))
        put(message.attributes, "fatigueDegree", degree)
    else:
        put(message.attributes, "warningType", warning)
    message.report(_read_located(message, 0), reports)


def _read_light(message: Message, reports: list[Report]) -> None:
    places = _read_located(message, 0)
    if places:
        fields, attributes = message.fields, message.attributes
        rest = [*fields.rest(), *[""] * 6]
        put(attributes, "lightLevel", parse_whole(rest[1]))
        add_battery_level(attributes, rest[2])
        put(attributes, "mode", parse_whole(rest[3]))
        if rest[4]:
            attributes["motion"] = rest[4] == "1"
        put(attributes, "temp1", real(rest[5]))
    message.report(places, reports)


def _read_version(message: Message, reports: list[Report]) -> None:
    fields, attributes = message.fields, message.attributes
    put(attributes, "deviceType", fields.take() or None)
    put(attributes, "versionFw", hexadecimal(fields.take()))
    put(attributes, "versionHw", hexadecimal(fields.take()))
    message.report((), reports)


READERS: Final[Mapping[str, Callable[[Message, list[Report]], None]]] = {
    **dict.fromkeys(("IGN", "IGF", "VGN", "VGF"), _read_ignition),
    "INF": _read_information,
    **dict.fromkeys(("LSW", "TSW"), _read_switch),
    "IDA": _read_driver,
    "DAT": _read_data,
    "DTT": _read_transparent,
    **dict.fromkeys(("WIF", "GSM", "LBS"), _read_network),
    **dict.fromkeys(("BAA", "BID"), _read_accessory),
    "DAR": _read_fatigue,
    "LSA": _read_light,
    "VER": _read_version,
}
"""A function that reads a type of message."""
