"""A user in the API, and who may create and change users, field by field (docs/users.md)."""

from typing import Annotated

import msgspec
import pyotp

from motorpool.actors.accounts.user_rights import is_restricted
from motorpool.actors.deliveries.webhook import WEBHOOK_SECRET, WEBHOOK_URL, check_url, signing_key
from motorpool.actors.http.errors import DeliveryRefused
from motorpool.actors.words.masking import MASK, restore_secrets
from motorpool.actors.work.connection_limits import client_network
from motorpool.api.auth.caller import Source
from motorpool.api.auth.grants import require_account_grant, require_grant
from motorpool.api.auth.guarded_fields import guarded_changes
from motorpool.api.auth.new_users import with_registration_defaults
from motorpool.api.auth.rights import (
    MANAGE_USERS,
    RESTRICTION_FIELDS,
    ROLE_FIELDS,
    SELF_EDITABLE_ATTRIBUTES,
)
from motorpool.api.engine.call import Call
from motorpool.api.engine.text_rules import is_email
from motorpool.api.http.errors import BadRequest
from motorpool.api.json import camel, extended
from motorpool.api.logins.password_rules import require_acceptable, require_proof
from motorpool.api.logins.second_factor import is_demanded, require_codes
from motorpool.api.logins.setup import REFUSAL, may_set_up
from motorpool.api.request_limits import count
from motorpool.storage.accounts import limits, server
from motorpool.storage.database.queries import Queries
from motorpool.storage.records import User as UserRow

MAX_PASSWORD_LENGTH = 1024


class User(UserRow, frozen=True, rename="camel"):
    """A user in requests and answers; passwords are accepted but never returned."""

    password: Annotated[str, msgspec.Meta(max_length=MAX_PASSWORD_LENGTH)] | None = None
    """Needed for a new user; left out or empty it is kept. Null in answers."""
    current_password: Annotated[str, msgspec.Meta(max_length=MAX_PASSWORD_LENGTH)] | None = None
    """With a change of one's own password, one-time-code key, address, login name, telephone or where
    notifications go, unless the login is recent. Null in answers. Not in the specification."""
    totp_needed: bool = False
    """In answers of /session: the user has to set up one-time codes before anything else. Ignored in a body.
    Not in the specification."""
    impersonator_id: int = 0
    """In answers of /session: who acts as the user; 0 if it is the user. Ignored in a body. Not in the
    specification."""
    impersonator_name: str | None = None
    """In answers of /session: their name. Ignored in a body. Not in the specification."""
    view_only: bool = False
    """In answers of /session: nothing can be changed in this session. Ignored in a body. Not in the
    specification."""


def show(
    user: UserRow,
    *,
    totp_needed: bool = False,
    impersonator: UserRow | None = None,
    view_only: bool = False,
) -> User:
    """Return the user without secrets; a PUT that leaves them out keeps them.

    What is said of the session is for answers of /session alone.
    """
    return extended(
        User,
        user,
        totp_key=None,
        password=None,
        current_password=None,
        totp_needed=totp_needed,
        impersonator_id=impersonator.id if impersonator is not None else 0,
        impersonator_name=(impersonator.name or impersonator.email) if impersonator is not None else None,
        view_only=view_only,
    )


def check_webhook(sent: User) -> None:
    """Check the webhook of a user. Raises BadRequest."""
    url, secret = sent.attributes.get(WEBHOOK_URL), sent.attributes.get(WEBHOOK_SECRET)
    try:
        if url not in (None, ""):
            check_url(str(url))
        if secret not in (None, "", MASK):
            signing_key(str(secret))
    except DeliveryRefused as error:
        raise BadRequest(f"{WEBHOOK_URL if url else WEBHOOK_SECRET}: {error}") from None


async def check_secrets(call: Call, sent: User) -> None:
    """Check a new password, and that users who change what guards their own account are present.

    Raises BadRequest, and LoginLocked for too many wrong passwords.
    """
    if sent.password:
        require_acceptable(call, sent.password, sent.name, sent.email, sent.login)
    caller = call.optional_caller
    if caller is None or call.request.method != "PUT" or call.id != caller.id:
        return
    if not sent.totp_key:
        require_codes(caller)
    changed = guarded_changes(restore_secrets(sent, caller.user), caller.user)
    if sent.totp_key is not None and (sent.totp_key or None) != caller.user.totp_key:
        changed.insert(0, "totpKey")
    if sent.password:
        changed.insert(0, "password")
    if changed:
        await require_proof(call, sent.current_password, changed)


def new_names(new: User, old: UserRow | None) -> dict[str, str]:
    """Return the names to log in with that are new or changed, by field. Raises BadRequest for a wrong form.

    Those of before stay as they are. A login name is no address, which its owner may want to register.
    """
    found = {}
    if old is None or new.email != old.email:
        if not is_email(new.email):
            raise BadRequest("email: not an e-mail address")
        found["email"] = new.email
    if new.login and (old is None or new.login != old.login):
        if "@" in new.login and new.login.lower() != new.email.lower():
            raise BadRequest("login: only one's own e-mail address may be a login name too")
        found["login"] = new.login
    return found


async def check_registration(call: Call) -> None:
    """Raise BadRequest or TooManyRequests unless anybody may register now, from this address too."""
    if not await server.is_initialised(call.context.database):
        if not may_set_up(call):
            raise BadRequest(REFUSAL)
    elif not call.context.server.registration:
        raise BadRequest("registration is not open", is_refusal=True)
    await count(call.context.limits.registrations, client_network(call.address), "registrations")


async def prepare_new(call: Call, transaction: Queries, new: User) -> User:
    """Check a new user, and complete it. Raises BadRequest."""
    if not new.password:
        raise BadRequest("password: needed")
    if await server.initialise(transaction):
        if not may_set_up(call):
            # The transaction is rolled back, so the next one may be the first.
            raise BadRequest(REFUSAL)
        return msgspec.structs.replace(new, administrator=True)
    creator = call.optional_caller
    if creator is not None and creator.administrator:
        return new
    if new.temporary:
        # Sharing creates and reuses such users, so they must not be created here.
        raise BadRequest("temporary: only an administrator may set it", is_refusal=True)
    if creator is not None and creator.manager:
        MANAGE_USERS.require(creator)
        require_grant(creator, new, None)
        await _require_room(transaction, creator.id)
        return new
    settings = call.context.server
    if not settings.registration:
        raise BadRequest("registration is not open", is_refusal=True)
    if settings.attributes.get("totpForce") is True and not new.totp_key:
        raise BadRequest("totpKey: needed on this server")
    _refuse_role(new)
    if any(getattr(new, flag) for flag in RESTRICTION_FIELDS):
        raise BadRequest("only a manager may restrict a user", is_refusal=True)
    return with_registration_defaults(new, settings, call.context.settings.users, call.now)


async def _require_room(transaction: Queries, manager_id: int) -> None:
    """Raise BadRequest if the manager may create no more users, by their limit or that of a manager above."""
    exceeded = await limits.exceeded_limit(transaction, manager_id, "user_limit", more=1)
    if exceeded is not None:
        whose = "the manager's limit" if exceeded.user_id == manager_id else "the limit of a manager above"
        raise BadRequest(f"{whose} of users is reached")


async def prepare_change(call: Call, transaction: Queries, new: User, old: UserRow) -> User:
    """Check that the caller may change each field that differs. Raises BadRequest."""
    del transaction
    caller = call.caller
    if new.totp_key is None:
        new = msgspec.structs.replace(new, totp_key=old.totp_key)
    elif not new.totp_key:
        new = msgspec.structs.replace(new, totp_key=None)
    own = caller.id == old.id
    if own and old.totp_key and not new.totp_key and is_demanded(call.context, old):
        raise BadRequest("totpKey: needed on this server")
    if caller.administrator:
        return new
    if old.totp_key and not new.totp_key and call.context.server.attributes.get("totpForce") is True:
        raise BadRequest("totpKey: needed on this server")
    # Who is read-only has to set up what is demanded, too.
    same_key = msgspec.structs.replace(new, totp_key=old.totp_key) if caller.lacks_codes else new
    if not (own and _only_self_editable_attributes_differ(same_key, old)):
        MANAGE_USERS.require(caller)
    if own:
        for name in RESTRICTION_FIELDS:
            if getattr(new, name) != getattr(old, name):
                raise BadRequest(f"{camel(name)}: nobody changes it for themselves", is_refusal=True)
    require_grant(caller, new, old)
    if not own:
        require_account_grant(caller, new, old, password=bool(new.password))
    if new.email.lower() != old.email.lower() and is_restricted(old, call.context.server, "fixed_email"):
        source = Source.USER if old.fixed_email else Source.SERVER
        raise BadRequest(f"email: only an administrator may change it{source.value}", is_refusal=True)
    return new


def _only_self_editable_attributes_differ(new: User, old: UserRow) -> bool:
    if new.password:
        return False
    same = show(msgspec.structs.replace(new, attributes={})) == show(
        msgspec.structs.replace(old, attributes={})
    )
    totp_same = new.totp_key == old.totp_key
    changed = {
        key
        for key in {*new.attributes, *old.attributes}
        if new.attributes.get(key) != old.attributes.get(key)
    }
    return same and totp_same and changed <= SELF_EDITABLE_ATTRIBUTES


def _refuse_role(new: User) -> None:
    for name in ROLE_FIELDS:
        if getattr(new, name):
            raise BadRequest(f"{camel(name)}: only an administrator may set it", is_refusal=True)


def check_totp_key(key: str | None) -> None:
    """Raise BadRequest if this cannot be the secret of one-time codes; nothing and an empty text can."""
    if not key:
        return
    try:
        pyotp.TOTP(key).byte_secret()
    except ValueError:
        raise BadRequest("totpKey: is not Base32 of at least 112 bits") from None
