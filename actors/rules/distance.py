"""How far the device came since its last position (docs/positions.md#pipeline)."""

from math import asin, cos, floor, pi, radians, sin, sqrt
from typing import Any

from motorpool.codecs.reports import PositionReport
from motorpool.storage.records import Position

EARTH_RADIUS = 6_378_137.0
"""Metres."""
DEGREE = radians(EARTH_RADIUS)
"""Metres of a degree along a meridian, and along the equator."""
FLAT = 0.01
"""Degrees within which a great circle is a straight line to 0.01 mm, which takes half the time."""
_RADIAN = radians(1.0)
_HALF_RADIAN = _RADIAN / 2
NUMBER = (int, float)
"""Ready made: `int | float` would be built anew at each position."""
MAX_DISTANCE = 1e9
"""Metres that a device may claim since its last position: the way to the moon and back, and not endless."""
MAX_ROUNDED = 7e13
"""Metres up to which a float tells centimetres."""


def great_circle(latitude: float, longitude: float, to_latitude: float, to_longitude: float) -> float:
    """Metres between two points given in degrees, along a sphere (haversine)."""
    if latitude == to_latitude and longitude == to_longitude:
        return 0.0  # most of a fleet stands still most of the time
    phi, to_phi = latitude * _RADIAN, to_latitude * _RADIAN
    up = sin((to_phi - phi) / 2)
    right = sin((to_longitude - longitude) * _RADIAN / 2)
    share = up * up + cos(phi) * cos(to_phi) * right * right
    return 2 * EARTH_RADIUS * asin(sqrt(share)) if share < 1.0 else pi * EARTH_RADIUS


def add_distance(
    report: PositionReport, last: Position | None, attributes: dict[str, Any], is_next: bool = True
) -> None:
    """Add `distance` (metres since the last position, unless the device sent it) and `totalDistance`.

    `is_next` is false for a report from before `last`, or from the future: no way leads from there to here,
    so its distance is 0, and its total that of `last`. None leads to 0, 0 either, where devices without a fix
    say they are. What is computed is rounded to centimetres by arithmetic, four times as fast as by `round`.
    """
    travelled = attributes.get("distance")
    if not isinstance(travelled, NUMBER) or not -MAX_DISTANCE < travelled < MAX_DISTANCE:
        travelled = 0.0
        if (
            is_next
            and report.located
            and last is not None
            and not (last.latitude == 0 and last.longitude == 0)
            and (report.valid or report.latitude != 0 or report.longitude != 0)
        ):
            up, right = report.latitude - last.latitude, report.longitude - last.longitude
            if -FLAT < up < FLAT and -FLAT < right < FLAT:
                right *= cos((last.latitude + report.latitude) * _HALF_RADIAN)
                metres = sqrt(up * up + right * right) * DEGREE
            else:
                metres = great_circle(last.latitude, last.longitude, report.latitude, report.longitude)
            travelled = floor(metres * 100 + 0.5) / 100
        attributes["distance"] = travelled
    total = last.attributes.get("totalDistance") if last is not None else 0.0
    if not isinstance(total, NUMBER):
        total = 0.0
    if is_next:
        total += travelled
        if -MAX_ROUNDED < total < MAX_ROUNDED:
            total = floor(total * 100 + 0.5) / 100
    attributes["totalDistance"] = float(total)


def remove_distance(report: PositionReport, last: Position | None, attributes: dict[str, Any]) -> None:
    """Take back what was added for a report from where the device cannot be."""
    if "distance" not in report.attributes:
        del attributes["distance"]
    add_distance(report, last, attributes, is_next=False)
