"""The queue of outgoing mails and text messages (docs/decisions/0002).

    async with database.transaction() as transaction:
        await outbox.enqueue(transaction, OutgoingMessage(channel="mail", to=…, text=…), now=call.now)
    context.system.ref(OUTBOX).offer(OutboxFilled())

A message is committed in the same transaction as its cause; the outbox actor then sends it at least once.
Before it does, it claims the message for a while, so that of several servers one sends it
(docs/decisions/0210).
"""

import secrets
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Literal

import msgspec

from motorpool.storage.database.queries import Queries
from motorpool.storage.errors import StatementRejected

Channel = Literal["mail", "sms", "telegram", "pushover", "webhook"]
Lane = Literal["mail", "own mail", "sms", "telegram", "pushover", "webhook"]
"""The queue of a message. Mails sent by users' own mail accounts do not delay those of the server."""

MAX_QUEUED = 100_000
"""Longest queue of a lane, in messages."""
ERROR_LENGTH = 500
"""The last error is truncated to this many characters."""
USER_SMTP_HOST = "mail.smtp.host"
"""The attribute of a user who has a mail account of their own (docs/users.md#preferences)."""


class OutgoingMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A mail, a text message, or a message to a service or a webhook."""

    channel: Channel
    to: str
    """A mail address, a telephone number, or a chat or user of a service; empty for a webhook, whose URL is
    that of the user at each attempt."""
    text: str
    """The text; of a mail the plain-text part, for a webhook the JSON body."""
    subject: str = ""
    """The subject of a mail, or the title of a message to a service."""
    html: str | None = None
    """The HTML part of a mail; None without one."""
    user_id: int = 0
    """The recipient, whose own mail account sends it if they have one; 0: not a user."""
    system: bool = False
    """Whether it is always sent by the mail account of the server, whatever the user has configured."""
    urgent: bool = False
    """Whether a mail is marked as important."""
    attached: int = 0
    """Number of files that go with a mail; `enqueue` sets it."""


class Attachment(msgspec.Struct, frozen=True):
    """A file that goes with a mail."""

    name: str
    media_type: str
    content: bytes


class QueuedMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A message in the outbox."""

    id: int
    message_id: str
    """Identifies the message to the recipient; the same for all attempts."""
    message: OutgoingMessage
    account: dict[str, Any]
    """The attributes of the user if they configure how it is sent (`ACCOUNT_LANES`); else empty."""
    created: datetime
    attempts: int
    """Failed attempts so far."""
    next_attempt: datetime


_ENQUEUE = f"""
    with waiting as materialized (select lane, count(*) as messages from outbox group by lane)
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
    left join waiting using (lane)
    where coalesce(waiting.messages, 0) + cardinality($1) <= {MAX_QUEUED}
    order by number
    returning id
"""  # noqa: S608 - constants


async def enqueue(
    q: Queries,
    message: OutgoingMessage,
    *,
    now: datetime,
    expires: datetime | None = None,
    attachments: Sequence[Attachment] = (),
) -> int:
    """Queue a message; return its id in the outbox. Notify the outbox actor after the commit.

    `expires` is when the message becomes obsolete, if that is before the outbox gives up. With attachments
    call it in a transaction.

    Raises:
        StatementRejected: The queue is full, or there is no such user.
    """
    message = msgspec.structs.replace(message, attached=len(attachments))
    row_id = (await enqueue_all(q, (message,), now=now, expires=expires))[0]
    for place, each in enumerate(attachments):
        await q.execute(
            "insert into outbox_attachments (outbox_id, place, name, media_type, content)"
            " values ($1, $2, $3, $4, $5)",
            row_id,
            place,
            each.name,
            each.media_type,
            each.content,
        )
    return row_id


async def attachments_of(q: Queries, row_id: int) -> list[Attachment]:
    """Return the files that go with a mail."""
    rows = await q.fetch(
        "select name, media_type, content from outbox_attachments where outbox_id = $1 order by place", row_id
    )
    return [Attachment(*row.values()) for row in rows]


async def enqueue_all(
    q: Queries, messages: Sequence[OutgoingMessage], *, now: datetime, expires: datetime | None = None
) -> list[int]:
    """Queue several messages like `enqueue`: all or none if called in a transaction."""
    ids = await _enqueue(q, messages, now, expires)
    if len(ids) < len(messages):
        raise StatementRejected("too many messages wait to be sent already, or there is no such user")
    return ids


async def _enqueue(
    q: Queries, messages: Sequence[OutgoingMessage], now: datetime, expires: datetime | None
) -> list[int]:
    rows = await q.fetch(
        _ENQUEUE,
        [secrets.token_hex(16) for _ in messages],
        [message.user_id for message in messages],
        list(messages),
        now,
        expires,
    )
    return [row[0] for row in rows]


async def enqueue_many(
    q: Queries, messages: Sequence[OutgoingMessage], *, now: datetime, expires: datetime | None = None
) -> int:
    """Queue the messages for whose lane there is room and whose user exists; return how many."""
    return len(await _enqueue(q, messages, now, expires))


ACCOUNT_LANES: tuple[Lane, ...] = ("own mail", "pushover", "webhook")
"""Messages of these lanes are sent as attributes of their user say."""
# A user who was disabled gets nothing any more. One who has expired gets mails: of that, for one.
_IS_SENT = """
    lane = $1 and (expires is null or expires > $2) and (outbox.user_id is null or exists (
        select from users as recipient where recipient.id = outbox.user_id and not recipient.disabled
            and (lane in ('mail', 'own mail') or coalesce(recipient.expiration_time > $2, true))))
"""
_QUEUED = f"""
    select outbox.id, message_id, message, created, attempts, next_attempt,
        case when lane in {ACCOUNT_LANES} then coalesce(users.attributes, '{{}}') else '{{}}' end as account
    from outbox left join users on users.id = user_id
    where {_IS_SENT}
"""  # noqa: S608 - constants


_UNCLAIMED = "(claimed_until is null or claimed_until <= $2)"
_RECEIVER_UNCLAIMED = """
    not exists (select from outbox as sent where sent.lane = $1 and sent.claimed_until > $2
        and sent.user_id = outbox.user_id)
"""
"""No server is sending a message of the lane to the same user."""


async def claim(q: Queries, lane: Lane, *, now: datetime, until: datetime, limit: int) -> list[QueuedMessage]:
    """Claim the messages that are due and that no server is sending, longest due first; return them.

    Until `until` no server is given them, unless `postpone` or `release` is called before.
    """
    rows = await q.fetch(
        f"with chosen as materialized (select id from outbox where {_IS_SENT}"  # noqa: S608 - constants
        f" and next_attempt <= $2 and {_UNCLAIMED} order by next_attempt, id limit $3"
        " for update of outbox skip locked),"
        " claimed as (update outbox set claimed_until = $4 from chosen where outbox.id = chosen.id"
        "  returning outbox.id)"
        f" {_QUEUED} and outbox.id in (select id from claimed) order by next_attempt, outbox.id",
        lane,
        now,
        limit,
        until,
    )
    return [msgspec.convert(dict(row.items()), QueuedMessage) for row in rows]


async def claim_next_of(
    q: Queries, lane: Lane, user_id: int, *, now: datetime, until: datetime
) -> list[QueuedMessage]:
    """Claim the message to a user that is to be sent now, in the order of their ids, and return it alone.

    Empty if none is due, or if a server is sending one. A message that waits for its next attempt holds back
    all later ones, unless `overtake` was called for it.
    """
    first = await q.fetch_row(
        f"{_QUEUED} and outbox.user_id = $3 and not is_overtaken order by outbox.id limit 1",
        lane,
        now,
        user_id,
    )
    if first is not None and first["next_attempt"] > now:
        await postpone_user(q, lane, user_id, until=first["next_attempt"])
        first = None
    row = first or await q.fetch_row(
        f"{_QUEUED} and outbox.user_id = $3 and is_overtaken and next_attempt <= $2"
        " order by next_attempt limit 1",
        lane,
        now,
        user_id,
    )
    if row is None:
        return []
    # Where another server claims the same message at this moment, one of them finds it claimed.
    claimed = await q.fetch_value(
        f"update outbox set claimed_until = $4 where id = $3 and {_UNCLAIMED} and {_RECEIVER_UNCLAIMED}"  # noqa: S608 - constants
        " returning true",
        lane,
        now,
        row["id"],
        until,
    )
    return [msgspec.convert(dict(row.items()), QueuedMessage)] if claimed else []


async def release(q: Queries, row_ids: Iterable[int]) -> None:
    """Give up the claim on messages that are not being sent any more."""
    await q.execute("update outbox set claimed_until = null where id = any($1::bigint[])", list(row_ids))


async def users_due(
    q: Queries, lane: Lane, *, now: datetime, without: Iterable[int], limit: int
) -> list[int]:
    """Return users with a message that is due, longest due first, except `without`.

    Users to whom a server is sending one are left out.
    """
    rows = await q.fetch(
        f"select user_id from outbox where {_IS_SENT} and next_attempt <= $2"  # noqa: S608 - constants
        f" and user_id <> all($3::bigint[]) and {_RECEIVER_UNCLAIMED}"
        " group by user_id order by min(next_attempt) limit $4",
        lane,
        now,
        list(without),
        limit,
    )
    return [row[0] for row in rows]


async def next_due(q: Queries, lane: Lane, *, now: datetime, without: Iterable[int] = ()) -> datetime | None:
    """Return when the next message of a lane is due, except those to `without`; None if there is none.

    A message that a server is sending is due again when its claim ends.
    """
    found: datetime | None = await q.fetch_value(
        f"select least((select next_attempt from outbox where {_IS_SENT} and {_UNCLAIMED}"  # noqa: S608 - constants
        f"  and coalesce(user_id, 0) <> all($3::bigint[]) and (lane <> 'webhook' or {_RECEIVER_UNCLAIMED})"
        "  order by next_attempt limit 1),"
        " (select min(claimed_until) from outbox where lane = $1 and claimed_until > $2))",
        lane,
        now,
        list(without),
    )
    return found


async def remove(q: Queries, row_id: int) -> None:
    """Delete a message that has been given up."""
    await q.execute("delete from outbox where id = $1", row_id)


async def remove_sent(q: Queries, row_id: int) -> None:
    """Delete a message that was sent: its receiver does not fail any more."""
    await q.execute(
        "with sent as (delete from outbox where id = $1 returning user_id, lane)"
        " delete from failing_receivers using sent"
        " where failing_receivers.user_id = sent.user_id and failing_receivers.lane = sent.lane",
        row_id,
    )


async def overtake(q: Queries, row_id: int) -> None:
    """Let later messages to the same receiver be sent before this one."""
    await q.execute("update outbox set is_overtaken = true where id = $1", row_id)


async def postpone(q: Queries, row_id: int, *, error: str, until: datetime) -> None:
    """Store that an attempt failed, and when the next is due; the claim ends."""
    await q.execute(
        "update outbox set attempts = attempts + 1, last_error = $2, next_attempt = $3, claimed_until = null"
        " where id = $1",
        row_id,
        error[:ERROR_LENGTH],
        until,
    )


async def postpone_user(q: Queries, lane: Lane, user_id: int, *, until: datetime) -> None:
    """Postpone all messages of a lane to a user to `until` at the earliest."""
    await q.execute(
        "update outbox set next_attempt = $3 where lane = $1 and user_id = $2 and next_attempt < $3",
        lane,
        user_id,
        until,
    )


async def expire(q: Queries, *, now: datetime, oldest: datetime) -> list[tuple[int, str, int, str]]:
    """Delete messages that have expired or were created before `oldest`.

    Return id, lane, attempts and last error of each.
    """
    rows = await q.fetch(
        "delete from outbox where expires <= $1 or created < $2"
        " returning id, lane, attempts, coalesce(last_error, 'no attempt was made')",
        now,
        oldest,
    )
    return [(row[0], row[1], row[2], row[3]) for row in rows]
