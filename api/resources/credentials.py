"""Sessions, tokens and share links: who is logged in, and how that is ended
(docs/authentication.md#sessions-tokens-and-shares). Not part of the specification.
"""

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import TypeVar

import msgspec
from quart import Response

from motorpool.actors.change_feed import publish_changes
from motorpool.actors.messages.changes import SessionEnded, TokenRevoked
from motorpool.api.auth.caller import Caller
from motorpool.api.auth.rights import LIST_CREDENTIALS
from motorpool.api.auth.tokens import Token
from motorpool.api.engine.audit import record_action
from motorpool.api.engine.call import Call
from motorpool.api.engine.list_parameters import Id
from motorpool.api.engine.operations import NO_CONTENT, Operations
from motorpool.api.http.errors import BadRequest, ResourceNotFound
from motorpool.api.http.responses import as_json, no_content
from motorpool.api.json import extended
from motorpool.api.resources.linked_policy import may_see_user
from motorpool.storage.accounts import sessions, tokens
from motorpool.storage.accounts.tokens import IssuedToken

OPERATIONS = Operations("session")

T = TypeVar("T")


class OfUser(msgspec.Struct, rename="camel"):
    """Whose."""

    user_id: Id | None = None
    """The user, for administrators and managers of the user; by default the caller."""


class SessionInfo(msgspec.Struct, rename="camel"):
    """A login by cookie."""

    id: str
    """What the session is ended by; it opens nothing."""
    user_id: int
    created: datetime
    """When the user logged in."""
    last_used: datetime
    """When it was used last, to a minute."""
    expires: datetime
    """When it ends if it is not used again."""
    address: str | None
    """From where the user logged in; null for sessions of earlier versions."""
    user_agent: str | None
    """What the client called itself; or null."""
    token_id: str | None
    """The token with which it began and ends; null without one."""
    impersonator_id: int
    """The user who began it as this one; 0 if it is the user's own."""
    view_only: bool
    """Whether they began it only to see what the user sees."""
    current: bool
    """Whether it is the session of this request."""


class TokenInfo(msgspec.Struct, rename="camel"):
    """A token of `POST /session/token`; its text is shown only when it is issued."""

    id: str
    """What the token is ended by; its text is shown only when it is issued."""
    user_id: int
    issued: datetime
    expires: datetime
    issuer_id: int
    """The user who issued it in a session as this one; 0 if it is the user's own."""
    current: bool
    """Whether it is the token of this request, or began its session."""


class ShareInfo(msgspec.Struct, rename="camel"):
    """A share link; its text is shown only when it is issued."""

    id: str
    """What the link is ended by; its token is shown only when it is issued."""
    user_id: int
    """The temporary user that its holders act as."""
    device_id: int
    group_id: int
    issued: datetime
    expires: datetime


def issued_token(token: Token, issuer: Caller) -> IssuedToken:
    """Return the row of a token that is being issued."""
    return extended(IssuedToken, token, parent_id=issuer.token_id)


async def end_token(call: Call, token_id: str, user_id: int, expires: datetime, kind: str) -> None:
    """Revoke a token, what was issued with it, and the sessions that began with any of these."""
    async with call.context.database.transaction() as transaction:
        revoked = await tokens.revoke_with_descendants(transaction, token_id, user_id, expires)
        await sessions.delete_by_tokens(transaction, revoked, user_id, expires)
        await record_action(call, transaction, "remove", kind)
    await publish_changes(call.context.system, *(TokenRevoked(*each) for each in revoked.items()))


def _list_operation(
    name: str, shape: type[T], find: Callable[[Call, int], Awaitable[list[T]]], summary: str
) -> None:
    """Add the operation that lists what a user has."""

    async def serve(call: Call) -> Response:
        return as_json(await find(call, await _whose(call)))

    serve.__name__, serve.__doc__ = f"list_{name}", summary
    OPERATIONS.operation("GET", f"/{name}", query=OfUser, answer=list[shape])(serve)  # type: ignore[valid-type]


async def _whose(call: Call) -> int:
    LIST_CREDENTIALS.require(call.caller)
    user_id = call.query(OfUser).user_id
    if user_id is None or user_id == call.caller.id:
        return call.caller.id
    if not await _answers_for(call, user_id):
        raise BadRequest(
            "userId: only an administrator or a manager of the user may name another user", is_refusal=True
        )
    return user_id


async def _answers_for(call: Call, user_id: int) -> bool:
    """Return whether the caller is an administrator, that user, or one of the user's managers.

    A manager ends what a user is logged in with by a new password, too.
    """
    caller = call.caller
    return caller.administrator or await may_see_user(call, call.context.database, user_id)


async def _sessions(call: Call, user_id: int) -> list[SessionInfo]:
    own = call.caller.session
    return [
        extended(
            SessionInfo,
            session,
            expires=min(session.expires, session.token_expires or session.expires),
            current=own is not None and own.id == session.id,
        )
        for session in await sessions.of_user(call.context.database, user_id, call.now)
    ]


async def _tokens(call: Call, user_id: int) -> list[TokenInfo]:
    account = await call.context.logins.accounts.by_id(user_id)
    since = account.tokens_since if account is not None else None
    return [
        extended(TokenInfo, token, current=call.caller.token_id == token.id)
        for token in await tokens.of_user(call.context.database, user_id, call.now, since=since)
    ]


async def _shares(call: Call, user_id: int) -> list[ShareInfo]:
    found = await tokens.shared_by(call.context.database, user_id, call.now)
    return [extended(ShareInfo, share) for share in found]


_list_operation("sessions", SessionInfo, _sessions, "The sessions of a user, the one used last first.")
_list_operation("tokens", TokenInfo, _tokens, "The tokens that log in as a user, newest first.")
_list_operation("shares", ShareInfo, _shares, "The share links of a user, newest first.")


@OPERATIONS.operation("DELETE", "/sessions/{id:text}", answers={204: NO_CONTENT}, errors=(400,))
async def end_session_by_id(call: Call) -> Response:
    """End a session of one's own, of a managed user, or as an administrator anybody's."""
    LIST_CREDENTIALS.require(call.caller)
    session_id = call.path["id"]
    found = (await sessions.fetch(call.context.database, [session_id])).get(session_id)
    if found is None or not await _answers_for(call, found.user_id):
        raise ResourceNotFound("no such session", is_refusal=found is not None)
    async with call.context.database.transaction() as transaction:
        await sessions.delete(transaction, session_id)
        await record_action(call, transaction, "remove", "session", attributes={"userId": found.user_id})
    await publish_changes(call.context.system, SessionEnded(session_id))
    return no_content()


@OPERATIONS.operation("DELETE", "/sessions", query=OfUser, answers={204: NO_CONTENT})
async def end_other_sessions(call: Call) -> Response:
    """End all sessions of a user but that of the request, and those that the user began as another one."""
    user_id, own = await _whose(call), call.caller.session
    async with call.context.database.transaction() as transaction:
        ended = await sessions.delete_of_user(transaction, user_id, keep=own.id if own else None)
        attributes = {"userId": user_id, "sessions": len(ended)}
        await record_action(call, transaction, "remove", "session", attributes=attributes)
    await publish_changes(call.context.system, *map(SessionEnded, ended))
    return no_content()


@OPERATIONS.operation("DELETE", "/tokens/{id:text}", answers={204: NO_CONTENT}, errors=(400,))
async def end_token_by_id(call: Call) -> Response:
    """Revoke a token of one's own, of a managed user, or as an administrator anybody's.

    The sessions that began with it end as well.
    """
    return await _end(call, "session", "token")


@OPERATIONS.operation("DELETE", "/shares/{id:text}", answers={204: NO_CONTENT}, errors=(400,))
async def end_share_by_id(call: Call) -> Response:
    """End a share link of one's own, of a managed user, or as an administrator anybody's."""
    return await _end(call, "share", "share")


async def _end(call: Call, purpose: str, kind: str) -> Response:
    LIST_CREDENTIALS.require(call.caller)
    found = await tokens.fetch(call.context.database, call.path["id"])
    owner_id = 0
    if found is not None and found.purpose == purpose:
        owner_id = found.issuer_id if purpose == "share" else found.user_id
    if found is None or not owner_id or not await _answers_for(call, owner_id):
        raise ResourceNotFound(f"no such {kind}", is_refusal=bool(owner_id))
    await end_token(call, found.id, found.user_id, found.expires, kind)
    return no_content()
