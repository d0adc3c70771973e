"""Password reset: the request for a link, and the new password (docs/authentication.md#password-reset)."""

import logging
from typing import Annotated

import msgspec
from quart import Response

from motorpool.actors.accounts.user_rights import may_log_in
from motorpool.actors.change_feed import publish_changes
from motorpool.actors.mailings.account_mails import AccountChange
from motorpool.actors.messages.changes import UserChanged
from motorpool.actors.work.connection_limits import client_network
from motorpool.api.auth.password_resets import PASSWORD_RESETS, PasswordResetRequested
from motorpool.api.auth.tokens import RESET, InvalidToken, Token, read
from motorpool.api.engine.audit import record_action
from motorpool.api.engine.call import Call
from motorpool.api.engine.operations import Content, Operations
from motorpool.api.http.errors import BadRequest, ResourceNotFound
from motorpool.api.http.responses import as_text
from motorpool.api.logins.account_mails import tell_owner_of
from motorpool.api.logins.authentication import remember_login
from motorpool.api.logins.password_rules import require_acceptable
from motorpool.api.request_limits import count
from motorpool.api.resources.user_rules import MAX_PASSWORD_LENGTH
from motorpool.storage.accounts import tokens, users
from motorpool.storage.accounts.users import Account
from motorpool.storage.database.queries import Queries

OPERATIONS = Operations("password")

_log = logging.getLogger(__name__)

TEXT = Content(media_type="text/plain")
SPENT = "the link has been used already, or the password has been changed since it was sent"


class ResetForm(msgspec.Struct, rename="camel"):
    """Whose password."""

    email: Annotated[str, msgspec.Meta(max_length=1024)]


class UpdateForm(msgspec.Struct, rename="camel"):
    """What the mailed link holds, and the new password."""

    token: str
    password: Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_PASSWORD_LENGTH)]


@OPERATIONS.operation(
    "POST", "/password/reset", form=ResetForm, answers={200: TEXT}, errors=(429,), public=True
)
async def reset_password(call: Call) -> Response:
    """Mail a link that sets a new password; the answer is the same whether or not anybody gets one."""
    form = await call.form(ResetForm)
    await count(call.context.limits.resets, client_network(call.address), "password resets")
    if not call.context.system.ref(PASSWORD_RESETS).offer(PasswordResetRequested(form.email)):
        _log.warning("too many password resets wait; one is forgotten")
    return as_text("if there is such an account, a mail is on its way")


@OPERATIONS.operation(
    "POST", "/password/update", form=UpdateForm, answers={200: TEXT}, errors=(404,), public=True
)
async def update_password(call: Call) -> Response:
    """Set a new password by the token of the mailed link; every login of before ends."""
    form = await call.form(UpdateForm)
    try:
        token = read(call.context.logins.token_keys, form.token, {RESET}, now=call.now)
    except InvalidToken as error:
        raise BadRequest(str(error)) from None
    account = await _check(call, call.context.database, token)
    require_acceptable(call, form.password, account.user.name, account.user.email, account.user.login)
    # Hash only after the first check, so that invalid links cost no CPU time.
    hashed = await call.hash_password(form.password)
    async with call.context.database.transaction() as transaction:
        # Of two requests with the same token one waits here, and finds it used.
        first = await tokens.revoke(transaction, token.id, token.expires)
        account = await _check(call, transaction, token)
        if not first:
            raise BadRequest(SPENT)
        await users.change_password(transaction, token.user_id, hashed, call.now)
        await record_action(
            call,
            transaction,
            "edit",
            "user",
            token.user_id,
            user=account.user,
            attributes={"password": "reset"},
        )
        await tell_owner_of(call, transaction, account.user, [AccountChange.PASSWORD])
    await publish_changes(call.context.system, UserChanged(token.user_id, "updated"))
    await call.finish_change()
    # Users who forgot their password have mostly reached the limit of failed logins.
    await call.context.logins.limits.reset_failures(account.user.id)
    response = as_text("the password is set")
    # The mail has proved who they are.
    await remember_login(call, response, account.user)
    return response


async def _check(call: Call, queries: Queries, token: Token) -> Account:
    """Return the account of the token, which must still be valid for it."""
    account = (await users.accounts(queries, [token.user_id])).get(token.user_id)
    if account is None:
        raise ResourceNotFound("there is no such user any more")
    if account.tokens_since is not None and token.issued < account.tokens_since:
        raise BadRequest(SPENT)
    if not token.is_for_address(account.user.email):
        # Who reads the old address, perhaps a mistyped one, is not the user.
        raise BadRequest("the link was mailed to another address than the account has now")
    if not may_log_in(account.user, call.now):
        raise BadRequest("the account is disabled or has expired")
    return account
