"""Who a request is from: Basic, Bearer or the session cookie (open-details 2, decisions 12 and 13)."""

import base64
import binascii
import hashlib
import secrets
from datetime import datetime, timedelta
from urllib.parse import urlsplit

import msgspec
from quart import Request, Response, Websocket

from motorpool.api.auth.caller import Caller
from motorpool.api.auth.tokens import LOGINS, InvalidToken, Token, read
from motorpool.api.engine.call import Call, client_address, is_trusted, peer_address
from motorpool.api.http.errors import Unauthorized
from motorpool.api.server_context import House
from motorpool.storage import sessions
from motorpool.storage.records import Session, User

__all__ = [
    "COOKIE",
    "InvalidToken",
    "begin_session",
    "end_session",
    "identify",
    "log_in",
    "read_token",
    "user_of_token",
]

COOKIE = "JSESSIONID"

TOUCH_EVERY = timedelta(minutes=1)
"""A session's last use is written at most so often."""


class CodeNeeded(Unauthorized):
    """The password is right, but a one-time code is missing."""

    def __init__(self) -> None:
        super().__init__("a one-time code is needed", WWW_Authenticate="TOTP")


async def identify(house: House, request: Request | Websocket) -> Caller | None:
    """Find who asks; None is anonymous. An Authorization header decides alone, else the cookie."""
    header = request.headers.get("Authorization")
    if header is not None:
        scheme, _, credential = header.strip().partition(" ")
        match scheme.lower():
            case "basic":
                return await _by_password(house, request, credential.strip())
            case "bearer":
                return await by_token(house, credential.strip())
            case _:
                return None
    cookie = request.cookies.get(COOKIE)
    return await _by_cookie(house, request, cookie) if cookie else None


def usable(user: User, now: datetime) -> bool:
    """Neither disabled nor expired."""
    return not user.disabled and (user.expiration_time is None or user.expiration_time > now)


async def log_in(house: House, address: str, email: str, password: str, code: str | None) -> User:
    """Check a login form; raises Unauthorized, with the TOTP header where only the code is missing."""
    if house.settings.openid.forced:
        raise Unauthorized("passwords are switched off; log in through the OpenID provider")
    user = await _check_password(house, address, email, password)
    if user is None:
        raise Unauthorized("wrong e-mail or password")
    if not usable(user, house.clock.now()):
        raise Unauthorized("the account is disabled or has expired")
    if user.totp_key:
        if code is None:
            raise CodeNeeded
        house.attempts.begin(f"code of {user.id}", address)
        if not house.codes.accept(user.id, user.totp_key, code, house.clock.now()):
            raise Unauthorized("wrong one-time code, or one that was used already")
        house.attempts.succeeded(f"code of {user.id}", address)
    # Also where the password was remembered, so that nothing had to be tried.
    house.attempts.forgive(email)
    return user


async def by_token(house: House, text: str) -> Caller | None:
    """Find the user of a session or share token."""
    try:
        token = await read_token(house, text)
    except InvalidToken:
        return None
    user = await user_of_token(house, token)
    return Caller(user=user, server=house.server, token_expires=token.expires) if user else None


async def read_token(house: House, text: str) -> Token:
    """Check a token that opens the API and that it is not revoked; InvalidToken otherwise."""
    token = read(house.token_key, text, LOGINS, now=house.clock.now())
    if await house.accounts.is_revoked(token.id):
        raise InvalidToken("the token has been revoked")
    return token


async def user_of_token(house: House, token: Token) -> User | None:
    """Fetch the token's user if he may log in, and if his tokens have not ended since it was issued."""
    account = await house.accounts.by_id(token.user_id)
    if account is None or not usable(account.user, house.clock.now()):
        return None
    ended = account.tokens_since is not None and token.issued < account.tokens_since
    return None if ended else account.user


async def begin_session(
    call: Call, response: Response, user: User, *, token_expires: datetime | None = None
) -> None:
    """Open a new session under a new id, whatever the client sent: an id planted before is worth nothing."""
    house = call.house
    await end_session(call)
    now = call.now
    secret = secrets.token_urlsafe(32)
    idle = timedelta(days=house.settings.http.session_days)
    session = Session(
        id=_digest(secret),
        user_id=user.id,
        created=now,
        last_used=now,
        expires=now + idle,
        origin=call.request.headers.get("Origin"),
        token_expires=token_expires,
    )
    await sessions.put(house.database, session)
    response.set_cookie(
        COOKIE,
        secret,
        max_age=idle,
        path="/",
        httponly=True,
        samesite="Lax",
        secure=house.settings.http.cookie_secure or is_secure(house, call.request),
    )


async def end_session(call: Call) -> None:
    """Forget the session of the request's cookie."""
    cookie = call.request.cookies.get(COOKIE)
    if cookie:
        await sessions.delete(call.house.database, _digest(cookie))
        call.house.accounts.forget_session(_digest(cookie))


def is_secure(house: House, request: Request | Websocket) -> bool:
    """Whether the client speaks TLS, to us or to a trusted proxy."""
    if is_trusted(peer_address(request), house.settings.http.trusted_proxies):
        return request.headers.get("X-Forwarded-Proto", request.scheme) in {"https", "wss"}
    return request.scheme in {"https", "wss"}


def same_origin(house: House, request: Request | Websocket, remembered: str | None) -> bool:
    """Whether a cookie may be believed: a page elsewhere could have sent it (open-details 2.3)."""
    origin = request.headers.get("Origin")
    if origin is None:
        return True
    if remembered is not None:
        return origin == remembered
    hosts = {request.headers.get("Host", "")}
    if is_trusted(peer_address(request), house.settings.http.trusted_proxies):
        hosts.add(request.headers.get("X-Forwarded-Host", ""))
    if house.settings.public.url:
        hosts.add(urlsplit(house.settings.public.url).netloc)
    return urlsplit(origin).netloc in hosts - {""}


async def _by_cookie(house: House, request: Request | Websocket, cookie: str) -> Caller | None:
    now = house.clock.now()
    session = await house.accounts.session(_digest(cookie))
    if session is None:
        return None
    if session.expires <= now or (session.token_expires is not None and session.token_expires <= now):
        # Its row goes with the next look of actors/retention.py.
        return None
    if not same_origin(house, request, session.origin):
        return None
    account = await house.accounts.by_id(session.user_id)
    if account is None or not usable(account.user, now):
        return None
    if now - session.last_used >= TOUCH_EVERY:
        idle = timedelta(days=house.settings.http.session_days)
        session = msgspec.structs.replace(session, last_used=now, expires=now + idle)
        await sessions.touch(house.database, session)
        house.accounts.forget_session(session.id)
    return Caller(
        user=account.user, server=house.server, session=session, token_expires=session.token_expires
    )


async def _by_password(house: House, request: Request | Websocket, credential: str) -> Caller | None:
    try:
        email, colon, password = base64.b64decode(credential, validate=True).decode("utf-8").partition(":")
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return None
    if not colon or house.settings.openid.forced:
        return None
    address = client_address(request, house.settings.http.trusted_proxies)
    user = await _check_password(house, address, email, password)
    # There is no place for a one-time code in this scheme.
    if user is None or user.totp_key or not usable(user, house.clock.now()):
        return None
    return Caller(user=user, server=house.server)


async def _check_password(house: House, address: str, email: str, password: str) -> User | None:
    account = await house.accounts.by_email(email)
    stored = account.password_hash if account is not None else None
    if account is not None and stored is not None and house.passwords.remembers(stored, password):
        return account.user
    house.attempts.begin(email, address)
    if not await house.passwords.verify(stored, password):
        return None
    house.attempts.succeeded(email, address)
    return account.user if account is not None else None


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
