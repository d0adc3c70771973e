"""Scheduled commands: their rows, owners and links, and the time from which their calendars are watched."""

from collections.abc import Iterable, Sequence
from datetime import datetime

import msgspec

from motorpool.storage.accounts import links
from motorpool.storage.database.queries import Queries
from motorpool.storage.database.tables import Table
from motorpool.storage.records import ScheduledCommand
from motorpool.storage.schedules.watched_rows import WatchedRows

TABLE = Table(
    "scheduled_commands",
    ScheduledCommand,
    access=links.access_by_link(links.USER_SCHEDULED_COMMAND),
)
WATCHED = WatchedRows("scheduled_commands", condition="active")
"""Done with an edge once it has fired."""


class ScheduleLinks(msgspec.Struct, frozen=True):
    """The devices and groups that a scheduled command sends to, the time of its last run, and its owner."""

    device_ids: list[int] = []
    group_ids: list[int] = []
    last_run: datetime | None = None
    owner_id: int = 0
    """0 if the owner was deleted."""


_LINKED = """
    select s.id, s.last_run,
        array(select device_id from device_scheduled_command where scheduled_command_id = s.id order by 1),
        array(select group_id from group_scheduled_command where scheduled_command_id = s.id order by 1),
        coalesce(s.owner_id, 0)
    from scheduled_commands s where s.id = any($1::bigint[])
"""
_RELEASE = """
    with held as (
        select id, owner_id, name from scheduled_commands where owner_id = any($1::bigint[])
        order by id for update
    ),
    released as (
        update scheduled_commands s set owner_id = null from held where s.id = held.id
        returning s.id, held.owner_id, held.name
    )
    insert into audit (action_time, address, user_id, action_type, object_type, object_id, attributes)
    select $2, $4, $3, 'ownerDeleted', 'scheduledCommand', id,
        jsonb_build_object('ownerId', owner_id, 'name', name)
    from released order by id
"""


async def set_owner(q: Queries, schedule_id: int, user_id: int, now: datetime) -> None:
    """Set the owner of a new scheduled command, and watch its calendar from `now` on."""
    await q.execute(
        "update scheduled_commands set owner_id = $2, watched_from = $3 where id = $1",
        schedule_id,
        user_id,
        now,
    )


async def set_missing_owner(q: Queries, schedule_id: int, user_id: int) -> None:
    """Set the owner if the scheduled command has none because the user was deleted."""
    await q.execute(
        "update scheduled_commands set owner_id = $2 where id = $1 and owner_id is null", schedule_id, user_id
    )


async def release_owners(
    q: Queries, user_ids: Sequence[int], now: datetime, *, actor_id: int = 0, address: str | None = None
) -> None:
    """Leave the scheduled commands of users who are about to be deleted without an owner, and audit each.

    `actor_id` and `address` name the user who deletes them, for the audit log.
    """
    await q.execute(_RELEASE, list(user_ids), now, actor_id, address)


async def links_of(q: Queries, ids: Iterable[int]) -> dict[int, ScheduleLinks]:
    """Return the links, the last run and the owner of each scheduled command."""
    rows = await q.fetch(_LINKED, list(ids))
    return {
        row[0]: ScheduleLinks(last_run=row[1], device_ids=row[2], group_ids=row[3], owner_id=row[4])
        for row in rows
    }


async def count_using_calendar(q: Queries, calendar_id: int) -> int:
    """Return how many scheduled commands have this calendar, active or not."""
    count: int = await q.fetch_value(
        "select count(*) from scheduled_commands where calendar_id = $1", calendar_id
    )
    return count
