"""What the database tells of itself: its server, its size, its tables."""

import msgspec

from motorpool.storage.database.queries import Queries


class DatabaseFacts(msgspec.Struct, frozen=True):
    """What of a database does not change while a server runs, but for its size."""

    server_version: str
    """Such as "18.6"."""
    schema: int
    """Number of the last migration."""
    size: int
    """Bytes on the disk."""
    encryption_keys: tuple[str, ...]
    """Ids of the keys that secrets are encrypted with."""


_FACTS = """
    select split_part(current_setting('server_version'), ' ', 1),
        (select max(number) from schema_migrations),
        pg_database_size(current_database()),
        (select coalesce(array_agg(id order by id), '{}') from encryption_keys)
"""


async def fetch(q: Queries) -> DatabaseFacts:
    """Return the facts of the database."""
    row = await q.fetch_row(_FACTS)
    assert row is not None
    version, schema, size, keys = row.values()
    return DatabaseFacts(version, schema, size, tuple(keys))
