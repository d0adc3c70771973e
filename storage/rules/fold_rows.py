"""The rows from which the rules' state is rebuilt when a device's actor starts (docs/positions.md#state)."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from motorpool.storage.database.queries import Queries, Row
from motorpool.storage.records import Position

NEVER: Final = datetime.max.replace(tzinfo=UTC)
MAX_POINTS: Final = 2_000
"""Limit of the points of a device that are read."""
_COLUMNS: Final = (
    "device_id, id, fix_time, server_time, latitude, longitude, speed, valid, outdated, geofence_ids,"
    " attributes -> 'ignition' as ignition, attributes -> 'speedLimit' as speed_limit,"
    " attributes -> 'implausible' as implausible"
)
_PAST: Final = "fix_time <= server_time + interval '1 day'"
"""A fix from further ahead is never the latest (docs/decisions/0022)."""
_IS_LOCATED: Final = f"{_PAST} and not outdated"
"""Whether a position does not only repeat the location of the one before."""
_IS_PLACE: Final = f"{_IS_LOCATED} and (valid or latitude <> 0 or longitude <> 0)"
"""Whether a position says where the device is."""
_FEW: Final = 8
"""Points at an edge of a span, among which is the first or last that was not late."""


class Wanted(NamedTuple):
    """A device with a latest position."""

    device_id: int
    since: datetime
    """Points from here on are wanted, and a few from before."""
    until: datetime
    """The fix time of the latest position."""


class Motion(NamedTuple):
    """The last event of motion of a device."""

    is_moving: bool
    position: Position
    """The one that it is of, as of `recent_points`."""


_RECENT = f"""
    select p.* from unnest($1::bigint[], $2::timestamptz[]) as w (device_id, since)
    cross join lateral (
        (select {_COLUMNS} from positions
            where device_id = w.device_id and fix_time >= w.since and fix_time < $3 and {_IS_LOCATED}
            order by fix_time desc, id desc limit {MAX_POINTS})
        union
        (select {_COLUMNS} from positions
            where device_id = w.device_id and fix_time < w.since and {_IS_LOCATED}
                and not attributes ? 'implausible'
            order by fix_time desc, id desc limit {_FEW})
        union
        (select {_COLUMNS} from positions
            where device_id = w.device_id and fix_time between w.since - interval '1 day' and w.since
                and valid and {_IS_LOCATED} and not attributes ? 'implausible'
            order by fix_time desc, id desc limit 2)
    ) p order by p.device_id, p.id
"""  # noqa: S608 - constants
_FIRST = f"""
    select p.* from unnest($1::bigint[], $2::timestamptz[]) as w (device_id, since)
    cross join lateral (
        select {_COLUMNS} from positions
        where device_id = w.device_id and fix_time >= w.since and {_IS_PLACE}
        order by fix_time, id limit {_FEW}
    ) p order by p.device_id, p.id
"""  # noqa: S608 - constants
_LAST_MOTIONS = f"""
    select e.type = 'deviceMoving' as is_moving, p.* from unnest($1::bigint[]) as w (device_id)
    cross join lateral (
        select type, event_time, position_id from events
        where device_id = w.device_id and type in ('deviceMoving', 'deviceStopped')
        order by event_time desc, id desc limit 1
    ) e
    cross join lateral (
        select {_COLUMNS} from positions where device_id = w.device_id and fix_time = e.event_time
        order by id <> e.position_id, id limit 1
    ) p
"""  # noqa: S608 - constants
_DAYS = f"""
    select w.device_id, (
        select count(*) from positions where device_id = w.device_id
            and fix_time >= date_trunc('day', w.until, 'UTC')
            and fix_time < date_trunc('day', w.until, 'UTC') + interval '1 day'
            and {_PAST}
    )
    from unnest($1::bigint[], $2::timestamptz[]) as w (device_id, until)
"""  # noqa: S608 - constants
_PROXIMITIES = """
    select e.device_id, e.attributes -> 'linkedDeviceId', e.type = 'proximityEnter'
    from unnest($1::bigint[], $2::timestamptz[]) as w (device_id, until)
    join events e on e.device_id = w.device_id and e.event_time > w.until - interval '24 hours'
    where e.type in ('proximityEnter', 'proximityExit')
    order by e.device_id, e.event_time, e.id
"""


async def recent_points(
    q: Queries, wanted: Sequence[Wanted], before: datetime = NEVER
) -> dict[int, list[Position]]:
    """Return the newest positions of devices in the order in which they were stored, by device id.

    Their fix times are `before` an instant. They have the fields that the rules remember: id, times,
    coordinates, speed, valid, outdated, geofences, and the attributes `ignition`, `speedLimit` and
    `implausible`.
    """
    rows = await q.fetch(
        _RECENT,
        [each.device_id for each in wanted],
        [each.since for each in wanted],
        before,
    )
    found: dict[int, list[Position]] = {}
    for row in rows:
        found.setdefault(row["device_id"], []).append(_point(row))
    return found


async def first_points(q: Queries, wanted: Sequence[Wanted], span: timedelta) -> dict[int, Position]:
    """Return the position that was stored first of those within `span` before `until`, by device id."""
    rows = await q.fetch(_FIRST, [each.device_id for each in wanted], [each.until - span for each in wanted])
    return {row["device_id"]: _point(row) for row in reversed(rows)}


async def last_motions(q: Queries, device_ids: Iterable[int]) -> dict[int, Motion]:
    """Return the last motion of each device that has one, whose position is still stored, by device id."""
    rows = await q.fetch(_LAST_MOTIONS, list(device_ids))
    return {row["device_id"]: Motion(row["is_moving"], _point(row)) for row in rows}


async def days(q: Queries, wanted: Sequence[Wanted]) -> dict[int, int]:
    """Return how many positions have a fix time on the day of `until` in UTC, by device id."""
    rows = await q.fetch(_DAYS, [each.device_id for each in wanted], [each.until for each in wanted])
    return {row[0]: row[1] for row in rows}


async def proximities(q: Queries, wanted: Sequence[Wanted]) -> dict[int, dict[int, bool]]:
    """Return which linked devices were close by the last events of a day, by device and linked device."""
    rows = await q.fetch(_PROXIMITIES, [each.device_id for each in wanted], [each.until for each in wanted])
    found: dict[int, dict[int, bool]] = {}
    for row in rows:
        found.setdefault(row[0], {})[row[1]] = row[2]
    return found


def _point(row: Row) -> Position:
    sent = {
        "ignition": row["ignition"],
        "speedLimit": row["speed_limit"],
        "implausible": row["implausible"],
    }
    return Position(
        id=row["id"],
        device_id=row["device_id"],
        fix_time=row["fix_time"],
        server_time=row["server_time"],
        latitude=row["latitude"],
        longitude=row["longitude"],
        speed=row["speed"],
        valid=row["valid"],
        outdated=row["outdated"],
        geofence_ids=row["geofence_ids"],
        attributes={name: value for name, value in sent.items() if value is not None},
    )
