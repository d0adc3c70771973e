"""Logging in through an OpenID Connect provider (docs/authentication.md#openid-connect)."""

import hmac
import secrets
from collections.abc import Callable
from datetime import timedelta
from typing import Annotated

import msgspec
import trio
from quart import Response

from motorpool.actors.work.connection_limits import client_network
from motorpool.api.auth.login_throttle import LoginLocked
from motorpool.api.auth.openid import LoginRefused, OpenIdProvider
from motorpool.api.auth.openid_documents import ProviderUnavailable
from motorpool.api.auth.tokens import OPENID, InvalidToken, Token, issue, read
from motorpool.api.engine.audit import record_action
from motorpool.api.engine.call import Call
from motorpool.api.engine.operations import Content, Operations
from motorpool.api.http.errors import BadRequest, HttpError, Unauthorized, Unavailable
from motorpool.api.http.responses import as_text
from motorpool.api.logins.authentication import begin_session, remember_login
from motorpool.api.logins.cookies import Cookie
from motorpool.api.logins.password_logins import record_denied
from motorpool.api.logins.setup import HEADER, may_set_up
from motorpool.api.resources.openid_users import find_or_create_user
from motorpool.storage.accounts import tokens

OPERATIONS = Operations("session")

PATH = "/api/session/openid"
COOKIE = Cookie(name="motorpool_openid", path=PATH)
LOGIN_TIMEOUT = timedelta(minutes=10)
"""How long a login at the provider may take."""
MAX_DESTINATION_LENGTH = 1024
"""It travels in a cookie, of which browsers keep 4,096 bytes."""

LOCATION = {"Location": "Where the browser goes on."}
TO_PROVIDER = Content(media_type="", text="To the provider's login page", headers=LOCATION)
TO_CONSOLE = Content(
    media_type="",
    text="To the console, or to `to` of the beginning, with `openid=success` or `openid=cancelled`",
    headers=LOCATION,
)


class CallbackQuery(msgspec.Struct, rename="camel"):
    """What the provider sends a browser back with."""

    code: str | None = None
    state: str | None = None
    error: str | None = None


class BeginQuery(msgspec.Struct, rename="camel"):
    """What a login at the provider begins with."""

    to: Annotated[str, msgspec.Meta(max_length=MAX_DESTINATION_LENGTH)] = "/"
    """The address of the console, relative to it, that the browser goes on to afterwards."""


@OPERATIONS.operation(
    "GET",
    "/session/openid/auth",
    query=BeginQuery,
    answers={303: TO_PROVIDER},
    errors=(400,),
    public=True,
    changes=True,
)
async def begin_openid(call: Call) -> Response:
    """Send the browser to the OpenID provider."""
    return await _begin(call, call.query(BeginQuery).to, _redirect_to)


@OPERATIONS.operation(
    "POST",
    "/session/openid/auth",
    form=BeginQuery,
    answers={200: Content(media_type="text/plain", text="The address of the provider's login page")},
    errors=(400,),
    headers={HEADER: "The set-up token, for the first user of a new server."},
    public=True,
)
async def begin_openid_by_script(call: Call) -> Response:
    """Begin a login at the OpenID provider, for a page that goes there itself. Not in the specification.

    With the set-up token the login makes the first user.
    """
    return await _begin(call, (await call.form(BeginQuery)).to, as_text)


async def _begin(call: Call, destination: str, answer: Callable[[str], Response]) -> Response:
    """Begin a login in this browser, and answer with the provider's address."""
    provider = _provider(call)
    if not _is_own_path(destination):
        raise BadRequest("to: not a path of this server")
    nonce, verifier = secrets.token_urlsafe(32), secrets.token_urlsafe(48)
    set_up = {"setup": "1"} if may_set_up(call) else {}
    # The login can be finished only with this cookie, which prevents login CSRF.
    text, token = issue(
        call.context.logins.token_keys,
        0,
        OPENID,
        call.now + LOGIN_TIMEOUT,
        now=call.now,
        extra={"nonce": nonce, "verifier": verifier, "to": destination, **set_up},
    )
    try:
        address = await provider.authorization_url(
            _callback_url(call), state=token.id, nonce=nonce, verifier=verifier
        )
    except ProviderUnavailable as error:
        raise Unavailable(str(error)) from None
    response = answer(address)
    COOKIE.set(call.context, call.request, response, text, lifetime=LOGIN_TIMEOUT)
    return response


@OPERATIONS.operation(
    "GET",
    "/session/openid/callback",
    query=CallbackQuery,
    answers={303: TO_CONSOLE},
    errors=(401, 429),
    public=True,
)
async def end_openid(call: Call) -> Response:
    """Log in who comes back from the provider.

    Who gave up there goes back with `openid=cancelled`; whatever else is wrong is a 401 that says what, since
    a page that knows nothing of it would show nothing.
    """
    provider = _provider(call)
    query = call.query(CallbackQuery)
    if query.error == "access_denied":
        # Harmless, so the state is not verified; not every provider sends it along.
        return _console(call, "cancelled", _destination(call))
    limits = call.context.logins.limits
    try:
        attempt = await limits.begin_anonymous_attempt(client_network(call.address))
    except LoginLocked as locked:
        await record_denied(call.context, call.request, method="openid", locked=locked)
        raise
    try:
        response = await _finish_login(call, provider, query)
    except LoginRefused as refused:
        await limits.record_failure(attempt)
        await record_denied(call.context, call.request, method="openid")
        raise NotLoggedIn(f"{refused}; start again at {call.context.settings.public_url}/") from None
    except ProviderUnavailable as error:
        await limits.record_success(attempt)
        raise Unavailable(str(error)) from None
    await limits.record_success(attempt)
    COOKIE.delete(call.context, call.request, response)
    return response


class NotLoggedIn(HttpError):
    """401 without the header that makes browsers ask for a password."""

    status = Unauthorized.status


def _provider(call: Call) -> OpenIdProvider:
    if call.context.logins.openid is None:
        raise BadRequest("no OpenID provider is configured")
    return call.context.logins.openid


async def _finish_login(call: Call, provider: OpenIdProvider, query: CallbackQuery) -> Response:
    token = _begun_login(call, query.state or "")
    if not await tokens.revoke(call.context.database, token.id, token.expires):
        raise LoginRefused("this login was finished already")
    if query.error is not None or query.code is None:
        raise LoginRefused("the provider could not log you in")
    identity = await provider.fetch_identity(
        query.code,
        _callback_url(call),
        nonce=token.extra["nonce"],
        verifier=token.extra["verifier"],
        now=call.now,
    )
    # A cancellation between the commit and its announcement would leave caches stale.
    with trio.CancelScope(shield=True):
        user = await find_or_create_user(call, identity, set_up="setup" in token.extra)
        response = _console(call, "success", token.extra.get("to", "/"))
        await begin_session(call, response, user)
        await remember_login(call, response, user)
        await record_action(call, call.context.database, "login", user=user, attributes={"method": "openid"})
    return response


def _begun_login(call: Call, state: str) -> Token:
    """Return the token of the login that this browser began, if the state matches it."""
    try:
        token = _read_cookie(call)
    except InvalidToken:
        raise LoginRefused("this login took too long, or began in another browser") from None
    if not hmac.compare_digest(token.id.encode(), state.encode("utf-8", "surrogatepass")):
        raise LoginRefused("this login is not the last one that was begun in this browser")
    return token


def _destination(call: Call) -> str:
    """Return where this browser wanted to go when it began its last login."""
    try:
        return _read_cookie(call).extra.get("to", "/")
    except InvalidToken:
        return "/"


def _read_cookie(call: Call) -> Token:
    cookie = COOKIE.read(call.context, call.request) or ""
    return read(call.context.logins.token_keys, cookie, {OPENID}, now=call.now)


def _is_own_path(text: str) -> bool:
    """Whether browsers take a text, in a redirect, for a path of the same site.

    They take two slashes for the beginning of a host, a backslash for a slash, and overlook tabs and line
    breaks (https://url.spec.whatwg.org/#concept-basic-url-parser).
    """
    plain = text.isascii() and text.isprintable() and " " not in text and "\\" not in text
    return plain and text.startswith("/") and not text.startswith("//")


def _callback_url(call: Call) -> str:
    return f"{call.context.settings.public_url}{PATH}/callback"


def _console(call: Call, word: str, destination: str) -> Response:
    # Without the setting a relative address works best.
    home = call.context.settings.public_url if call.context.settings.public.url else ""
    path, hash_, fragment = destination.partition("#")
    joint = "&" if "?" in path else "?"
    return _redirect_to(f"{home}{path}{joint}openid={word}{hash_}{fragment}")


def _redirect_to(address: str) -> Response:
    return Response(b"", 303, headers={"Location": address})
