"""The parts of a device's track near a place."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import datetime
from typing import NamedTuple

from motorpool.storage.database.queries import Queries
from motorpool.storage.reports.report_rows import PLAUSIBLE, SPAN

# How far a position lies to the east of the place, -180 to 180 degrees.
_STEPS = f"""
    select time_before, latitude_before, east_before, fix_time, latitude, east from (
        select fix_time, id, latitude, east, lag(fix_time) over way as time_before,
            lag(latitude) over way as latitude_before, lag(east) over way as east_before
        from (
            select fix_time, id, latitude,
                longitude - $5::float8 - 360 * round((longitude - $5) / 360) as east
            from positions where {SPAN} and valid and {PLAUSIBLE}
        ) as track window way as (order by fix_time, id)
    ) as steps
    where greatest(latitude, latitude_before) >= $4::float8 - $6::float8
        and least(latitude, latitude_before) <= $4 + $6
        and greatest(east, east_before) >= -$7::float8 and least(east, east_before) <= $7
    order by fix_time, id
"""  # noqa: S608 - constants


class StepEnd(NamedTuple):
    """A position of a track: its fix time, latitude, and degrees to the east of the place."""

    time: datetime
    latitude: float
    east: float


class Step(NamedTuple):
    """A position with the one before it, None for the first of the span."""

    before: StepEnd | None
    time: datetime
    latitude: float
    east: float


async def stream_steps(
    q: Queries,
    device_id: int,
    start: datetime,
    end: datetime,
    *,
    latitude: float,
    longitude: float,
    north: float,
    east: float,
    batch: int = 1000,
) -> AsyncGenerator[list[Step], None]:
    """Yield the steps of a device's track, of valid positions by fix time, that may pass near a place.

    Both ends of the span are included. `north` and `east` are how many degrees around the place count. Holds
    a connection until exhausted or closed.
    """
    values = (device_id, start, end, latitude, longitude, north, east)
    async with aclosing(q.stream(_STEPS, *values, batch=batch)) as batches:
        async for rows in batches:
            yield [_step(*row.values()) for row in rows]


def _step(
    time_before: datetime | None,
    latitude_before: float,
    east_before: float,
    time: datetime,
    latitude: float,
    east: float,
) -> Step:
    before = None if time_before is None else StepEnd(time_before, latitude_before, east_before)
    return Step(before, time, latitude, east)
