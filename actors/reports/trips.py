"""Trips and stops (docs/reports.md#trips-and-stops)."""

from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import aclosing
from datetime import UTC, datetime, timedelta

from motorpool.actors.reports.figures import EndPoint, compare, end_point, knots, seconds_between
from motorpool.actors.reports.items import StopItem, TripItem
from motorpool.actors.reports.names import driver_names, with_addresses
from motorpool.actors.reports.segments import Fix, Segment, Segmenter
from motorpool.actors.reports.sources import ReportQuery, ReportRules, Sources, Viewer
from motorpool.actors.rules.trip_detection import TripSettings, TripState, advance
from motorpool.storage import report_rows
from motorpool.storage.database import Database
from motorpool.storage.records import Device

__all__ = ["find_segments", "state_before", "stops", "trips"]

LOOK_BACK = timedelta(hours=24)
"""Positions of so long before a report are read to continue the state machine."""
_EARLIEST = datetime(1, 1, 3, tzinfo=UTC)
SEGMENTS = 500
"""Trips or stops whose ends are read at once."""


async def trips(
    sources: Sources, viewer: Viewer, device: Device, query: ReportQuery
) -> AsyncGenerator[list[TripItem], None]:
    """Yield the trips of a device in order."""
    rules = await sources.rules_of(device)
    async with aclosing(_segments(sources, device, query, rules, is_moving=True)) as parts:
        async for part in parts:
            figures = [compare(start, end, rules) for start, end, _ in part]
            names = await driver_names(
                sources.database, viewer, (each.driver for each in figures if each.driver)
            )
            places = await with_addresses(
                sources, [point for start, end, _ in part for point in (start, end)]
            )
            items = []
            for index, ((start, end, max_speed), each) in enumerate(zip(part, figures, strict=True)):
                seconds = seconds_between(start, end)
                items.append(
                    TripItem(
                        device_id=device.id,
                        device_name=device.name,
                        distance=each.distance,
                        average_speed=knots(each.distance, seconds),
                        max_speed=max_speed,
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
                        start_address=places[2 * index],
                        end_address=places[2 * index + 1],
                        duration=round(seconds * 1000),
                        driver_unique_id=each.driver,
                        driver_name=names.get(each.driver or ""),
                    )
                )
            yield items


async def stops(
    sources: Sources, viewer: Viewer, device: Device, query: ReportQuery
) -> AsyncGenerator[list[StopItem], None]:
    """Yield the stops of a device in order."""
    del viewer
    rules = await sources.rules_of(device)
    async with aclosing(_segments(sources, device, query, rules, is_moving=False)) as parts:
        async for part in parts:
            places = await with_addresses(sources, [start for start, _, _ in part])
            items = []
            for (start, end, _), address in zip(part, places, strict=True):
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
                        duration=round(seconds_between(start, end) * 1000),
                        engine_hours=max(0, each.end_hours - each.start_hours),
                    )
                )
            yield items


Ends = tuple[EndPoint, EndPoint, float]
"""The ends of a segment and its highest speed."""


async def _segments(
    sources: Sources, device: Device, query: ReportQuery, rules: ReportRules, *, is_moving: bool
) -> AsyncGenerator[list[Ends], None]:
    async with sources.slots:
        found = await find_segments(sources.database, device.id, query.start, query.end, rules)
    wanted = [segment for segment in found if segment.is_moving is is_moving]
    for begin in range(0, len(wanted), SEGMENTS):
        yield await _read_ends(sources.database, device.id, wanted[begin : begin + SEGMENTS])


async def _read_ends(database: Database, device_id: int, segments: Sequence[Segment]) -> list[Ends]:
    ids = {fix.position_id for segment in segments for fix in (segment.start, segment.end)}
    rows = await report_rows.end_positions(
        database, device_id, sorted(ids), segments[0].start.fix_time, segments[-1].end.fix_time
    )
    points = {position_id: end_point(position) for position_id, position in rows.items()}

    def point(fix: Fix) -> EndPoint:
        # A position that was deleted meanwhile is known as far as it was read.
        known = points.get(fix.position_id)
        return known or EndPoint(fix.position_id, fix.fix_time, fix.latitude, fix.longitude)

    return [(point(segment.start), point(segment.end), segment.max_speed) for segment in segments]


async def find_segments(
    database: Database, device_id: int, start: datetime, end: datetime, rules: ReportRules
) -> list[Segment]:
    """Return the trips and stops of a device in a span, both ends included."""
    state = await state_before(database, device_id, start, rules.trips)
    segmenter = Segmenter(state, rules.trips)
    found: list[Segment] = []
    async with aclosing(report_rows.stream_track(database, device_id, start, end)) as batches:
        async for rows in batches:
            found += segmenter.add(Fix(*row.values()) for row in rows)
    return found + segmenter.finish()


async def state_before(
    database: Database, device_id: int, instant: datetime, settings: TripSettings
) -> TripState:
    """Return the state of the machine before an instant: that of the last event of motion, continued with the
    positions since, those of 24 hours at most (docs/decisions/0162).
    """
    event = await report_rows.last_motion_event(database, device_id, instant)
    begin = max(instant, _EARLIEST) - LOOK_BACK
    state = TripState()
    if event is not None:
        anchor = Fix(*event.position.values()) if event.position is not None else None
        state = TripState(is_moving=event.is_moving, anchor=anchor)
        begin = max(begin, event.time)
    # A microsecond is the unit of time in PostgreSQL.
    until = max(instant, _EARLIEST) - timedelta(microseconds=1)
    batches = report_rows.stream_track(database, device_id, begin, until)
    async with aclosing(batches):
        async for rows in batches:
            state = _continue(state, (Fix(*row.values()) for row in rows), settings)
    return state


def _continue(state: TripState, fixes: Iterable[Fix], settings: TripSettings) -> TripState:
    for fix in fixes:
        state, _ = advance(state, fix, settings)
    return state
