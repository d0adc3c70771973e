"""The JSON form of an OsmAnd request (docs/protocols/osmand.md#json-form)."""

import math
from typing import Any

import msgspec

from motorpool.codecs.devices.osmand.query import parse_time
from motorpool.codecs.errors import CodecError
from motorpool.codecs.reports import PositionReport
from motorpool.codecs.units import KNOTS_PER_METRE_PER_SECOND, checked_coordinates

MAX_LOCATIONS = 1000
"""Locations in one request."""


class _Coordinates(msgspec.Struct, frozen=True):
    latitude: float
    longitude: float
    altitude: float | None = None
    speed: float | None = None
    """Metres per second; negative: unknown."""
    heading: float | None = None
    """Degrees; negative: unknown."""
    accuracy: float | None = None


class _Activity(msgspec.Struct, frozen=True):
    type: str | None = None


class _Battery(msgspec.Struct, frozen=True):
    level: float | None = None
    """0 to 1; negative: unknown."""
    is_charging: bool | None = None


class _Location(msgspec.Struct, frozen=True):
    timestamp: str | float | None = None
    coords: _Coordinates | None = None
    event: str | int | None = None
    is_moving: bool | None = None
    odometer: float | None = None
    """Metres."""
    mock: bool | None = None
    alarm: str | None = None
    activity: _Activity | None = None
    battery: _Battery | None = None
    extras: dict[str, Any] | None = None


class _Request(msgspec.Struct, frozen=True):
    device_id: str | int
    location: _Location | list[_Location]


_decode = msgspec.json.Decoder(_Request).decode


def read_json(body: bytes) -> tuple[str, list[PositionReport]]:
    """Return the unique id and one report for each location.

    Raises:
        CodecError: the body is not of this form.
    """
    try:
        request = _decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise CodecError(str(error)) from None
    unique_id = str(request.device_id).strip()
    if not unique_id:
        raise CodecError("no device_id")
    locations = request.location if isinstance(request.location, list) else [request.location]
    if len(locations) > MAX_LOCATIONS:
        raise CodecError(f"more than {MAX_LOCATIONS} locations")
    return unique_id, [_report(location) for location in locations]


def _report(location: _Location) -> PositionReport:
    time = None if location.timestamp is None else parse_time(location.timestamp)
    coords = location.coords
    if coords is None:
        return PositionReport(attributes=_attributes(location), device_time=time, located=False)
    latitude, longitude = checked_coordinates(coords.latitude, coords.longitude)
    return PositionReport(
        attributes=_attributes(location),
        device_time=time,
        valid=True,
        latitude=latitude,
        longitude=longitude,
        altitude=coords.altitude or 0.0,
        speed=_positive(coords.speed) * KNOTS_PER_METRE_PER_SECOND,
        course=_positive(coords.heading),
        accuracy=_positive(coords.accuracy),
    )


def _positive(number: float | None) -> float:
    return number if number is not None and number > 0 else 0.0


def _attributes(location: _Location) -> dict[str, Any]:
    attributes = {
        name: value
        for name, value in (location.extras or {}).items()
        if isinstance(value, str | bool | int) or (isinstance(value, float) and math.isfinite(value))
    }
    battery = location.battery or _Battery()
    fields = {
        "event": location.event,
        "motion": location.is_moving,
        "odometer": None if location.odometer is None else int(location.odometer),
        "mock": location.mock,
        "alarm": location.alarm,
        "activity": location.activity.type if location.activity else None,
        "batteryLevel": round(battery.level * 100)
        if battery.level is not None and battery.level >= 0
        else None,
        "charge": battery.is_charging or None,
    }
    attributes.update((name, value) for name, value in fields.items() if value is not None)
    return attributes
