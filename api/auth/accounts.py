"""Caches of what identifies a caller: users, sessions, revoked tokens, known addresses."""

from collections.abc import Awaitable, Callable, Hashable, Mapping
from datetime import datetime
from functools import partial
from typing import TypeVar, assert_never

from motorpool.actors.messages.changes import SessionEnded, TokenRevoked, UserChanged
from motorpool.actors.work.row_cache import RowCache
from motorpool.storage.accounts import known_addresses, sessions, tokens, users
from motorpool.storage.accounts.users import Account
from motorpool.storage.database.queries import Queries
from motorpool.storage.records import Session

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

MAX_ROWS = 20_000
"""Most rows of each cache."""
MAX_AGE_SECONDS = 30.0
"""Within this what `motorpool user` changed takes effect in a running server: another process wrote it."""


class Accounts:
    """Answers what identifying a request asks, mostly without a query."""

    def __init__(self, database: Queries, monotonic: Callable[[], float]) -> None:
        def cache(fetch: Callable[[tuple[K, ...]], Awaitable[Mapping[K, V]]]) -> RowCache[K, V]:
            return RowCache(fetch, max_rows=MAX_ROWS, max_age_seconds=MAX_AGE_SECONDS, monotonic=monotonic)

        async def fetch_ids(emails: tuple[str, ...]) -> dict[str, int]:
            found = {email: await users.id_by_email(database, email) for email in emails}
            return {email: user_id for email, user_id in found.items() if user_id is not None}

        async def fetch_revoked(token_ids: tuple[str, ...]) -> dict[str, bool]:
            return {token_id: await tokens.is_revoked(database, token_id) for token_id in token_ids}

        self._ids: RowCache[str, int] = cache(fetch_ids)
        self._accounts: RowCache[int, Account] = cache(partial(users.accounts, database))
        self._sessions: RowCache[str, Session] = cache(partial(sessions.fetch, database))
        self._revoked: RowCache[str, bool] = cache(fetch_revoked)
        self._networks: RowCache[int, Mapping[str, datetime]] = cache(
            partial(known_addresses.fetch, database)
        )

    async def by_id(self, user_id: int) -> Account | None:
        """Return a user's account."""
        return await self._accounts.get(user_id)

    async def by_email(self, email: str) -> Account | None:
        """Return the account with this e-mail address or login name, whatever the case."""
        if "\x00" in email:
            return None
        user_id = await self._ids.get(email)
        return None if user_id is None else await self._accounts.get(user_id)

    async def session(self, session_id: str) -> Session | None:
        """Return a session, expired or not."""
        return await self._sessions.get(session_id)

    async def is_revoked(self, token_id: str) -> bool:
        """Whether the token was revoked."""
        return bool(await self._revoked.get(token_id))

    async def known_networks(self, user_id: int) -> Mapping[str, datetime]:
        """Return the time of the user's last login from each network known to them."""
        return await self._networks.get(user_id) or {}

    def apply(self, change: UserChanged | SessionEnded | TokenRevoked) -> None:
        """Drop what this committed change has made stale."""
        match change:
            case UserChanged():
                self._accounts.invalidate(change.id)
                # Addresses may have changed, and a new password ends sessions.
                self._ids.clear()
                self._sessions.clear()
                self._networks.invalidate(change.id)
            case TokenRevoked():
                self._revoked.invalidate(change.id)
                # Sessions that began with the token have ended.
                self._sessions.clear()
            case SessionEnded():
                self._sessions.invalidate(change.id)
            case _:
                assert_never(change)

    def clear(self) -> None:
        """Drop everything."""
        for cache in (self._ids, self._accounts, self._sessions, self._revoked, self._networks):
            cache.clear()

    def drop_known_networks(self, user_id: int) -> None:
        """Drop the networks of a user whose login from another one was stored."""
        self._networks.invalidate(user_id)

    def drop_session(self, session_id: str) -> None:
        """Drop a session whose last use was stored."""
        self._sessions.invalidate(session_id)
