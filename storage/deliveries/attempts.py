"""Results of attempts to deliver messages."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from motorpool.storage.database.queries import Queries, columns
from motorpool.storage.deliveries.outbox import TICKETS
from motorpool.storage.records import OptionalText

NEVER = 2**31 - 1
"""Stands for no limit of attempts or failures."""


class Attempt(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """An attempt to deliver a message."""

    time: datetime
    """When it began."""
    milliseconds: int
    """How long it took."""
    address: OptionalText = ""
    """The IP address that was connected to; null if there is none."""
    status: int | None = None
    """The HTTP status of the answer; null without one."""
    error: OptionalText = ""
    """`dns`, `blocked`, `connect`, `tls`, `timeout` or `status`; null if it was delivered."""
    answer: OptionalText = ""
    """The beginning of the answer; null without one."""


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """The consequences of a failed attempt."""

    error: str
    """The last error of message and receiver."""
    until: datetime
    """When the next attempt at the message is due."""
    counts: bool = True
    """Whether the receiver failed, not the service of the lane."""
    max_attempts: int = NEVER
    """Failed attempts after which the message has failed for good."""
    overtaken_attempts: int = NEVER
    """Failed attempts after which it no longer holds back others."""
    held_until: datetime | None = None
    """Nothing is sent to the receiver before this instant."""
    closed_failures: int = NEVER
    """Consecutive failures of the receiver after which nothing is sent to it for a while."""
    closed_seconds: Sequence[float] = ()
    """Lengths of these pauses in seconds; the last one repeats."""


class Failing(msgspec.Struct, frozen=True):
    """The failures of a message and its receiver, after another one."""

    receiver: int
    """The user or company; 0 for neither."""
    attempts: int
    """Failed attempts at this message, the last one included."""
    failures: int
    """Consecutive failures of the receiver; 0 if it was not the receiver that failed."""
    since: datetime | None
    """The first of them."""
    paused: datetime | None
    """As `LeasedReceiver.paused`."""


_SENT = """
    with sent as (
        select * from unnest(
            $1::bigint[], $2::timestamptz[], $3::integer[], $4::text[], $5::integer[], $6::text[], $7::text[]
        ) as each (id, at, milliseconds, address, status, error, answer)
    ), attempted as (
        update deliveries
        set state = 'delivered', attempts = deliveries.attempts + 1, last_error = null
        from sent where deliveries.id = sent.id and deliveries.state = 'waiting'
        returning deliveries.id, lane, company_id, attempts
    ), logged as (
        insert into delivery_attempts
            (company_id, delivery_id, attempt, at, milliseconds, address, status, error, answer)
        select company_id, id, attempts, at, milliseconds, address, status, error, answer
        from attempted join sent using (id) order by at
    ), failing as (
        select lane, receiver, failures from receivers
        where (lane, receiver) in (select lane, company_id from attempted)
            and (failures > 0 or held_until is not null) for update
    ), opened as (
        update deliveries set next_attempt = $9 from failing
        where deliveries.lane = failing.lane and deliveries.receiver = failing.receiver
            and state = 'waiting' and id <> all ($1) and next_attempt > $9 and failing.failures >= $8
    )
    update receivers set failures = 0, since = null, held_until = null from failing
    where receivers.lane = failing.lane and receivers.receiver = failing.receiver
"""
_REMOVED = """
    with sent as (delete from deliveries where id = any($1::bigint[]) returning lane, user_id)
    update receivers set failures = 0, since = null, held_until = null, paused = null from sent
    where receivers.lane = sent.lane and receivers.receiver = sent.user_id
        and (failures > 0 or held_until is not null)
"""
_FAILED = f"""
    with attempted as (
        update deliveries set attempts = attempts + 1, last_error = $8, next_attempt = $9,
            holds_back = holds_back and attempts + 1 < $11,
            state = case when attempts + 1 >= $10 then 'failed' else state end
        where id = $1 and state = 'waiting'
        returning id, lane, company_id, coalesce(company_id, user_id) as receiver, attempts
    ), logged as (
        insert into delivery_attempts
            (company_id, delivery_id, attempt, at, milliseconds, address, status, error, answer)
        select company_id, id, attempts, $2, $3, $4, $5, $6, $7 from attempted where company_id is not null
    ), failing as (
        insert into receivers as known (lane, receiver, failures, since, last_failure, last_error, held_until)
        select lane, receiver, 1, $2, $2, $8, $12 from attempted where $15 and receiver is not null
        on conflict (lane, receiver) do update set failures = known.failures + 1,
            since = coalesce(known.since, excluded.since), last_failure = excluded.last_failure,
            last_error = excluded.last_error,
            held_until = greatest(known.held_until, excluded.held_until, case when known.failures + 1 >= $13
                then $2 + ($14::float8[])[least(known.failures + 2 - $13, cardinality($14))]
                    * interval '1 second' end)
        returning failures, since, case lane when '{TICKETS}' then null else paused end as paused
    )
    select coalesce(receiver, 0), attempts, coalesce(failures, 0), since, paused
    from attempted left join failing on true
"""  # noqa: S608 - constants


async def record_delivered(
    q: Queries, delivered: Sequence[tuple[int, Attempt]], *, closed_failures: int = NEVER
) -> None:
    """Log that messages, given by row, were delivered, and reset the failures of their receivers.

    Messages that waited because of `closed_failures` consecutive failures become due.
    """
    rows = ((row_id, *msgspec.structs.astuple(attempt)) for row_id, attempt in delivered)
    latest = max(attempt.time for _, attempt in delivered)
    await q.execute(_SENT, *columns(rows), closed_failures, latest)


async def remove_delivered(q: Queries, row_ids: Sequence[int]) -> None:
    """Delete delivered messages without a log, and reset the failures of their receivers."""
    await q.execute(_REMOVED, list(row_ids))


async def record_failed(q: Queries, row_id: int, attempt: Attempt, failure: Failure) -> Failing | None:
    """Record a failed attempt. Return None if the message no longer waits."""
    row = await q.fetch_row(
        _FAILED,
        row_id,
        *msgspec.structs.astuple(attempt),
        failure.error,
        failure.until,
        failure.max_attempts,
        failure.overtaken_attempts,
        failure.held_until,
        failure.closed_failures,
        list(failure.closed_seconds),
        failure.counts,
    )
    return None if row is None else Failing(*row.values())
