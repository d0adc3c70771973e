"""Which server sends the messages to the webhook of a company, and how its receiver fails.

A server sends while it holds the company's lease, so that the order of a ticket's messages and the rules of a
failing receiver hold whatever the number of servers. One that crashes is followed when the lease has ended.
"""

from datetime import datetime
from typing import Any

import msgspec

from motorpool.storage.database.queries import Queries


class LeasedWebhook(msgspec.Struct, frozen=True):
    """A company whose lease this server holds."""

    company_id: int
    attributes: dict[str, Any]
    """Of the company."""
    failures: int
    """Failed attempts since the last success."""
    failing_since: datetime | None
    """The first of them."""
    held_until: datetime | None
    """Nothing is sent before this instant."""
    stopped_at: datetime | None
    """When the sender disabled the webhook, until `resume`."""


_ACQUIRE = """
    with lease as (
        insert into ticket_webhooks (company_id, holder, leased_until)
        select id, $2, $4 from companies where id = $1
        on conflict (company_id) do update set holder = excluded.holder, leased_until = excluded.leased_until
        where ticket_webhooks.holder = $2 or coalesce(ticket_webhooks.leased_until <= $3, true)
        returning *
    )
    select company_id, attributes, failures, failing_since, held_until, stopped_at
    from lease join companies on companies.id = company_id
"""


async def acquire(
    q: Queries, company_id: int, holder: str, *, now: datetime, until: datetime
) -> LeasedWebhook | None:
    """Take or prolong the lease of a company; None if it is not to be had, or there is no company."""
    row = await q.fetch_row(_ACQUIRE, company_id, holder, now, until)
    return None if row is None else LeasedWebhook(**dict(row.items()))


async def release(q: Queries, company_id: int, holder: str) -> datetime | None:
    """End a lease early; return when the company's next message is due, None if none waits."""
    found: datetime | None = await q.fetch_value(
        """
        with released as (
            update ticket_webhooks set leased_until = null where company_id = $1 and holder = $2
            returning held_until
        )
        select greatest(message.next_attempt, released.held_until)
        from released cross join ticket_messages as message
        join companies on companies.id = message.company_id
        where message.company_id = $1 and state = 'waiting'
            and coalesce(companies.attributes #>> '{ticketWebhook,disabled}', '') <> 'true'
        order by message.next_attempt limit 1
        """,
        company_id,
        holder,
    )
    return found


# The first subquery steps from company to company in an index, however many messages each of them has.
_DUE = """
    with recursive waiting as (
        (select company_id from ticket_messages where state = 'waiting' order by company_id limit 1)
        union all
        select (
            select message.company_id from ticket_messages as message
            where state = 'waiting' and message.company_id > waiting.company_id
            order by message.company_id limit 1
        ) from waiting where waiting.company_id is not null
    ), due as (
        select waiting.company_id, greatest(
            case when stopped_at is null then first.next_attempt else $3 end,
            held_until,
            case when holder <> $1 then leased_until end
        ) as at
        from waiting join companies on companies.id = waiting.company_id
        left join ticket_webhooks using (company_id)
        cross join lateral (
            select next_attempt from ticket_messages as message
            where message.company_id = waiting.company_id and state = 'waiting'
            order by next_attempt limit 1
        ) as first
        where coalesce(companies.attributes #>> '{ticketWebhook,disabled}', '') <> 'true'
            and waiting.company_id <> all($2::bigint[])
    )
    select company_id, at from due order by at, company_id limit $4
"""


async def due_companies(
    q: Queries, holder: str, *, now: datetime, without: list[int], limit: int
) -> list[tuple[int, datetime]]:
    """Return the companies that this server may send to first, and when, except `without`.

    Companies whose webhook is disabled are left out.
    """
    rows = await q.fetch(_DUE, holder, without, now, limit)
    return [(row["company_id"], row["at"]) for row in rows]


async def disable(
    transaction: Queries, company_id: int, url: str, keys: dict[str, Any], *, now: datetime
) -> str | None:
    """Add `keys` to the webhook of a company, which disable it; return the company's name.

    None if it is disabled already, or has another URL than `url`.
    """
    name: str | None = await transaction.fetch_value(
        """
        update companies set version = version + 1, attributes = attributes
            || jsonb_build_object('ticketWebhook', attributes -> 'ticketWebhook' || $3::jsonb)
        where id = $1 and attributes #>> '{ticketWebhook,url}' = $2
            and coalesce(attributes #>> '{ticketWebhook,disabled}', '') <> 'true'
        returning name
        """,
        company_id,
        url,
        keys,
    )
    if name is not None:
        await transaction.execute(
            "update ticket_webhooks set stopped_at = $2 where company_id = $1", company_id, now
        )
    return name


async def managers_of(q: Queries, company_id: int) -> list[int]:
    """Return the users who may configure a company, except those that are disabled."""
    rows = await q.fetch(
        "select users.id from user_company join users on users.id = user_id"
        " where company_id = $1 and not users.disabled and (user_company.manager or users.user_limit <> 0)",
        company_id,
    )
    return [row[0] for row in rows]


async def resume(q: Queries, company_id: int, *, now: datetime) -> None:
    """Forget the failures of a webhook that was enabled again: what waits is due, in its order."""
    await q.execute(
        "update ticket_webhooks set failures = 0, failing_since = null, held_until = null, stopped_at = null"
        " where company_id = $1",
        company_id,
    )
    await q.execute(
        "update ticket_messages set next_attempt = $2, attempts = 0, is_overtaken = false"
        " where company_id = $1 and state = 'waiting'",
        company_id,
        now,
    )
