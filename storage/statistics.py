"""Daily statistics of the server: one row per day, and the users and devices counted in it."""

from collections.abc import Iterable, Mapping
from datetime import date, datetime
from typing import NamedTuple

from motorpool.storage.queries import Queries, Row
from motorpool.storage.records import Statistics

__all__ = ["COUNTS", "Distinct", "between", "counts_of", "delete_before", "distinct", "rows", "save"]

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

_COLUMNS = f"id, capture_time, active_users, active_devices, {', '.join(COUNTS)}, protocols, attributes"
_SAVE = f"""
    with found as (
        select (select count(*) from statistics_users where day = $1) as users,
            (select count(distinct device_id) from statistics_devices where day = $1) as devices,
            (select jsonb_object_agg(protocol, devices) from (select protocol, count(*) as devices
                from statistics_devices where day = $1 group by protocol) as of_protocol) as protocols
    )
    insert into statistics (day, capture_time, active_users, active_devices, protocols, {", ".join(COUNTS)})
    select $1, $2, users, devices, protocols, {", ".join(f"${n}" for n in range(3, 3 + len(COUNTS)))}
    from found
    on conflict (day) do update set capture_time = excluded.capture_time,
        active_users = excluded.active_users, active_devices = excluded.active_devices,
        protocols = excluded.protocols, {", ".join(f"{name} = excluded.{name}" for name in COUNTS)}
"""  # noqa: S608 - constant names


async def save(
    q: Queries,
    day: date,
    captured: datetime,
    counts: Mapping[str, int],
    users: Iterable[int],
    devices: Iterable[tuple[int, str]],
) -> None:
    """Replace the counters of a day, and add users and devices with their protocols, in one transaction."""
    seen = list(devices)
    async with q.transaction() as transaction:
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
        await transaction.execute(_SAVE, day, captured, *(counts[name] for name in COUNTS))


async def counts_of(q: Queries, day: date) -> dict[str, int]:
    """Return the stored counters of a day; zeros if there are none."""
    row = await q.fetch_row(f"select {', '.join(COUNTS)} from statistics where day = $1", day)  # noqa: S608 - constant names
    return {name: row[name] if row is not None else 0 for name in COUNTS}


async def delete_before(q: Queries, day: date) -> None:
    """Delete the users and devices counted in earlier days; the counters are kept."""
    await q.execute("delete from statistics_users where day < $1", day)
    await q.execute("delete from statistics_devices where day < $1", day)


async def between(q: Queries, start: datetime, end: datetime) -> list[Statistics]:
    """Return the days whose capture time lies within [start, end], in order."""
    found = await rows(q, start, end, since=date.max)
    return list(found.values())


async def rows(q: Queries, start: datetime, end: datetime, *, since: date) -> dict[date, Statistics]:
    """Return the days whose capture time lies within [start, end], and those from `since`, in order."""
    found = await q.fetch(
        f"select day, {_COLUMNS} from statistics"  # noqa: S608 - constant names
        " where capture_time between $1 and $2 or day >= $3 order by capture_time",
        start,
        end,
        since,
    )
    return {row["day"]: _from_row(row) for row in found}


class Distinct(NamedTuple):
    """Who was active in a day."""

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
