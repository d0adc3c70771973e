"""Who is at a ticket now: a lease for each user and ticket (docs/tickets.md#presence).

All instants are those of the database's clock, so servers that share it need not agree on theirs.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Literal

import msgspec

from motorpool.storage.database.queries import Queries, Row

LEASE_SECONDS = 30
"""How long a user is told to others after they have said that they are there."""
TICKETS_OF_A_USER = 200
"""Leases of a user, also those that have ended and wait to be deleted; at further tickets others are not told
of them."""
LISTED = 50
"""Users that one answer tells of at most."""
_OTHERS = f"""
    select p.user_id, u.name, p.state, p.since from ticket_presences p join users u on u.id = p.user_id
    where p.ticket_id = $1 and p.user_id <> $2 and p.expires_at > now()
    order by p.since, p.user_id limit {LISTED}
"""  # noqa: S608 - constants
_ENTER = f"""
    with entered as (
        insert into ticket_presences as own (ticket_id, user_id, state, since, expires_at)
        select $1, $2, $3, now(), now() + interval '{LEASE_SECONDS} seconds'
        where {TICKETS_OF_A_USER} > (
            select count(*) from ticket_presences where user_id = $2 and ticket_id <> $1
        )
        on conflict (ticket_id, user_id) do update set
            since = case when own.state = excluded.state and own.expires_at > now() then own.since
                else excluded.since end,
            state = excluded.state, expires_at = excluded.expires_at
    ) {_OTHERS}
"""  # noqa: S608 - constants
_LEAVE = f"""
    with gone as (delete from ticket_presences where ticket_id = $1 and user_id = $2) {_OTHERS}
"""  # noqa: S608 - constants

PresenceState = Literal["VIEWING", "WRITING"]


class TicketPresence(msgspec.Struct, frozen=True, rename="camel"):
    """Somebody who is at a ticket."""

    user_id: int
    """The user."""
    name: str
    """The name of the user."""
    state: PresenceState
    """What they do: VIEWING or WRITING."""
    since: datetime
    """When they began with it."""


async def enter(q: Queries, ticket_id: int, user_id: int, state: PresenceState) -> list[TicketPresence]:
    """Say that a user is at a ticket for `LEASE_SECONDS`; return who else is, the longest there first.

    Raises:
        Conflict: The ticket or the user has been deleted meanwhile.
    """
    return _presences(await q.fetch(_ENTER, ticket_id, user_id, state))


async def leave(q: Queries, ticket_id: int, user_id: int) -> list[TicketPresence]:
    """Say that a user is no longer at a ticket; return who else is."""
    return _presences(await q.fetch(_LEAVE, ticket_id, user_id))


async def delete_expired(q: Queries) -> int:
    """Delete leases that have ended; return how many."""
    return await q.affected(
        "delete from ticket_presences where (ticket_id, user_id) in ("
        " select ticket_id, user_id from ticket_presences where expires_at <= now() for update skip locked)"
    )


def _presences(rows: Iterable[Row]) -> list[TicketPresence]:
    return [TicketPresence(*row.values()) for row in rows]
