"""Login, logout, tokens, and sessions as another user (docs/authentication.md)."""

from datetime import datetime, timedelta
from typing import Annotated

import msgspec
from quart import Response

from motorpool.actors.accounts.user_rights import may_log_in
from motorpool.api.auth.caller import Caller
from motorpool.api.auth.rights import ISSUE_TOKENS
from motorpool.api.auth.tokens import LOGINS, SESSION, InvalidToken, issue, read
from motorpool.api.engine.audit import record_action
from motorpool.api.engine.call import Call
from motorpool.api.engine.operations import NO_CONTENT, Content, Operations
from motorpool.api.http.errors import BadRequest, ResourceNotFound, Unauthorized
from motorpool.api.http.responses import as_json, as_text, no_content
from motorpool.api.logins.authentication import (
    begin_session,
    caller_of_token,
    end_session,
    forget_session,
    log_in,
    read_token,
    remember_login,
)
from motorpool.api.logins.credentials import may_act_as
from motorpool.api.logins.second_factor import lacks_codes
from motorpool.api.resources.credentials import end_token, issued_token
from motorpool.api.resources.linked_policy import may_see_user
from motorpool.api.resources.user_rules import User, show
from motorpool.storage.accounts import tokens, users
from motorpool.storage.accounts.users import Account
from motorpool.storage.records import Session

OPERATIONS = Operations("session")

TOKEN_LIFETIME = timedelta(days=7)


class TokenQuery(msgspec.Struct, rename="camel"):
    """A session token that stands for a login."""

    token: str | None = None


class LoginForm(msgspec.Struct, rename="camel"):
    """What people type."""

    email: str
    password: str
    code: str | None = None


class TokenForm(msgspec.Struct, rename="camel"):
    """Until when a new token lives."""

    expiration: Annotated[datetime, msgspec.Meta(tz=True)] | None = None


class TokenLoginForm(msgspec.Struct, rename="camel"):
    """A session token that stands for a login."""

    token: str


class RevokeForm(msgspec.Struct, rename="camel"):
    """The token to be revoked."""

    token: str


class ImpersonationQuery(msgspec.Struct, rename="camel"):
    """What the session is for."""

    view_only: bool = False
    """Nothing can be changed in it: it only shows what the user sees. Not in the specification."""


def _shown(caller: Caller) -> User:
    """Return the user of a session, and who acts as them."""
    return show(
        caller.user,
        totp_needed=caller.lacks_codes,
        impersonator=caller.impersonator,
        view_only=caller.view_only,
    )


def _has_token(call: Call) -> bool:
    return "token" in call.request.args


@OPERATIONS.operation(
    "GET", "/session", query=TokenQuery, answer=User, errors=(404,), public=True, changes=_has_token
)
async def get_session(call: Call) -> Response:
    """Who is logged in; with `token` logs in by it.

    Logs of proxies show addresses: `POST /session/token/login` takes the token in its body.
    """
    text = call.query(TokenQuery).token
    if text is None:
        if call.unchecked is not None:
            raise call.unchecked
        if call.optional_caller is None:
            raise ResourceNotFound("nobody is logged in")
        return as_json(_shown(call.caller))
    return await _log_in_by_token(call, text)


async def _log_in_by_token(call: Call, text: str) -> Response:
    """Open a session that ends with the token. Raises ResourceNotFound for one that is not valid."""
    try:
        token = await read_token(call.context, text)
    except InvalidToken as error:
        raise ResourceNotFound(str(error)) from None
    caller = await caller_of_token(call.context, token)
    if caller is None:
        raise ResourceNotFound("the token's user may not log in")
    user, impersonator_id = caller.user, caller.impersonator_id
    response = as_json(_shown(caller))
    await begin_session(call, response, user, token=caller, impersonator_id=impersonator_id)
    if not impersonator_id:
        await users.note_login(call.context.database, user.id, call.now)
    await record_action(
        call,
        call.context.database,
        "login",
        user=user,
        impersonator_id=impersonator_id,
        attributes={"method": "token"},
    )
    return response


@OPERATIONS.operation("POST", "/session", form=LoginForm, answer=User, errors=(401, 429), public=True)
async def create_session(call: Call) -> Response:
    """Log in with e-mail and password, and a one-time code where the user has a key."""
    form = await call.form(LoginForm)
    with call.until_disconnected():
        user = await log_in(call.context, call.request, form.email, form.password, form.code)
    account = await call.context.logins.accounts.by_id(user.id)
    totp_needed = account is not None and lacks_codes(call.context, account)
    response = as_json(show(user, totp_needed=totp_needed))
    await begin_session(call, response, user)
    await remember_login(call, response, user)
    await record_action(call, call.context.database, "login", user=user, attributes={"method": "form"})
    return response


@OPERATIONS.operation("DELETE", "/session", answers={204: NO_CONTENT})
async def delete_session(call: Call) -> Response:
    """Log out."""
    await end_session(call)
    await record_action(call, call.context.database, "logout")
    response = no_content()
    forget_session(call, response)
    return response


@OPERATIONS.operation(
    "POST",
    "/session/token",
    form=TokenForm,
    answers={200: Content(media_type="text/plain", text="The token")},
)
async def create_token(call: Call) -> Response:
    """Issue a token that logs in as the caller, as Bearer or by `GET /session?token=`.

    Guests of a share link get none: with the link their way in ends.
    """
    ISSUE_TOKENS.require(call.caller)
    form = await call.form(TokenForm)
    expires = form.expiration or call.now + TOKEN_LIFETIME
    expires = min(expires, call.now + timedelta(days=call.context.settings.http.token_max_days))
    if call.caller.token_expires is not None:
        # A caller who used a token cannot issue one that outlives it.
        expires = min(expires, call.caller.token_expires)
    if expires <= call.now:
        raise BadRequest("expiration: lies in the past")
    by = {"by": str(call.caller.impersonator_id)} if call.caller.impersonator_id else None
    text, token = issue(
        call.context.logins.token_keys, call.caller.id, SESSION, expires, now=call.now, extra=by
    )
    async with call.context.database.transaction() as transaction:
        await tokens.add(transaction, issued_token(token, call.caller), call.now)
        await record_action(call, transaction, "create", "token")
    return as_text(text)


@OPERATIONS.operation(
    "POST", "/session/token/login", form=TokenLoginForm, answer=User, errors=(404,), public=True
)
async def log_in_by_token(call: Call) -> Response:
    """Log in by a token, such as that of a share link."""
    form = await call.form(TokenLoginForm)
    return await _log_in_by_token(call, form.token)


@OPERATIONS.operation("POST", "/session/token/revoke", form=RevokeForm, answers={204: NO_CONTENT})
async def revoke_token(call: Call) -> Response:
    """Revoke a token of one's own, or as an administrator anybody's; an expired one may be revoked too.

    Sessions that began with it end as well. Share tokens are revoked by administrators and by who shared.
    """
    form = await call.form(RevokeForm)
    try:
        token = read(call.context.logins.token_keys, form.token, LOGINS, now=call.now, allow_expired=True)
    except InvalidToken as error:
        raise BadRequest(str(error)) from None
    own = call.caller.id in {token.user_id, token.issuer_id}
    if not own and not call.caller.administrator:
        raise BadRequest("the token is another user's", is_refusal=True)
    await end_token(call, token.id, token.user_id, token.expires, "token")
    return no_content()


@OPERATIONS.operation("GET", "/session/{id}", query=ImpersonationQuery, answer=User, changes=True)
async def impersonate(call: Call) -> Response:
    """Open a session as another user; for administrators and their managers.

    In such a session, one's own id leads back to a session of one's own.
    """
    view_only = call.query(ImpersonationQuery).view_only
    user = await users.TABLE.fetch(call.context.database, call.id)
    # Who is acting as somebody else already acts as this user too, by their own rights.
    actor_id = call.caller.impersonator_id or call.caller.id
    is_of_actor = user is not None and actor_id == user.id and call.caller.impersonator_id != 0
    # A token that was issued while acting may have been given to somebody else: it leads nobody back.
    is_return = is_of_actor and call.caller.token_id is None
    permitted = user is not None and (is_return or await may_see_user(call, call.context.database, user.id))
    if (not permitted and not call.caller.administrator) or (is_of_actor and not is_return):
        raise Unauthorized("only an administrator or a manager of the user may do this")
    if user is None:
        raise ResourceNotFound("no such user")
    if not may_log_in(user, call.now):
        raise ResourceNotFound("the user is disabled or has expired")
    actor = await call.context.logins.accounts.by_id(actor_id)
    if actor is None or not await may_act_as(call.context, actor, user, call.now):
        raise Unauthorized("only an administrator or a manager of the user may do this")
    is_other = actor_id != user.id
    view_only = view_only and is_other
    impersonator_id = actor_id if is_other else 0
    response = as_json(show(user, impersonator=actor.user if is_other else None, view_only=view_only))
    await begin_session(
        call,
        response,
        user,
        token=call.caller,
        impersonator_id=impersonator_id,
        view_only=view_only,
        logged_in=_logged_in(call.caller.session, actor),
    )
    attributes: dict[str, object] = {"method": "impersonation", "impersonatorEmail": actor.user.email}
    if is_return:
        attributes = {"method": "return", "actedAs": call.caller.id}
    elif view_only:
        attributes["viewOnly"] = True
    await record_action(
        call,
        call.context.database,
        "login",
        "user",
        user.id,
        user=user,
        impersonator_id=impersonator_id,
        attributes=attributes,
    )
    return response


def _logged_in(session: Session | None, actor: Account) -> datetime | None:
    """Return when the caller of a session logged in, so that going to and fro makes it no younger.

    A change of one's own password or one-time-code key takes proof too, and ends what began before it.
    """
    if session is None:
        return None
    since = actor.tokens_since
    return session.created if since is None else max(session.created, since)
