"""Messages that are delivered at least once (docs/decisions/0002), put in the queue with their cause.

    async with database.transaction() as transaction:
        await outbox.enqueue(transaction, OutgoingMessage(channel="mail", to=…, text=…), now=call.now)
    context.system.ref(OUTBOX).offer(OutboxFilled())

Senders read the queue with `storage/deliveries/queue.py`.
"""

import secrets
from collections.abc import Sequence
from datetime import datetime

import msgspec

from motorpool.storage.database.queries import Queries
from motorpool.storage.errors import StatementRejected

MAX_QUEUED = 100_000
"""Maximum messages that wait in a lane."""
USER_SMTP_HOST = "mail.smtp.host"
"""The attribute of a user with a mail account of their own (docs/users.md#preferences)."""
OWN_MAIL = "own mail"
"""The lane of mails by accounts of users, apart so that they do not delay those of the server."""
WEBHOOK = "webhook"
"""The lane of webhooks of users; each user gets their messages in order."""
TICKETS = "ticket webhook"
"""The lane of webhooks of companies; messages of a ticket are in order, and logged."""
OF_USERS = (OWN_MAIL, WEBHOOK)
"""Lanes where each user is a receiver."""


class OutgoingMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A mail, a text message, or a message to a service or a webhook."""

    channel: str
    """The name of a notificator, or `TICKETS`."""
    to: str
    """A mail address, a telephone number, or a chat or user of a service; empty for a webhook, whose URL is
    read at each attempt."""
    text: str
    """The text, the plain-text part of a mail, or the JSON body for a webhook."""
    subject: str = ""
    """The subject of a mail, or the title of a message to a service."""
    html: str | None = None
    """The HTML part of a mail; None without one."""
    link: str = ""
    """The URL that a message to a service opens; empty for none."""
    user_id: int = 0
    """The recipient, by whose own mail account it is sent if they have one; 0: not a user."""
    system: bool = False
    """Whether the mail account of the server sends it even if the user has one."""
    urgent: bool = False
    """Whether it is marked as important."""
    attached: int = 0
    """Number of files that go with a mail; `enqueue` sets it."""


class Attachment(msgspec.Struct, frozen=True):
    """A file that goes with a mail."""

    name: str
    media_type: str
    content: bytes


_ENQUEUE = f"""
    with waiting as materialized (
        select lane, count(*) as messages from deliveries
        where state = 'waiting' and lane = any($6::text[]) group by lane
    )
    insert into deliveries
        (lane, receiver, user_id, message_id, message, created, expires, next_attempt, order_key, holds_back)
    select lane, case when lane in {OF_USERS} then user_id else 0 end, user_id, message_id, message,
        $4, $5, $4, case lane when '{WEBHOOK}' then 0 end, lane = '{WEBHOOK}'
    from (
        select sent.message_id, users.id as user_id, sent.message, sent.number,
            case when sent.message ->> 'channel' = 'mail' and not (sent.message ->> 'system')::boolean
                and coalesce(users.attributes ->> '{USER_SMTP_HOST}', '') <> '' then '{OWN_MAIL}'
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
    """Queue a message; return its id in the queue. Notify the outbox actor after the commit.

    `expires` is when the message becomes obsolete, if that is before the outbox gives up. With attachments
    call it in a transaction.

    Raises:
        StatementRejected: The queue is full, or there is no such user.
    """
    message = msgspec.structs.replace(message, attached=len(attachments))
    row_id = (await enqueue_all(q, (message,), now=now, expires=expires))[0]
    for place, each in enumerate(attachments):
        await q.execute(
            "insert into delivery_attachments (delivery_id, place, name, media_type, content)"
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
        "select name, media_type, content from delivery_attachments where delivery_id = $1 order by place",
        row_id,
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
    lanes = {message.channel for message in messages}
    rows = await q.fetch(
        _ENQUEUE,
        [secrets.token_hex(16) for _ in messages],
        [message.user_id for message in messages],
        list(messages),
        now,
        expires,
        list(lanes | {OWN_MAIL} if "mail" in lanes else lanes),
    )
    return [row[0] for row in rows]


async def enqueue_many(q: Queries, messages: Sequence[OutgoingMessage], *, now: datetime) -> int:
    """Queue messages, without those whose lane is full or whose user is gone; return how many."""
    return len(await _enqueue(q, messages, now, None))


class TicketMessage(msgspec.Struct, frozen=True):
    """A message to the webhook of a company (docs/ticket-webhooks.md)."""

    company_id: int
    ticket_id: int
    sequence: int
    """1, 2, 3 … for each ticket."""
    type: str
    body: str


def ticket_message_id(company_id: int, number: int | str) -> str:
    """Return the id of a message for its receiver; `number` is the id of its row."""
    return f"msg_{company_id}_{number}"


_ENQUEUE_TICKETS = f"""
    insert into deliveries (id, lane, receiver, company_id, message_id, message, created, next_attempt,
        order_key, holds_back, sequence, type)
    select id, '{TICKETS}', company_id, company_id, 'msg_' || company_id || '_' || id, message, $6, $6,
        ticket_id, true, sequence, type
    from (
        select nextval('deliveries_id_seq') as id, each.* from (
            select * from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::jsonb[])
                with ordinality as sent (company_id, ticket_id, sequence, type, message, place)
            order by place
        ) as each
    ) as numbered
"""  # noqa: S608 - constants


async def enqueue_for_companies(
    transaction: Queries, messages: Sequence[TicketMessage], *, now: datetime
) -> None:
    """Queue messages to the webhooks of companies with the commit; wake the sender afterwards."""
    if not messages:
        return
    *columns, bodies = zip(*map(msgspec.structs.astuple, messages), strict=True)
    await transaction.defer_to_commit(
        _ENQUEUE_TICKETS,
        *columns,
        [OutgoingMessage(channel=TICKETS, to="", text=body) for body in bodies],
        now,
    )
