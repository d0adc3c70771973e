"""Matching stored events with notifications (docs/decisions/0170).

An event waits in `unmatched_events` from the transaction that stores it to the one that puts the messages to
its recipients into the outbox. Rows are locked while they are matched, so several servers may match at
once.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

import msgspec

from motorpool.storage.accounts import access
from motorpool.storage.database.queries import Queries, columns


class Match(msgspec.Struct, frozen=True, gc=False):
    """Who has a notification for events of its type of a device.

    Alarms, geofences and calendar of the notification are not checked yet.
    """

    device_id: int
    type: str
    notification_id: int
    user_ids: tuple[int, ...]


async def any_exist(q: Queries) -> bool:
    """Return whether there are notifications."""
    found: bool = await q.fetch_value("select exists (select from notifications)")
    return found


async def remove_matched(transaction: Queries, event_ids: Iterable[int]) -> None:
    """Remove events whose messages are in the outbox, together with the commit."""
    await transaction.defer_to_commit(
        "delete from unmatched_events where event_id = any($1::bigint[])", list(event_ids)
    )


# A notification belongs to a device if it is linked to the device, to its group or a group above, or if it is
# `always`. The users who see the devices come first: there may be many notifications of users who do not.
_FIND = f"""
    with recursive subject as (
        select * from unnest($1::bigint[], $2::text[]) as subject (device_id, type)
    ),
    above (device_id, group_id) as (
        select id, group_id from devices where id = any($1::bigint[]) and group_id is not null
        union
        select above.device_id, groups.group_id from above join groups on groups.id = above.group_id
        where groups.group_id is not null
    ),
    linked as materialized (
        select device_id, notification_id from device_notification where device_id = any($1::bigint[])
        union
        select device_id, notification_id from above join group_notification using (group_id)
    ),
    viewer as materialized (
        select distinct device_id, users.id as user_id
        from ({access.viewers_of("$1::bigint[]")}) as visible join users on users.id = visible.user_id
        where not users.disabled and (users.expiration_time is null or users.expiration_time > $3)
    )
    select subject.device_id, subject.type, notifications.id,
        array_agg(viewer.user_id order by viewer.user_id)
    from subject
    join viewer on viewer.device_id = subject.device_id
    join user_notification on user_notification.user_id = viewer.user_id
    join notifications on notifications.id = user_notification.notification_id
        and notifications.type = subject.type
    where notifications.always or exists (
        select from linked where linked.device_id = subject.device_id
            and linked.notification_id = notifications.id)
    group by 1, 2, 3 order by 1, 2, 3
"""  # noqa: S608 - constants


async def find_matches(q: Queries, subjects: Iterable[tuple[int, str]], *, now: datetime) -> list[Match]:
    """Return who has which notification of these devices and types of events, in this order.

    Only users who see the device and can log in. A device has as many events of a type as it likes: what is
    found holds for all of them.
    """
    asked = sorted(set(subjects))
    rows = await q.fetch(_FIND, [each[0] for each in asked], [each[1] for each in asked], now)
    return [Match(row[0], row[1], row[2], tuple(row[3])) for row in rows]


async def first_seen_zones(
    q: Queries, zones: Mapping[int, Sequence[int]], users: Mapping[int, Iterable[int]]
) -> dict[tuple[int, int], int]:
    """Return the first of the zones of each event that each of its users is linked to, by (event, user).

    `zones` and `users` are ids by event. Users who are linked to none of the zones are left out.
    """
    listed = [(event_id, zone_id) for event_id, found in zones.items() for zone_id in found]
    asked = [(event_id, user_id) for event_id, found in users.items() for user_id in found]
    if not (listed and asked):
        return {}
    rows = await q.fetch(
        """
        select distinct on (asked.event_id, asked.user_id) asked.event_id, asked.user_id, zone.id
        from unnest($1::bigint[], $2::bigint[]) with ordinality as zone (event_id, id, place)
        join unnest($3::bigint[], $4::bigint[]) as asked (event_id, user_id)
            on asked.event_id = zone.event_id
        join user_geofence linked on linked.user_id = asked.user_id and linked.geofence_id = zone.id
        order by asked.event_id, asked.user_id, zone.place
        """,
        *columns(listed),
        *columns(asked),
    )
    return {(row[0], row[1]): row[2] for row in rows}


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
