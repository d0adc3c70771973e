"""Who has which credential, remembered: users by id and by e-mail, sessions, revoked tokens."""

from collections.abc import Callable

from motorpool.api.row_cache import RowCache
from motorpool.storage import sessions, tokens, users
from motorpool.storage.queries import Queries
from motorpool.storage.records import Session
from motorpool.storage.users import Account

__all__ = ["Accounts"]

MOST = 20_000
SECONDS = 30.0
"""`motorpool user` may change a row of a running server from its shell: it counts within this."""


class Accounts:
    """What identifying a request asks, without a query for each."""

    def __init__(self, database: Queries, monotonic: Callable[[], float]) -> None:
        self._ids: RowCache[str, int]
        self._accounts: RowCache[int, Account]
        self._sessions: RowCache[str, Session]
        self._revoked: RowCache[str, bool]

        async def ids(emails: tuple[str, ...]) -> dict[str, int]:
            found = {email: await users.id_by_email(database, email) for email in emails}
            return {email: user_id for email, user_id in found.items() if user_id is not None}

        async def accounts(user_ids: tuple[int, ...]) -> dict[int, Account]:
            return await users.accounts(database, user_ids)

        async def open_sessions(session_ids: tuple[str, ...]) -> dict[str, Session]:
            return await sessions.fetch(database, session_ids)

        async def revoked(token_ids: tuple[str, ...]) -> dict[str, bool]:
            return {token_id: await tokens.is_revoked(database, token_id) for token_id in token_ids}

        self._ids = RowCache(ids, most=MOST, seconds=SECONDS, monotonic=monotonic)
        self._accounts = RowCache(accounts, most=MOST, seconds=SECONDS, monotonic=monotonic)
        self._sessions = RowCache(open_sessions, most=MOST, seconds=SECONDS, monotonic=monotonic)
        self._revoked = RowCache(revoked, most=MOST, seconds=SECONDS, monotonic=monotonic)

    async def by_id(self, user_id: int) -> Account | None:
        """Return a user's account."""
        return await self._accounts.get(user_id)

    async def by_email(self, email: str) -> Account | None:
        """Return the account with this address or login name, whatever the case."""
        if "\x00" in email:
            return None
        user_id = await self._ids.get(email)
        return None if user_id is None else await self._accounts.get(user_id)

    async def session(self, session_id: str) -> Session | None:
        """Return a session, expired or not."""
        return await self._sessions.get(session_id)

    async def is_revoked(self, token_id: str) -> bool:
        """Whether a token was taken back."""
        return bool(await self._revoked.get(token_id))

    def forget(self, user_ids: tuple[int, ...]) -> None:
        """Look again: these users changed (without ids: nobody knows who), and perhaps their sessions."""
        self._ids.clear()
        self._sessions.clear()
        if user_ids:
            self._accounts.forget(user_ids)
        else:
            self._accounts.clear()
            self._revoked.clear()

    def forget_session(self, session_id: str) -> None:
        """Look again: this session changed or has ended."""
        self._sessions.forget((session_id,))

    def forget_token(self, token_id: str) -> None:
        """Look again: this token was revoked."""
        self._revoked.forget((token_id,))
