"""Scheduled commands: their rows, owners and links, and the time from which their calendars are watched."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

import msgspec

from motorpool.storage.accounts import links
from motorpool.storage.database.queries import Queries, Row
from motorpool.storage.database.tables import Table
from motorpool.storage.records import ScheduledCommand

TABLE = Table(
    "scheduled_commands",
    ScheduledCommand,
    access=links.access_by_link(links.USER_SCHEDULED_COMMAND),
)


class ScheduleLinks(msgspec.Struct, frozen=True):
    """The devices and groups that a scheduled command sends to, the time of its last run, and its owner."""

    device_ids: list[int] = []
    group_ids: list[int] = []
    last_run: datetime | None = None
    owner_id: int = 0
    """0 if the owner was deleted."""


class WatchedSchedule(msgspec.Struct, frozen=True, gc=False):
    """An active scheduled command, and the time up to which the edges of its calendar have been processed."""

    id: int
    calendar_id: int
    since: datetime


_LINKED = """
    select s.id, s.last_run,
        array(select device_id from device_scheduled_command where scheduled_command_id = s.id order by 1),
        array(select group_id from group_scheduled_command where scheduled_command_id = s.id order by 1),
        coalesce(s.owner_id, 0)
    from scheduled_commands s where s.id = any($1::bigint[])
"""
_WATCHED = "select id, calendar_id, watched_from from scheduled_commands where active"
# Rows are locked in the order of their ids, as in `create_runs`.
_WATCH_ANEW = """
    update scheduled_commands set watched_from = $2
    where id in (select id from scheduled_commands where {which} order by id for update)
"""
_RESTART = _WATCH_ANEW.format(which="$1::bigint is null or calendar_id = $1::bigint")
_TURN_BACK = _WATCH_ANEW.format(which="active and watched_from > $1")
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
# A scheduled command advances soon after it is notified of an edge; one that lags missed the message.
_BEHIND = """
    select s.id, s.calendar_id, s.watched_from
    from unnest($1::bigint[], $2::timestamptz[]) as latest (calendar_id, at)
    join scheduled_commands s
        on s.calendar_id = latest.calendar_id and s.active and s.watched_from < latest.at
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


async def watch_from(q: Queries, schedule_id: int, now: datetime) -> None:
    """Watch the calendar from `now` on; earlier edges are ignored."""
    await q.execute("update scheduled_commands set watched_from = $2 where id = $1", schedule_id, now)


async def restart_calendar(q: Queries, calendar_id: int | None, now: datetime) -> None:
    """Watch this calendar, or with None every calendar, from `now` on."""
    await q.execute(
        _RESTART,
        calendar_id,
        now,
    )


async def restart_ahead_of_clock(q: Queries, now: datetime, patience: timedelta) -> int:
    """Watch from `now` on where the stored time is ahead of it by more than `patience`; return how many.

    That happens after the system clock was wrong.
    """
    tag = await q.execute(
        _TURN_BACK,
        now + patience,
        now,
    )
    return int(tag.rpartition(" ")[2])


async def active(q: Queries, ids: Sequence[int] | None = None) -> list[WatchedSchedule]:
    """Return the active scheduled commands, all or those with the given ids."""
    if ids is None:
        return _watched_schedules(await q.fetch(_WATCHED))
    return _watched_schedules(await q.fetch(f"{_WATCHED} and id = any($1::bigint[])", list(ids)))


async def active_of_calendars(q: Queries, calendar_ids: Iterable[int]) -> list[WatchedSchedule]:
    """Return the active scheduled commands of these calendars."""
    return _watched_schedules(
        await q.fetch(f"{_WATCHED} and calendar_id = any($1::bigint[])", list(calendar_ids))
    )


async def missing_edge(q: Queries, latest: Sequence[tuple[int, datetime]]) -> list[WatchedSchedule]:
    """Return the active scheduled commands that have not processed the latest edge of their calendar.

    `latest` holds pairs of a calendar and the time of the last edge that was published of it.
    """
    return _watched_schedules(
        await q.fetch(_BEHIND, [each[0] for each in latest], [each[1] for each in latest])
    )


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


def _watched_schedules(rows: Iterable[Row]) -> list[WatchedSchedule]:
    return [WatchedSchedule(row[0], row[1], row[2]) for row in rows]
