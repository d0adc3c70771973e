"""Invites users by mail to set their password (docs/users.md#invitations). Not part of the specification."""

from datetime import timedelta

from quart import Response

from motorpool.actors.accounts.user_rights import may_log_in
from motorpool.actors.deliveries.outbox import OUTBOX, OutboxFilled
from motorpool.actors.mailings.texts import mail_to
from motorpool.actors.words.preferences import preferences_for
from motorpool.api.auth.grants import require_account_grant
from motorpool.api.auth.password_resets import password_link
from motorpool.api.auth.rights import MANAGE_USERS
from motorpool.api.auth.tokens import RESET, issue
from motorpool.api.engine.audit import record_action
from motorpool.api.engine.call import Call
from motorpool.api.engine.operations import NO_CONTENT, Operations
from motorpool.api.http.errors import BadRequest, ResourceNotFound
from motorpool.api.http.responses import no_content
from motorpool.api.request_limits import count
from motorpool.api.resources.linked_policy import may_see_user
from motorpool.storage.accounts import users
from motorpool.storage.deliveries import outbox
from motorpool.storage.records import User

OPERATIONS = Operations("users")

LIFETIME_DAYS = 7
"""How long an invitation can be accepted."""


@OPERATIONS.operation("POST", "/users/{id}/invitation", answers={204: NO_CONTENT}, errors=(400, 404, 429))
async def invite_user(call: Call) -> Response:
    """Mail a user a link by which they set their password, within seven days.

    For administrators, and for managers who may set the password of the user themselves.
    """
    caller = call.caller
    user = await users.TABLE.fetch(call.context.database, call.id)
    if user is None or not await may_see_user(call, call.context.database, user.id):
        raise ResourceNotFound("no such user", is_refusal=user is not None)
    MANAGE_USERS.require(caller)
    if user.id == caller.id:
        raise BadRequest("nobody invites themselves")
    if not caller.administrator:
        require_account_grant(caller, user, user, password=True)
    _require_reachable(call, user)
    await count(call.context.limits.invitations, str(caller.id), "invitations")
    await count(call.context.limits.invitations_to_user, str(user.id), "invitations to this user")
    now = call.now
    expires, mailed = now + timedelta(days=LIFETIME_DAYS), {"email": user.email}
    text, token = issue(call.context.logins.token_keys, user.id, RESET, expires, now=now, extra=mailed)
    link = password_link(call.context.settings, text)
    values = {
        "inviter": caller.user.name or caller.user.email,
        "account": user.email,
        "server": call.context.settings.public_url,
        "days": str(LIFETIME_DAYS),
    }
    preferences = preferences_for(user, call.context.server)
    # Through the server's account, whatever mail server the user has set.
    mail = mail_to(user, "invitation", preferences, values, link=link, system=True)
    async with call.context.database.transaction() as transaction:
        await outbox.enqueue(transaction, mail, now=now, expires=token.expires)
        await record_action(call, transaction, "create", "invitation", user.id)
    call.context.system.ref(OUTBOX).offer(OutboxFilled())
    return no_content()


def _require_reachable(call: Call, user: User) -> None:
    """Raise BadRequest unless the user could be sent a mail, and could log in with a password then."""
    mail = call.context.outgoing.mail
    if not mail.enabled:
        raise BadRequest("the server has no mail account")
    if call.context.settings.openid.forced:
        raise BadRequest("passwords are switched off; users log in through the OpenID provider")
    if user.temporary or not may_log_in(user, call.now):
        raise BadRequest("the user is disabled or has expired")
    if not mail.can_reach(user.email):
        raise BadRequest("email: is no address that mail can be sent to")
