"""Signed tokens with a purpose; one for another purpose is refused (decisions 12)."""

import secrets
from datetime import UTC, datetime

import jwt
import msgspec

__all__ = ["InvalidToken", "Token", "issue", "read"]

_ALGORITHM = "HS256"


class InvalidToken(Exception):
    """Forged, damaged, expired or for another purpose; the text says which."""


class Token(msgspec.Struct, frozen=True, kw_only=True):
    """What a token says."""

    id: str
    """Random; the key of the revocation list."""
    user_id: int
    purpose: str
    """"session", later "share" and "reset"."""
    expires: datetime


def issue(key: bytes, user_id: int, purpose: str, expires: datetime) -> tuple[str, Token]:
    """Make a token; its text is URL-safe."""
    token = Token(
        id=secrets.token_urlsafe(16),
        user_id=user_id,
        purpose=purpose,
        expires=expires.astimezone(UTC).replace(microsecond=0),
    )
    claims = {
        "jti": token.id,
        "sub": str(user_id),
        "aud": purpose,
        "exp": int(token.expires.timestamp()),
    }
    return jwt.encode(claims, key, algorithm=_ALGORITHM), token


def read(key: bytes, text: str, purpose: str, *, now: datetime, expired_too: bool = False) -> Token:
    """Check signature, purpose and expiry; InvalidToken otherwise.

    Revocation is the caller's question. `expired_too` is for revoking: an expired token may be revoked.
    """
    try:
        claims = jwt.decode(
            text,
            key,
            algorithms=[_ALGORITHM],
            audience=purpose,
            # Expiry is compared below with the injected clock.
            options={"require": ["jti", "sub", "aud", "exp"], "verify_exp": False},
        )
        token = Token(
            id=str(claims["jti"]),
            user_id=int(claims["sub"]),
            purpose=purpose,
            expires=datetime.fromtimestamp(claims["exp"], UTC),
        )
    except jwt.InvalidAudienceError:
        raise InvalidToken("the token is for another purpose") from None
    except (jwt.InvalidTokenError, ValueError, OverflowError, TypeError):
        raise InvalidToken("the token is not one of ours") from None
    if not expired_too and token.expires <= now:
        raise InvalidToken("the token has expired")
    return token
