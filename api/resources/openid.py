"""Logging in through an OpenID Connect provider (docs/authentication.md#openid-connect)."""

import hmac
import secrets
from datetime import timedelta
from urllib.parse import urlsplit

import msgspec
import trio
from quart import Response

from motorpool.api.auth.authentication import begin_session, is_secure
from motorpool.api.auth.openid import LoginRefused, OpenIdProvider, ProviderUnavailable
from motorpool.api.auth.tokens import OPENID, InvalidToken, Token, issue, read
from motorpool.api.engine.audit import record_action
from motorpool.api.engine.call import Call
from motorpool.api.engine.operations import Content, Operations
from motorpool.api.http.errors import BadRequest, HttpError, Unauthorized, Unavailable
from motorpool.api.resources.openid_users import admit
from motorpool.storage import tokens

__all__ = ["OPERATIONS"]

OPERATIONS = Operations("session")

COOKIE = "motorpool_openid"
PATH = "/api/session/openid"
LOGIN_LIFE = timedelta(minutes=10)
"""Somebody may take so long at the provider's page."""

GO = {"Location": "Where the browser goes on."}
THERE = Content(media_type="", text="To the provider's login page", headers=GO)
HOME = Content(media_type="", text="To the console, logged in; or with `openid=cancelled`", headers=GO)


class CallbackQuery(msgspec.Struct, rename="camel"):
    """What the provider sends a browser back with."""

    code: str | None = None
    state: str | None = None
    error: str | None = None


@OPERATIONS.operation("GET", "/session/openid/auth", answers={303: THERE}, errors=(400,), public=True)
async def begin_openid(call: Call) -> Response:
    """Send the browser to the OpenID provider."""
    provider = _provider(call)
    nonce, verifier = secrets.token_urlsafe(32), secrets.token_urlsafe(48)
    # Only who holds this cookie can end what begins here: nobody is logged in by another's link.
    text, token = issue(
        call.context.token_key,
        0,
        OPENID,
        call.now + LOGIN_LIFE,
        now=call.now,
        extra={"nonce": nonce, "verifier": verifier},
    )
    try:
        address = await provider.authorization_url(
            _redirect(call), state=token.id, nonce=nonce, verifier=verifier
        )
    except ProviderUnavailable as error:
        raise Unavailable(str(error)) from None
    response = _go(address)
    response.set_cookie(
        COOKIE,
        text,
        max_age=LOGIN_LIFE,
        path=_cookie_path(call),
        httponly=True,
        # Lax: it comes along when the provider sends the browser back, and with no other foreign request.
        samesite="Lax",
        secure=call.context.settings.http.cookie_secure or is_secure(call.context, call.request),
    )
    return response


@OPERATIONS.operation(
    "GET",
    "/session/openid/callback",
    query=CallbackQuery,
    answers={303: HOME},
    errors=(401, 429),
    public=True,
)
async def end_openid(call: Call) -> Response:
    """Log in who comes back from the provider.

    Who gave up there goes home with `openid=cancelled`; whatever else is wrong is a 401 that says what, since
    a page that knows nothing of it would show nothing.
    """
    provider = _provider(call)
    query = call.query(CallbackQuery)
    if query.error == "access_denied":
        # Nothing comes of it, so it need not be proved; not every provider sends the state along.
        return _home(call, "cancelled")
    account = f"openid {secrets.token_hex(8)}"
    call.context.login_throttle.begin_attempt(account, call.address)
    try:
        response = await _end(call, provider, query)
    except LoginRefused as refused:
        await record_action(call, call.context.database, "denied", attributes={"openid": True})
        raise NotLoggedIn(f"{refused}; start again at {call.context.settings.public_url}/") from None
    except ProviderUnavailable as error:
        call.context.login_throttle.record_success(account, call.address)
        raise Unavailable(str(error)) from None
    call.context.login_throttle.record_success(account, call.address)
    response.delete_cookie(COOKIE, path=_cookie_path(call))
    return response


class NotLoggedIn(HttpError):
    """A 401 for people: without the header for which browsers would ask for a password."""

    status = Unauthorized.status


def _provider(call: Call) -> OpenIdProvider:
    if call.context.openid is None:
        raise BadRequest("no OpenID provider is configured")
    return call.context.openid


async def _end(call: Call, provider: OpenIdProvider, query: CallbackQuery) -> Response:
    token = _begun(call, query.state or "")
    if not await tokens.revoke(call.context.database, token.id, token.expires):
        raise LoginRefused("this login was finished already")
    if query.error is not None or query.code is None:
        raise LoginRefused("the provider could not log you in")
    identity = await provider.fetch_identity(
        query.code,
        _redirect(call),
        nonce=token.extra["nonce"],
        verifier=token.extra["verifier"],
        now=call.now,
    )
    # Nobody drops out between a commit and the news of it.
    with trio.CancelScope(shield=True):
        user = await admit(call, identity)
        response = _home(call, "success")
        await begin_session(call, response, user)
        await record_action(call, call.context.database, "login", user=user, attributes={"openid": True})
    return response


def _begun(call: Call, state: str) -> Token:
    """The login that this browser began, if the provider answers that one."""
    try:
        token = read(call.context.token_key, call.request.cookies.get(COOKIE, ""), {OPENID}, now=call.now)
    except InvalidToken:
        raise LoginRefused("this login took too long, or began in another browser") from None
    if not hmac.compare_digest(token.id.encode(), state.encode("utf-8", "surrogatepass")):
        raise LoginRefused("this login is not the last one that was begun in this browser")
    return token


def _redirect(call: Call) -> str:
    return f"{call.context.settings.public_url}{PATH}/callback"


def _cookie_path(call: Call) -> str:
    """Where a proxy serves us below a path, browsers see that path."""
    return urlsplit(call.context.settings.public_url).path.rstrip("/") + PATH


def _home(call: Call, word: str) -> Response:
    # Without a setting the browser knows best where it is.
    home = call.context.settings.public_url if call.context.settings.public.url else ""
    return _go(f"{home}/?openid={word}")


def _go(address: str) -> Response:
    return Response(b"", 303, headers={"Location": address})
