"""Files that tickets refer to as evidence: retention and quotas leave them until the ticket is deleted."""

from typing import NamedTuple

from motorpool.storage.database.queries import Queries

MAX_OF_TICKET = 100
"""Files that agents may have one ticket keep."""


class FileFacts(NamedTuple):
    """The identity of a file and its content."""

    name: str
    size: int
    """In bytes."""
    sha256: str
    """Of the content, as 64 hexadecimal digits."""


async def add(q: Queries, company_id: int, ticket_id: int, file: FileFacts) -> None:
    """Record that a ticket refers to a file."""
    await q.execute(
        "insert into ticket_files (company_id, ticket_id, name, size, sha256) values ($1, $2, $3, $4, $5)"
        " on conflict do nothing",
        company_id,
        ticket_id,
        *file,
    )


async def count(q: Queries, ticket_id: int) -> int:
    """Return the number of files that a ticket refers to."""
    return int(await q.fetch_value("select count(*) from ticket_files where ticket_id = $1", ticket_id))


async def held(q: Queries) -> dict[str, int]:
    """Return the sizes of all files that tickets refer to, by name."""
    return {row[0]: row[1] for row in await q.fetch("select distinct on (name) name, size from ticket_files")}
