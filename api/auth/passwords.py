"""Password hashing in threads, and a cache of verified credentials (docs/decisions/0013)."""

import hashlib
import hmac
import secrets
from collections import OrderedDict
from collections.abc import Callable
from typing import TypeVar

import argon2
import trio

from motorpool.api.http.errors import Unavailable
from motorpool.api.login_settings import LoginSettings

_CACHE_SIZE = 10_000
"""Verified credentials in the cache; each is a digest of 32 bytes."""


_NEW_PASSWORDS_AT_ONCE = 1
_MAX_WAITING_NEW_PASSWORDS = 8
"""New passwords, which strangers may send, have a queue of their own, so that they do not delay logins."""

T = TypeVar("T")


class HashQueue:
    """Runs hashes in threads, some at once; others wait, up to a limit, and leave when cancelled."""

    def __init__(self, at_once: int, max_waiting: int) -> None:
        self._threads = trio.CapacityLimiter(at_once)
        self._max_waiting = max_waiting

    async def run(self, function: Callable[[], T]) -> T:
        """Run in a thread. Raises Unavailable if too many wait already."""
        if self.waiting >= self._max_waiting:
            raise Unavailable("too many passwords are being checked; try again", 5)
        return await trio.to_thread.run_sync(function, limiter=self._threads)

    @property
    def waiting(self) -> int:
        """How many hashes wait for a thread."""
        return int(self._threads.statistics().tasks_waiting)

    @property
    def threads_busy(self) -> int:
        """How many hashes are being computed."""
        return int(self._threads.borrowed_tokens)


class PasswordHasher:
    """Hashes with Argon2id in threads, few at once; a credential in the cache costs one HMAC.

    The cache holds digests, under a key of this process, of stored hash and password together: when the
    password changes so does the stored hash, and the cached digest no longer matches.
    """

    def __init__(self, settings: LoginSettings) -> None:
        self._hasher = argon2.PasswordHasher(
            time_cost=settings.hash_rounds, memory_cost=settings.hash_memory_kib, parallelism=1
        )
        self._logins = HashQueue(settings.hashes_at_once, settings.hashes_waiting)
        self._new_passwords = HashQueue(_NEW_PASSWORDS_AT_ONCE, _MAX_WAITING_NEW_PASSWORDS)
        self._key = secrets.token_bytes(32)
        self._verified: OrderedDict[bytes, None] = OrderedDict()
        self._dummy_hash: str | None = None

    @property
    def threads_busy(self) -> int:
        """How many hashes are being computed."""
        return self._logins.threads_busy + self._new_passwords.threads_busy

    async def hash(self, password: str) -> str:
        """Hash a new password. Raises Unavailable if too many wait."""
        return await self._new_passwords.run(lambda: self._hasher.hash(password))

    def needs_rehash(self, stored: str) -> bool:
        """Return whether a hash was made with parameters that differ from the settings."""
        try:
            return self._hasher.check_needs_rehash(stored)
        except argon2.exceptions.InvalidHashError:
            return True

    def is_verified(self, stored: str, password: str) -> bool:
        """Return whether this credential was verified before, at constant cost."""
        digest = self._digest(stored, password)
        if digest not in self._verified:
            return False
        self._verified.move_to_end(digest)
        return True

    async def verify(self, stored: str | None, password: str) -> bool:
        """Compare with a stored hash; None (no such user) takes equally long and is always False.

        Raises Unavailable if too many logins wait.
        """
        if stored is None:
            if self._dummy_hash is None:
                text = secrets.token_hex(16)
                self._dummy_hash = await self._logins.run(lambda: self._hasher.hash(text))
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

        return await self._logins.run(compare)

    def _digest(self, stored: str, password: str) -> bytes:
        text = f"{len(stored)}:{stored}{password}".encode("utf-8", "surrogatepass")
        return hmac.digest(self._key, text, hashlib.sha256)
