"""The table `timed_event_marks`, and what events that come at an instant are made from.

A mark says up to which instant the events of a subject, a device for example, have been stored. Marks only
advance, so that the events of an instant are stored once, by one of several servers and across restarts.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

from motorpool.storage.database.queries import Queries
from motorpool.storage.events import events as event_rows
from motorpool.storage.plain_tables import GEOFENCES, MAINTENANCE
from motorpool.storage.records import Event, Geofence, Maintenance

_CLAIM = """
    insert into timed_event_marks (type, subject_id, fired_until)
    select $1, given.subject_id, given.due
    from unnest($2::bigint[], $3::timestamptz[]) as given (subject_id, due) order by given.subject_id
    on conflict (type, subject_id) do update set fired_until = excluded.fired_until
        where timed_event_marks.fired_until < excluded.fired_until
    returning subject_id
"""
_WATCH = """
    insert into timed_event_marks (type, subject_id, fired_until)
    select $1, id, $3 from unnest($2::bigint[]) as given (id) order by id
    on conflict (type, subject_id) do nothing
"""


async def claim_and_store(
    q: Queries,
    kind: str,
    due: Mapping[int, datetime],
    events: Sequence[tuple[int, Event]],
    *,
    now: datetime,
) -> list[Event]:
    """Advance the marks of subjects and store their events, in one transaction; return those stored.

    They are left to the notifier as stored at `now`. `due` is the instant of each subject; the events of
    subjects whose mark is there already are left out. Events get their ids in place. After StorageUnavailable
    the same call may be made again: what an earlier one did commit is returned and not doubled.
    """
    of_events = [event for _, event in events]
    if any(event.id for event in of_events):
        known = await event_rows.existing(q, [event.id for event in of_events])
        if known:
            return [event for event in of_events if event.id in known]
    await event_rows.assign_ids(q, of_events)
    async with q.transaction() as transaction:
        rows = await transaction.fetch(_CLAIM, kind, list(due), list(due.values()))
        claimed = {row[0] for row in rows}
        stored = [event for subject_id, event in events if subject_id in claimed]
        if stored:
            await event_rows.insert_many(transaction, stored, now=now)
    return stored


async def watch(q: Queries, kind: str, subject_ids: Sequence[int], now: datetime) -> dict[int, datetime]:
    """Return the marks of subjects; those that had none get `now`. Marks of all others are removed."""
    await q.execute(
        "delete from timed_event_marks where type = $1 and subject_id <> all($2::bigint[])",
        kind,
        list(subject_ids),
    )
    await q.execute(_WATCH, kind, list(subject_ids), now)
    rows = await q.fetch("select subject_id, fired_until from timed_event_marks where type = $1", kind)
    return {row[0]: row[1] for row in rows}


async def has_attribute(q: Queries, keys: Sequence[str]) -> bool:
    """Return whether the server, a group, a driver or a device has an attribute of one of these names."""
    found: bool = await q.fetch_value(
        "select exists (select from server where attributes ?| $1::text[])"
        " or exists (select from groups where attributes ?| $1)"
        " or exists (select from drivers where attributes ?| $1)"
        " or exists (select from devices where attributes ?| $1)",
        list(keys),
    )
    return found


async def device_ids_after(q: Queries, device_id: int, limit: int) -> list[int]:
    """Return the ids of the next `limit` devices in the order of ids."""
    rows = await q.fetch("select id from devices where id > $1 order by id limit $2", device_id, limit)
    return [row[0] for row in rows]


async def maintenance_of_types(q: Queries, types: Sequence[str]) -> list[Maintenance]:
    """Return the maintenances of these types that have a period, in the order of ids."""
    return await MAINTENANCE.select(q, "where type = any($1::text[]) and period > 0 order by id", list(types))


async def geofences_with_calendar_events(q: Queries) -> list[Geofence]:
    """Return the geofences with a calendar and a true attribute `calendarEvents`, in the order of ids."""
    condition = "where calendar_id is not null and attributes @> '{\"calendarEvents\": true}' order by id"
    return await GEOFENCES.select(q, condition)
