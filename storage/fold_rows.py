"""What the state of the rules is rebuilt from when a device's actor starts (docs/positions.md#state)."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from motorpool.storage.queries import Queries, Row

__all__ = [
    "Motion",
    "PointRow",
    "SpeedRow",
    "Wanted",
    "days",
    "last_motions",
    "recent_points",
    "recent_speeds",
]

MOST_POINTS = 2_000
"""Limit of the points of a device that are read."""


class Wanted(NamedTuple):
    """A device with a latest position."""

    device_id: int
    since: datetime
    """Points from here on are wanted, and one from before."""
    until: datetime
    """The fix time of the latest position."""


class PointRow(NamedTuple):
    """What the rules remember of a position."""

    id: int
    fix_time: datetime
    latitude: float
    longitude: float
    distance: object
    """The attribute, as the device sent it or as it was computed; None if it has none."""


class SpeedRow(NamedTuple):
    """What the rule of overspeed reads of a position."""

    id: int
    fix_time: datetime
    outdated: bool
    speed: float
    geofence_ids: list[int] | None
    speed_limit: object
    """The attribute, as the device sent it or as it was computed; None if it has none."""


class Motion(NamedTuple):
    """The last event of motion of a device."""

    is_moving: bool
    point: PointRow
    """The position that it is of."""


_RECENT = f"""
    select w.device_id, p.* from unnest($1::bigint[], $2::timestamptz[], $3::timestamptz[])
        as w (device_id, since, until)
    cross join lateral (
        (select id, fix_time, latitude, longitude, attributes -> 'distance' as distance from positions
            where device_id = w.device_id and fix_time between w.since and w.until
                and fix_time <= server_time + interval '1 day'
            order by fix_time desc, id desc limit {MOST_POINTS})
        union all
        (select id, fix_time, latitude, longitude, attributes -> 'distance' from positions
            where device_id = w.device_id and fix_time < w.since
                and fix_time <= server_time + interval '1 day'
            order by fix_time desc, id desc limit 1)
    ) p order by w.device_id, p.id
"""  # noqa: S608 - a constant
_SPEEDS = f"""
    select w.device_id, p.* from unnest($1::bigint[], $2::timestamptz[]) as w (device_id, until)
    cross join lateral (
        select * from (
            select id, fix_time, outdated, speed, geofence_ids, attributes -> 'speedLimit' as speed_limit
            from positions
            where device_id = w.device_id and fix_time between w.until - interval '1 day' and w.until
                and fix_time <= server_time + interval '1 day'
            order by fix_time desc, id desc limit {MOST_POINTS}
        ) newest order by id
    ) p order by w.device_id, p.id
"""  # noqa: S608 - a constant
_LAST_MOTIONS = """
    select w.device_id, e.type = 'deviceMoving', p.*
    from unnest($1::bigint[]) as w (device_id)
    cross join lateral (
        select type, event_time from events
        where device_id = w.device_id and type in ('deviceMoving', 'deviceStopped')
        order by event_time desc, id desc limit 1
    ) e
    cross join lateral (
        select id, fix_time, latitude, longitude, attributes -> 'distance' as distance from positions
        where device_id = w.device_id and fix_time = e.event_time order by id desc limit 1
    ) p
"""
_DAYS = """
    select w.device_id, (
        select count(*) from positions where device_id = w.device_id
            and fix_time >= date_trunc('day', w.until, 'UTC')
            and fix_time < date_trunc('day', w.until, 'UTC') + interval '1 day'
            and fix_time <= server_time + interval '1 day'
    )
    from unnest($1::bigint[], $2::timestamptz[]) as w (device_id, until)
"""


async def recent_points(q: Queries, wanted: Sequence[Wanted]) -> dict[int, list[PointRow]]:
    """Return the latest points of devices in the order in which they were stored, by device id."""
    found: dict[int, list[PointRow]] = {}
    for row in await q.fetch(
        _RECENT,
        [each.device_id for each in wanted],
        [each.since for each in wanted],
        [each.until for each in wanted],
    ):
        found.setdefault(row[0], []).append(_point(row))
    return found


async def recent_speeds(q: Queries, latest: Mapping[int, datetime]) -> dict[int, list[SpeedRow]]:
    """Return the speeds of the day up to the fix time of each latest position, as stored, by device id."""
    found: dict[int, list[SpeedRow]] = {}
    for row in await q.fetch(_SPEEDS, list(latest), list(latest.values())):
        values = tuple(row.values())
        found.setdefault(values[0], []).append(SpeedRow(*values[1:]))
    return found


async def last_motions(q: Queries, device_ids: Iterable[int]) -> dict[int, Motion]:
    """Return the last motion of each device that has one, whose position is still stored, by device id."""
    rows = await q.fetch(_LAST_MOTIONS, list(device_ids))
    return {row[0]: Motion(row[1], _point(row)) for row in rows}


def _point(row: Row) -> PointRow:
    return PointRow(row["id"], row["fix_time"], row["latitude"], row["longitude"], row["distance"])


async def days(q: Queries, wanted: Sequence[Wanted]) -> dict[int, int]:
    """Return how many positions have a fix time on the day of `until` in UTC, by device id."""
    rows = await q.fetch(_DAYS, [each.device_id for each in wanted], [each.until for each in wanted])
    return {row[0]: row[1] for row in rows}
