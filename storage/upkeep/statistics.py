"""Daily statistics: one row per day that all servers add to, and the users and devices counted in it."""

from collections.abc import Iterable, Mapping
from datetime import date, datetime
from types import MappingProxyType
from typing import NamedTuple
from uuid import UUID

from motorpool.storage.database.queries import Queries, Row
from motorpool.storage.records import Statistics

COUNTS = (
    "requests",
    "messages_received",
    "messages_stored",
    "mail_sent",
    "sms_sent",
    "geocoder_requests",
    "geolocation_requests",
)
"""The columns that are plain counters."""

_ROWS = f"""
    select day, id, capture_time, active_users, active_devices, protocols, attributes,
        {", ".join(f"stored.{name} - coalesce(own.{name}, 0) as {name}" for name in COUNTS)}
    from statistics as stored
    left join (
        select day, {", ".join(f"sum({name})::bigint as {name}" for name in COUNTS)}
        from statistics_savers where day = any($4::date[]) and saver = any($3::uuid[]) group by day
    ) as own using (day)
    where capture_time between $1 and $2 or day = any($4::date[])
    order by capture_time
"""  # noqa: S608 - constant names
_LOCK = """
    insert into statistics (day, capture_time) values ($1, $2)
    on conflict (day) do update set capture_time = greatest(statistics.capture_time, excluded.capture_time)
"""
_ADD = f"""
    with before as (select * from statistics_savers where day = $1 and saver = $2),
    saved as (
        insert into statistics_savers (day, saver, {", ".join(COUNTS)})
        values ($1, $2, {", ".join(f"${n}" for n in range(3, 3 + len(COUNTS)))})
        on conflict (day, saver) do update set {", ".join(f"{name} = excluded.{name}" for name in COUNTS)}
    )
    update statistics set
        active_users = (select count(*) from statistics_users where day = $1),
        active_devices = (select count(distinct device_id) from statistics_devices where day = $1),
        protocols = (select jsonb_object_agg(protocol, devices) from (select protocol, count(*) as devices
            from statistics_devices where day = $1 group by protocol) as of_protocol),
        {
    ", ".join(
        f"{name} = {name} + ${n} - coalesce((select before.{name} from before), 0)"
        for n, name in enumerate(COUNTS, 3)
    )
}
    where day = $1
"""  # noqa: S608 - constant names


async def save(
    q: Queries,
    day: date,
    saver: UUID,
    captured: datetime,
    counts: Mapping[str, int],
    users: Iterable[int],
    devices: Iterable[tuple[int, str]],
) -> None:
    """Add to a day what a server has counted since its last save, in one transaction.

    `counts` are all that `saver` has counted in that day: only the increase since its last save is added, so
    a save can be repeated. `users` and `devices`, with their protocols, are counted once.
    """
    seen = list(devices)
    async with q.transaction() as transaction:
        # Saves of several servers take turns here, so the order of users and devices cannot deadlock.
        await transaction.execute(_LOCK, day, captured)
        await transaction.execute(
            "insert into statistics_users select $1, unnest($2::bigint[]) on conflict do nothing",
            day,
            list(users),
        )
        await transaction.execute(
            "insert into statistics_devices select $1, given.* from unnest($2::bigint[], $3::text[]) as given"
            " on conflict do nothing",
            day,
            [device_id for device_id, _ in seen],
            [protocol for _, protocol in seen],
        )
        await transaction.execute(_ADD, day, saver, *(counts[name] for name in COUNTS))


async def delete_before(q: Queries, day: date) -> None:
    """Delete the users, devices and savers of earlier days; no server may save these days again."""
    await q.execute("delete from statistics_users where day < $1", day)
    await q.execute("delete from statistics_devices where day < $1", day)
    await q.execute("delete from statistics_savers where day < $1", day)


async def between(q: Queries, start: datetime, end: datetime) -> list[Statistics]:
    """Return the days whose capture time lies within [start, end], in order."""
    found = await rows(q, start, end)
    return list(found.values())


async def rows(
    q: Queries, start: datetime, end: datetime, *, without: Mapping[UUID, date] = MappingProxyType({})
) -> dict[date, Statistics]:
    """Return the days whose capture time lies within [start, end], and the days in `without`, in order.

    What the savers named there have added to these days is left out.
    """
    found = await q.fetch(_ROWS, start, end, list(without), list(without.values()))
    return {row["day"]: _from_row(row) for row in found}


class Distinct(NamedTuple):
    """The users and devices that were active in a day."""

    users: int
    devices: int
    protocols: dict[str, int] | None
    """Number of devices by protocol; None without devices."""


async def distinct(
    q: Queries, day: date, users: Iterable[int], devices: Iterable[tuple[int, str]]
) -> Distinct:
    """Count those stored for a day together with the given ones, each once."""
    seen = list(devices)
    row = await q.fetch_row(
        "with seen as (select device_id, protocol from statistics_devices where day = $1"
        "  union select * from unnest($3::bigint[], $4::text[]))"
        " select (select count(*) from (select user_id from statistics_users where day = $1"
        "   union select unnest($2::bigint[])) as active),"
        " (select count(distinct device_id) from seen),"
        " (select jsonb_object_agg(protocol, devices)"
        "   from (select protocol, count(*) as devices from seen group by protocol) as of_protocol)",
        day,
        list(users),
        [device_id for device_id, _ in seen],
        [protocol for _, protocol in seen],
    )
    return Distinct(0, 0, None) if row is None else Distinct(*row.values())


def _from_row(row: Row) -> Statistics:
    return Statistics(**{name: value for name, value in row.items() if name != "day"})
