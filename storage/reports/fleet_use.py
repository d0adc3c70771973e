"""How far vehicles came and how long their engines ran between instants, by their counters."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple

from motorpool.storage.database.queries import Queries
from motorpool.storage.reports.report_rows import TIMELY

DEVICES: Final = 2000
"""Devices of one statement: 10,000 take half a second together."""
FASTEST_KMH: Final = 200.0
"""A counter that rose faster for a whole span was set by hand."""
DROVE_METRES: Final = 500.0
"""A vehicle that came less far has not driven."""

_COUNTERS = ("odometer", "totalDistance", "hours")


class Use(NamedTuple):
    """What vehicles did in a span."""

    metres: float
    hours: float
    """Engine hours, in milliseconds."""
    devices: int
    """Vehicles that drove."""


def _number(name: str) -> str:
    value = f"attributes -> '{name}'"
    return f"case when jsonb_typeof({value}) = 'number' then ({value})::float8 end as {name.lower()}"


_READ: Final = f"""
    with found as (
        select device_id, number, at, odometer, totaldistance, hours
        from unnest($1::bigint[]) as device_id,
            unnest($2::timestamptz[]) with ordinality as edges (at, number)
            left join lateral (
                select {", ".join(map(_number, _COUNTERS))} from positions
                where positions.device_id = device_id.device_id and fix_time < at and {TIMELY}
                order by fix_time desc, id desc limit 1
            ) as latest on true
    ), spans as (
        select first.number,
            extract(epoch from last.at - first.at)::float8 as seconds,
            coalesce(last.odometer - first.odometer, last.totaldistance - first.totaldistance) as metres,
            last.hours - first.hours as hours
        from found as first join found as last
            on last.device_id = first.device_id and last.number = first.number + 1
    ), counted as (
        select number,
            case when metres between 0 and seconds * {FASTEST_KMH / 3.6} then metres else 0 end as metres,
            case when hours between 0 and seconds * 1000 then hours else 0 end as hours
        from spans
    )
    select number, sum(metres), sum(hours), count(*) filter (where metres >= {DROVE_METRES})
    from counted group by number
"""  # noqa: S608 - constants


async def read_use(q: Queries, device_ids: Sequence[int], edges: Sequence[datetime]) -> list[Use]:
    """Return what devices did in each span between two instants, which are in order.

    Distance is that of `odometer` where both ends have it, else of `totalDistance`. What came late counts as
    far as the counters have it.
    """
    found = [Use(0.0, 0.0, 0)] * (len(edges) - 1)
    for begin in range(0, len(device_ids), DEVICES):
        rows = await q.fetch(_READ, list(device_ids[begin : begin + DEVICES]), list(edges))
        for number, metres, hours, devices in (row.values() for row in rows):
            known = found[number - 1]
            found[number - 1] = Use(known.metres + metres, known.hours + hours, known.devices + devices)
    return found
