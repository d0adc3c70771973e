"""Checks of passwords and one-time codes, with the limits on guesses (docs/authentication.md#guessing)."""

from contextlib import suppress

from quart import Request, Websocket

from motorpool.api.auth.login_limits import LoginAttempt
from motorpool.api.auth.login_throttle import LoginLocked
from motorpool.api.auth.one_time_codes import step_of
from motorpool.api.http.addresses import client_address
from motorpool.api.http.errors import Unavailable
from motorpool.api.logins.known_places import find_known_place, network_of
from motorpool.api.server_context import ServerContext
from motorpool.storage.accounts import used_codes, users
from motorpool.storage.accounts.users import Account
from motorpool.storage.records import User


async def check_password(
    context: ServerContext, request: Request | Websocket, name: str, password: str, *, method: str
) -> User | None:
    """Return the user of this e-mail address or login name if the password is right.

    The limit is asked before the password is looked at, remembered or not. Raises LoginLocked.
    """
    account = await context.logins.accounts.by_email(name)
    attempt = await _begin(context, request, name, account, method=method)
    stored = account.password_hash if account is not None else None
    remembered = stored is not None and context.logins.passwords.is_verified(stored, password)
    try:
        right = remembered or await context.logins.passwords.verify(stored, password)
    except Unavailable:
        await context.logins.limits.withdraw(attempt)
        raise
    if not right:
        await context.logins.limits.record_failure(attempt)
        await record_denied(context, request, method=method, name=name, user=_user(account))
        return None
    await context.logins.limits.record_success(attempt)
    if account is not None and stored is not None and not remembered:
        await _rehash(context, account.user.id, stored, password)
    return _user(account)


async def _rehash(context: ServerContext, user_id: int, stored: str, password: str) -> None:
    """Replace a hash that was made with parameters that differ from the settings."""
    if context.logins.passwords.needs_rehash(stored):
        # Where too many hashes wait, another login does it.
        with suppress(Unavailable):
            hashed = await context.logins.passwords.hash(password)
            await users.replace_hash(context.database, user_id, stored, hashed)


async def check_code(context: ServerContext, request: Request, user: User, code: str) -> bool:
    """Return whether the one-time code of a user with a key is right and unused. Raises LoginLocked."""
    account = await context.logins.accounts.by_id(user.id)
    if account is None or user.totp_key is None:
        return False
    attempt = await _begin(context, request, user.email, account, method="code", factor="code")
    step = step_of(user.totp_key, code, context.clock.now())
    if step is None or not await used_codes.accept(context.database, user.id, user.totp_key, step):
        await context.logins.limits.record_failure(attempt)
        await record_denied(context, request, method="code", user=user)
        return False
    await context.logins.limits.record_success(attempt)
    return True


async def record_denied(
    context: ServerContext,
    request: Request | Websocket,
    *,
    method: str,
    name: str = "",
    user: User | None = None,
    locked: LoginLocked | None = None,
) -> None:
    """Write the audit row of a login that failed or was refused."""
    address = client_address(request, context.trusted_proxies)
    await context.logins.audit.denied(
        context.database, context.clock.now(), address, method=method, name=name, user=user, locked=locked
    )


async def _begin(
    context: ServerContext,
    request: Request | Websocket,
    name: str,
    account: Account | None,
    *,
    method: str,
    factor: str = "",
) -> LoginAttempt:
    known = await find_known_place(context, request, account) if account is not None else None
    try:
        return await context.logins.limits.begin_attempt(
            name,
            network_of(context, request),
            account=account.user.id if account is not None else 0,
            known_place=known,
            factor=factor,
        )
    except LoginLocked as locked:
        await record_denied(context, request, method=method, name=name, user=_user(account), locked=locked)
        raise


def _user(account: Account | None) -> User | None:
    return None if account is None else account.user
