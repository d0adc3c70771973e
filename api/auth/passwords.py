"""Password hashing in threads, a cache of verified credentials, and a limit on failed logins
(docs/decisions/0013).
"""

import hashlib
import hmac
import secrets
from collections import OrderedDict, deque
from collections.abc import Callable

import argon2
import trio

from motorpool.api.http.errors import TooManyRequests
from motorpool.api.program.settings import LoginSettings

__all__ = ["LoginThrottle", "PasswordHasher"]

_CACHE_SIZE = 10_000
"""Verified credentials in the cache; each is a digest of 32 bytes."""

_MAX_KEYS = 50_000
"""Accounts and addresses whose failures are counted; the oldest is dropped first."""


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


class LoginThrottle:
    """Limits failed logins per account and per address; successful ones do not count.

    An attempt counts as failed while it is in progress, so that parallel guesses do not evade the limit.
    """

    def __init__(self, settings: LoginSettings, monotonic: Callable[[], float]) -> None:
        self._settings = settings
        self._monotonic = monotonic
        self._failures: OrderedDict[tuple[str, str], deque[float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._failures)

    def begin_attempt(self, account: str, address: str) -> None:
        """Count an attempt. Raises TooManyRequests if the account or the address has failed too often."""
        now = self._monotonic()
        limits = (
            (("account", account.strip().lower()), self._settings.failures_per_account),
            (("address", address), self._settings.failures_per_address),
        )
        for key, limit in limits:
            failures = self._recent(key, now)
            if len(failures) >= limit:
                wait = failures[0] + self._settings.window_seconds - now
                raise TooManyRequests(f"too many failed logins; try again in {max(1, round(wait))} s", wait)
        for key, _ in limits:
            self._failures.setdefault(key, deque()).append(now)
            self._failures.move_to_end(key)
        while len(self._failures) > _MAX_KEYS:
            self._failures.popitem(last=False)

    def record_success(self, account: str, address: str) -> None:
        """Uncount the attempt of the address, and all failures of the account."""
        self._failures.pop(("account", account.strip().lower()), None)
        self.withdraw_attempt(address)

    def reset_failures(self, account: str) -> None:
        """Clear the failures of an account whose owner has authenticated in another way."""
        self._failures.pop(("account", account.strip().lower()), None)

    def withdraw_attempt(self, address: str) -> None:
        """Uncount one attempt of an address."""
        failures = self._failures.get(("address", address))
        if failures:
            failures.pop()

    def _recent(self, key: tuple[str, str], now: float) -> "deque[float]":
        failures = self._failures.get(key)
        if failures is None:
            return deque()
        while failures and failures[0] <= now - self._settings.window_seconds:
            failures.popleft()
        if not failures:
            del self._failures[key]
        return failures
