"""Numeric attributes of positions in the order of time, for the report of sensors."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from datetime import datetime
from typing import Final, NamedTuple

from motorpool.storage.database.queries import Queries
from motorpool.storage.reports.report_rows import TIMELY

_INSTANT: Final = "least(case when outdated then device_time else fix_time end, server_time)"
"""As `instant_of` in actors/rules/sensor_events.py."""
_SINCE: Final = """
    least((
        select fix_time from positions where device_id = $1 and fix_time < $2 order by fix_time desc limit 1
    ), $2 - interval '1 day')
"""
"""Positions without a fix have the fix time of the last one, which may lie before the span; and a fix between
the two may have come later."""


class Reading(NamedTuple):
    """What a position tells of some attributes."""

    instant: datetime
    """When that was: the time of the fix, or without one that of the device."""
    values: tuple[float | None, ...]
    """In the order in which the attributes were asked for; None: it does not tell."""


async def stream_readings(
    q: Queries, device_id: int, keys: Sequence[str], start: datetime, end: datetime, *, batch: int = 1000
) -> AsyncGenerator[list[Reading], None]:
    """Yield the readings of a device in the order of their instants, both ends of the span included.

    Positions with none of the attributes are left out. Holds a connection until exhausted or closed.
    """
    places = [f"${number}::text" for number in range(4, 4 + len(keys))]
    sql = f"""
        select instant, {", ".join(map(_number, places))} from (
            select id, {_INSTANT} as instant, attributes from positions
            where device_id = $1 and fix_time between {_SINCE} and $3 and {TIMELY}
                and (outdated or fix_time >= $2)
                and ({" or ".join(f"attributes ? {place}" for place in places)})
        ) as found
        where instant between $2 and $3 order by instant, id
    """  # noqa: S608 - numbers of parameters
    rows = q.stream(sql, device_id, start, end, *keys, batch=batch)
    async with aclosing(rows) as batches:
        async for found in batches:
            yield [Reading(instant, tuple(values)) for instant, *values in (row.values() for row in found)]


def _number(place: str) -> str:
    """Return the expression of an attribute; null where it is no number, or one that no sensor comes to."""
    value = f"attributes -> {place}"
    return (
        f"case when jsonb_typeof({value}) = 'number' then"
        f" case when abs(({value})::numeric) < 1e15 then ({value})::float8 end end"
    )
