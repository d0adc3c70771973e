"""Authentication of requests: Basic, Bearer or the session cookie (docs/authentication.md,
docs/decisions/0012, docs/decisions/0013).
"""

import base64
import binascii
import hashlib
import secrets
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import msgspec
from quart import Request, Response, Websocket, websocket

from motorpool.actors.accounts.user_rights import may_log_in
from motorpool.actors.change_feed import publish_changes
from motorpool.actors.messages.changes import SessionEnded
from motorpool.api.auth.caller import Caller
from motorpool.api.auth.tokens import LOGINS, SHARE, InvalidToken, Token, read
from motorpool.api.engine.call import Call
from motorpool.api.http.errors import Unauthorized
from motorpool.api.http.node_gate import Sender, sender_of
from motorpool.api.logins.cookies import Cookie
from motorpool.api.logins.credentials import Credential, find_caller
from motorpool.api.logins.known_places import remember_address, remember_device
from motorpool.api.logins.pages import is_origin_of_session, refuse_foreign_page
from motorpool.api.logins.password_logins import check_code, check_password, record_denied
from motorpool.api.logins.second_factor import require_codes
from motorpool.api.server_context import ServerContext
from motorpool.storage.accounts import sessions, users
from motorpool.storage.errors import StorageUnavailable
from motorpool.storage.records import Session, User

COOKIE = Cookie(name="JSESSIONID", for_programs=True)
"""That of a session, named as in Traccar."""

TOUCH_INTERVAL = timedelta(minutes=1)
"""A session's last use is written at most once in this time."""
MAX_USER_AGENT = 200
"""Characters of the header that are stored with a session."""
EPOCH = datetime.fromtimestamp(0, UTC)


class OneTimeCodeRequired(Unauthorized):
    """The password is right, but a one-time code is missing."""

    def __init__(self) -> None:
        super().__init__("a one-time code is needed", WWW_Authenticate="TOTP")


async def authenticate(context: ServerContext, request: Request | Websocket) -> Caller | None:
    """Return who sent the request; None is anonymous. An Authorization header overrides the cookie."""
    sender = sender_of(request)
    if sender is not None:
        return await _caller_elsewhere(context, sender)
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
    cookie = COOKIE.read(context, request)
    return await _authenticate_cookie(context, request, cookie) if cookie else None


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
    await users.note_login(call.context.database, user.id, call.now)
    await remember_address(call.context, call.request, user.id)
    remember_device(call.context, call.request, response, user.id)


async def identify_socket_caller(context: ServerContext, token: str | None) -> Caller | None:
    """Return the user of a WebSocket: of `?token=`, or of the credentials of its request.

    Raises:
        Forbidden: a foreign page sent the password that a browser keeps for Basic, and could read the socket;
            or the user has to set up one-time codes first.
    """
    if token:
        caller = await authenticate_token(context, token)
    else:
        if "Authorization" in websocket.headers:
            refuse_foreign_page(context, websocket)
        caller = await authenticate(context, websocket)
    require_codes(caller)
    return caller


async def authenticate_token(context: ServerContext, text: str) -> Caller | None:
    """Return the user of a session or share token; None if it is not valid."""
    try:
        token = await read_token(context, text)
    except InvalidToken:
        return None
    return await caller_of_token(context, token)


async def read_token(context: ServerContext, text: str) -> Token:
    """Verify a session or share token that is not revoked. Raises InvalidToken."""
    now = context.clock.now()
    try:
        token = read(context.logins.token_keys, text, LOGINS, now=now)
    except InvalidToken:
        if not await context.logins.token_keys.reload_if_due(now, context.clock.monotonic()):
            raise
        token = read(context.logins.token_keys, text, LOGINS, now=now)
    # A token that does not say when it was issued has the epoch here.
    longest = timedelta(days=context.settings.http.token_max_days)
    if token.issued > EPOCH and token.issued + longest <= context.clock.now():
        raise InvalidToken("the token has expired")
    if await context.logins.accounts.is_revoked(token.id):
        raise InvalidToken("the token has been revoked")
    return token


async def caller_of_token(context: ServerContext, token: Token) -> Caller | None:
    """Return the caller if the token's user has access and has not ended their tokens since it was issued."""
    account = await context.logins.accounts.by_id(token.user_id)
    if account is None or (account.tokens_since is not None and token.issued < account.tokens_since):
        return None
    is_share = token.purpose == SHARE
    credential = Credential(
        user_id=token.user_id,
        begun=token.issued,
        expires=token.expires,
        token_id=token.id,
        token_expires=token.expires,
        impersonator_id=token.actor_id if is_share else token.issuer_id,
        sharer_id=token.issuer_id if is_share else 0,
    )
    return await find_caller(context, credential)


async def begin_session(
    call: Call,
    response: Response,
    user: User,
    *,
    token: Caller | None = None,
    impersonator_id: int = 0,
    view_only: bool = False,
    logged_in: datetime | None = None,
) -> None:
    """Open a session under a new id, whatever cookie the client sent, which prevents session fixation.

    `token` is the caller whose token the session ends with; `impersonator_id` who opens it as another user,
    and `view_only` whether only to look; `logged_in` when they proved who they are, unless with this request.
    """
    context = call.context
    await end_session(call)
    now = call.now
    created = logged_in or now
    secret = secrets.token_urlsafe(32)
    session = Session(
        id=_hash_secret(secret),
        user_id=user.id,
        created=created,
        last_used=now,
        expires=_session_expiry(context, created, now),
        origin=call.request.headers.get("Origin"),
        token_expires=token.token_expires if token is not None else None,
        token_id=token.token_id if token is not None else None,
        impersonator_id=impersonator_id,
        view_only=view_only,
        address=call.address,
        user_agent=(call.request.headers.get("User-Agent") or "")[:MAX_USER_AGENT] or None,
    )
    async with context.database.transaction() as transaction:
        replaced = await sessions.insert(transaction, session)
    if replaced:
        await publish_changes(context.system, *map(SessionEnded, replaced))
    lifetime = timedelta(days=context.settings.http.session_max_days)
    COOKIE.set(context, call.request, response, secret, lifetime=lifetime)


async def end_session(call: Call) -> None:
    """Delete the session of the request's cookie."""
    cookie = COOKIE.read(call.context, call.request)
    if cookie:
        await sessions.delete(call.context.database, _hash_secret(cookie))
        await publish_changes(call.context.system, SessionEnded(_hash_secret(cookie)))


def forget_session(call: Call, response: Response) -> None:
    """Have the browser forget what it was logged in with, and the files of the API that it has cached.

    `Clear-Site-Data` names neither "cookies", which are those of all hosts of the domain, nor "storage": what
    the console keeps for users it deletes itself (docs/decisions/0311).
    """
    COOKIE.delete(call.context, call.request, response)
    response.headers["Clear-Site-Data"] = '"cache"'


async def confirm_caller(call: Call) -> None:
    """Identify the caller again if they may have lost rights since, in a request that took long.

    Raises:
        Unauthorized: their credential is no longer valid.
    """
    if call.optional_caller is None or not call.rights_may_have_changed:
        return
    call.rights_changes = call.context.rights_changes
    caller = await authenticate(call.context, call.request)
    if caller is None or caller.id != call.optional_caller.id:
        raise Unauthorized("log in first")
    call.optional_caller = caller


async def _authenticate_cookie(
    context: ServerContext, request: Request | Websocket, cookie: str
) -> Caller | None:
    now = context.clock.now()
    session = await context.logins.accounts.session(_hash_secret(cookie))
    if session is None:
        return None
    if session.expires <= now or (session.token_expires is not None and session.token_expires <= now):
        # actors/upkeep/retention.py deletes its row.
        return None
    if not is_origin_of_session(context, request, session.origin):
        return None
    expires = _session_expiry(context, session.created, now)
    if expires <= now:
        return None
    credential = Credential(
        user_id=session.user_id,
        begun=session.created,
        expires=min(session.expires, expires),
        token_id=session.token_id,
        token_expires=session.token_expires,
        session=session,
        impersonator_id=session.impersonator_id,
        view_only=session.view_only,
    )
    caller = await find_caller(context, credential)
    if caller is not None and now - session.last_used >= TOUCH_INTERVAL:
        used = msgspec.structs.replace(session, last_used=now, expires=expires)
        # A database that takes no changes can still be read.
        with suppress(StorageUnavailable):
            await sessions.touch(context.database, used)
            context.logins.accounts.drop_session(session.id)
    return caller


def _session_expiry(context: ServerContext, created: datetime, used: datetime) -> datetime:
    """Return when a session ends that is not used again."""
    settings = context.settings.http
    return min(
        used + timedelta(days=settings.session_days), created + timedelta(days=settings.session_max_days)
    )


async def _authenticate_basic(
    context: ServerContext, request: Request | Websocket, credential: str
) -> Caller | None:
    try:
        email, colon, password = base64.b64decode(credential, validate=True).decode("utf-8").partition(":")
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return None
    if not colon or "\0" in email or context.settings.openid.forced:
        return None
    user = await check_password(context, request, email, password, method="basic")
    # This scheme cannot carry a one-time code.
    if user is None or user.totp_key or not may_log_in(user, context.clock.now()):
        return None
    await remember_address(context, request, user.id)
    caller = await find_caller(context, Credential(user_id=user.id, begun=context.clock.now()))
    return None if caller is not None and caller.lacks_codes else caller


async def _caller_elsewhere(context: ServerContext, sender: Sender) -> Caller | None:
    """Return who sent a request to another server, which has identified them."""
    if not sender.user_id:
        return Caller(user=User(name="another server", administrator=True), server=context.server)
    credential = Credential(
        user_id=sender.user_id,
        begun=context.clock.now(),
        impersonator_id=sender.impersonator_id,
        sharer_id=sender.sharer_id,
    )
    return await find_caller(context, credential)


def _hash_secret(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
