"""Matching stored events with notifications (docs/decisions/0170).

An event waits in `unmatched_events` from the transaction that stores it to the one that puts the messages to
its recipients into the outbox. Rows are locked while they are matched, so several servers may match at
once.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime

import msgspec

from motorpool.storage.accounts import access
from motorpool.storage.database.queries import Queries
from motorpool.storage.events.events import TABLE as EVENTS
from motorpool.storage.records import Event


class UnmatchedEvent(msgspec.Struct, frozen=True):
    """A stored event whose notifications have not been made."""

    event: Event
    stored: datetime


class Match(msgspec.Struct, frozen=True, gc=False):
    """A user with a notification for an event, whose alarms, geofences and calendar are not checked yet."""

    event_id: int
    notification_id: int
    user_id: int


async def is_waiting(q: Queries) -> bool:
    """Return whether any event waits."""
    return await q.fetch_value("select exists (select from unmatched_events)") is True


async def lock_unmatched(transaction: Queries, limit: int) -> list[UnmatchedEvent]:
    """Lock the oldest waiting events that no other transaction has locked, in the order of their ids.

    Rows whose event was deleted meanwhile are removed.
    """
    rows = await transaction.fetch(
        f"""
        with locked as (
            select event_id, stored from unmatched_events order by event_id limit $1 for update skip locked
        ),
        lost as (
            delete from unmatched_events where event_id in (
                select event_id from locked where not exists (select from events where id = event_id))
        )
        select {EVENTS.select_list(of="events")}, stored from locked join events on events.id = event_id
        order by events.id
        """,  # noqa: S608 - constant names
        limit,
    )
    unmatched = []
    for row in rows:
        values = dict(row.items())
        stored = values.pop("stored")
        unmatched.append(UnmatchedEvent(EVENTS.from_row(values), stored))
    return unmatched


async def remove_matched(transaction: Queries, event_ids: Iterable[int]) -> None:
    """Remove events whose messages are in the outbox, together with the commit."""
    await transaction.defer_to_commit(
        "delete from unmatched_events where event_id = any($1::bigint[])", list(event_ids)
    )


# A notification belongs to a device if it is linked to the device, to its group or a group above, or if it is
# `always`. The users who see the devices come first: there may be many notifications of users who do not.
_FIND = f"""
    with recursive event as (
        select * from unnest($1::bigint[], $2::bigint[], $3::text[]) as event (event_id, device_id, type)
    ),
    above (device_id, group_id) as (
        select id, group_id from devices where id = any($2::bigint[]) and group_id is not null
        union
        select above.device_id, groups.group_id from above join groups on groups.id = above.group_id
        where groups.group_id is not null
    ),
    linked as materialized (
        select device_id, notification_id from device_notification where device_id = any($2::bigint[])
        union
        select device_id, notification_id from above join group_notification using (group_id)
    ),
    viewer as materialized (
        select distinct device_id, users.id as user_id
        from ({access.viewers_of("$2::bigint[]")}) as visible join users on users.id = visible.user_id
        where not users.disabled and (users.expiration_time is null or users.expiration_time > $4)
    )
    select event_id, notifications.id, viewer.user_id
    from event
    join viewer on viewer.device_id = event.device_id
    join user_notification on user_notification.user_id = viewer.user_id
    join notifications on notifications.id = user_notification.notification_id
        and notifications.type = event.type
    where notifications.always or exists (
        select from linked where linked.device_id = event.device_id
            and linked.notification_id = notifications.id)
    order by event_id, notifications.id, viewer.user_id limit $5
"""  # noqa: S608 - constants


async def find_matches(
    q: Queries, events: Sequence[Event], *, now: datetime, limit: int | None = None
) -> list[Match]:
    """Return who has which notification of the type of each event, by event, notification and user.

    Only users who see the device and can log in. A `limit` ends the list early.
    """
    rows = await q.fetch(
        _FIND,
        [event.id for event in events],
        [event.device_id for event in events],
        [event.type for event in events],
        now,
        limit,
    )
    return [Match(row[0], row[1], row[2]) for row in rows]


async def driver_names(q: Queries, unique_ids: Iterable[str]) -> dict[str, str]:
    """Return the names of drivers by the identifiers that devices report."""
    rows = await q.fetch(
        "select unique_id, name from drivers where unique_id = any($1::text[])", list(unique_ids)
    )
    return {row[0]: row[1] for row in rows}


async def command_senders(q: Queries, wanted: Sequence[tuple[int, int]]) -> set[tuple[int, int]]:
    """Return those pairs (user, saved command) whose user may send the command (docs/users.md#restrictions).

    Whether the user sees the device is not considered.
    """
    rows = await q.fetch(
        """
        select users.id, wanted.command_id
        from unnest($1::bigint[], $2::bigint[]) as wanted (user_id, command_id)
        join users on users.id = wanted.user_id
        where users.administrator or exists (
            select from user_command
            where user_command.user_id = users.id and user_command.command_id = wanted.command_id)
        """,
        [user_id for user_id, _ in wanted],
        [command_id for _, command_id in wanted],
    )
    return {(row[0], row[1]) for row in rows}
