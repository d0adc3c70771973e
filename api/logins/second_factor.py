"""One-time codes that the server demands: until they are set up, a login serves for that alone
(docs/authentication.md#second-factor).
"""

from motorpool.api.auth.caller import Caller
from motorpool.api.http.errors import Forbidden
from motorpool.api.login_settings import ADMINISTRATORS, EVERYBODY
from motorpool.api.server_context import ServerContext
from motorpool.storage.accounts.users import Account
from motorpool.storage.records import User

OWN_USER = frozenset({("GET", "/users/{id}"), ("PUT", "/users/{id}")})
SERVED = frozenset(
    {
        ("GET", "/session"),
        ("POST", "/session"),
        ("DELETE", "/session"),
        ("POST", "/session/token/login"),
        ("GET", "/session/openid/auth"),
        ("POST", "/session/openid/auth"),
        ("GET", "/session/openid/callback"),
        ("POST", "/users/totp"),
        ("POST", "/password/reset"),
        ("POST", "/password/update"),
        ("GET", "/server"),
        ("GET", "/health"),
        ("GET", "/openapi.json"),
    }
)
"""Operations that users may call before they have set codes up, beside `OWN_USER` with their own id."""


def is_demanded(context: ServerContext, user: User) -> bool:
    """Whether the settings demand one-time codes of a user who logs in with a password."""
    demanded = context.settings.login.second_factor
    return demanded == EVERYBODY or (demanded == ADMINISTRATORS and user.administrator)


def lacks_codes(context: ServerContext, account: Account) -> bool:
    """Whether a user has to set up one-time codes first.

    Not those without a password, whose second factor is up to the OpenID provider, nor guests of share links.
    """
    user = account.user
    return (
        not user.totp_key
        and is_demanded(context, user)
        and account.password_hash is not None
        and not user.temporary
    )


def require_codes(caller: Caller | None) -> None:
    """Raise Forbidden if the caller has to set up one-time codes first."""
    if caller is not None and caller.lacks_codes:
        raise Forbidden(
            "this server demands one-time codes: set them up first, by a key of POST /users/totp as totpKey"
            f" of PUT /users/{caller.id}",
            is_refusal=False,
        )


def require_codes_for(caller: Caller | None, method: str, path: str, record_id: object) -> None:
    """Raise Forbidden if the caller has to set up one-time codes before this operation.

    `path` is that of the operation, with its parameters in braces; `record_id` its `{id}`.
    """
    if caller is None or not caller.lacks_codes or (method, path) in SERVED:
        return
    if (method, path) in OWN_USER and record_id == caller.id:
        return
    require_codes(caller)
