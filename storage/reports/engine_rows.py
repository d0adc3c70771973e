"""What positions tell of a device's engine and tank, in the order of time."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import datetime
from typing import NamedTuple

from motorpool.storage.database.queries import Queries
from motorpool.storage.reports.report_rows import SPAN, TIMELY


def _number(key: str) -> str:
    """Return the expression of an attribute; null where it is no number, or one that no vehicle comes to."""
    value = f"attributes -> '{key}'"
    return (
        f"case when jsonb_typeof({value}) = 'number' then"
        f" case when abs(({value})::numeric) < 1e15 then ({value})::float8 end end"
    )


_READINGS = f"""
    select id, fix_time, latitude, longitude, address, speed,
        case when jsonb_typeof(attributes -> 'ignition') = 'boolean'
            then (attributes -> 'ignition')::boolean end as ignition,
        {_number("rpm")} as rpm, {_number("power")} as power, {_number("hours")} as hours,
        {_number("fuelUsed")} as fuel_used, {_number("fuel")} as fuel, {_number("fuelLevel")} as fuel_level,
        attributes ? 'implausible' as is_implausible
    from positions where {SPAN} and not outdated
    order by fix_time, id
"""  # noqa: S608 - constants
_FIRST_AFTER = f"""
    select id from positions where device_id = $1 and fix_time > $2 and {TIMELY} and not outdated
    order by fix_time, id limit 1
"""  # noqa: S608 - as above


class Reading(NamedTuple):
    """A position, and what it tells of the engine and the tank; None: nothing."""

    position_id: int
    fix_time: datetime
    latitude: float
    longitude: float
    address: str | None = None
    speed: float = 0.0
    """Knots."""
    ignition: bool | None = None
    rpm: float | None = None
    power: float | None = None
    """Volts."""
    hours: float | None = None
    """Milliseconds that the engine has run."""
    fuel_used: float | None = None
    """Litres, since ever."""
    fuel: float | None = None
    """Litres in the tank."""
    fuel_level: float | None = None
    """Percent of the tank."""
    is_implausible: bool = False
    """Whether the device cannot have been there; what it tells of the engine and the tank may be true."""


async def stream_readings(
    q: Queries, device_id: int, start: datetime, end: datetime, *, batch: int = 1000
) -> AsyncGenerator[list[Reading], None]:
    """Yield the readings of a device by fix time, both ends of the span included.

    Positions that repeat an earlier place are left out. Holds a connection until
    exhausted or closed.
    """
    async with aclosing(q.stream(_READINGS, device_id, start, end, batch=batch)) as batches:
        async for rows in batches:
            yield [Reading(*row.values()) for row in rows]


async def first_id_after(q: Queries, device_id: int, instant: datetime) -> int | None:
    """Return the position of the first reading of a device after an instant; None if there is none."""
    found: int | None = await q.fetch_value(_FIRST_AFTER, device_id, instant)
    return found
