"""Groups of devices."""

from motorpool.storage.accounts import access
from motorpool.storage.database.queries import Queries
from motorpool.storage.database.tables import Table
from motorpool.storage.records import Group

TABLE = Table("groups", Group, access=access.groups_of_user, secrets=frozenset({"attributes"}))

_ABOVE = """
    with recursive chain (id, group_id, depth) as (
        select id, group_id, 1 from groups where id = $1
        union all
        select g.id, g.group_id, chain.depth + 1 from groups g join chain on g.id = chain.group_id
            where chain.depth < 100
    )
    select id from chain order by depth
"""


_LIES_IN = """
    with recursive chain (id, group_id) as (
        select id, group_id from groups where id = $1
        union
        select g.id, g.group_id from groups g join chain on g.id = chain.group_id
    )
    select exists (select from chain where id = $2)
"""
_LEVELS = """
    with recursive above (group_id, level) as (
        select group_id, 1 from groups where id = $2
        union all
        select g.group_id, level + 1 from groups g join above on g.id = above.group_id where level < 100
    ),
    below (id, level) as (
        select $1::bigint, 1
        union all
        select g.id, level + 1 from groups g join below on g.group_id = below.id where level < 100
    )
    select (select coalesce(max(level), 0) from above) + (select max(level) from below)
"""
_MOVES = 0x6D70_6772
"""Advisory lock of transactions that move groups."""


async def with_ancestors(q: Queries, group_id: int) -> list[int]:
    """Return the group itself and all above it, nearest first."""
    return [row[0] for row in await q.fetch(_ABOVE, group_id)]


async def levels(q: Queries, group_id: int, parent_id: int) -> int:
    """Return how many groups would lie one above the other with this parent; a new group has the id 0."""
    counted: int = await q.fetch_value(_LEVELS, group_id, parent_id)
    return counted


async def would_lie_below_itself(transaction: Queries, group_id: int, parent_id: int) -> bool:
    """Return whether a group would lie below itself with this parent.

    Blocks other transactions that move groups until this one ends: two moves that are harmless alone can
    make a cycle together.
    """
    await transaction.execute("select pg_advisory_xact_lock($1)", _MOVES)
    return await transaction.fetch_value(_LIES_IN, parent_id, group_id) is True
