"""The table `used_codes`: the last one-time code that each user logged in with, for all servers."""

import hashlib

from motorpool.storage.database.queries import Queries

_ACCEPT = """
    insert into used_codes as used (user_id, key_digest, step) values ($1, $2, $3)
    on conflict (user_id) do update set key_digest = excluded.key_digest, step = excluded.step
    where used.key_digest <> excluded.key_digest or used.step < excluded.step
    returning true
"""


async def accept(q: Queries, user_id: int, key: str, step: int) -> bool:
    """Return whether the code of this step is newer than the last one that the user logged in with.

    If it is, it is the last one from now on. A new key has codes of its own.

    Raises:
        StatementRejected: there is no such user.
    """
    digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()
    return await q.fetch_value(_ACCEPT, user_id, digest, step) is True
