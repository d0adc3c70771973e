"""How far the device came since its last position (docs/positions.md#pipeline)."""

from math import asin, cos, pi, radians, sin, sqrt
from typing import Any

from motorpool.codecs.reports import PositionReport
from motorpool.storage.records import Position

EARTH_RADIUS = 6_378_137.0
"""Metres."""
DEGREE = radians(EARTH_RADIUS)
"""Metres of a degree along a meridian, and along the equator."""
_RADIAN = radians(1.0)
NUMBER = (int, float)
"""Ready made: `int | float` would be built anew at each position."""
MAX_DISTANCE = 1e9
"""Metres that a device may claim since its last position: the way to the moon and back, and not endless."""


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
    report: PositionReport, last: Position | None, attributes: dict[str, Any], *, is_next: bool = True
) -> None:
    """Add `distance` (metres since the last position, unless the device sent it) and `totalDistance`.

    `is_next` is false for a report from before `last`, or from the future: no way leads from there to here,
    so its distance is 0, and its total that of `last`. None leads to 0, 0 either, where devices without a fix
    say they are.
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
            travelled = round(
                great_circle(last.latitude, last.longitude, report.latitude, report.longitude), 2
            )
        attributes["distance"] = travelled
    before = last.attributes.get("totalDistance") if last is not None else None
    if not isinstance(before, NUMBER):
        before = 0.0
    attributes["totalDistance"] = round(before + travelled, 2) if is_next else float(before)


def remove_distance(report: PositionReport, last: Position | None, attributes: dict[str, Any]) -> None:
    """Take back what was added for a report from where the device cannot be."""
    if "distance" not in report.attributes:
        del attributes["distance"]
    add_distance(report, last, attributes, is_next=False)
