"""Attempts to deliver messages to the webhooks of companies, and the log of them."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from motorpool.storage.database.queries import Queries, Row
from motorpool.storage.deliveries.ticket_messages import message_id

STATES = ("waiting", "delivered", "failed", "dropped")
"""Of a message: `failed` after its last attempt, `dropped` without one."""
BATCH = 5000
"""Most rows that one statement deletes."""


class Attempt(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """An attempt to deliver a message."""

    time: datetime
    """When it began."""
    milliseconds: int
    """How long it took."""
    address: str = ""
    """The IP address that was connected to; empty if there is none."""
    status: int | None = None
    """The HTTP status of the answer; null without one."""
    error: str = ""
    """`dns`, `blocked`, `connect`, `tls`, `timeout` or `status`; empty if it was delivered."""
    answer: str = ""
    """The beginning of the answer."""


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


class Failing(msgspec.Struct, frozen=True):
    """How a receiver fails, after another failure."""

    failures: int
    """In a row, this one included."""
    since: datetime
    """The first of them."""
    attempts: int
    """At this message, this one included."""


_DELIVERED = """
    with sent as (
        select * from unnest(
            $1::bigint[], $2::timestamptz[], $3::integer[], $4::text[], $5::integer[], $6::text[], $7::text[]
        ) as each (id, at, milliseconds, address, status, error, answer)
    ), attempted as (
        update ticket_messages as message
        set state = 'delivered', attempts = message.attempts + 1, last_error = null
        from sent where message.id = sent.id and message.state = 'waiting'
        returning message.id, message.company_id, message.attempts
    ), logged as (
        insert into ticket_message_attempts
            (company_id, message_id, attempt, at, milliseconds, address, status, error, answer)
        select company_id, id, attempts, at, milliseconds, address, status, error, answer
        from attempted join sent using (id) order by at
    ), failing as (
        select webhook.company_id, failures from ticket_webhooks as webhook
        where webhook.company_id in (select company_id from attempted)
            and (failures > 0 or held_until is not null) for update
    ), opened as (
        update ticket_messages as message set next_attempt = $9 from failing
        where message.company_id = failing.company_id and state = 'waiting' and message.id <> all ($1)
            and next_attempt > $9 and failing.failures >= $8
    )
    update ticket_webhooks set failures = 0, failing_since = null, held_until = null from failing
    where ticket_webhooks.company_id = failing.company_id
"""
_FAILED = """
    with attempted as (
        update ticket_messages set attempts = attempts + 1, last_error = $6, next_attempt = $8,
            is_overtaken = is_overtaken or attempts + 1 >= $9,
            state = case when attempts + 1 >= $10 then 'failed' else state end
        where id = $1 and state = 'waiting' returning id, company_id, attempts
    ), logged as (
        insert into ticket_message_attempts
            (company_id, message_id, attempt, at, milliseconds, address, status, error, answer)
        select company_id, id, attempts, $2, $3, $4, $5, $6, $7 from attempted
    )
    update ticket_webhooks as webhook
    set failures = failures + 1, failing_since = coalesce(failing_since, $2),
        held_until = greatest(held_until, $11, case when failures + 1 >= $12 then
            $2 + ($13::float8[])[least(failures + 2 - $12, cardinality($13))] * interval '1 second' end)
    from attempted where webhook.company_id = attempted.company_id
    returning failures, failing_since, attempted.attempts
"""


async def record_delivered(
    q: Queries, delivered: Sequence[tuple[int, Attempt]], *, closed_failures: int
) -> None:
    """Note that messages, by their rows, were delivered: their receivers do not fail any more.

    What waits for an attempt after `closed_failures` failures in a row is due at once.
    """
    columns = zip(*((row_id, *_columns(attempt)) for row_id, attempt in delivered), strict=True)
    latest = max(attempt.time for _, attempt in delivered)
    await q.execute(_DELIVERED, *map(list, columns), closed_failures, latest)


async def record_failed(
    q: Queries,
    row_id: int,
    attempt: Attempt,
    *,
    until: datetime,
    held_until: datetime | None,
    overtaken_attempts: int,
    max_attempts: int,
    closed_failures: int,
    closed_seconds: Sequence[float],
) -> Failing | None:
    """Note a failed attempt; the next one is due `until`, unless it was the last of `max_attempts`.

    From `overtaken_attempts` on it no longer holds back later messages of its ticket. From `closed_failures`
    failures in a row on, over all messages, nothing else is sent for as long as the items of `closed_seconds`
    say: the first after the first of these failures, the last one from then on; nor before `held_until`.

    Return None if the message does not wait any more.
    """
    row = await q.fetch_row(
        _FAILED,
        row_id,
        *_columns(attempt),
        until,
        overtaken_attempts,
        max_attempts,
        held_until,
        closed_failures,
        list(closed_seconds),
    )
    return None if row is None else Failing(*row.values())


def _columns(attempt: Attempt) -> tuple[object, ...]:
    return (
        attempt.time,
        attempt.milliseconds,
        attempt.address,
        attempt.status,
        attempt.error,
        attempt.answer,
    )


_FOUND = """
    select id, company_id, type, ticket_id, sequence, state, created, next_attempt,
        coalesce(last_error, '') as reason
    from ticket_messages where company_id = $1
"""
MAX_ATTEMPTS = 20
"""Most attempts that are shown of a message."""


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
    """Return messages of a company, newest first, created from `start` to `end`."""
    rows = await q.fetch(
        f"{_FOUND} and ($2::text[] = '{{}}' or state = any($2)) and ($3::bigint = 0 or ticket_id = $3)"
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
    """Return a message of a company; None if there is none of this id."""
    found = await _with_attempts(q, await q.fetch(f"{_FOUND} and id = $2", company_id, row_id))
    return found[0] if found else None


async def retry(q: Queries, company_id: int, row_id: int, *, now: datetime) -> bool:
    """Let a message be sent again, and now; return False if there is none of this id.

    It does not hold back later messages of its ticket. A receiver that fails is tried at once.
    """
    row = await q.fetch_row(
        """
        with again as (
            update ticket_messages set state = 'waiting', attempts = 0, is_overtaken = true,
                next_attempt = least(created, $3)
            where company_id = $1 and id = $2 returning company_id
        ), opened as (
            update ticket_webhooks set held_until = null from again
            where ticket_webhooks.company_id = again.company_id
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
        "select message_id, at, milliseconds, address, status, error, answer"
        " from unnest($1::bigint[]) as found (id)"
        " cross join lateral (select * from ticket_message_attempts where message_id = found.id"
        "   order by id desc limit $2) as latest order by latest.id",
        list(attempts),
        MAX_ATTEMPTS,
    ):
        attempts[logged["message_id"]].append(
            Attempt(
                time=logged["at"],
                milliseconds=logged["milliseconds"],
                address=logged["address"],
                status=logged["status"],
                error=logged["error"],
                answer=logged["answer"],
            )
        )
    return [
        Delivery(
            id=row["id"],
            message_id=message_id(row["company_id"], row["id"]),
            type=row["type"],
            ticket_id=row["ticket_id"],
            sequence=row["sequence"],
            state=row["state"],
            created_at=row["created"],
            next_attempt=row["next_attempt"] if row["state"] == "waiting" else None,
            reason=row["reason"],
            attempts=attempts[row["id"]],
        )
        for row in rows
    ]


async def delete_before(q: Queries, cutoff: datetime) -> bool:
    """Delete some of the log entries that are older than `cutoff`; return whether there may be more."""
    messages = await q.execute(
        "delete from ticket_messages where id in (select id from ticket_messages"
        " where created < $1 and state <> 'waiting' order by created limit $2)",
        cutoff,
        BATCH,
    )
    attempts = await q.execute(
        "delete from ticket_message_attempts where id in (select id from ticket_message_attempts"
        " where at < $1 order by at limit $2)",
        cutoff,
        BATCH,
    )
    return f"DELETE {BATCH}" in (messages, attempts)


async def delete_surplus(q: Queries, *, most: int) -> bool:
    """Delete the oldest of a company's log entries beyond `most`; return whether there may be more."""
    rows = await q.fetch(
        "select id from companies where exists (select from ticket_messages"
        " where company_id = companies.id offset $1)",
        most,
    )
    is_more = False
    for row in rows:
        deleted = await q.fetch_value(
            """
            with surplus as (
                delete from ticket_messages where id in (
                    select id from ticket_messages where company_id = $1 and state <> 'waiting'
                    order by created limit (
                        select least($3, count(*) - $2) from ticket_messages where company_id = $1
                    )
                ) returning id
            ), attempts as (
                delete from ticket_message_attempts using surplus where message_id = surplus.id
            )
            select count(*) from surplus
            """,
            row[0],
            most,
            BATCH,
        )
        is_more = is_more or deleted > 0
    return is_more
