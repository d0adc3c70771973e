"""Trips and stops (docs/reports.md#trips-and-stops)."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from motorpool.actors.reports.figures import compare, knots, seconds_between
from motorpool.actors.reports.items import StopItem, TripItem
from motorpool.actors.reports.names import in_words, with_addresses
from motorpool.actors.reports.sources import ReportQuery, ReportRules, Sources, Viewer
from motorpool.actors.reports.track import Ends, find_segments
from motorpool.actors.reports.trip_drivers import Way, trip_drivers
from motorpool.storage.records import Device

SEGMENTS = 500
"""Trips or stops that are answered at once."""


async def trips(
    sources: Sources, viewer: Viewer, device: Device, query: ReportQuery, *, places: bool = True
) -> AsyncGenerator[list[TripItem], None]:
    """Yield the trips of a device in order; without `places` addresses and places are left out."""
    rules = await sources.rules_of(device)
    async with aclosing(_segments(sources, viewer, device, query, rules, is_moving=True)) as parts:
        async for part in parts:
            figures = [compare(each.start, each.end, rules, each.centimetres / 100) for each in part]
            ways = [
                Way(ends.start.fix_time, ends.end.fix_time, each.driver)
                for ends, each in zip(part, figures, strict=True)
            ]
            drivers = await trip_drivers(sources.database, device.id, ways, accessible_to=viewer.sees_only)
            points = [point for ends in part for point in (ends.start, ends.end)]
            addresses: list[str | None] = [None] * len(points)
            words = addresses
            if places:
                addresses = await with_addresses(sources, points)
                words = await in_words(sources, viewer, points, addresses)
            items = []
            for index, (ends, each) in enumerate(zip(part, figures, strict=True)):
                start, end = ends.start, ends.end
                seconds = seconds_between(start, end)
                items.append(
                    TripItem(
                        device_id=device.id,
                        device_name=device.name,
                        distance=each.distance,
                        average_speed=knots(each.distance, seconds),
                        max_speed=ends.max_speed,
                        spent_fuel=each.spent_fuel,
                        start_odometer=each.start_odometer,
                        end_odometer=each.end_odometer,
                        start_time=start.fix_time,
                        end_time=end.fix_time,
                        start_position_id=start.position_id,
                        end_position_id=end.position_id,
                        start_lat=start.latitude,
                        start_lon=start.longitude,
                        end_lat=end.latitude,
                        end_lon=end.longitude,
                        start_address=addresses[2 * index],
                        end_address=addresses[2 * index + 1],
                        start_place=words[2 * index],
                        end_place=words[2 * index + 1],
                        duration=round(seconds * 1000),
                        driver_id=drivers[index].driver_id,
                        driver_unique_id=drivers[index].unique_id,
                        driver_name=drivers[index].name,
                    )
                )
            yield items


async def stops(
    sources: Sources, viewer: Viewer, device: Device, query: ReportQuery
) -> AsyncGenerator[list[StopItem], None]:
    """Yield the stops of a device in order."""
    rules = await sources.rules_of(device)
    async with aclosing(_segments(sources, viewer, device, query, rules, is_moving=False)) as parts:
        async for part in parts:
            points = [ends.start for ends in part]
            addresses = await with_addresses(sources, points)
            places = await in_words(sources, viewer, points, addresses)
            items = []
            for ends, address, place in zip(part, addresses, places, strict=True):
                start, end = ends.start, ends.end
                each = compare(start, end, rules)
                items.append(
                    StopItem(
                        device_id=device.id,
                        device_name=device.name,
                        spent_fuel=each.spent_fuel,
                        start_odometer=each.start_odometer,
                        end_odometer=each.end_odometer,
                        start_time=start.fix_time,
                        end_time=end.fix_time,
                        position_id=start.position_id,
                        latitude=start.latitude,
                        longitude=start.longitude,
                        address=address,
                        place=place,
                        duration=round(seconds_between(start, end) * 1000),
                        engine_hours=max(0, each.end_hours - each.start_hours),
                    )
                )
            yield items


async def _segments(
    sources: Sources,
    viewer: Viewer,
    device: Device,
    query: ReportQuery,
    rules: ReportRules,
    *,
    is_moving: bool,
) -> AsyncGenerator[Sequence[Ends], None]:
    zone = viewer.preferences.zone
    async with sources.slots:
        found = await find_segments(sources, device.id, query.start, query.end, rules.settings.trips, zone)
    wanted = [each for each in found if each.is_moving is is_moving]
    for begin in range(0, len(wanted), SEGMENTS):
        yield wanted[begin : begin + SEGMENTS]
