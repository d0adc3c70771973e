"""Tickets that are paused while their vehicle is outside of a zone, and where the vehicle was last
(docs/service-levels.md#outside-of-the-zone).
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from motorpool.storage.accounts import access
from motorpool.storage.database.queries import Queries
from motorpool.storage.devices.positions import CAN_BE_LATEST
from motorpool.storage.helpdesk.helpdesk_records import OUTSIDE_ZONE
from motorpool.storage.helpdesk.ticket_lists import LIVE

CATEGORY_ZONE = "pauseWhenOutside"
"""The attribute of a category: a geofence, or `BRANCH`."""
BRANCH = "branch"
"""The geofence of the ticket's branch."""
BRANCH_ZONE = "geofenceId"
"""The attribute of a branch: its geofence."""
_RECENT_ROWS = 1000
"""Latest positions of a device among which valid ones are looked for."""
_OPEN_PAUSE = f"pause.reason = '{OUTSIDE_ZONE}' and pause.ends is null"


class ZoneTicket(NamedTuple):
    """A ticket whose clock depends on where its vehicle is."""

    id: int
    device_id: int
    category_id: int
    branch_id: int
    geofence_id: int
    """0: there is no zone for it, so that it is not paused."""
    paused_since: datetime | None


# A pause says where a vehicle is: a user of the company has to see the device.
_TICKETS = f"""
    with followed as materialized (
        (
            select id from tickets
            where category_id in (select id from ticket_categories where attributes ? '{CATEGORY_ZONE}')
                and device_id is not null and {LIVE} and id > $1
            order by id limit $2
        )
        union
        (
            select ticket_id from ticket_pauses pause where {_OPEN_PAUSE} and ticket_id > $1
            order by ticket_id limit $2
        )
        order by id limit $2
    ), viewer as materialized (
        {access.viewers_of("array(select device_id from tickets join followed using (id))")}
    )
    select ticket.id, coalesce(ticket.device_id, 0), coalesce(ticket.category_id, 0),
        coalesce(ticket.branch_id, 0),
        case
            when ticket.device_id is null or not {LIVE} then null
            when not exists (
                select from user_company link join users on users.id = link.user_id
                where link.company_id = ticket.company_id and not users.disabled and not users.temporary
                    and (users.administrator or exists (
                        select from viewer
                        where viewer.user_id = users.id and viewer.device_id = ticket.device_id))
            ) then null
            when category.attributes ->> '{CATEGORY_ZONE}' = '{BRANCH}'
                then branch.attributes -> '{BRANCH_ZONE}'
            else category.attributes -> '{CATEGORY_ZONE}'
        end,
        pause.begins
    from followed
    join tickets ticket on ticket.id = followed.id
    left join ticket_categories category on category.id = ticket.category_id
    left join branches branch on branch.id = ticket.branch_id
    left join ticket_pauses pause on pause.ticket_id = ticket.id and {_OPEN_PAUSE}
    order by ticket.id
"""  # noqa: S608 - constants


async def tickets(q: Queries, *, after_id: int, limit: int) -> list[ZoneTicket]:
    """Return the next tickets that may have to be paused, and those that are, in the order of their ids."""
    return [
        ZoneTicket(ticket_id, device_id, category_id, branch_id, _geofence_of(zone), paused_since)
        for ticket_id, device_id, category_id, branch_id, zone, paused_since in (
            row.values() for row in await q.fetch(_TICKETS, after_id, limit)
        )
    ]


def _geofence_of(zone: Any) -> int:  # noqa: ANN401 - attributes may hold anything
    is_id = isinstance(zone, int) and not isinstance(zone, bool) and 0 < zone < 1 << 63
    return zone if is_id else 0


class Fix(NamedTuple):
    """Where a vehicle was."""

    at: datetime
    latitude: float
    longitude: float
    altitude: float


_FIXES = f"""
    select wanted.device_id, fix.*
    from unnest($1::bigint[], $2::timestamptz[]) as wanted (device_id, since)
    cross join lateral (
        select distinct on (fix_time) fix_time, latitude, longitude, altitude
        from (
            select id, fix_time, latitude, longitude, altitude, valid from positions
            where device_id = wanted.device_id and fix_time > wanted.since and {CAN_BE_LATEST}
            order by fix_time desc, id desc limit {_RECENT_ROWS}
        ) as recent
        where valid order by fix_time desc, id desc limit 2
    ) fix
    order by wanted.device_id, fix.fix_time desc
"""  # noqa: S608 - constants


async def latest_fixes(q: Queries, since: Mapping[int, datetime]) -> dict[int, list[Fix]]:
    """Return up to two latest valid fixes of devices, the latest first; `since`: after which instant."""
    found: dict[int, list[Fix]] = {device_id: [] for device_id in since}
    for device_id, *fix in (row.values() for row in await q.fetch(_FIXES, list(since), list(since.values()))):
        found[device_id].append(Fix(*fix))
    return found


async def geofence_versions(q: Queries, geofence_ids: Iterable[int]) -> dict[int, int]:
    """Return the versions of the geofences, without the ones that do not exist."""
    rows = await q.fetch("select id, version from geofences where id = any($1::bigint[])", list(geofence_ids))
    return {row[0]: row[1] for row in rows}
