"""Resolves a valid credential to a user, an expiry, and the user who acts as them
(docs/authentication.md#what-ends-access).
"""

from datetime import datetime

import msgspec

from motorpool.actors.accounts.user_rights import may_log_in
from motorpool.actors.messages.access import ACCESS, CoversGuest
from motorpool.api.auth.caller import Caller
from motorpool.api.logins.second_factor import lacks_codes
from motorpool.api.server_context import ServerContext
from motorpool.storage.accounts import links
from motorpool.storage.accounts.users import Account
from motorpool.storage.records import Session, User


class Credential(msgspec.Struct, frozen=True, kw_only=True):
    """A credential that was verified and has not expired or been revoked."""

    user_id: int
    begun: datetime
    """When it was issued."""
    expires: datetime | None = None
    token_id: str | None = None
    """The token that it is, or with which the session began."""
    token_expires: datetime | None = None
    """When that token expires."""
    session: Session | None = None
    impersonator_id: int = 0
    """Who began the session, issued the token, or shared, as another user."""
    view_only: bool = False
    """Whether it is a session in which nothing can be changed."""
    sharer_id: int = 0
    """Who issued it by sharing, for a temporary user whose row does not say it."""


async def find_caller(context: ServerContext, credential: Credential) -> Caller | None:
    """Return the caller; None if the user, the sharer or the impersonator has lost access."""
    now = context.clock.now()
    account = await context.logins.accounts.by_id(credential.user_id)
    if account is None or not may_log_in(account.user, now):
        return None
    ends = [credential.expires, credential.token_expires, account.user.expiration_time]
    sharer_id = account.shared_by or credential.sharer_id
    acted_for = account.user
    if sharer_id:
        sharer = await context.logins.accounts.by_id(sharer_id)
        if sharer is None or not await _covers(context, sharer, account, now):
            return None
        ends.append(sharer.user.expiration_time)
        acted_for = sharer.user
    impersonator: Account | None = None
    if credential.impersonator_id:
        impersonator = await context.logins.accounts.by_id(credential.impersonator_id)
        if (
            impersonator is None
            or _ended(impersonator, credential.begun)
            or lacks_codes(context, impersonator)
            or not await may_act_as(context, impersonator, acted_for, now)
        ):
            return None
        ends.append(impersonator.user.expiration_time)
    return Caller(
        user=account.user,
        server=context.server,
        session=credential.session,
        token_id=credential.token_id,
        token_expires=credential.token_expires,
        expires=min((end for end in ends if end is not None), default=None),
        impersonator=impersonator.user if impersonator is not None else None,
        view_only=credential.view_only,
        sharer_id=sharer_id,
        lacks_codes=impersonator is None and lacks_codes(context, account),
    )


async def may_act_as(context: ServerContext, account: Account, user: User, now: datetime) -> bool:
    """Return whether an administrator or manager may open a session as the user."""
    actor = account.user
    if not may_log_in(actor, now):
        return False
    if actor.administrator or actor.id == user.id:
        return True
    if user.administrator or actor.user_limit == 0:
        return False
    return await links.exists(context.database, links.USER_USER, actor.id, user.id)


async def _covers(context: ServerContext, sharer: Account, guest: Account, now: datetime) -> bool:
    """Return whether the sharer may log in and still sees what they shared."""
    if not may_log_in(sharer.user, now):
        return False
    sharer_id = 0 if sharer.user.administrator else sharer.user.id
    return await context.system.ref(ACCESS).ask(CoversGuest(sharer_id, guest.user.id))


def _ended(account: Account, begun: datetime) -> bool:
    """Return whether the user has changed the password since."""
    return account.tokens_since is not None and begun < account.tokens_since
