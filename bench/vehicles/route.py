"""A drive along a round trip: position, speed and course of a vehicle at any time since its start.

Pure, and the same for the same seed. The tour is sampled every few metres with rounded corners. Limits,
bends, lights and the vehicle's acceleration give the speed, and the speed gives the time, so that position,
speed and course are consistent.
"""

import bisect
import math
import random
from itertools import accumulate
from typing import NamedTuple

from motorpool.bench.vehicles.city import RoundTrip, Waypoint

STEP_METRES = 4.0
CORNER_METRES = 18.0
"""Metres before a junction at which the bend begins."""
ACCELERATION = 1.3
"""Metres per second squared, of a van in traffic."""
BRAKING = 1.8
SIDEWAYS = 2.0
"""Largest lateral acceleration in a bend, metres per second squared."""
CRAWL = 1.0
"""Speed over the last steps before a stop, metres per second."""
LIGHT_RED_SHARE = 0.4
"""Share of the traffic lights that are red on arrival."""
_METRES_PER_DEGREE = 111_195.0


class VehicleState(NamedTuple):
    """Position, speed and course of a vehicle at one instant."""

    latitude: float
    longitude: float
    speed: float
    """Metres per second."""
    course: float
    """Degrees from north, clockwise, 0 to 360."""
    odometer: float
    """Metres since the start of the drive."""
    acceleration: float
    """Metres per second squared; negative while it brakes."""
    turning: float
    """Degrees per second, positive to the right."""


class Drive:
    """A vehicle's endless tour."""

    def __init__(self, trip: RoundTrip, seed: int, *, backwards: bool = False) -> None:
        rng = random.Random(seed)
        waypoints = trip.waypoints[::-1] if backwards else trip.waypoints
        self._origin = waypoints[0]
        self._east_scale = _METRES_PER_DEGREE * math.cos(math.radians(self._origin.latitude))
        corners = [self._metres(waypoint) for waypoint in waypoints]
        self._points = _sample(_round_corners(corners))
        spans = [
            math.dist(a, b) for a, b in zip(self._points, self._points[1:] + self._points[:1], strict=True)
        ]
        self._along = [0.0, *accumulate(spans)]
        pace = rng.uniform(0.85, 1.05) * trip.limit_kmh / 3.6
        waits = self._lights(corners, rng)
        self._speeds = _speeds(self._points, spans, pace, frozenset(waits))
        self._arrivals, self._departures = _timetable(spans, self._speeds, waits)
        self._offset = rng.uniform(0.0, self.seconds)

    @property
    def seconds(self) -> float:
        """Duration of one round, waits at lights included."""
        return self._arrivals[-1]

    @property
    def metres(self) -> float:
        """Length of one round."""
        return self._along[-1]

    def waits(self) -> list[float]:
        """Return the seconds of the first round at which the vehicle stands, ascending; at least one.

        Without a red light that is where the round begins.
        """
        # Half a second later rounding does not matter.
        standing = [
            arrival + 0.5
            for arrival, departure in zip(self._arrivals, self._departures, strict=False)
            if departure > arrival
        ]
        return [instant - self._offset for instant in standing or [0.0]]

    def at(self, seconds: float) -> VehicleState:
        """Return the state `seconds` after the start, which is at a place given by the seed."""
        rounds, within = divmod(seconds + self._offset, self.seconds)
        index = bisect.bisect_right(self._arrivals, within) - 1
        index = min(index, len(self._points) - 1)
        following = (index + 1) % len(self._points)
        here, there = self._points[index], self._points[following]
        course = math.degrees(math.atan2(there[0] - here[0], there[1] - here[1])) % 360.0
        if within <= self._departures[index]:
            speed, acceleration, share = 0.0, 0.0, 0.0
            turning = 0.0
        else:
            rolling = self._arrivals[index + 1] - self._departures[index]
            elapsed = within - self._departures[index]
            # Between two samples the acceleration is constant: the distance is quadratic in the time.
            leaving = self._speeds[index]
            acceleration = (self._speeds[following] - leaving) / rolling
            speed = leaving + acceleration * elapsed
            span = self._along[index + 1] - self._along[index]
            share = min(1.0, (leaving + speed) / 2.0 * elapsed / span)
            beyond = self._points[(index + 2) % len(self._points)]
            next_course = math.degrees(math.atan2(beyond[0] - there[0], beyond[1] - there[1]))
            bend = (next_course - course + 180.0) % 360.0 - 180.0
            course = (course + share * bend) % 360.0
            turning = bend / rolling
        east = here[0] + share * (there[0] - here[0])
        north = here[1] + share * (there[1] - here[1])
        travelled = self._along[index] + share * (self._along[index + 1] - self._along[index])
        return VehicleState(
            latitude=self._origin.latitude + north / _METRES_PER_DEGREE,
            longitude=self._origin.longitude + east / self._east_scale,
            speed=speed,
            course=course,
            odometer=rounds * self.metres + travelled - self._start_metres(),
            acceleration=acceleration,
            turning=turning,
        )

    def _start_metres(self) -> float:
        index = bisect.bisect_right(self._arrivals, self._offset) - 1
        return self._along[min(index, len(self._points) - 1)]

    def _metres(self, waypoint: Waypoint) -> tuple[float, float]:
        return (
            (waypoint.longitude - self._origin.longitude) * self._east_scale,
            (waypoint.latitude - self._origin.latitude) * _METRES_PER_DEGREE,
        )

    def _lights(self, corners: list[tuple[float, float]], rng: random.Random) -> dict[int, float]:
        """Return the seconds of waiting at red lights, by sample."""
        waits: dict[int, float] = {}
        for corner in corners:
            red, seconds = rng.random() < LIGHT_RED_SHARE, rng.uniform(6.0, 35.0)
            if red:
                nearest = min(range(len(self._points)), key=lambda i: math.dist(self._points[i], corner))
                # The line lies before the bend.
                before = nearest - round(1.5 * CORNER_METRES / STEP_METRES)
                waits[before % len(self._points)] = seconds
        return waits


def _round_corners(corners: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Replace each corner of the closed polygon by a curve that begins and ends on its sides."""
    rounded: list[tuple[float, float]] = []
    for before, corner, after in zip(
        corners[-1:] + corners[:-1], corners, corners[1:] + corners[:1], strict=True
    ):
        entry, leave = _towards(corner, before), _towards(corner, after)
        for step in range(9):
            t = step / 8
            rounded.append(
                (
                    (1 - t) ** 2 * entry[0] + 2 * t * (1 - t) * corner[0] + t**2 * leave[0],
                    (1 - t) ** 2 * entry[1] + 2 * t * (1 - t) * corner[1] + t**2 * leave[1],
                )
            )
    return rounded


def _towards(corner: tuple[float, float], other: tuple[float, float]) -> tuple[float, float]:
    share = min(0.4, CORNER_METRES / math.dist(corner, other))
    return corner[0] + share * (other[0] - corner[0]), corner[1] + share * (other[1] - corner[1])


def _sample(polygon: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Points about STEP_METRES apart along the closed polygon."""
    points: list[tuple[float, float]] = []
    for start, end in zip(polygon, polygon[1:] + polygon[:1], strict=True):
        pieces = max(1, round(math.dist(start, end) / STEP_METRES))
        points += [
            (start[0] + i / pieces * (end[0] - start[0]), start[1] + i / pieces * (end[1] - start[1]))
            for i in range(pieces)
        ]
    return points


def _speeds(
    points: list[tuple[float, float]], spans: list[float], pace: float, stops: frozenset[int]
) -> list[float]:
    """Return the speed at each sample: bends and stops first, then acceleration and braking, twice round."""
    count = len(points)
    speeds = [pace] * count
    for i in range(count):
        a, b, c = points[i - 1], points[i], points[(i + 1) % count]
        bend = math.atan2(b[0] - a[0], b[1] - a[1]) - math.atan2(c[0] - b[0], c[1] - b[1])
        bend = abs((bend + math.pi) % math.tau - math.pi)
        if bend > 1e-6:
            radius = (spans[i - 1] + spans[i]) / 2 / bend
            speeds[i] = min(pace, max(2.5, math.sqrt(SIDEWAYS * radius)))
        if i in stops:
            speeds[i] = CRAWL
    for i in [*range(count), *range(count)]:
        following = (i + 1) % count
        speeds[following] = min(speeds[following], math.sqrt(speeds[i] ** 2 + 2 * ACCELERATION * spans[i]))
    for i in [*range(count - 1, -1, -1), *range(count - 1, -1, -1)]:
        following = (i + 1) % count
        speeds[i] = min(speeds[i], math.sqrt(speeds[following] ** 2 + 2 * BRAKING * spans[i]))
    return speeds


def _timetable(
    spans: list[float], speeds: list[float], waits: dict[int, float]
) -> tuple[list[float], list[float]]:
    """Return the arrival at each sample, and lastly at the start again, and the departure from each."""
    arrivals, departures = [0.0], []
    for i, span in enumerate(spans):
        departures.append(arrivals[i] + waits.get(i, 0.0))
        mean = (speeds[i] + speeds[(i + 1) % len(speeds)]) / 2
        arrivals.append(departures[i] + span / mean)
    return arrivals, departures
