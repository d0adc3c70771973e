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


class Exceeded(NamedTuple):
    """A limit that there are too many for."""

    user_id: int
    """Whose limit it is."""
    by: int
    """How many too many there are."""


async def exceeded_limit(
    transaction: Queries, user_id: int, column: LimitColumn, *, more: int = 0
) -> Exceeded | None:
    """Return the limit that is exceeded most if the user adds `more` devices or users; None: there is room.

    The user's own limit counts, and those of all managers above, whose users count together. The rows of the
    limits are locked, so that each of several parallel transactions counts what the ones before it added.
    """
    found: Exceeded | None = None
    for row in await transaction.fetch(_LIMITED.format(column=column), user_id):
        below = [each[0] for each in await transaction.fetch(_BELOW, row[0])]
        if column == "user_limit":
            count = len(below) - 1
        else:
            count = await access.count_devices(transaction, below)
        by = count + more - row[1]
        if by > (0 if found is None else found.by):
            found = Exceeded(row[0], by)
    return found
