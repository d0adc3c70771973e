"""Limits on failed logins: counted in memory at one server, and in database rows for a cluster
(docs/servers.md#limits-on-guesses).
"""

from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime, timedelta

from motorpool.actors.cluster.shared_attempts import Limit, SharedAttempts
from motorpool.api.auth.login_throttle import MAX_KEYS, Attempt, LoginLocked, LoginThrottle
from motorpool.api.login_settings import LoginSettings
from motorpool.runtime import Clock


@dataclass
class LoginAttempt:
    """An attempt that is counted as failed in memory; in rows only from its failure on, or if `counted`."""

    local: Attempt
    counted: datetime | None = None
    """By which it is found in the rows."""


class LoginLimits:
    """Counts failed logins; a login that succeeds where none has failed writes nothing.

    The rows are read before a secret is looked at. If others of its keys have failed, or are in progress
    here, an attempt is counted in the rows before that as well, by comparison with the limit. So parallel
    guesses at several servers exceed a limit by at most one for each further server.
    """

    def __init__(
        self, throttle: LoginThrottle, settings: LoginSettings, clock: Clock, shared: SharedAttempts | None
    ) -> None:
        """`shared`: None if this server is alone."""
        self._throttle = throttle
        self._settings = settings
        self._window = timedelta(seconds=settings.window_seconds)
        self._clock = clock
        self._shared = shared
        self._locked: OrderedDict[tuple[str, str], datetime] = OrderedDict()
        """Until when keys are locked out that other servers have counted."""

    async def begin_attempt(
        self, name: str, network: str, *, account: int = 0, known_place: str | None = None, factor: str = ""
    ) -> LoginAttempt:
        """Count an attempt as failed; for the arguments see LoginThrottle. Raises LoginLocked."""
        return await self._begin(
            self._throttle.begin_attempt(
                name, network, account=account, known_place=known_place, factor=factor
            )
        )

    async def begin_anonymous_attempt(self, network: str) -> LoginAttempt:
        """Count an attempt that names no account. Raises LoginLocked."""
        return await self._begin(self._throttle.begin_anonymous_attempt(network))

    async def record_failure(self, attempt: LoginAttempt) -> None:
        """Count the failure for the other servers too."""
        if self._shared is not None and attempt.counted is None:
            await self._shared.add(self._limits(attempt.local), self._window)

    async def record_success(self, attempt: LoginAttempt) -> None:
        """Uncount an attempt; one from a known place clears earlier failures of that place."""
        self._throttle.record_success(attempt.local)
        if self._shared is None or attempt.counted is None:
            return
        for kind, key in attempt.local.keys:
            if kind == "known place":
                await self._shared.clear(kind, key)
        await self._shared.remove(attempt.local.keys, attempt.counted)

    async def withdraw(self, attempt: LoginAttempt) -> None:
        """Uncount an attempt whose secret was not looked at."""
        self._throttle.withdraw(attempt.local)
        if self._shared is not None and attempt.counted is not None:
            await self._shared.remove(attempt.local.keys, attempt.counted)

    async def reset_failures(self, account: int) -> None:
        """Clear the failed passwords of an account, from wherever: its owner has authenticated otherwise."""
        self._throttle.reset_failures(account)
        if self._shared is not None:
            await self._shared.clear("account", f"{account} ")
            await self._shared.clear_beginning("known place", f"{account}  ")

    async def _begin(self, local: Attempt) -> LoginAttempt:
        if self._shared is None:
            return LoginAttempt(local)
        try:
            return LoginAttempt(local, await self._count(self._shared, local))
        except BaseException:
            self._throttle.withdraw(local)
            raise

    async def _count(self, shared: SharedAttempts, local: Attempt) -> datetime | None:
        """Count an attempt in the rows if others are known; return by which it is found there."""
        limits = self._limits(local)
        times = await shared.recent(limits, self._window)
        if not times and not self._throttle.has_others(local):
            return None
        result = await shared.count(limits, self._window)
        if isinstance(result, Limit):
            raise self._refusal(result, times)
        return result

    def _limits(self, attempt: Attempt) -> list[Limit]:
        per_account, per_address = self._settings.failures_per_account, self._settings.failures_per_address
        return [
            Limit(kind, key, per_address if kind == "address" else per_account) for kind, key in attempt.keys
        ]

    def _refusal(self, limit: Limit, times: dict[tuple[str, str], list[datetime]]) -> LoginLocked:
        kind, key = limit.kind, limit.key
        now = self._clock.now()
        ends = times.get((kind, key), [now])[0] + self._window
        begins = self._locked.get((kind, key), now) <= now
        self._locked[kind, key] = ends
        self._locked.move_to_end((kind, key))
        if len(self._locked) > MAX_KEYS:
            self._locked.popitem(last=False)
        named = "account" if kind == "unknown account" else kind
        return LoginLocked(named, max(1.0, (ends - now).total_seconds()), begins=begins)
