"""Events: stored with the positions they came from."""

from collections.abc import Iterable, Sequence
from datetime import datetime

import msgspec

from motorpool.storage.database.cleaning import json_bytes
from motorpool.storage.database.id_blocks import allocate_block
from motorpool.storage.database.queries import Queries
from motorpool.storage.database.tables import Table
from motorpool.storage.records import Event, Review

TABLE = Table(
    "events",
    Event,
    sort="event_time",
    keywords=(),
    non_references=frozenset({"device_id", "position_id", "geofence_id", "maintenance_id"}),
)
"""For reads only; `insert_many` writes."""

# Events are left for the notifier only if notifications exist for their type
# (storage/events/notifications.py), and for the ticket rules only if a rule follows their type
# (storage/helpdesk/ticket_rules.py).
_INSERT = """
    insert into unmatched_events (event_id, device_id, stored)
    select waiting_id, waiting_device_id, {now}
    from store_events(convert_from(decode('{events}', 'hex'), 'UTF8')::jsonb, {now})
"""


async def allocate_ids(q: Queries, count: int) -> range:
    """Return `count` ids that no other caller gets."""
    return await allocate_block(q, "events", count)


async def assign_ids(q: Queries, events: Sequence[Event]) -> None:
    """Give an id to each of the events that has none, in place.

    Only for events that no other part has seen yet: elsewhere they are immutable values.
    """
    unnumbered = [event for event in events if not event.id]
    if unnumbered:
        for event, event_id in zip(unnumbered, await allocate_ids(q, len(unnumbered)), strict=True):
            msgspec.structs.force_setattr(event, "id", event_id)


def insertion(events: Sequence[Event], now: datetime | None) -> str:
    """Return the statement of `insert_many`, without parameters, for the end of a script.

    Its command tag has the number that `insert_many` returns.
    """
    # In hexadecimal, so that no text of a device can end the literal.
    return _INSERT.format(
        events=json_bytes(events).hex(),
        now="null::timestamptz" if now is None else f"'{now.isoformat()}'::timestamptz",
    )


async def insert_many(q: Queries, events: Sequence[Event], *, now: datetime | None = None) -> int:
    """Store numbered events, and leave them to the notifier and to ticket rules as stored at `now`.

    With None nobody is notified, and no tickets are made. Return how many were left to the notifier:
    the events of types that have notifications.
    """
    return await q.affected(insertion(events, now))


async def set_review(transaction: Queries, event_id: int, review: Review) -> None:
    """Replace the review of an event whose row the transaction has locked."""
    await transaction.execute(
        "update events set review = $2::text::jsonb where id = $1", event_id, _encode(review)
    )


def _encode(review: Review) -> str:
    return json_bytes(msgspec.to_builtins(review)).decode()


async def existing(q: Queries, ids: Iterable[int]) -> set[int]:
    """Return which of the ids are stored."""
    rows = await q.fetch("select id from events where id = any($1::bigint[])", list(ids))
    return {row[0] for row in rows}


async def between(
    q: Queries, device_ids: Iterable[int], start: datetime, end: datetime, *, types: Iterable[str] = ()
) -> list[Event]:
    """Return events of devices by time, both ends included; without types all."""
    return await TABLE.select(
        q,
        "where device_id = any($1::bigint[]) and event_time between $2 and $3"
        " and ($4::text[] = '{}' or type = any($4)) order by event_time, id",
        list(device_ids),
        start,
        end,
        list(types),
    )
