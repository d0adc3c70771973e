"""One text while it is read, and the places in it (docs/protocols/gl200.md#locations)."""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec

from motorpool.codecs.devices.attributes import put
from motorpool.codecs.devices.draft import Draft
from motorpool.codecs.devices.gl200.fields import (
    hexadecimal,
    put_kilometres,
    real,
    time_of,
)
from motorpool.codecs.devices.network import access_point, cell_tower
from motorpool.codecs.errors import CodecError
from motorpool.codecs.numbers import parse_whole
from motorpool.codecs.reports import PositionReport, Report
from motorpool.codecs.text_fields import TextFields

LOCATION_FIELDS = 11
"""Of a location up to its cell."""
_ACCESS_POINT_FIELDS = 5
_MAX_ACCESS_POINTS = 15
_COORDINATE = re.compile(r"-?[0-9]{1,3}\.[0-9]{1,8}")
_TIME = re.compile(r"[0-9]{14}")
_ADDRESS = re.compile(r"[0-9A-Fa-f]{12}")
_SMALL = re.compile(r"-?[0-9]{0,5}(?:\.[0-9]{0,3})?")
_COUNTRY_CODE_DIGITS = (3, 4)
_HAS_SATELLITES, _HAS_TRIGGER = 1, 2


class Message(msgspec.Struct):
    """A message that is not read yet."""

    kind: str
    """The three letters of its type."""
    model: str
    fields: TextFields
    """From the one after the device's name to the one before the send time."""
    send_time: datetime | None
    is_archived: bool
    ignores_fix_time: bool
    receipt: bytes | None
    attributes: dict[str, Any] = {}

    def report(self, places: Sequence[Draft], reports: list[Report]) -> None:
        """Append a report for each place, the last with the attributes of the message; one without a location
        where there is no place.
        """
        common: dict[str, Any] = {"type": self.kind}
        if self.is_archived:
            common["archive"] = True
        if self.ignores_fix_time:
            places = places[-1:]
        reports += [self._report(place, common | place.attributes, None) for place in places[:-1]]
        last = places[-1] if places else Draft()
        reports.append(self._report(last, common | last.attributes | self.attributes, self.receipt))

    def _report(self, place: Draft, attributes: dict[str, Any], receipt: bytes | None) -> PositionReport:
        place.attributes, place.archived, place.valid = attributes, self.is_archived, True
        if self.ignores_fix_time and self.send_time is not None:
            place.fix_time = self.send_time
        place.device_time = self.send_time or place.fix_time
        return place.report(receipt) if place.located else place.report_without_place(receipt)


def is_location(values: Sequence[str], at: int) -> bool:
    """Return whether a location begins there: numbers, coordinates and a time, any of which may be empty."""
    if at + LOCATION_FIELDS > len(values):
        return False
    longitude, latitude, time = values[at + 4 : at + 7]
    if "." in longitude and "." in latitude and len(time) == 14 and time.isdecimal():
        return True
    if not time:
        return not longitude and not latitude and all(map(_SMALL.fullmatch, values[at : at + 4]))
    return bool(
        _TIME.fullmatch(time)
        and (not longitude or _COORDINATE.fullmatch(longitude))
        and (not latitude or _COORDINATE.fullmatch(latitude))
        and all(map(_SMALL.fullmatch, values[at : at + 4]))
    )


def find_location(values: Sequence[str], start: int) -> int:
    """Return where the first location with a time begins, else the first without; -1: there is none."""
    empty = -1
    for at in range(start, len(values) - LOCATION_FIELDS + 1):
        if is_location(values, at):
            if values[at + 6]:
                return at
            if empty < 0:
                empty = at
    return empty


def read_location(message: Message, *, has_mask: bool = False) -> Draft:
    """Read a location and the field behind its cell.

    Args:
        message: its fields are at the beginning of the location.
        has_mask: whether that field is a mask of what follows, as in ERI and IGN. Else it may be an odometer
            or the strength of the signal.

    Raises:
        CodecError: the fields are no location.
    """
    fields = message.fields
    place = Draft()
    hdop, speed, course, altitude = (real(fields.take()) for _ in range(4))
    longitude, latitude, time = fields.take(), fields.take(), fields.take()
    put(place.attributes, "hdop", hdop)
    place.set_motion(speed or 0.0, 0.0 if course is None else course)
    place.altitude = altitude or 0.0
    place.fix_time = time_of(time)
    if longitude and latitude:
        east, north = real(longitude), real(latitude)
        if east is None or north is None:
            raise CodecError("coordinates that are no numbers")
        place.set_place(north, east)
        place.located = bool(place.fix_time is not None and (hdop or north or east))
    place.points = _read_access_points(fields)
    place.towers = [_read_cell(fields)]
    if message.model.startswith("GL5") and has_mask:
        fields.skip(2)  # strength and errors of the signal
    if fields.remaining and not (has_mask and message.model == "GL320M"):
        _read_appended(place, fields, has_mask=has_mask)
    return place


def _read_access_points(fields: TextFields) -> list[dict[str, Any]]:
    """Read access points, where a count of them is there."""
    text = fields.peek()
    if not 1 <= len(text) <= 2 or not text.isdecimal():
        return []
    fields.skip()
    points: list[dict[str, Any]] = []
    while len(points) < min(int(text), _MAX_ACCESS_POINTS) and _ADDRESS.fullmatch(fields.peek()):
        points.append(access_point(fields.peek(), parse_whole(fields.peek(1))))
        fields.skip(_ACCESS_POINT_FIELDS)
    return points


def _read_cell(fields: TextFields) -> dict[str, Any] | None:
    country, operator, area, cell = (fields.take() for _ in range(4))
    if len(country) not in _COUNTRY_CODE_DIGITS:
        return None
    mcc, mnc, lac, number = parse_whole(country), parse_whole(operator), hexadecimal(area), hexadecimal(cell)
    return None if None in (mcc, mnc) or lac is None or number is None else cell_tower(mcc, mnc, lac, number)


def _read_appended(place: Draft, fields: TextFields, *, has_mask: bool) -> None:
    text = fields.take()
    if not text or text == "00":
        return
    if "." in text:
        put_kilometres(place.attributes, "odometer", text)
        return
    number = parse_whole(text)
    if number is None:
        return
    if has_mask or (len(text) == len("00") and text[0] == "0"):
        if number & _HAS_SATELLITES:
            put(place.attributes, "sat", parse_whole(fields.take()))
        if number & _HAS_TRIGGER:
            fields.skip()
    elif number:
        place.attributes["rssi"] = number
