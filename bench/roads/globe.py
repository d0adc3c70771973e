"""Distances and steps on the globe."""

from math import asin, cos, degrees, hypot, radians, sin, sqrt
from typing import NamedTuple

EARTH_RADIUS = 6_378_137.0
"""Metres; that of the servers' great circles, so that a distance has one length."""
DEGREE = radians(EARTH_RADIUS)
"""Metres of a degree along a meridian."""


class Place(NamedTuple):
    """A point in degrees."""

    latitude: float
    longitude: float

    def moved(self, east: float, north: float) -> "Place":
        """Return the point this many metres away; exact for steps that are small beside the globe."""
        longitude = self.longitude + east / (DEGREE * cos(radians(self.latitude)))
        return Place(self.latitude + north / DEGREE, (longitude + 180.0) % 360.0 - 180.0)

    def metres_to(self, other: "Place") -> float:
        """Return the length of the great circle to another point."""
        phi, to_phi = radians(self.latitude), radians(other.latitude)
        across = sin((to_phi - phi) / 2) ** 2
        along = cos(phi) * cos(to_phi) * sin(radians(other.longitude - self.longitude) / 2) ** 2
        return 2 * EARTH_RADIUS * asin(min(1.0, sqrt(across + along)))

    def offset_to(self, other: "Place") -> tuple[float, float]:
        """Return the metres to the east and to the north of a point nearby."""
        turned = (other.longitude - self.longitude + 180.0) % 360.0 - 180.0
        return turned * DEGREE * cos(radians(self.latitude)), (other.latitude - self.latitude) * DEGREE


def heading_of(east: float, north: float) -> float:
    """Return the direction of an offset in radians from north, clockwise; 0 for none."""
    length = hypot(east, north)
    if length == 0.0:
        return 0.0
    angle = asin(max(-1.0, min(1.0, east / length)))
    return angle if north >= 0.0 else radians(180.0) - angle


def course_of(heading: float) -> float:
    """Return radians from north as degrees, 0 to 360."""
    return degrees(heading) % 360.0
