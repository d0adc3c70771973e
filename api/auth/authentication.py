"""Authentication of requests: Basic, Bearer or the session cookie (docs/authentication.md,
docs/decisions/0012, docs/decisions/0013).
"""

import base64
import binascii
import hashlib
import secrets
from datetime import datetime, timedelta
from urllib.parse import urlsplit

import msgspec
from quart import Request, Response, Websocket

from motorpool.actors.change_feed import publish_changes
from motorpool.actors.messages.changes import SessionEnded
from motorpool.api.auth.caller import Caller
from motorpool.api.auth.known_places import remember_address, remember_device
from motorpool.api.auth.password_logins import check_code, check_password, record_denied
from motorpool.api.auth.tokens import LOGINS, InvalidToken, Token, read
from motorpool.api.engine.call import Call, is_trusted, peer_address
from motorpool.api.http.errors import Unauthorized
from motorpool.api.server_context import ServerContext
from motorpool.storage import sessions
from motorpool.storage.records import Session, User

__all__ = [
    "COOKIE",
    "InvalidToken",
    "authenticate",
    "begin_session",
    "end_session",
    "log_in",
    "read_token",
    "remember_login",
    "user_of_token",
]

COOKIE = "JSESSIONID"

TOUCH_INTERVAL = timedelta(minutes=1)
"""A session's last use is written at most once in this time."""


class OneTimeCodeRequired(Unauthorized):
    """The password is right, but a one-time code is missing."""

    def __init__(self) -> None:
        super().__init__("a one-time code is needed", WWW_Authenticate="TOTP")


async def authenticate(context: ServerContext, request: Request | Websocket) -> Caller | None:
    """Return who sent the request; None is anonymous. An Authorization header overrides the cookie."""
    header = request.headers.get("Authorization")
    if header is not None:
        scheme, _, credential = header.strip().partition(" ")
        match scheme.lower():
            case "basic":
                return await _authenticate_basic(context, request, credential.strip())
            case "bearer":
                return await authenticate_token(context, credential.strip())
            case _:
                return None
    cookie = request.cookies.get(COOKIE)
    return await _authenticate_cookie(context, request, cookie) if cookie else None


def may_log_in(user: User, now: datetime) -> bool:
    """Return whether the user is neither disabled nor expired."""
    return not user.disabled and (user.expiration_time is None or user.expiration_time > now)


async def log_in(
    context: ServerContext, request: Request, email: str, password: str, code: str | None
) -> User:
    """Check a login form.

    Raises:
        Unauthorized: with the TOTP header if only the code is missing.
        LoginLocked: too many attempts have failed.
    """
    if context.settings.openid.forced:
        raise Unauthorized("passwords are switched off; log in through the OpenID provider")
    user = await check_password(context, request, email, password, method="form")
    if user is None:
        raise Unauthorized("wrong e-mail or password")
    if not may_log_in(user, context.clock.now()):
        await record_denied(context, request, method="form", user=user)
        raise Unauthorized("the account is disabled or has expired")
    if user.totp_key:
        if code is None:
            raise OneTimeCodeRequired
        if not await check_code(context, request, user, code):
            raise Unauthorized("wrong one-time code, or one that was used already")
    return user


async def remember_login(call: Call, response: Response, user: User) -> None:
    """Make the device and the address known to a user who has just proved who they are."""
    await remember_address(call.context, call.request, user.id)
    secure = call.context.settings.http.cookie_secure or is_secure(call.context, call.request)
    remember_device(call.context, call.request, response, user.id, secure=secure)


async def authenticate_token(context: ServerContext, text: str) -> Caller | None:
    """Return the user of a session or share token; None if it is not valid."""
    try:
        token = await read_token(context, text)
    except InvalidToken:
        return None
    user = await user_of_token(context, token)
    return Caller(user=user, server=context.server, token_expires=token.expires) if user else None


async def read_token(context: ServerContext, text: str) -> Token:
    """Verify a session or share token that is not revoked. Raises InvalidToken."""
    token = read(context.token_key, text, LOGINS, now=context.clock.now())
    if await context.accounts.is_revoked(token.id):
        raise InvalidToken("the token has been revoked")
    return token


async def user_of_token(context: ServerContext, token: Token) -> User | None:
    """Return the token's user if they may log in and their tokens were not ended after it was issued."""
    account = await context.accounts.by_id(token.user_id)
    if account is None or not may_log_in(account.user, context.clock.now()):
        return None
    ended = account.tokens_since is not None and token.issued < account.tokens_since
    return None if ended else account.user


async def begin_session(
    call: Call, response: Response, user: User, *, token_expires: datetime | None = None
) -> None:
    """Open a session under a new id, whatever cookie the client sent, which prevents session fixation."""
    context = call.context
    await end_session(call)
    now = call.now
    secret = secrets.token_urlsafe(32)
    idle = timedelta(days=context.settings.http.session_days)
    session = Session(
        id=_hash_secret(secret),
        user_id=user.id,
        created=now,
        last_used=now,
        expires=now + idle,
        origin=call.request.headers.get("Origin"),
        token_expires=token_expires,
    )
    await sessions.insert(context.database, session)
    response.set_cookie(
        COOKIE,
        secret,
        max_age=idle,
        path="/",
        httponly=True,
        samesite="Lax",
        secure=context.settings.http.cookie_secure or is_secure(context, call.request),
    )


async def end_session(call: Call) -> None:
    """Delete the session of the request's cookie."""
    cookie = call.request.cookies.get(COOKIE)
    if cookie:
        await sessions.delete(call.context.database, _hash_secret(cookie))
        await publish_changes(call.context.system, SessionEnded(_hash_secret(cookie)))


def is_secure(context: ServerContext, request: Request | Websocket) -> bool:
    """Return whether the client uses TLS, towards us or a trusted proxy."""
    if is_trusted(peer_address(request), context.settings.http.trusted_proxies):
        return request.headers.get("X-Forwarded-Proto", request.scheme) in {"https", "wss"}
    return request.scheme in {"https", "wss"}


def same_origin(context: ServerContext, request: Request | Websocket, session_origin: str | None) -> bool:
    """Return whether the request comes from the origin of the session, which guards against cross-site
    requests (docs/authentication.md#cookies).
    """
    origin = request.headers.get("Origin")
    if origin is None:
        return True
    if session_origin is not None:
        return origin == session_origin
    hosts = {request.headers.get("Host", "")}
    if is_trusted(peer_address(request), context.settings.http.trusted_proxies):
        hosts.add(request.headers.get("X-Forwarded-Host", ""))
    if context.settings.public.url:
        hosts.add(urlsplit(context.settings.public.url).netloc)
    return urlsplit(origin).netloc in hosts - {""}


async def _authenticate_cookie(
    context: ServerContext, request: Request | Websocket, cookie: str
) -> Caller | None:
    now = context.clock.now()
    session = await context.accounts.session(_hash_secret(cookie))
    if session is None:
        return None
    if session.expires <= now or (session.token_expires is not None and session.token_expires <= now):
        # actors/upkeep/retention.py deletes its row.
        return None
    if not same_origin(context, request, session.origin):
        return None
    account = await context.accounts.by_id(session.user_id)
    if account is None or not may_log_in(account.user, now):
        return None
    if now - session.last_used >= TOUCH_INTERVAL:
        idle = timedelta(days=context.settings.http.session_days)
        session = msgspec.structs.replace(session, last_used=now, expires=now + idle)
        await sessions.touch(context.database, session)
        context.accounts.drop_session(session.id)
    return Caller(
        user=account.user, server=context.server, session=session, token_expires=session.token_expires
    )


async def _authenticate_basic(
    context: ServerContext, request: Request | Websocket, credential: str
) -> Caller | None:
    try:
        email, colon, password = base64.b64decode(credential, validate=True).decode("utf-8").partition(":")
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return None
    if not colon or context.settings.openid.forced:
        return None
    user = await check_password(context, request, email, password, method="basic")
    # This scheme cannot carry a one-time code.
    if user is None or user.totp_key or not may_log_in(user, context.clock.now()):
        return None
    await remember_address(context, request, user.id)
    return Caller(user=user, server=context.server)


def _hash_secret(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
