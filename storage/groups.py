"""Groups of devices."""

from motorpool.storage import access
from motorpool.storage.queries import Queries
from motorpool.storage.records import Group
from motorpool.storage.tables import Table

__all__ = ["TABLE", "with_ancestors"]

TABLE = Table("groups", Group, access=access.groups_of_user)

_ABOVE = """
    with recursive chain (id, group_id, depth) as (
        select id, group_id, 1 from groups where id = $1
        union all
        select g.id, g.group_id, chain.depth + 1 from groups g join chain on g.id = chain.group_id
            where chain.depth < 100
    )
    select id from chain order by depth
"""


async def with_ancestors(q: Queries, group_id: int) -> list[int]:
    """Return the group itself and all above it, nearest first.

    A group must not be put below itself: refuse a new parent whose chain holds the group.
    """
    return [row[0] for row in await q.fetch(_ABOVE, group_id)]
