"""Facts about the database itself."""

from motorpool.storage.database.queries import Queries


async def has_retention_defaults(q: Queries) -> bool:
    """Return whether unset retention has its defaults: not where the database is older than them."""
    return bool(await q.fetch_value("select has_retention_defaults from installation"))
