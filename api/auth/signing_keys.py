"""The keys by which this server signs and verifies tokens, as last read."""

import secrets
from collections.abc import Sequence
from datetime import datetime
from functools import partial

from motorpool.storage.accounts import signing_keys
from motorpool.storage.accounts.signing_keys import SigningKey
from motorpool.storage.database.queries import Queries

RELOAD_SECONDS = 10.0
"""Least time between two reads because of a token that no key has signed."""

new_key = partial(secrets.token_bytes, 32)
"""Makes a key."""


class SigningKeys:
    """The latest key signs; older ones verify their own signatures until they are no longer accepted."""

    def __init__(self, database: Queries, keys: Sequence[SigningKey]) -> None:
        """`keys`: at least one, the one that signs first."""
        self._database = database
        self._keys = keys
        self._loaded = float("-inf")

    @property
    def current(self) -> bytes:
        """The key that signs."""
        return self._keys[0].value

    def accepted(self, now: datetime) -> list[bytes]:
        """Return the keys that verify, the one that signs first."""
        return [key.value for key in self._keys if key.accepted_until is None or key.accepted_until > now]

    async def reload(self, now: datetime) -> None:
        """Read the keys again, which may have been rotated."""
        self._keys = await signing_keys.load(self._database, new_key, now)

    async def reload_if_due(self, now: datetime, monotonic: float) -> bool:
        """Read the keys again unless that was done a moment ago; return whether they were read.

        For a token that none of them has signed: another server may have rotated them.
        """
        if monotonic - self._loaded < RELOAD_SECONDS:
            return False
        self._loaded = monotonic
        await self.reload(now)
        return True


async def open_keys(database: Queries, now: datetime) -> SigningKeys:
    """Return the keys of the database; the first call makes one."""
    return SigningKeys(database, await signing_keys.load(database, new_key, now))
