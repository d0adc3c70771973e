"""The query and form parameters of an OsmAnd request as a report (docs/protocols/osmand.md#parameters)."""

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from motorpool.codecs.devices.http_codec import MAX_PARAMETERS, SECRET, parse_parameters
from motorpool.codecs.devices.network import access_point, cell_tower, network_of
from motorpool.codecs.errors import CodecError
from motorpool.codecs.numbers import parse_finite, parse_real, parse_whole
from motorpool.codecs.reports import PositionReport
from motorpool.codecs.units import KNOTS_PER_METRE_PER_SECOND, checked_coordinates

_MILLISECONDS_FROM = (1 << 31) - 1
"""Timestamps from here on are milliseconds."""
_PARAMETERS = (
    "id deviceid timestamp lat lon location valid speed bearing heading altitude accuracy hdop batt"
    " driverUniqueId charge cell wifi notificationToken"
)
_KNOWN_PARAMETERS = frozenset((*_PARAMETERS.split(), SECRET))
"""Parameters with a meaning; any other becomes an attribute. The token is for push messages to the user."""

_GPSLOGGER_MARKS = frozenset(("aid", "ser", "prov"))
"""Parameters by which GPSLogger is recognised: android id, serial number, provider."""
_GPSLOGGER_NAMES = {
    "alt": "altitude",
    "acc": "accuracy",
    "dir": "bearing",
    "ischarging": "charge",
    "time": "timestamp",
    "aid": "id",
    "ser": "id",
}
"""What the parameters are called here; of several with one meaning the first that has a value counts."""
_GPSLOGGER_UNUSED = frozenset(("timeoffset", "date", "starttimestamp", "filename"))
_GPSLOGGER_SPEEDS = ("spd", "s")


def read_query(query: str) -> tuple[str, PositionReport]:
    """Return the unique id and the report of a query string or form body.

    Raises:
        CodecError: no id, or a malformed number or time.
    """
    try:
        fields = parse_parameters(query)
    except ValueError:
        raise CodecError(f"more than {MAX_PARAMETERS} parameters") from None
    if not fields.keys().isdisjoint(_GPSLOGGER_MARKS):
        fields = _from_gpslogger(fields)
    unique_id = _first(fields, "id") or _first(fields, "deviceid")
    if not unique_id:
        raise CodecError("no id")
    coordinates = _coordinates(fields)
    stamp = _first(fields, "timestamp")
    return unique_id, PositionReport(
        attributes=_attributes(fields),
        device_time=parse_time(stamp) if stamp else None,
        located=coordinates is not None,
        valid=coordinates is not None and _first(fields, "valid").lower() in ("", "true", "1"),
        latitude=coordinates[0] if coordinates else 0.0,
        longitude=coordinates[1] if coordinates else 0.0,
        altitude=_number(fields, "altitude"),
        speed=_number(fields, "speed"),
        course=_number(fields, "bearing") or _number(fields, "heading"),
        accuracy=_number(fields, "accuracy"),
        network=_network(fields.get("cell", ()), fields.get("wifi", ())),
    )


def _from_gpslogger(given: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """Return the parameters of GPSLogger by the names used here (docs/protocols/osmand.md#gpslogger)."""
    fields = {
        name: values
        for name, values in given.items()
        if name not in _GPSLOGGER_NAMES
        and name not in _GPSLOGGER_UNUSED
        and name not in _GPSLOGGER_SPEEDS
        and any(value.strip() for value in values)
    }
    for name, canonical in _GPSLOGGER_NAMES.items():
        if _first(given, name):
            fields.setdefault(canonical, given[name])
    speed = next((text for name in _GPSLOGGER_SPEEDS if (text := _first(given, name))), "")
    if speed and "speed" not in fields:
        fields["speed"] = [str(_parse_number("spd", speed) * KNOTS_PER_METRE_PER_SECOND)]
    return fields


def parse_time(stamp: str | float) -> datetime:
    """Read seconds, milliseconds, ISO 8601 or `yyyy-MM-dd HH:mm:ss`, without a zone as UTC.

    Raises:
        CodecError: none of these.
    """
    try:
        if isinstance(stamp, str) and ("-" in stamp[1:] or ":" in stamp):
            # In a query an unescaped + is a blank.
            moment = datetime.fromisoformat(stamp.replace(" ", "+") if "T" in stamp else stamp)
            return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
        number = parse_real(stamp) if isinstance(stamp, str) else stamp
        number = math.nan if number is None else number
        return datetime.fromtimestamp(number if number < _MILLISECONDS_FROM else number / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        raise CodecError(f"{str(stamp)[:40]!r} is no time") from None


def _first(fields: Mapping[str, Sequence[str]], name: str) -> str:
    return fields.get(name, ("",))[0].strip()


def _number(fields: Mapping[str, Sequence[str]], name: str) -> float:
    text = _first(fields, name)
    return _parse_number(name, text) if text else 0.0


def _parse_number(name: str, text: str) -> float:
    number = parse_finite(text)
    if number is None:
        raise CodecError(f"{name} is no number")
    return number


def _coordinates(fields: Mapping[str, Sequence[str]]) -> tuple[float, float] | None:
    latitude, longitude = _first(fields, "lat"), _first(fields, "lon")
    if not latitude or not longitude:
        latitude, _, longitude = _first(fields, "location").partition(",")
    if not latitude or not longitude:
        return None
    return checked_coordinates(_parse_number("lat", latitude), _parse_number("lon", longitude))


def _attributes(fields: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    attributes: dict[str, Any] = {}
    if _first(fields, "hdop"):
        attributes["hdop"] = _number(fields, "hdop")
    if _first(fields, "batt"):
        attributes["batteryLevel"] = _number(fields, "batt")
    if _first(fields, "driverUniqueId"):
        attributes["driverUniqueId"] = _first(fields, "driverUniqueId")
    if _first(fields, "charge"):
        attributes["charge"] = _first(fields, "charge").lower() in ("true", "1")
    for name in fields:
        if name not in _KNOWN_PARAMETERS:
            attributes[name] = _value(fields[name][0])
    return attributes


def _value(text: str) -> float | bool | str:
    if text in ("true", "false"):
        return text == "true"
    number = parse_finite(text)  # JSON has no infinity
    return text if number is None else number


def _network(cells: Sequence[str], points: Sequence[str]) -> Mapping[str, Any] | None:
    towers, stations = [], []
    for cell in cells:
        numbers = [number for part in cell.split(",") if (number := parse_whole(part)) is not None]
        if len(numbers) == len(cell.split(",")) and len(numbers) >= 4:
            towers.append(cell_tower(*numbers[:5]))
    for point in points:
        address, _, strength = point.partition(",")
        stations.append(access_point(address, parse_whole(strength)))
    return network_of(towers, stations)
