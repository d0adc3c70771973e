"""Messages to the webhooks of companies, and their log (docs/ticket-webhooks.md#deliveries)."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from motorpool.storage.database.queries import Queries, Row
from motorpool.storage.deliveries.attempts import Attempt
from motorpool.storage.deliveries.outbox import TICKETS

BATCH = 5000
"""Maximum rows that one statement deletes."""
MAX_ATTEMPTS = 20
"""Maximum attempts shown with a message."""


class Delivery(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A message to a webhook and the attempts to deliver it."""

    id: int
    message_id: str
    """The header `webhook-id`, the same at each attempt."""
    type: str
    """The type of the message."""
    ticket_id: int
    """The ticket that it is about."""
    sequence: int
    """1, 2, 3 … for the messages of a ticket."""
    state: str
    """`waiting`, `delivered`, `failed` after its last attempt, or `dropped`."""
    created_at: datetime
    """When the change was made that it tells of."""
    next_attempt: datetime | None
    """When it is sent again; null unless it waits."""
    reason: str
    """Why it was dropped, or the error of the last attempt; empty if there is none."""
    attempts: list[Attempt] = []
    """The latest attempts to deliver it, oldest first."""


_FOUND = """
    select id, message_id, type, order_key as ticket_id, sequence, state, created as created_at,
        case when state = 'waiting' then next_attempt end as next_attempt,
        coalesce(last_error, '') as reason
    from deliveries where company_id = $1
"""


async def page(
    q: Queries,
    company_id: int,
    *,
    states: Sequence[str] = (),
    ticket_id: int = 0,
    start: datetime | None = None,
    end: datetime | None = None,
    limit: int,
    offset: int = 0,
) -> list[Delivery]:
    """Return messages to a company's webhook created from `start` to `end`, newest first."""
    rows = await q.fetch(
        f"{_FOUND} and ($2::text[] = '{{}}' or state = any($2)) and ($3::bigint = 0 or order_key = $3)"
        " and created >= coalesce($4::timestamptz, '-infinity')"
        " and created <= coalesce($5::timestamptz, 'infinity')"
        " order by created desc, id desc limit $6 offset $7",
        company_id,
        list(states),
        ticket_id,
        start,
        end,
        limit,
        offset,
    )
    return await _with_attempts(q, rows)


async def fetch(q: Queries, company_id: int, row_id: int) -> Delivery | None:
    """Return a message of a company, or None."""
    found = await _with_attempts(q, await q.fetch(f"{_FOUND} and id = $2", company_id, row_id))
    return found[0] if found else None


async def retry(q: Queries, company_id: int, row_id: int, *, now: datetime) -> bool:
    """Have a message sent again now; return False if there is none with this id.

    It holds back no later messages of its ticket. A failing receiver is tried at once.
    """
    row = await q.fetch_row(
        """
        with again as (
            update deliveries set state = 'waiting', attempts = 0, holds_back = false,
                next_attempt = least(created, $3)
            where company_id = $1 and id = $2 returning lane, company_id
        ), opened as (
            update receivers set held_until = null from again
            where receivers.lane = again.lane and receivers.receiver = again.company_id
        )
        select company_id from again
        """,
        company_id,
        row_id,
        now,
    )
    return row is not None


async def _with_attempts(q: Queries, rows: Sequence[Row]) -> list[Delivery]:
    attempts: dict[int, list[Attempt]] = {row["id"]: [] for row in rows}
    for logged in await q.fetch(
        "select delivery_id, at as time, milliseconds, address, status, error, answer"
        " from unnest($1::bigint[]) as found (id)"
        " cross join lateral (select * from delivery_attempts where delivery_id = found.id"
        "   order by id desc limit $2) as latest order by latest.id",
        list(attempts),
        MAX_ATTEMPTS,
    ):
        attempts[logged["delivery_id"]].append(msgspec.convert(dict(logged.items()), Attempt))
    return [Delivery(**dict(row.items()), attempts=attempts[row["id"]]) for row in rows]


async def delete_before(q: Queries, cutoff: datetime) -> bool:
    """Delete some log entries from before `cutoff`; return whether there may be more."""
    messages = await q.execute(
        "delete from deliveries where id in (select id from deliveries"
        " where company_id is not null and created < $1 and state <> 'waiting' order by created limit $2)",
        cutoff,
        BATCH,
    )
    attempts = await q.execute(
        "delete from delivery_attempts where id in (select id from delivery_attempts"
        " where at < $1 order by at limit $2)",
        cutoff,
        BATCH,
    )
    return f"DELETE {BATCH}" in (messages, attempts)


async def delete_surplus(q: Queries, *, most: int) -> bool:
    """Delete the oldest log entries of companies with more than `most`; return whether there may be more."""
    rows = await q.fetch(
        "select id from companies where exists (select from deliveries"
        " where company_id = companies.id offset $1)",
        most,
    )
    is_more = False
    for row in rows:
        deleted = await q.fetch_value(
            """
            with surplus as (
                delete from deliveries where id in (
                    select id from deliveries where company_id = $1 and state <> 'waiting'
                    order by created limit (
                        select least($3, count(*) - $2) from deliveries where company_id = $1
                    )
                ) returning id
            ), attempts as (
                delete from delivery_attempts using surplus where delivery_id = surplus.id
            )
            select count(*) from surplus
            """,
            row[0],
            most,
            BATCH,
        )
        is_more = is_more or deleted > 0
    return is_more


_WAITING = f"lane = '{TICKETS}' and state = 'waiting'"


async def discard_older(q: Queries, cutoff: datetime, *, reason: str) -> list[tuple[int, int]]:
    """Drop waiting messages created before `cutoff`; return pairs of company and count."""
    return await _discard(q, "created < $2", reason, cutoff)


async def discard_all(q: Queries, company_id: int, *, reason: str) -> list[tuple[int, int]]:
    """Drop the waiting messages of a company; return pairs of company and count."""
    return await _discard(q, "receiver = $2", reason, company_id)


async def discard_surplus(q: Queries, *, most: int, reason: str) -> list[tuple[int, int]]:
    """Drop the oldest waiting messages of companies beyond `most`; return pairs of company and count."""
    surplus = f"""
        id in (select surplus.id from companies cross join lateral (
            select id from deliveries where {_WAITING} and receiver = companies.id
            order by id desc offset $2) as surplus)
    """  # noqa: S608 - constants
    return await _discard(q, surplus, reason, most)


async def _discard(q: Queries, condition: str, reason: str, value: object) -> list[tuple[int, int]]:
    """Drop waiting messages that meet a condition with the parameter `$2`."""
    rows = await q.fetch(
        f"""
        with discarded as (
            update deliveries set state = 'dropped', last_error = $1
            where {_WAITING} and {condition} returning company_id
        ), lost as (
            select company_id, count(*) as messages from discarded join companies on companies.id = company_id
            group by company_id
        ), counted as (
            insert into receivers (lane, receiver, dropped) select '{TICKETS}', company_id, messages from lost
            on conflict (lane, receiver) do update set dropped = receivers.dropped + excluded.dropped
        )
        select company_id, messages from lost
        """,  # noqa: S608 - constants
        reason,
        value,
    )
    return [(row[0], row[1]) for row in rows]
