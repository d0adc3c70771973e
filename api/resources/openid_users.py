"""The user behind an identity of the OpenID provider (docs/authentication.md#openid-connect,
docs/users.md#creation).
"""

import logging
from typing import Any

import msgspec

from motorpool.actors.accounts.user_rights import may_log_in
from motorpool.actors.change_feed import publish_changes
from motorpool.actors.mailings.account_mails import AccountChange
from motorpool.actors.messages.changes import Change, TokenRevoked, UserChanged, changed_fields
from motorpool.actors.words.printable import printable_line
from motorpool.api.auth.guarded_fields import guarded_changes, without_receivers
from motorpool.api.auth.new_users import DISPLAY_FIELDS, with_registration_defaults, with_server_values
from motorpool.api.auth.openid import Identity, LoginRefused
from motorpool.api.engine.audit import record_action
from motorpool.api.engine.call import Call
from motorpool.api.engine.text_rules import is_email
from motorpool.api.logins.account_mails import tell_owner_of
from motorpool.api.logins.setup import REFUSAL
from motorpool.storage.accounts import openid_identities, server, tokens, users
from motorpool.storage.database.queries import Queries
from motorpool.storage.records import User

MAX_EMAIL_LENGTH = 128

_log = logging.getLogger(__name__)


async def find_or_create_user(call: Call, identity: Identity, *, set_up: bool) -> User:
    """Return the user behind an identity, created or updated as the settings say.

    `set_up` says whether the client may become the administrator of a new server.
    No one-time code is required: a second factor is up to the provider.

    Raises:
        LoginRefused: the identity may not log in here.
    """
    settings = call.context.settings.openid
    administrator = settings.admin_group in identity.groups
    if settings.allow_group is not None and not administrator and settings.allow_group not in identity.groups:
        raise LoginRefused("you are not in the group that may log in here")
    facts: list[Change] = []
    async with call.context.database.transaction() as transaction:
        found = await _find(transaction, identity)
        if found is None and (
            found := await _match(call, transaction, identity, administrator=administrator)
        ):
            found, ended = await _link_existing(call, transaction, identity, found)
            facts += ended
        if found is None:
            user = await _create(call, transaction, identity, administrator=administrator, set_up=set_up)
            facts.append(UserChanged(user.id, "created"))
        else:
            user = await _update(call, transaction, found, administrator=administrator)
            if fields := changed_fields(found, user):
                facts.append(UserChanged(user.id, "updated", fields))
    await publish_changes(call.context.system, *facts)
    await call.finish_change()
    return user


async def _find(transaction: Queries, identity: Identity) -> User | None:
    """Return the user that the identity is linked to."""
    user_id = await openid_identities.find_user(transaction, identity.issuer, identity.subject)
    # Whatever the address is by now: it may have been given to another person.
    return None if user_id is None else await users.TABLE.fetch(transaction, user_id, lock=True)


async def _match(call: Call, transaction: Queries, identity: Identity, *, administrator: bool) -> User | None:
    """Return the user with the identity's e-mail address, to be linked to it. None: there is no such user."""
    if identity.verified is False or (
        identity.verified is None and call.context.settings.openid.require_verified
    ):
        raise LoginRefused("the provider has not verified your e-mail address")
    if len(identity.email) > MAX_EMAIL_LENGTH or not is_email(identity.email):
        raise LoginRefused("your e-mail address is too long for this server, or no e-mail address")
    # Of parallel logins with one address the first creates the user, and the others find it.
    await users.lock_name(transaction, identity.email)
    user = await users.by_address(transaction, identity.email, lock=True)
    if user is None:
        if await users.id_by_email(transaction, identity.email) is not None:
            raise LoginRefused("another account has your e-mail address as its login name")
        return None
    if user.email != identity.email and not (user.email.isascii() and identity.email.isascii()):
        # Case folding is ambiguous outside ASCII.
        raise LoginRefused("you have no account here")
    if identity.verified is not True:
        account = (await users.accounts(transaction, [user.id]))[user.id]
        if account.password_hash is not None or (user.administrator and not administrator):
            raise LoginRefused("your account here needs an e-mail address that the provider has verified")
    return user


async def _link_existing(
    call: Call, transaction: Queries, identity: Identity, user: User
) -> tuple[User, list[Change]]:
    """Link the identity to an account that was there before; return it, and what to publish after the commit.

    Nobody had proved before that the address is theirs: whoever made the account may know its password, be
    logged in, hold tokens and share links, and get what it is notified of. All of this ends.
    """
    linked = await openid_identities.find_user(transaction, identity.issuer, identity.subject)
    if linked == user.id:
        # A parallel login of the same identity has linked it meanwhile.
        return user, []
    await _link(call, transaction, identity, user, existed=True)
    account = (await users.accounts(transaction, [user.id]))[user.id]
    if account.password_hash is not None:
        await tell_owner_of(call, transaction, user, [AccountChange.PASSWORD])
    await users.change_password(transaction, user.id, None, call.now)
    shares = await tokens.revoke_shares(transaction, user.id)
    attributes = {**_audited(identity), "password": "removed"}
    kept = without_receivers(user)
    if removed := guarded_changes(kept, user):
        await users.TABLE.update(transaction, kept)
        attributes["removed"] = removed
    await record_action(call, transaction, "link", "user", user.id, user=user, attributes=attributes)
    return kept, [UserChanged(user.id, "updated"), *(TokenRevoked(*each) for each in shares.items())]


async def _link(call: Call, transaction: Queries, identity: Identity, user: User, *, existed: bool) -> None:
    issuer, subject = identity.issuer, identity.subject
    if not await openid_identities.link(transaction, issuer, subject, user.id, call.now, existed=existed):
        raise LoginRefused("the account with your e-mail address is linked to another login of the provider")


def _audited(identity: Identity) -> dict[str, Any]:
    return {"openid": {"issuer": identity.issuer, "subject": identity.subject}}


async def _create(
    call: Call, transaction: Queries, identity: Identity, *, administrator: bool, set_up: bool
) -> User:
    settings = call.context.settings.openid
    first = await server.initialise(transaction)
    if first and settings.admin_group is None:
        if not set_up:
            raise LoginRefused(REFUSAL)
        administrator = True
    allowed = call.context.server.registration or settings.allow_registration or (first and administrator)
    if not allowed:
        raise LoginRefused("you have no account here, and registration is not open")
    values = call.context.server
    user = User(name=printable_line(identity.name), email=identity.email)
    new = with_server_values(user, values, DISPLAY_FIELDS)
    if not administrator:
        new = with_registration_defaults(new, values, call.context.settings.users, call.now)
    made = await users.TABLE.insert(
        transaction, msgspec.structs.replace(new, fixed_email=True, administrator=administrator)
    )
    await _link(call, transaction, identity, made, existed=False)
    await record_action(
        call, transaction, "create", "user", made.id, user=made, attributes=_audited(identity)
    )
    return made


async def _update(call: Call, transaction: Queries, user: User, *, administrator: bool) -> User:
    """Check an existing user, and update their role if the provider's groups decide on it."""
    if user.temporary or not may_log_in(user, call.now):
        raise LoginRefused("your account is disabled or has expired")
    if call.context.settings.openid.admin_group is None or user.administrator == administrator:
        return user
    if not administrator and await _was_here_first(transaction, user):
        # The role was granted here, not by the provider.
        return user
    changed = msgspec.structs.replace(user, administrator=administrator)
    if await users.is_last_administrator(transaction, user, changed, call.now):
        _log.warning(
            "user %d stays administrator although the provider says otherwise: the last one", user.id
        )
        return user
    await users.TABLE.update(transaction, changed)
    if administrator:
        await users.end_management(transaction, user.id, call.now)
    await record_action(
        call, transaction, "edit", "user", user.id, user=user, attributes={"administrator": administrator}
    )
    return changed


async def _was_here_first(transaction: Queries, user: User) -> bool:
    """Return whether the account is not the provider's: it was there before, or has a password."""
    account = (await users.accounts(transaction, [user.id]))[user.id]
    return account.password_hash is not None or await openid_identities.existed(transaction, user.id)
