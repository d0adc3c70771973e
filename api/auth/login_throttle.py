"""Limits on failed logins, by account and by address, with devices and addresses known to the account exempt
(docs/authentication.md#guessing).
"""

import hashlib
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from motorpool.api.http.errors import TooManyRequests
from motorpool.api.login_settings import LoginSettings

MAX_KEYS = 20_000
"""Buckets of each kind; the one whose last attempt is the oldest is dropped first."""

Kind = Literal["account", "unknown account", "address", "known place"]


class LoginLocked(TooManyRequests):
    """429: too many logins have failed."""

    def __init__(self, limit: str, seconds: float, *, begins: bool) -> None:
        super().__init__(f"too many failed logins; try again in {max(1, round(seconds))} s", seconds)
        self.limit = limit
        """Which limit was reached: "account", "address" or "known place"."""
        self.begins = begins
        """Whether this is the first refusal of this lock-out, which ends with a window without failures."""


class _Bucket:
    """The failures of one key within the window."""

    __slots__ = ("locked", "times")

    def __init__(self) -> None:
        self.times: list[float] = []
        """When they were, on the monotonic clock, oldest first; at most as many as the limit."""
        self.locked = False
        """Whether an attempt has been refused since a window without failures."""


@dataclass(frozen=True)
class Attempt:
    """An attempt that is counted as failed until `LoginThrottle.record_success`."""

    time: float
    keys: tuple[tuple[Kind, str], ...]


class LoginThrottle:
    """Counts failed logins in a sliding window; successful ones do not count.

    An attempt from an unknown place counts for the account and for the network that it comes from, and is
    refused when either has failed too often, even with the right password. An attempt from a place known to
    the account (a device with our cookie, or a network with a recent login) counts for that pair alone:
    strangers cannot lock out users who come from where they always come from.

    An attempt counts as failed while it is in progress, so parallel guesses do not evade the limit. Counts
    are of this process; LoginLimits (api/auth/login_limits.py) adds the counts of a cluster.
    """

    def __init__(self, settings: LoginSettings, monotonic: Callable[[], float]) -> None:
        self._settings = settings
        self._monotonic = monotonic
        # Each kind has its own bound: guesses at invented names must not push out what real accounts count.
        self._buckets: dict[Kind, OrderedDict[str, _Bucket]] = {
            "account": OrderedDict(),
            "unknown account": OrderedDict(),
            "address": OrderedDict(),
            "known place": OrderedDict(),
        }

    def __len__(self) -> int:
        return sum(len(buckets) for buckets in self._buckets.values())

    def begin_attempt(
        self, name: str, network: str, *, account: int = 0, known_place: str | None = None, factor: str = ""
    ) -> Attempt:
        """Count an attempt as failed.

        Args:
            name: what was typed as the account's name; used only where there is no such account.
            network: the client's, from `client_network` (actors/work/connection_limits.py).
            account: the id of the account; 0: there is none of that name.
            known_place: what identifies the device or network if it is known to the account.
            factor: which secret is tried, if not the password; each has a count of its own.

        Raises:
            LoginLocked: too many attempts have failed.
        """
        per_account = self._settings.failures_per_account
        limits: tuple[tuple[Kind, str, int], ...]
        if known_place is not None:
            limits = (("known place", f"{account} {factor} {known_place}", per_account),)
        else:
            counted: tuple[Kind, str, int] = (
                ("account", f"{account} {factor}", per_account)
                if account
                else ("unknown account", _digest(name), per_account)
            )
            limits = (counted, ("address", network, self._settings.failures_per_address))
        return self._count(limits)

    def begin_anonymous_attempt(self, network: str) -> Attempt:
        """Count an attempt that names no account. Raises LoginLocked."""
        return self._count((("address", network, self._settings.failures_per_address),))

    def record_success(self, attempt: Attempt) -> None:
        """Uncount an attempt; one from a known place clears earlier failures of that place."""
        for kind, key in attempt.keys:
            if kind == "known place":
                self._buckets[kind].pop(key, None)
        # Earlier failures of an unknown place stay: they may be a stranger's, and it is known from now on.
        self.withdraw(attempt)

    def has_others(self, attempt: Attempt) -> bool:
        """Return whether other attempts of its keys have failed or are in progress."""
        found = (self._buckets[kind].get(key) for kind, key in attempt.keys)
        return any(bucket is not None and len(bucket.times) > 1 for bucket in found)

    def withdraw(self, attempt: Attempt) -> None:
        """Uncount an attempt whose secret was not looked at."""
        for kind, key in attempt.keys:
            bucket = self._buckets[kind].get(key)
            if bucket is not None and attempt.time in bucket.times:
                bucket.times.remove(attempt.time)
                if not bucket.times:
                    del self._buckets[kind][key]

    def reset_failures(self, account: int) -> None:
        """Clear the failed passwords of an account, from wherever: its owner has authenticated otherwise."""
        self._buckets["account"].pop(f"{account} ", None)
        places = self._buckets["known place"]
        for key in [key for key in places if key.startswith(f"{account}  ")]:
            del places[key]

    def _count(self, limits: tuple[tuple[Kind, str, int], ...]) -> Attempt:
        now = self._monotonic()
        for kind, key, limit in limits:
            bucket = self._recent(kind, key, now)
            if bucket is None or len(bucket.times) < limit:
                continue
            begins, bucket.locked = not bucket.locked, True
            wait = bucket.times[0] + self._settings.window_seconds - now
            raise LoginLocked("account" if kind == "unknown account" else kind, wait, begins=begins)
        for kind, key, _ in limits:
            buckets = self._buckets[kind]
            bucket = buckets.setdefault(key, _Bucket())
            bucket.times.append(now)
            buckets.move_to_end(key)
            if len(buckets) > MAX_KEYS:
                buckets.popitem(last=False)
        return Attempt(now, tuple((kind, key) for kind, key, _ in limits))

    def _recent(self, kind: Kind, key: str, now: float) -> _Bucket | None:
        bucket = self._buckets[kind].get(key)
        if bucket is None:
            return None
        oldest = now - self._settings.window_seconds
        while bucket.times and bucket.times[0] <= oldest:
            del bucket.times[0]
        if not bucket.times:
            del self._buckets[kind][key]
            return None
        return bucket


def _digest(text: str) -> str:
    """Return a key of bounded length for what a client typed, ignoring case and surrounding spaces."""
    return hashlib.blake2b(text.strip().lower().encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
