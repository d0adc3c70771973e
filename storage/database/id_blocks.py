"""Allocates ids in blocks, for rows whose id must be known before they are stored."""

from motorpool.storage.database.queries import Queries


async def allocate_block(q: Queries, name: str, count: int) -> range:
    """Return `count` consecutive ids of the named sequence; they are never allocated again."""
    if count <= 0:
        raise ValueError(f"a block of {count} ids")
    following = await q.fetch_value(
        "update id_blocks set next_id = next_id + $2 where name = $1 returning next_id", name, count
    )
    return range(following - count, following)
