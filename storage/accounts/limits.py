"""Limits on how many devices and users there may be for a user, and in all for the users of a manager
(docs/users.md#limits).
"""

from typing import Literal, NamedTuple

from motorpool.storage.accounts import access
from motorpool.storage.database.queries import Queries

LimitColumn = Literal["device_limit", "user_limit"]

# `union` without `all`: users may manage each other. Nobody manages an administrator, whom no limit binds.
_LIMITED = """
    with recursive above (id) as (
        select $1::bigint
        union select m.id from above
        join user_user l on l.managed_user_id = above.id
        join users m on m.id = l.user_id and m.user_limit <> 0 and not m.administrator
    )
    select id, {column} from users where id in (select id from above) and {column} >= 0
    order by id for no key update
"""
_BELOW = """
    with recursive below (id) as (
        select $1::bigint
        union select u.id from below
        join users m on m.id = below.id and m.user_limit <> 0 and not m.administrator
        join user_user l on l.user_id = m.id
        join users u on u.id = l.managed_user_id and not u.administrator
    )
    select id from below
"""


class Reached(NamedTuple):
    """A limit that leaves no room."""

    user_id: int
    """Whose limit it is."""
    limit: int


async def reached_limit(transaction: Queries, user_id: int, column: LimitColumn) -> Reached | None:
    """Return the first limit that lets the user add no device, or no user; None: there is room for one.

    The user's own limit counts, and those of all managers above, whose users count together. The rows of the
    limits are locked, so that each of several parallel transactions counts what the ones before it added.
    """
    for row in await transaction.fetch(_LIMITED.format(column=column), user_id):
        found = Reached(row[0], row[1])
        below = [each[0] for each in await transaction.fetch(_BELOW, found.user_id)]
        if column == "user_limit":
            count = len(below) - 1
        else:
            count = await access.count_devices(transaction, below)
        if count >= found.limit:
            return found
    return None
