"""The servers of a database as their rows tell, with the duties that they hold (docs/servers.md)."""

from datetime import datetime

import msgspec

from motorpool.storage.database import nodes
from motorpool.storage.database.queries import Queries

_SELECT = f"""
    select id as number, host, release, address, roles, started,
        state <> 'dead' and {nodes.responds()} as is_up,
        seen_until - interval '{nodes.LIFE_SECONDS} seconds' as last_seen,
        (select coalesce(array_agg(name order by name), '{{}}') from duties where node = nodes.id) as duties
    from nodes where state <> 'dead' or seen_until > clock_timestamp() - interval '1 day'
    order by state = 'dead', id desc limit 50
"""  # noqa: S608 - constants


class Node(msgspec.Struct, frozen=True, rename="camel"):
    """A server that uses the database, or did within the last day."""

    number: int
    """Another one after each start."""
    host: str
    """The name of its machine."""
    release: str
    """The release of its program."""
    address: str | None
    """Where the other servers of the cluster reach it."""
    roles: list[str]
    """What it does for a cluster: `devices`, `api`, `duties`."""
    started: datetime
    """When it was started."""
    is_up: bool
    """It has been seen within the last seconds."""
    last_seen: datetime
    """When it was seen last."""
    duties: list[str]
    """What it does for all servers of a cluster."""


async def recent(q: Queries) -> list[Node]:
    """Return the servers that run, the newest first, then those that have ended within a day; at most 50."""
    return [Node(**dict(row.items())) for row in await q.fetch(_SELECT)]
