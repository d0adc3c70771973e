"""Users: the first becomes administrator; who may create and change users (docs/users.md)."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import pyotp
from quart import Response

from motorpool.actors.mailings.account_mails import account_changes
from motorpool.actors.messages.changes import UserChanged
from motorpool.actors.work.stored_calendars import TIME_ZONE
from motorpool.api.access import require_device_for_change
from motorpool.api.auth.grants import bounded
from motorpool.api.auth.new_users import (
    DISPLAY_FIELDS,
    SHARED_FLAGS,
    with_server_values,
)
from motorpool.api.auth.rights import (
    LIST_USERS,
    MANAGE_USERS,
    RESTRICTION_FIELDS,
    ROLE_FIELDS,
)
from motorpool.api.engine.audit import privileged_values
from motorpool.api.engine.call import Call
from motorpool.api.engine.list_parameters import COMMON_PARAMETERS, ListParameters
from motorpool.api.engine.operations import Content, Operations
from motorpool.api.engine.resource import Resource, ResourcePolicy
from motorpool.api.engine.resource_operations import add_resource_operations
from motorpool.api.engine.text_rules import MAX_NAME_LENGTH, TextRules, rules_for_all
from motorpool.api.engine.time_zones import require_time_zone
from motorpool.api.http.errors import BadRequest
from motorpool.api.http.responses import as_text
from motorpool.api.json import camel
from motorpool.api.logins.account_mails import tell_owner_of
from motorpool.api.logins.known_places import network_of
from motorpool.api.logins.setup import HEADER
from motorpool.api.resources.helpdesk.cleared_references import clear_references
from motorpool.api.resources.linked_policy import check_attributes, may_see_user
from motorpool.api.resources.user_rules import (
    User,
    check_registration,
    check_secrets,
    check_totp_key,
    check_webhook,
    new_names,
    prepare_change,
    prepare_new,
    show,
)
from motorpool.storage.accounts import known_addresses, links, users
from motorpool.storage.database.conditions import Condition
from motorpool.storage.database.queries import Queries
from motorpool.storage.database.tables import ListQuery
from motorpool.storage.records import User as UserRow
from motorpool.storage.schedules import scheduled_commands

MAX_EMAIL_LENGTH = 128
SECRETS = frozenset({"password", "totp_key"})
"""Texts that are kept where they are absent and not where they are empty."""

LAST_ADMINISTRATOR = (
    "the last administrator can be neither deleted, disabled nor demoted, and has no expiration time"
)


class UserPolicy(ResourcePolicy[User]):
    """The rules of docs/users.md#creation and docs/users.md#changes; every error is a 400."""

    table = users.TABLE
    texts = TextRules(
        {
            **rules_for_all(UserRow, verbatim=SECRETS).max_lengths,
            "email": MAX_EMAIL_LENGTH,
            "login": MAX_NAME_LENGTH,
        },
        required=("email",),
        keeps_empty=SECRETS,
    )
    privileged = ("email", "login", "temporary", "expiration_time", *ROLE_FIELDS, *RESTRICTION_FIELDS)

    async def read(self, call: Call, shape: type[User]) -> User:
        """Read the body and replace `password` by its hash, which takes too long inside a transaction.

        Registrations are refused before the body is parsed and anything is hashed, so that they cost no CPU
        time where nobody may register, or one address too often.
        """
        if call.optional_caller is None:
            await check_registration(call)
        sent = await call.body(shape)
        if call.request.method == "POST":
            sent = await self._with_defaults(call, sent)
        await check_secrets(call, sent)
        if not sent.password:
            return sent
        return msgspec.structs.replace(sent, password=await call.hash_password(sent.password))

    async def _with_defaults(self, call: Call, sent: User) -> User:
        """Give a new user the server's values of the fields that the body does not have.

        A restriction of a manager becomes one of their users, unless the body names it, which is checked.
        """
        creator = call.optional_caller
        may_restrict = creator is not None and creator.manager
        defaults = (*DISPLAY_FIELDS, *SHARED_FLAGS) if may_restrict else DISPLAY_FIELDS
        given = await call.body_fields()
        absent = [name for name in defaults if camel(name) not in given]
        completed = with_server_values(sent, call.context.server, absent)
        return (
            bounded(creator, completed, among=absent) if creator is not None and may_restrict else completed
        )

    async def list_query(self, call: Call, parameters: ListParameters) -> ListQuery:
        """Select all users for administrators and their own for managers; BadRequest for all others."""
        caller = call.caller
        LIST_USERS.require(caller)
        manager_id: int | None = None if caller.administrator else caller.id
        if parameters.user_id is not None:
            if not caller.administrator and parameters.user_id != caller.id:
                raise BadRequest("userId: not the caller's", is_refusal=True)
            manager_id = parameters.user_id
        conditions = []
        if parameters.device_id is not None:
            await require_device_for_change(call, parameters.device_id)
            owners = await links.owners(call.context.database, links.USER_DEVICE, parameters.device_id)
            conditions.append(Condition("id = any({0}::bigint[])", (owners,)))
        return ListQuery(
            accessible_to=manager_id,
            conditions=tuple(conditions),
            keyword=parameters.keyword,
            limit=parameters.limit,
            offset=parameters.offset,
            exclude_attributes=parameters.exclude_attributes,
        )

    async def has_access(self, call: Call, queries: Queries, record_id: int) -> bool:
        """Return whether the caller is that user, manages them, or is an administrator."""
        return await may_see_user(call, queries, record_id)

    async def prepare(self, call: Call, transaction: Queries, new: User, old: User | None) -> User:
        """Check the limits, and the right to change each field."""
        new = self.texts.trimmed(new)
        check_attributes(new, old)
        check_totp_key(new.totp_key)
        check_webhook(new)
        require_time_zone(TIME_ZONE, new.attributes, old.attributes if old is not None else {})
        if old is None:
            new = await prepare_new(call, transaction, new)
        else:
            new = await prepare_change(call, transaction, new, old)
        # The first user may be called as they like, such as "admin" in clients that know no other name.
        if old is not None or not new.administrator or call.optional_caller is not None:
            await users.claim_names(transaction, new.id, new_names(new, old))
        return new

    async def insert(self, call: Call, transaction: Queries, new: User) -> User:
        """Store; a user created by a manager is linked to the manager."""
        assert new.password is not None
        made = await users.TABLE.insert(transaction, new)
        await users.set_password(transaction, made.id, new.password)
        creator = call.optional_caller
        if creator is not None and creator.manager and not creator.administrator:
            await links.add(transaction, links.USER_USER, creator.id, made.id)
        return show(made)

    async def update(self, call: Call, transaction: Queries, new: User, old: User) -> User | None:
        """Store; a new password or one-time-code key ends the user's other sessions and all their tokens.

        So does the role of administrator, together with the links to managers (docs/users.md#managers). The
        user is told by mail of changes of what they log in with.
        """
        if await users.is_last_administrator(transaction, old, new, call.now):
            raise BadRequest(LAST_ADMINISTRATOR)
        stored = await users.TABLE.update(transaction, new)
        if stored is None:
            return None
        if stored.administrator and not old.administrator:
            await users.end_management(transaction, stored.id, call.now)
        own = call.caller.session
        kept = own.id if own else None
        if new.password:
            await users.change_password(transaction, stored.id, new.password, call.now, keep_session=kept)
            if call.caller.id == stored.id:
                # The password ends what was known of earlier logins, but here it was just set.
                network = network_of(call.context, call.request)
                await known_addresses.record_login(transaction, stored.id, network, call.now)
        elif stored.totp_key != old.totp_key:
            await users.end_logins(transaction, stored.id, call.now, keep_session=kept)
        await tell_owner_of(call, transaction, old, account_changes(old, stored, password=bool(new.password)))
        return show(stored)

    def audited(self, old: User | None, new: User | None) -> Mapping[str, Any]:
        """Add that a password or a one-time-code key was changed, without them."""
        found = {**privileged_values(self.privileged, old, new)}
        if old is not None and new is not None and new.password:
            found["password"] = "changed"  # noqa: S105 - says that, not what
        before, after = old.totp_key if old else None, new.totp_key if new else None
        if new is not None and before != after:
            found["totpKey"] = "removed" if not after else "changed" if before else "set"
        return found

    async def delete(self, call: Call, transaction: Queries, old: User) -> None:
        """Delete with links and sessions; linked records remain."""
        MANAGE_USERS.require(call.caller)
        if await users.is_last_administrator(transaction, old, None, call.now):
            raise BadRequest(LAST_ADMINISTRATOR)
        await scheduled_commands.release_owners(
            transaction, (old.id,), call.now, actor_id=call.caller.id, address=call.address
        )
        await clear_references(call, transaction, "assignee_id", old.id)
        await users.TABLE.delete(transaction, old.id)

    async def show(self, call: Call, records: Sequence[UserRow]) -> list[User]:
        """Remove secrets."""
        del call
        return [show(record) for record in records]


OPERATIONS = Operations("users")
USERS = Resource(
    name="user",
    path="users",
    extended=User,
    change=UserChanged,
    policy=UserPolicy(),
    parameters=COMMON_PARAMETERS | {"device_id"},
    public_create=True,
    create_headers={
        HEADER: "The set-up token, for the first user of a new server. Not in the specification.",
    },
)
add_resource_operations(USERS, OPERATIONS)


@OPERATIONS.operation(
    "POST",
    "/users/totp",
    answers={200: Content(media_type="text/plain", text="A Base32 secret")},
    public=True,
)
async def create_totp_secret(call: Call) -> Response:
    """Make a secret for one-time passwords; it becomes a user's when saved as their `totpKey`."""
    del call
    return as_text(pyotp.random_base32())
