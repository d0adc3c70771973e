"""Sessions in which nothing can be changed (docs/authentication.md#acting-as-another-user)."""

from motorpool.api.auth.caller import Caller
from motorpool.api.auth.rights import CHANGE_ANYTHING

SERVED = frozenset(
    {
        ("GET", "/session"),
        ("POST", "/session"),
        ("DELETE", "/session"),
        ("GET", "/session/{id}"),
        ("POST", "/session/token/login"),
        ("GET", "/session/openid/auth"),
        ("POST", "/session/openid/auth"),
        ("GET", "/session/openid/callback"),
        ("POST", "/password/reset"),
        ("POST", "/password/update"),
        ("POST", "/calendars/windows"),
        ("GET", "/stream/{deviceId}/{channel}/live.m3u8"),
        ("GET", "/stream/{deviceId}/{channel}/snapshot.jpg"),
    }
)
"""Operations that only log in or out, that ask something by their body, or that wake a camera to look at."""


def require_change_for(caller: Caller | None, method: str, path: str) -> None:
    """Raise Forbidden if an operation that changes something is requested in a session that only shows.

    `path` is that of the operation, with its parameters in braces.
    """
    if caller is not None and (method, path) not in SERVED:
        CHANGE_ANYTHING.require(caller)
