"""The messages to the webhooks of companies (docs/ticket-webhooks.md).

    async with database.transaction() as transaction:
        ...
        await ticket_messages.enqueue(transaction, rows, now=now)
    context.system.ref(WEBHOOK_SENDER).offer(...)

A message is committed in the transaction of its cause. A company's messages are sent by the one server that
holds its lease (storage/deliveries/webhook_leases.py).
"""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

import msgspec

from motorpool.storage.database.queries import Queries, Row


class NewTicketMessage(msgspec.Struct, frozen=True):
    """A message to enqueue."""

    company_id: int
    ticket_id: int
    sequence: int
    """1, 2, 3 … for each ticket."""
    type: str
    body: str


class QueuedTicketMessage(msgspec.Struct, frozen=True):
    """A message that is due."""

    id: int
    company_id: int
    ticket_id: int
    sequence: int
    type: str
    body: str
    attempts: int
    """Failed attempts so far."""

    @property
    def message_id(self) -> str:
        """Identifies the message to the receiver; the same for all attempts."""
        return message_id(self.company_id, self.id)


def message_id(company_id: int, number: int | str) -> str:
    """Return what identifies a message to its receiver; `number` is that of its row."""
    return f"msg_{company_id}_{number}"


async def enqueue(transaction: Queries, rows: Sequence[NewTicketMessage], *, now: datetime) -> None:
    """Queue messages. Wake the sender after the commit."""
    if not rows:
        return
    await transaction.defer_to_commit(
        """
        insert into ticket_messages (company_id, ticket_id, sequence, type, body, created, next_attempt)
        select company_id, ticket_id, sequence, type, body, $6, $6
        from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::text[]) with ordinality
            as sent (company_id, ticket_id, sequence, type, body, place)
        order by place
        """,
        [row.company_id for row in rows],
        [row.ticket_id for row in rows],
        [row.sequence for row in rows],
        [row.type for row in rows],
        [row.body for row in rows],
        now,
    )


WINDOW = 32
"""How many due messages are looked at in one statement."""
# A row stands for the first message of its ticket that waits, unless it was overtaken.
_DUE = """
    with due as materialized (
        select id, ticket_id, is_overtaken, next_attempt from ticket_messages
        where company_id = $1 and state = 'waiting' and next_attempt <= $2
        order by next_attempt, id limit $3
    )
    select due.id as due_id, first.*
    from due cross join lateral (
        select id, company_id, ticket_id, sequence, type, body, attempts, next_attempt
        from ticket_messages as each
        where company_id = $1 and ticket_id = due.ticket_id and state = 'waiting'
            and (each.id = due.id or not (due.is_overtaken or each.is_overtaken))
        order by sequence limit 1
    ) as first
    order by due.next_attempt, due.id
"""


class DueMessages(NamedTuple):
    """Messages to be sent now."""

    messages: list[QueuedTicketMessage]
    is_all: bool
    """Whether no other message of the company was due."""


async def take(q: Queries, company_id: int, *, now: datetime, limit: int) -> DueMessages:
    """Return messages of a company that are to be sent now, one of a ticket at most, longest due first.

    Of a ticket that is the first one that waits, or one that was overtaken. Later ones are postponed until
    the first one is due, so that those of a ticket that waits are not looked at again and again. At most
    `limit` messages are returned.
    """
    while True:
        rows = await q.fetch(_DUE, company_id, now, WINDOW)
        found: dict[int, QueuedTicketMessage] = {}
        held: list[tuple[int, datetime]] = []
        for row in rows:
            if row["next_attempt"] > now:
                held.append((row["due_id"], row["next_attempt"]))
                continue
            fields = {name: row[name] for name in QueuedTicketMessage.__struct_fields__}
            message = QueuedTicketMessage(**fields)
            other = found.setdefault(message.ticket_id, message)
            if message.sequence < other.sequence:
                found[message.ticket_id] = message
        if held:
            await q.execute(_HOLD_BACK, [each[0] for each in held], [each[1] for each in held])
        if found or not held:
            is_all = len(rows) < WINDOW and len(found) + len(held) == len(rows) and len(found) <= limit
            return DueMessages(list(found.values())[:limit], is_all)


_HOLD_BACK = """
    update ticket_messages set next_attempt = held.until
    from unnest($1::bigint[], $2::timestamptz[]) as held (id, until)
    where ticket_messages.id = held.id and state = 'waiting'
"""
_DISCARD = """
    with discarded as (
        update ticket_messages set state = 'dropped', last_error = $2
        where state = 'waiting' and {} returning company_id
    ), lost as (
        select company_id, count(*) as messages from discarded join companies on companies.id = company_id
        group by company_id
    ), counted as (
        insert into ticket_webhooks (company_id, dropped) select company_id, messages from lost
        on conflict (company_id) do update set dropped = ticket_webhooks.dropped + excluded.dropped
    )
    select company_id, messages from lost
"""


async def discard_older(q: Queries, cutoff: datetime, *, reason: str) -> list[tuple[int, int]]:
    """Give up messages that were created before `cutoff`; return (company, how many) pairs."""
    return _pairs(await q.fetch(_DISCARD.format("created < $1"), cutoff, reason))


async def discard_all(q: Queries, company_id: int, *, reason: str) -> list[tuple[int, int]]:
    """Give up what waits for a company; return (company, how many) pairs."""
    return _pairs(await q.fetch(_DISCARD.format("company_id = $1"), company_id, reason))


async def discard_surplus(q: Queries, *, most: int, reason: str) -> list[tuple[int, int]]:
    """Give up the oldest messages where more than `most` of a company wait; return (company, how many)."""
    rows = await q.fetch(
        "select id from companies where exists (select from ticket_messages"
        " where company_id = companies.id and state = 'waiting' offset $1)",
        most,
    )
    condition = (
        "id in (select id from ticket_messages where company_id = $1 and state = 'waiting'"
        " order by id desc offset $3)"
    )
    lost: list[tuple[int, int]] = []
    for row in rows:
        lost += _pairs(await q.fetch(_DISCARD.format(condition), row[0], reason, most))
    return lost


def _pairs(rows: Sequence[Row]) -> list[tuple[int, int]]:
    return [(row[0], row[1]) for row in rows]
