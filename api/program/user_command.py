"""`motorpool user`: creates or changes a user from the command line, whether or not a server is running."""

from dataclasses import dataclass
from typing import Any

import msgspec

from motorpool.actors.mailings.account_mails import account_changes, tell_owner
from motorpool.api.auth.new_users import DISPLAY_FIELDS, SHARED_FLAGS, with_server_values
from motorpool.api.auth.passwords import PasswordHasher
from motorpool.api.configuration.live import open_live_settings
from motorpool.api.logins.password_rules import password_fault
from motorpool.api.program.configured_database import open_running_database
from motorpool.api.program.errors import StartFailed
from motorpool.api.program.outgoing_services import build_outgoing_services
from motorpool.api.settings import Settings
from motorpool.runtime import SystemClock
from motorpool.storage.accounts import audit, openid_identities, server, users
from motorpool.storage.database.queries import Queries
from motorpool.storage.records import AuditAction, User


@dataclass(frozen=True)
class UserEdit:
    """What is to be changed of a user; None leaves it as it is."""

    email: str
    password: str | None = None
    administrator: bool | None = None
    unlink_openid: bool = False
    """The next login through the OpenID provider finds the user by e-mail address again."""
    remove_codes: bool = False
    """For somebody who has lost what makes their one-time codes."""


async def edit_user(settings: Settings, edit: UserEdit) -> str:
    """Create or change a user; return a line that says what was done. Raises StartFailed."""
    clock = SystemClock()
    async with open_running_database(settings, clock) as database:
        hashed = await PasswordHasher(settings.login).hash(edit.password) if edit.password else None
        async with database.transaction() as transaction:
            now = clock.now()
            changes: dict[str, Any] = {"commandLine": True}
            if hashed is not None:
                changes["password"] = "changed"  # noqa: S105 - says that, not what
            await users.lock_name(transaction, edit.email.strip())
            found = await users.by_email(transaction, edit.email, lock=True)
            if edit.password:
                names = (edit.email, *((found.name, found.login) if found else ()))
                if fault := password_fault(edit.password, settings.login.password_min_length, *names):
                    raise StartFailed(fault)
            if found is None:
                if hashed is None:
                    raise StartFailed(f"there is no user {edit.email}; --password creates one")
                user = User(name=edit.email, email=edit.email.strip(), administrator=bool(edit.administrator))
                defaults = (*DISPLAY_FIELDS, *SHARED_FLAGS)
                user = with_server_values(user, await server.fetch(transaction), defaults)
                await server.initialise(transaction)
                made = await users.TABLE.insert(transaction, user)
                await users.set_password(transaction, made.id, hashed)
                changes["administrator"] = {"before": None, "after": made.administrator}
                action, user_id = "create", made.id
                done = f"user {made.email} created" + (", administrator" if made.administrator else "")
            else:
                changes |= await _change(transaction, found, edit, hashed, settings, clock)
                action, user_id, done = "edit", found.id, f"user {found.email} changed"
            await audit.record(
                transaction,
                AuditAction(
                    action_time=now,
                    action_type=action,
                    object_type="user",
                    object_id=user_id,
                    attributes=changes,
                ),
            )
            return done


async def _change(
    transaction: Queries,
    old: User,
    edit: UserEdit,
    hashed: str | None,
    settings: Settings,
    clock: SystemClock,
) -> dict[str, Any]:
    """Change a user, whose row is locked; return what the audit row says of it. Raises StartFailed."""
    now, changes = clock.now(), dict[str, Any]()
    new = msgspec.structs.replace(
        old,
        administrator=old.administrator if edit.administrator is None else edit.administrator,
        totp_key=None if edit.remove_codes else old.totp_key,
    )
    if await users.is_last_administrator(transaction, old, new, now):
        raise StartFailed(f"{old.email} is the last administrator: name another one first")
    if new != old:
        await users.TABLE.update(transaction, new)
    if new.administrator != old.administrator:
        changes["administrator"] = {"before": old.administrator, "after": new.administrator}
        if new.administrator:
            await users.end_management(transaction, old.id, now)
    if hashed is not None:
        await users.change_password(transaction, old.id, hashed, now)
    elif new.totp_key != old.totp_key:
        await users.end_logins(transaction, old.id, now)
    if new.totp_key != old.totp_key:
        changes["totpKey"] = "removed"
    if edit.unlink_openid:
        await openid_identities.delete_of_user(transaction, old.id)
        changes["openid"] = "unlinked"
    await tell_owner(
        transaction,
        build_outgoing_services(await open_live_settings(transaction, settings), clock).mail,
        old,
        account_changes(old, new, password=hashed is not None),
        settings=await server.fetch(transaction),
        console_url=settings.public_url,
        now=now,
    )
    return changes
