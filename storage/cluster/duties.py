"""The table `duties`: what one server of a cluster does for all, and which one (docs/servers.md#duties)."""

from collections.abc import Collection
from typing import Final

from motorpool.storage.database import nodes
from motorpool.storage.database.queries import Queries
from motorpool.storage.errors import DutyLost

IDLE_SECONDS: Final = 5.0
"""A holder's transaction that is idle for this time, because its process is frozen, is rolled back."""

_FREE = f"(node is null or not {nodes.is_live('duties.node')})"
# The epoch tells whether another server has taken the duty since it was read. A row that is locked is in use.
_TAKE = f"""
    with living as ({nodes.live_until_commit("$1")}), found as (
        select duties.name from duties
        join unnest($2::text[], $3::bigint[]) as seen (name, epoch) using (name, epoch)
        where exists (select from living)
        for update of duties skip locked
    )
    update duties set node = $1, epoch = epoch + 1 where name in (select name from found)
    returning name, epoch
"""  # noqa: S608 - constants


async def take(q: Queries, node: int, names: Collection[str]) -> dict[str, int]:
    """Take the duties that no live server holds, for the server `node`.

    Return the epochs of all of them that it holds now.
    """
    rows = await q.fetch(
        f"select name, epoch, node = $1, {_FREE} from duties where name = any($2::text[])",  # noqa: S608 - constants
        node,
        list(names),
    )
    if unknown := set(names) - {row[0] for row in rows}:
        await q.execute(
            "insert into duties (name, epoch) select unnest($1::text[]), 0 on conflict do nothing",
            sorted(unknown),
        )
        return await take(q, node, names)
    held = {row[0]: row[1] for row in rows if row[2]}
    free = {row[0]: row[1] for row in rows if row[3] and not row[2]}
    if free:
        taken = await q.fetch(_TAKE, node, list(free), list(free.values()))
        held |= {row[0]: row[1] for row in taken}
    return held


async def release(q: Queries, node: int, name: str, epoch: int) -> None:
    """Leave a duty to the other servers."""
    await q.execute(
        "update duties set node = null where name = $2 and node = $1 and epoch = $3", node, name, epoch
    )


async def check(q: Queries, node: int, name: str, epoch: int) -> None:
    """Make sure that the duty is still held when the transaction `q` commits; its last statement.

    Raises:
        DutyLost: another server holds it, or none.
    """
    sql = "select true from duties where name = $2 and node = $1 and epoch = $3 for share"
    if await q.fetch_value(sql, node, name, epoch) is None:
        raise DutyLost(f"another server has taken over the duty {name}")
