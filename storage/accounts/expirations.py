"""Which expirations of users and devices were mailed."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Literal

import msgspec

from motorpool.storage.database.queries import Queries

Kind = Literal["user", "device"]


class Expiration(msgspec.Struct, frozen=True):
    """A user or a device that has expired, or is about to."""

    id: int
    expires: datetime
    is_reminder: bool
    """Whether it is still to come."""


# A row is written once for each instant of expiration: one that is moved is mailed again.
_TAKE = """
    insert into mailed_expirations (kind, object_id, expires, is_reminder)
    select $1, id, expiration_time, expiration_time > $2 from {table} as due
    where {condition} expiration_time > $2 - $3::interval and expiration_time <= $2 + $4::interval
        and not exists (
            select from mailed_expirations m where m.kind = $1 and m.object_id = due.id
                and m.expires = due.expiration_time and m.is_reminder = (due.expiration_time > $2)
        )
    order by id limit $5
    on conflict do nothing
    returning object_id, expires, is_reminder
"""
_TAKE_OF = {
    "user": _TAKE.format(table="users", condition="not disabled and not temporary and"),
    "device": _TAKE.format(table="devices", condition="not disabled and"),
}


async def take_due(
    q: Queries, kind: Kind, *, now: datetime, late: timedelta, reminder: timedelta, limit: int
) -> Sequence[Expiration]:
    """Return expirations that nobody has taken yet, at most `limit`: within `late` before `now`, and as
    reminders within `reminder` after it.

    Call it in the transaction that does what is due: of several callers one gets an expiration.
    """
    rows = await q.fetch(_TAKE_OF[kind], kind, now, late, reminder, limit)
    return [Expiration(row[0], row[1], row[2]) for row in rows]


async def forget(q: Queries, before: datetime) -> None:
    """Delete the rows of expirations before this instant, which are no longer due."""
    await q.execute("delete from mailed_expirations where expires < $1", before)
