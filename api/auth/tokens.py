"""Signed tokens (JWT) with a purpose; one for another purpose is refused (docs/decisions/0012)."""

import secrets
from collections.abc import Collection, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import jwt
import msgspec

from motorpool.api.auth.signing_keys import SigningKeys

SESSION = "session"
"""Purpose: a login of a user."""
SHARE = "share"
"""Purpose: a login of a temporary user that was created for the share link."""
RESET = "reset"
"""Purpose: setting a new password, once."""
OPENID = "openid"
"""Purpose: the state that a browser brings back from the OpenID provider; belongs to no user."""

DEVICE = "device"
"""Purpose: a device that users have logged in with; belongs to no user, and is no login."""

BACKUP = "backup"
"""Purpose: fetching a backup, soon, in the session in which the password was given for it."""

LOGINS = (SESSION, SHARE)
"""Purposes that give access to the API."""

_ALGORITHM = "HS256"

CACHE_SIZE = 10_000
"""Tokens whose verified signatures are cached."""


class InvalidToken(Exception):
    """Forged, damaged, expired, revoked or for another purpose; the text says which."""


class Token(msgspec.Struct, frozen=True, kw_only=True):
    """The claims of a token."""

    id: str
    """Random; revocations refer to it."""
    user_id: int
    """0 if the token belongs to no user."""
    purpose: str
    issued: datetime
    expires: datetime
    extra: dict[str, str] = {}
    """Further claims of the issuer."""

    def is_for_address(self, email: str) -> bool:
        """Return whether it was mailed to this address; tokens of earlier versions do not say where to."""
        return self.extra.get("email", email) == email

    @property
    def issuer_id(self) -> int:
        """The user who issued it for another user; 0 if there is none."""
        return int(self.extra.get("by", 0))

    @property
    def actor_id(self) -> int:
        """Who shared in a session as the issuer; 0 if it was the issuer."""
        return int(self.extra.get("actor", 0))


def issue(
    keys: SigningKeys,
    user_id: int,
    purpose: str,
    expires: datetime,
    *,
    now: datetime,
    extra: dict[str, str] | None = None,
    token_id: str | None = None,
) -> tuple[str, Token]:
    """Issue a token; its text is URL-safe. `extra` is signed but not encrypted. A new id by default."""
    token = Token(
        id=token_id or secrets.token_urlsafe(16),
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
        # With fractions of a second: a password may change in the second in which a token is issued.
        "iat": token.issued.timestamp(),
        "exp": int(token.expires.timestamp()),
    }
    if extra:
        claims["ext"] = extra
    return jwt.encode(claims, keys.current, algorithm=_ALGORITHM), token


def read(
    keys: SigningKeys, text: str, purposes: Collection[str], *, now: datetime, allow_expired: bool = False
) -> Token:
    """Verify signature, purpose and expiry. Raises InvalidToken.

    The caller checks revocation, and whether the user's tokens have been ended. `allow_expired` is for
    revoking, which is possible for expired tokens.
    """
    token = _verified_by_any(keys.accepted(now), text)
    if token.purpose not in purposes:
        raise InvalidToken("the token is for another purpose")
    if not allow_expired and token.expires <= now:
        raise InvalidToken("the token has expired")
    return token


def _verified_by_any(keys: Sequence[bytes], text: str) -> Token:
    for key in keys[:-1]:
        with suppress(InvalidToken):
            return _verified(key, text)
    return _verified(keys[-1], text)


@lru_cache(CACHE_SIZE)
def _verified(key: bytes, text: str) -> Token:
    """Verify the signature; the result is cached since it never changes."""
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
            # Tokens without this claim end with the first change of the password.
            issued=datetime.fromtimestamp(claims.get("iat", 0), UTC),
            expires=datetime.fromtimestamp(claims["exp"], UTC),
            extra=dict(claims.get("ext", {})),
        )
    except (jwt.InvalidTokenError, ValueError, OverflowError, TypeError):
        raise InvalidToken("the token is not one of ours") from None
