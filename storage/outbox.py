"""Mails and text messages to be sent, kept until they are (docs/decisions/0002).

    async with database.transaction() as transaction:
        await outbox.enqueue(transaction, OutgoingMessage(channel="mail", to=…, text=…), now=call.now)
    context.system.ref(OUTBOX).offer(OutboxFilled())

The message is committed with what made it necessary; the actor sends it at least once, later if need be.
"""

import secrets
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal

import msgspec

from motorpool.storage.errors import StatementRejected
from motorpool.storage.queries import Queries

__all__ = [
    "LANES",
    "MAX_QUEUED",
    "USER_SMTP_HOST",
    "Channel",
    "Lane",
    "OutgoingMessage",
    "QueuedMessage",
    "due",
    "enqueue",
    "enqueue_all",
    "expire",
    "next_due",
    "postpone",
    "postpone_user",
    "remove",
]

Channel = Literal["mail", "sms"]
Lane = Literal["mail", "own mail", "sms"]
"""Where messages queue: those that go by a user's own mail account hold up nobody else."""
LANES: tuple[Lane, ...] = ("mail", "own mail", "sms")

MAX_QUEUED = 100_000
"""Messages that may wait in one lane."""
ERROR_LENGTH = 500
"""Characters that are kept of the last error."""
USER_SMTP_HOST = "mail.smtp.host"
"""The attribute of a user who has a mail account of their own (docs/users.md#preferences)."""


class OutgoingMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A mail or a text message."""

    channel: Channel
    to: str
    """A mail address or a telephone number."""
    text: str
    """What a text message says, or the plain form of a mail."""
    subject: str = ""
    """Of a mail."""
    html: str | None = None
    """Of a mail, beside the plain form."""
    user_id: int = 0
    """The recipient, whose own mail account sends it where they have one; 0 for no user."""
    system: bool = False
    """By the server's own account in any case: what must not depend on what the user has set."""
    urgent: bool = False
    """A mail that says so."""


class QueuedMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A message in the outbox."""

    id: int
    message_id: str
    """The same at each attempt."""
    message: OutgoingMessage
    account: dict[str, Any]
    """The user's attributes, where they name a mail account of their own; else empty."""
    created: datetime
    attempts: int
    """So far."""


_PUT = f"""
    insert into outbox (lane, message_id, user_id, message, created, expires, next_attempt)
    select lane, message_id, user_id, message, $4, $5, $4
    from (
        select sent.message_id, users.id as user_id, sent.message, sent.number,
            case when sent.message ->> 'channel' = 'mail' and not (sent.message ->> 'system')::boolean
                and coalesce(users.attributes ->> '{USER_SMTP_HOST}', '') <> '' then 'own mail'
                else sent.message ->> 'channel' end as lane
        from unnest($1::text[], $2::bigint[], $3::jsonb[]) with ordinality
            as sent (message_id, user_id, message, number)
        left join users on users.id = sent.user_id
        where sent.user_id = 0 or users.id is not null
    ) as known
    where (select count(*) from outbox where outbox.lane = known.lane) + cardinality($1) <= {MAX_QUEUED}
    order by number
    returning id
"""  # noqa: S608 - constants


async def enqueue(
    q: Queries, message: OutgoingMessage, *, now: datetime, expires: datetime | None = None
) -> int:
    """Let a message wait to be sent; return its id in the outbox. Tell the actor after the commit.

    `expires` is when nobody wants it any more, where that is sooner than the outbox gives up.

    Raises:
        StatementRejected: too many wait already, or there is no such user.
    """
    return (await enqueue_all(q, (message,), now=now, expires=expires))[0]


async def enqueue_all(
    q: Queries, messages: Sequence[OutgoingMessage], *, now: datetime, expires: datetime | None = None
) -> list[int]:
    """As `put`, for many at once: all or none, where it is done in a transaction."""
    rows = await q.fetch(
        _PUT,
        [secrets.token_hex(16) for _ in messages],
        [message.user_id for message in messages],
        list(messages),
        now,
        expires,
    )
    if len(rows) < len(messages):
        raise StatementRejected("too many messages wait to be sent already, or there is no such user")
    return [row[0] for row in rows]


async def due(q: Queries, lane: Lane, *, now: datetime, limit: int) -> list[QueuedMessage]:
    """Return what is to be sent now, longest due first."""
    rows = await q.fetch(
        "select outbox.id, message_id, message, created, attempts,"
        "   case when lane = 'own mail' then coalesce(users.attributes, '{}') else '{}' end as account"
        " from outbox left join users on users.id = user_id"
        " where lane = $1 and next_attempt <= $2 and (expires is null or expires > $2)"
        " order by next_attempt, outbox.id limit $3",
        lane,
        now,
        limit,
    )
    return [msgspec.convert(dict(row.items()), QueuedMessage) for row in rows]


async def next_due(q: Queries, lane: Lane, *, now: datetime) -> datetime | None:
    """Return when the next message of a lane is to be sent; None where none waits."""
    found: datetime | None = await q.fetch_value(
        "select next_attempt from outbox where lane = $1 and (expires is null or expires > $2)"
        " order by next_attempt limit 1",
        lane,
        now,
    )
    return found


async def remove(q: Queries, row_id: int) -> None:
    """Forget a message: it has gone out, or never will."""
    await q.execute("delete from outbox where id = $1", row_id)


async def postpone(q: Queries, row_id: int, *, error: str, until: datetime) -> None:
    """Note that an attempt failed, and when the next is due."""
    await q.execute(
        "update outbox set attempts = attempts + 1, last_error = $2, next_attempt = $3 where id = $1",
        row_id,
        error[:ERROR_LENGTH],
        until,
    )


async def postpone_user(q: Queries, user_id: int, *, until: datetime) -> None:
    """Try nothing by this user's own mail account before `until`."""
    await q.execute(
        "update outbox set next_attempt = $2 where lane = 'own mail' and user_id = $1 and next_attempt < $2",
        user_id,
        until,
    )


async def expire(q: Queries, *, now: datetime, oldest: datetime) -> list[tuple[int, str, int, str]]:
    """Give up what has expired or was made before `oldest`.

    Return id, lane, attempts and last error of each.
    """
    rows = await q.fetch(
        "delete from outbox where expires <= $1 or created < $2"
        " returning id, lane, attempts, coalesce(last_error, 'no attempt was made')",
        now,
        oldest,
    )
    return [(row[0], row[1], row[2], row[3]) for row in rows]
