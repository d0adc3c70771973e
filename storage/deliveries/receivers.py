"""Receivers of messages: which server sends to them, and how they fail (docs/events.md#failing-receivers).

A receiver is a lane and a user (their mail account, their webhook), a company for tickets, or a negative
number: the messages to a service that one server has adopted (`storage/deliveries/queue.py: adopt`). A server
sends while it holds the receiver's lease, so order and the rules of failing receivers hold for any number of
servers. After a crash another server takes over when the lease has ended.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

import msgspec

from motorpool.storage.database.queries import Queries
from motorpool.storage.deliveries.outbox import TICKETS
from motorpool.storage.deliveries.queue import IS_SENT
from motorpool.storage.secret_attributes import decrypted


class FailingReceiver(msgspec.Struct, frozen=True, rename="camel"):
    """A receiver of a user that the last messages could not be delivered to."""

    notificator: str
    """One of `GET /notifications/notificators`."""
    failures: int
    """Failed attempts since the last success."""
    since: datetime
    """The first of these attempts."""
    last_failure: datetime
    """The latest of them."""
    last_error: str
    """Why it failed."""
    paused: datetime | None = None
    """Since when no messages are made for it; null while attempts go on."""


class LeasedReceiver(msgspec.Struct, frozen=True):
    """A receiver whose lease this server holds."""

    attributes: dict[str, Any]
    """The attributes of the user or company."""
    failures: int
    """Failed attempts since the last success."""
    held_until: datetime | None
    """Nothing is sent before this instant."""
    paused: datetime | None
    """Since when no messages are made, or the webhook of a company is disabled, until `reopen`."""


async def acquire(
    q: Queries, lane: str, receiver: int, holder: str, *, now: datetime, until: datetime
) -> LeasedReceiver | None:
    """Take or renew the lease of a receiver; None if another server has it, or there is no such receiver."""
    owners = "companies" if lane == TICKETS else "users"
    row = await q.fetch_row(
        f"""
        with lease as (
            insert into receivers (lane, receiver, holder, leased_until)
            select $1, $2::bigint, $3, $5
            where $2::bigint < 0 or exists (select from {owners} where id = $2::bigint)
            on conflict (lane, receiver) do update
            set holder = excluded.holder, leased_until = excluded.leased_until
            where receivers.holder = $3 or coalesce(receivers.leased_until <= $4, true)
            returning receiver, failures, held_until, paused
        )
        select coalesce(attributes, '{{}}'), failures, held_until, paused
        from lease left join {owners} on id = receiver
        """,  # noqa: S608 - constants
        lane,
        receiver,
        holder,
        now,
        until,
    )
    if row is None:
        return None
    attributes, *rest = row.values()
    return LeasedReceiver(decrypted(attributes, q.keyring, f"{owners}.attributes"), *rest)


async def release(q: Queries, lane: str, receiver: int, holder: str) -> None:
    """End a lease early."""
    await q.execute(
        "update receivers set leased_until = null where lane = $1 and receiver = $2 and holder = $3",
        lane,
        receiver,
        holder,
    )


# Steps from receiver to receiver in an index, without reading all of their messages.
_WAITING = """
    recursive waiting as (
        (select receiver from deliveries where lane = $1 and state = 'waiting' order by receiver limit 1)
        union all
        select (
            select each.receiver from deliveries as each
            where each.lane = $1 and each.state = 'waiting' and each.receiver > waiting.receiver
            order by each.receiver limit 1
        ) from waiting where waiting.receiver is not null
    )
"""
# Messages to a company's webhook that was enabled again are due.
_DUE = f"""
    select waiting.receiver, greatest(
        case when companies.id is null or receivers.paused is null then first.next_attempt else $2 end,
        receivers.held_until, case when receivers.holder <> $3 then receivers.leased_until end
    ) as at
    from waiting left join receivers on receivers.lane = $1 and receivers.receiver = waiting.receiver
    left join companies on $1 = '{TICKETS}' and companies.id = waiting.receiver
    cross join lateral (
        select next_attempt from deliveries where {IS_SENT} and deliveries.receiver = waiting.receiver
        order by next_attempt limit 1
    ) as first
    where coalesce(companies.attributes #>> '{{ticketWebhook,disabled}}', '') <> 'true'
    order by at, waiting.receiver
"""  # noqa: S608 - constants


async def due(q: Queries, lane: str, holder: str, *, now: datetime, limit: int) -> list[tuple[int, datetime]]:
    """Return the receivers that this server may send to first, and when, without disabled webhooks."""
    rows = await q.fetch(f"with {_WAITING} {_DUE} limit $4", lane, now, holder, limit)
    return [(row[0], row[1]) for row in rows]


async def next_due(
    q: Queries, lane: str, receivers: Sequence[int], holder: str, *, now: datetime
) -> datetime | None:
    """Return when this server may send to one of some receivers; None if nothing waits for them."""
    waiting = "waiting as (select unnest($4::bigint[]) as receiver)"
    row = await q.fetch_row(f"with {waiting} {_DUE} limit 1", lane, now, holder, list(receivers))
    return None if row is None else row[1]


async def forget_servers(q: Queries, *, now: datetime) -> None:
    """Delete the unused receivers of servers, which have no messages."""
    await q.execute(
        "delete from receivers where receiver < 0 and coalesce(leased_until <= $1, true) and not exists ("
        " select from deliveries where deliveries.lane = receivers.lane"
        "  and deliveries.receiver = receivers.receiver and state = 'waiting')",
        now,
    )


async def reopen(q: Queries, lane: str, receiver: int, *, now: datetime) -> None:
    """Reset the failures of a webhook that was enabled again; its messages become due, in order."""
    await q.execute(
        "update receivers set failures = 0, since = null, held_until = null, paused = null"
        " where lane = $1 and receiver = $2",
        lane,
        receiver,
    )
    await q.execute(
        "update deliveries set next_attempt = $3, attempts = 0, holds_back = order_key is not null"
        " where lane = $1 and receiver = $2 and state = 'waiting'",
        lane,
        receiver,
        now,
    )


async def pause(q: Queries, lane: str, receiver: int, *, now: datetime) -> bool:
    """Pause a failing receiver: no more messages are made for it. Return False if it was paused."""
    tag = await q.execute(
        "update receivers set paused = $3 where lane = $1 and receiver = $2 and paused is null",
        lane,
        receiver,
        now,
    )
    return tag.endswith(" 1")


async def resume(q: Queries, lane: str, user_id: int, *, now: datetime) -> None:
    """Reset the failures of a user's receiver after a delivery; its messages become due."""
    await q.execute(
        """
        with known as (
            update receivers set failures = 0, since = null, held_until = null, paused = null
            where lane = $1 and receiver = $2 and (failures > 0 or paused is not null) returning receiver
        )
        update deliveries set next_attempt = $3 from known
        where lane = $1 and deliveries.user_id = known.receiver and state = 'waiting' and next_attempt > $3
        """,
        lane,
        user_id,
        now,
    )


async def failing(q: Queries, user_id: int) -> list[FailingReceiver]:
    """Return the failing receivers of a user, ordered by notificator."""
    rows = await q.fetch(
        "select case lane when 'own mail' then 'mail' else lane end,"
        "   failures, since, last_failure, last_error, paused from receivers"
        " where user_id = $1 and failures > 0 order by lane",
        user_id,
    )
    return [FailingReceiver(*row.values()) for row in rows]


async def paused(q: Queries, user_ids: Iterable[int]) -> set[tuple[int, str]]:
    """Return (user, lane) of the paused receivers of users."""
    rows = await q.fetch(
        "select user_id, lane from receivers where user_id = any($1::bigint[]) and paused is not null",
        list(user_ids),
    )
    return {(row[0], row[1]) for row in rows}


async def disable_webhook(
    transaction: Queries, company_id: int, url: str, keys: dict[str, Any], *, now: datetime
) -> str | None:
    """Disable the webhook of a company by adding `keys` to it; return the company's name.

    None if it is disabled already, or its URL is no longer `url`.
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
        await pause(transaction, TICKETS, company_id, now=now)
    return name


async def managers_of(q: Queries, company_id: int) -> list[int]:
    """Return the users who may configure a company, without disabled ones."""
    rows = await q.fetch(
        "select users.id from user_company join users on users.id = user_id"
        " where company_id = $1 and not users.disabled and (user_company.manager or users.user_limit <> 0)",
        company_id,
    )
    return [row[0] for row in rows]
