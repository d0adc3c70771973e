"""Signed tokens with a purpose; one for another purpose is refused (docs/decisions/0012)."""

import secrets
from collections.abc import Collection
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import jwt
import msgspec

__all__ = ["LOGINS", "OPENID", "RESET", "SESSION", "SHARE", "InvalidToken", "Token", "issue", "read"]

SESSION = "session"
"""Stands for a login of a user."""
SHARE = "share"
"""Stands for a login of a temporary user, who was made for it."""
RESET = "reset"
"""Sets a new password, once."""
OPENID = "openid"
"""What a browser brings back from the OpenID provider; no user's."""

LOGINS = (SESSION, SHARE)
"""What opens the API."""

_ALGORITHM = "HS256"

CACHE_SIZE = 10_000
"""Tokens whose signatures need no second look."""


class InvalidToken(Exception):
    """Forged, damaged, expired, revoked or for another purpose; the text says which."""


class Token(msgspec.Struct, frozen=True, kw_only=True):
    """What a token says."""

    id: str
    """Random; the key of the revocation list."""
    user_id: int
    """0 where it is nobody's."""
    purpose: str
    issued: datetime
    expires: datetime
    extra: dict[str, str] = {}
    """What else its maker wants to read again."""

    @property
    def issuer_id(self) -> int:
        """Who made it for another user to use; 0 where nobody did."""
        return int(self.extra.get("by", 0))


def issue(
    key: bytes,
    user_id: int,
    purpose: str,
    expires: datetime,
    *,
    now: datetime,
    extra: dict[str, str] | None = None,
) -> tuple[str, Token]:
    """Make a token; its text is URL-safe. Whoever holds it can read `extra`, but not change it."""
    token = Token(
        id=secrets.token_urlsafe(16),
        user_id=user_id,
        purpose=purpose,
        issued=now.astimezone(UTC),
        expires=expires.astimezone(UTC).replace(microsecond=0),
        extra=extra or {},
    )
    claims: dict[str, Any] = {
        "jti": token.id,
        "sub": str(user_id),
        "aud": purpose,
        # With its fraction: a password may change in the second in which a token was issued.
        "iat": token.issued.timestamp(),
        "exp": int(token.expires.timestamp()),
    }
    if extra:
        claims["ext"] = extra
    return jwt.encode(claims, key, algorithm=_ALGORITHM), token


def read(
    key: bytes, text: str, purposes: Collection[str], *, now: datetime, allow_expired: bool = False
) -> Token:
    """Check signature, purpose and expiry; InvalidToken otherwise.

    Revocation, and whether the user's tokens have ended, are the caller's questions. `allow_expired` is for
    revoking: an expired token may be revoked.
    """
    token = _verified(key, text)
    if token.purpose not in purposes:
        raise InvalidToken("the token is for another purpose")
    if not allow_expired and token.expires <= now:
        raise InvalidToken("the token has expired")
    return token


@lru_cache(CACHE_SIZE)
def _verified(key: bytes, text: str) -> Token:
    """Check the signature; what was signed once stays signed, so that a Bearer costs this once."""
    try:
        claims = jwt.decode(
            text,
            key,
            algorithms=[_ALGORITHM],
            # Purpose and times are compared by `read`, the latter with the injected clock.
            options={
                "require": ["jti", "sub", "aud", "exp"],
                "verify_aud": False,
                "verify_exp": False,
                "verify_iat": False,
            },
        )
        return Token(
            id=str(claims["jti"]),
            user_id=int(claims["sub"]),
            purpose=str(claims["aud"]),
            # Tokens of before this was noted end with the first change of the password.
            issued=datetime.fromtimestamp(claims.get("iat", 0), UTC),
            expires=datetime.fromtimestamp(claims["exp"], UTC),
            extra=dict(claims.get("ext", {})),
        )
    except (jwt.InvalidTokenError, ValueError, OverflowError, TypeError):
        raise InvalidToken("the token is not one of ours") from None
