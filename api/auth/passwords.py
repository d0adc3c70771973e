"""Password hashing in threads, and a cache of verified credentials (docs/decisions/0013)."""

import hashlib
import hmac
import secrets
from collections import OrderedDict

import argon2
import trio

from motorpool.api.program.settings import LoginSettings

__all__ = ["PasswordHasher"]

_CACHE_SIZE = 10_000
"""Verified credentials in the cache; each is a digest of 32 bytes."""


class PasswordHasher:
    """Hashes with Argon2id in threads, few at once; a credential in the cache costs one HMAC.

    The cache holds digests, under a key of this process, of stored hash and password together: when the
    password changes so does the stored hash, and the cached digest no longer matches.
    """

    def __init__(self, settings: LoginSettings) -> None:
        self._hasher = argon2.PasswordHasher(
            time_cost=settings.hash_rounds, memory_cost=settings.hash_memory_kib, parallelism=1
        )
        self._threads = trio.CapacityLimiter(settings.hashes_at_once)
        self._key = secrets.token_bytes(32)
        self._verified: OrderedDict[bytes, None] = OrderedDict()
        self._dummy_hash: str | None = None

    @property
    def threads_busy(self) -> int:
        """How many hashes are being computed."""
        return int(self._threads.borrowed_tokens)

    async def hash(self, password: str) -> str:
        """Hash a new password."""
        return await trio.to_thread.run_sync(self._hasher.hash, password, limiter=self._threads)

    def is_verified(self, stored: str, password: str) -> bool:
        """Return whether this credential was verified before, at constant cost."""
        digest = self._digest(stored, password)
        if digest not in self._verified:
            return False
        self._verified.move_to_end(digest)
        return True

    async def verify(self, stored: str | None, password: str) -> bool:
        """Compare with a stored hash; None (no such user) takes equally long and is always False."""
        if stored is None:
            if self._dummy_hash is None:
                self._dummy_hash = await self.hash(secrets.token_hex(16))
            await self._matches(self._dummy_hash, password)
            return False
        if self.is_verified(stored, password):
            return True
        if not await self._matches(stored, password):
            return False
        self._verified[self._digest(stored, password)] = None
        if len(self._verified) > _CACHE_SIZE:
            self._verified.popitem(last=False)
        return True

    async def _matches(self, stored: str, password: str) -> bool:
        def compare() -> bool:
            try:
                return self._hasher.verify(stored, password)
            except (argon2.exceptions.VerificationError, argon2.exceptions.InvalidHashError):
                return False

        return await trio.to_thread.run_sync(compare, limiter=self._threads)

    def _digest(self, stored: str, password: str) -> bytes:
        text = f"{len(stored)}:{stored}{password}".encode("utf-8", "surrogatepass")
        return hmac.digest(self._key, text, hashlib.sha256)
