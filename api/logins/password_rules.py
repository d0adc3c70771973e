"""What a new password must be, and when a change needs the current one (docs/authentication.md#passwords)."""

from collections.abc import Sequence
from datetime import timedelta

from motorpool.api.auth.common_passwords import is_common
from motorpool.api.engine.call import Call
from motorpool.api.http.errors import BadRequest
from motorpool.api.logins.password_logins import check_password

PRODUCT = "motorpool"


def password_fault(password: str, min_length: int, *names: str | None) -> str | None:
    """Return what is wrong with a new password, or None; `names` are the user's names and addresses."""
    if not min_length:
        return None
    if len(password) < min_length:
        return f"password: needs at least {min_length} characters"
    if is_common(password):
        return "password: is one of the most common ones, which everybody tries first"
    letters = _letters(password)
    if letters == PRODUCT:
        return "password: is the name of this program"
    for name in names:
        own = {_letters(name or ""), _letters((name or "").partition("@")[0])}
        if letters and letters in own:
            return "password: is the user's own name or address"
    return None


def require_acceptable(call: Call, password: str, *names: str | None) -> None:
    """Raise BadRequest if this is no good password for a user with these names and addresses."""
    fault = password_fault(password, call.context.settings.login.password_min_length, *names)
    if fault is not None:
        raise BadRequest(fault)


async def require_proof(call: Call, current_password: str | None, changed: Sequence[str]) -> None:
    """Raise BadRequest unless the caller gives their current password, or has just logged in.

    `changed` names the fields for which it is needed.

    A session or token that was stolen must not be enough to take the account. LoginLocked if too many wrong
    passwords were given.
    """
    if current_password is not None:
        await _require_right(call, current_password, method="password change")
    elif not _is_fresh(call):
        what = ", ".join(changed)
        raise BadRequest(f"currentPassword: needed to change {what}; or log in again and try once more")


async def require_password(call: Call, current_password: str | None, act: str) -> None:
    """Raise BadRequest unless the caller gives their current password, however new their login is.

    Those who have none, as they log in by a provider, must have just logged in. `act` says what it is needed
    for. LoginLocked if too many wrong passwords were given.
    """
    if current_password is not None:
        await _require_right(call, current_password, method="password confirmation")
        return
    authorization = call.request.authorization
    if authorization is not None and authorization.type == "basic":
        # It came with this very request.
        return
    account = await call.context.logins.accounts.by_id(call.caller.id)
    if account is not None and account.password_hash is not None:
        raise BadRequest(f"currentPassword: needed to {act}")
    if not _is_fresh(call):
        raise BadRequest(f"you have no password here: log in again to {act}, and try once more")


async def _require_right(call: Call, current_password: str, *, method: str) -> None:
    user = await check_password(
        call.context, call.request, call.caller.user.email, current_password, method=method
    )
    if user is None or user.id != call.caller.id:
        raise BadRequest("currentPassword: is wrong")


def _is_fresh(call: Call) -> bool:
    authorization = call.request.authorization
    if authorization is not None and authorization.type == "basic":
        # The current password came with this very request.
        return True
    session = call.caller.session
    if session is None or session.token_expires is not None or session.impersonator_id:
        return False
    return call.now - session.created < timedelta(minutes=call.context.settings.login.fresh_minutes)


def _letters(text: str) -> str:
    """Return the letters only: digits and signs around a name do not make it a password."""
    return "".join(filter(str.isalpha, text.casefold()))
