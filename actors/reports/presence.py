"""When devices were near a place (docs/reports.md#presence)."""

import math
from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from motorpool.actors.reports.items import Presence
from motorpool.actors.reports.sources import ReportQuery, Sources, Viewer, devices_of
from motorpool.storage.records import Device
from motorpool.storage.reports import report_places
from motorpool.storage.reports.report_places import Step

METRES_PER_DEGREE: Final = 111_194.93
"""Of latitude, on a sphere of 6,371 km."""
MAX_GAP: Final = timedelta(minutes=5)
"""Between positions that are farther apart in time no way is assumed."""
BATCH: Final = 200
"""Items that are yielded at once."""


class Circle(NamedTuple):
    """A place: degrees, and a radius in metres."""

    latitude: float
    longitude: float
    radius: float


class Interval(NamedTuple):
    """A stay within a circle, and the least distance from its centre in metres."""

    start: datetime
    end: datetime
    distance: float


class IntervalFinder:
    """Finds the intervals within a circle from the steps of a track, given in their order.

    Between two positions that are at most `MAX_GAP` apart the device moves evenly on a straight line. Of
    others only the positions count, and the time between if both are inside.
    """

    def __init__(self, circle: Circle) -> None:
        self._circle = circle
        self._east = METRES_PER_DEGREE * math.cos(math.radians(circle.latitude))
        self._present: Interval | None = None

    def add(self, step: Step) -> Interval | None:
        """Add a step; return the interval before it if that is complete."""
        found = self._within(step)
        before = self._present
        if found is None:
            return None
        if before is not None and found.start <= before.end:
            distance = min(before.distance, found.distance)
            self._present = Interval(before.start, max(before.end, found.end), distance)
            return None
        self._present = found
        return before

    def end(self) -> Interval | None:
        """Return the last interval, at the end of the track."""
        return self._present

    def _within(self, step: Step) -> Interval | None:
        """Return when a step is inside, without what came before it."""
        radius = self._circle.radius
        end = self._metres(step.latitude, step.east)
        last = Interval(step.time, step.time, abs(end))
        if step.before is None or abs(step.before.east - step.east) > 180:
            return last if last.distance <= radius else None
        start = self._metres(step.before.latitude, step.before.east)
        first = Interval(step.before.time, step.before.time, abs(start))
        if first.distance <= radius and last.distance <= radius:
            return Interval(first.start, last.end, min(first.distance, last.distance))
        if step.time - step.before.time > MAX_GAP:
            return next((each for each in (first, last) if each.distance <= radius), None)
        # The way, from 0 to 1, crosses the circle as far before as after its point nearest to the centre.
        way = end - start
        nearest = -(start * way.conjugate()).real / abs(way) ** 2 if way else 0.0
        square = radius**2 - abs(start + nearest * way) ** 2
        if square < 0:
            return None
        half = math.sqrt(square) / abs(way) if way else 0.0
        begin, finish = max(0.0, nearest - half), min(1.0, nearest + half)
        if begin > finish:
            return None
        lasts = step.time - step.before.time
        distance = abs(start + min(1.0, max(0.0, nearest)) * way)
        return Interval(step.before.time + lasts * begin, step.before.time + lasts * finish, distance)

    def _metres(self, latitude: float, east: float) -> complex:
        """Return how far a point lies to the east of the centre and, as the imaginary part, to the north."""
        return complex(east * self._east, (latitude - self._circle.latitude) * METRES_PER_DEGREE)


async def presences(
    sources: Sources, viewer: Viewer, query: ReportQuery
) -> AsyncGenerator[tuple[Device, list[Presence]], None]:
    """Yield when each device was within the circle of the query, some items at a time."""
    circle = Circle(query.latitude, query.longitude, query.radius)
    async with aclosing(devices_of(sources, viewer, query, batch=1)) as devices:
        async for (device,) in devices:
            finder, found = IntervalFinder(circle), list[Interval | None]()
            async with sources.slots, aclosing(_steps(sources, device, query, circle)) as steps:
                async for batch in steps:
                    found += [each for each in map(finder.add, batch) if each is not None]
            found.append(finder.end())
            items = [_item(device, each) for each in found if each is not None]
            for begin in range(0, len(items), BATCH):
                yield device, items[begin : begin + BATCH]


def _steps(
    sources: Sources, device: Device, query: ReportQuery, circle: Circle
) -> AsyncGenerator[list[Step], None]:
    north = circle.radius / METRES_PER_DEGREE
    # Close to a pole all longitudes are near.
    narrow = math.cos(math.radians(min(90.0, abs(circle.latitude) + north)))
    east = 180.0 if narrow * 180 <= north else north / narrow
    return report_places.stream_steps(
        sources.database,
        device.id,
        query.start,
        query.end,
        latitude=circle.latitude,
        longitude=circle.longitude,
        north=north,
        east=east,
    )


def _item(device: Device, interval: Interval) -> Presence:
    return Presence(
        device_id=device.id,
        device_name=device.name,
        start_time=interval.start,
        end_time=interval.end,
        distance=interval.distance,
    )
