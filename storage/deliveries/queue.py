"""The queue as senders see it (docs/decisions/0210).

A server sends to a receiver while it holds the receiver's lease (`storage/deliveries/receivers.py`). Messages
to a service that all users share have no receiver: each server adopts some of them for a receiver of its own,
so that several servers send in parallel.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from motorpool.storage.database.queries import Queries
from motorpool.storage.deliveries.outbox import OWN_MAIL, OutgoingMessage
from motorpool.storage.secret_attributes import decrypted

WINDOW = 32
"""Maximum due messages to a receiver that one statement looks at."""
UNADOPTED = 0
"""The receiver of messages that no server has adopted."""


class QueuedMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A waiting message."""

    id: int
    message_id: str
    """Identifies the message to the recipient; the same for all attempts."""
    message: OutgoingMessage
    created: datetime
    attempts: int
    """Failed attempts so far."""
    order_key: int | None
    """Messages to a receiver with the same key are sent one at a time; None: in no order."""
    account: dict[str, Any] = {}
    """The attributes of the user, if requested."""


# Disabled users get nothing. Expired ones still get mails, such as the one that tells them so.
IS_SENT = f"""
    state = 'waiting' and lane = $1 and (expires is null or expires > $2) and (user_id is null or exists (
        select from users as recipient where recipient.id = user_id and not recipient.disabled
            and ($1 in ('mail', '{OWN_MAIL}') or coalesce(recipient.expiration_time > $2, true))))
"""
"""The condition for rows of the lane `$1` that may be sent, now (`$2`) or when they are due."""


async def adopt(q: Queries, lane: str, receiver: int, *, now: datetime, limit: int) -> None:
    """Give due messages to the service of a lane, longest due first, to the receiver of a server."""
    await q.execute(
        f"""
        with chosen as materialized (
            select id from deliveries where {IS_SENT} and receiver = {UNADOPTED} and next_attempt <= $2
            order by next_attempt, id limit $4 for update of deliveries skip locked
        )
        update deliveries set receiver = $3 from chosen where deliveries.id = chosen.id
        """,  # noqa: S608 - constants
        lane,
        now,
        receiver,
        limit,
    )


# Each due row is replaced by the message that holds it back, if there is one.
_DUE = f"""
    with due as materialized (
        select id, order_key, holds_back, next_attempt from deliveries
        where {IS_SENT} and receiver = $3 and next_attempt <= $2 order by next_attempt, id limit {WINDOW}
    ), first as (
        select due.id as due_id, due.next_attempt as due_at, coalesce(case when holds_back then (
            select each.id from deliveries as each
            where each.lane = $1 and each.receiver = $3 and each.order_key = due.order_key
                and each.holds_back and each.state = 'waiting' and (each.expires is null or each.expires > $2)
            order by each.id limit 1
        ) end, due.id) as id from due
    )
    select due_id, next_attempt, deliveries.id, message_id, message, created, attempts, order_key,
        case when $4 then coalesce(users.attributes, '{{}}') else '{{}}' end as account
    from first join deliveries using (id) left join users on users.id = user_id order by due_at, due_id
"""  # noqa: S608 - constants


class DueMessages(NamedTuple):
    """Messages to send now."""

    messages: list[QueuedMessage]
    is_all: bool
    """Whether no other message was due."""


async def take(
    q: Queries, lane: str, receiver: int, *, now: datetime, limit: int, with_account: bool = False
) -> DueMessages:
    """Return at most `limit` messages to a receiver that are to be sent now, longest due first.

    At most one for each key: the first that waits, or one that holds back no others. Later ones are postponed
    until the first one is due, so that they are not looked at each time.
    """
    while True:
        rows = await q.fetch(_DUE, lane, now, receiver, with_account)
        found: dict[int, QueuedMessage] = {}
        held: list[tuple[int, datetime]] = []
        for row in rows:
            if row["next_attempt"] > now:
                held.append((row["due_id"], row["next_attempt"]))
                continue
            values = dict(row.items())
            values["account"] = decrypted(values["account"], q.keyring, "users.attributes")
            message = msgspec.convert(values, QueuedMessage)
            key = -message.id if message.order_key is None else message.order_key
            other = found.setdefault(key, message)
            if message.id < other.id:
                found[key] = message
        if held:
            await q.execute(_HOLD_BACK, [each[0] for each in held], [each[1] for each in held])
        if found or not held:
            is_all = len(rows) < WINDOW and len(found) + len(held) == len(rows) and len(found) <= limit
            return DueMessages(list(found.values())[:limit], is_all)


_HOLD_BACK = """
    update deliveries set next_attempt = held.until
    from unnest($1::bigint[], $2::timestamptz[]) as held (id, until)
    where deliveries.id = held.id and state = 'waiting'
"""


async def remove(q: Queries, row_id: int) -> None:
    """Delete a message that was given up."""
    await q.execute("delete from deliveries where id = $1", row_id)


async def expire(q: Queries, *, now: datetime, oldest: datetime) -> Sequence[tuple[int, str, int, str]]:
    """Delete messages without a log that have expired or were created before `oldest`.

    Return id, lane, attempts and last error of each.
    """
    rows = await q.fetch(
        "delete from deliveries where company_id is null and (expires <= $1 or created < $2)"
        " returning id, lane, attempts, coalesce(last_error, 'no attempt was made')",
        now,
        oldest,
    )
    return [(row[0], row[1], row[2], row[3]) for row in rows]
