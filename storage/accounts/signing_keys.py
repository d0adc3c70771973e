"""The keys that sign tokens, and their rotation (docs/authentication.md#key-rotation)."""

from collections.abc import Callable
from datetime import datetime

import msgspec

from motorpool.storage.database.queries import Queries

VALUE = "signing_keys.value"
"""The column that is encrypted, as the context of `Keyring.encrypt_bytes`."""
MAX_KEYS = 8
"""Keys that are kept; past it the oldest is deleted, and with it its tokens end."""


class SigningKey(msgspec.Struct, frozen=True):
    """A key that signs tokens, or did."""

    id: int
    value: bytes
    created: datetime
    accepted_until: datetime | None
    """When tokens that it has signed are no longer accepted; None for the key that signs."""


_LOAD = "select id, value, created, accepted_until from signing_keys order by id desc"


async def load(q: Queries, make: Callable[[], bytes], now: datetime) -> list[SigningKey]:
    """Return the keys, the one that signs first; the first call stores the result of `make`."""
    await q.execute(
        "insert into signing_keys (id, value, created) select 1, $1, $2"
        " where not exists (select from signing_keys) on conflict do nothing",
        q.keyring.encrypt_bytes(make(), VALUE),
        now,
    )
    return [
        SigningKey(row["id"], q.keyring.decrypt_bytes(row["value"], VALUE), *list(row.values())[2:])
        for row in await q.fetch(_LOAD)
    ]


async def rotate(transaction: Queries, value: bytes, now: datetime, accepted_until: datetime) -> None:
    """Store a new key that signs from now on; accept the others until `accepted_until` at the latest."""
    await transaction.execute("lock table signing_keys in share row exclusive mode")
    await transaction.execute(
        "update signing_keys set accepted_until = least(accepted_until, $1::timestamptz)", accepted_until
    )
    await transaction.execute(
        "insert into signing_keys (id, value, created) select coalesce(max(id), 0) + 1, $1, $2"
        " from signing_keys",
        transaction.keyring.encrypt_bytes(value, VALUE),
        now,
    )
    await transaction.execute(
        "delete from signing_keys where id in (select id from signing_keys order by id desc offset $1)",
        MAX_KEYS,
    )


async def delete_expired(q: Queries, now: datetime) -> None:
    """Delete keys that are no longer accepted."""
    await q.execute("delete from signing_keys where accepted_until <= $1", now)
