"""`motorpool user`: creates or changes a user from the command line, whether or not a server is running."""

from dataclasses import dataclass
from typing import Any

import msgspec

from motorpool.api.auth.new_users import DISPLAY_FIELDS, SHARED_FLAGS, with_server_values
from motorpool.api.auth.passwords import PasswordHasher
from motorpool.api.logins.password_rules import password_fault
from motorpool.api.program.configured_database import open_running_database
from motorpool.api.program.errors import StartFailed
from motorpool.api.settings import Settings
from motorpool.runtime import SystemClock
from motorpool.storage.accounts import audit, openid_identities, server, users
from motorpool.storage.records import AuditAction, User


@dataclass(frozen=True)
class UserEdit:
    """What is to be changed of a user; None leaves it as it is."""

    email: str
    password: str | None = None
    administrator: bool | None = None
    unlink_openid: bool = False
    """The next login through the OpenID provider finds the user by e-mail address again."""


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
                if edit.administrator is not None and edit.administrator != found.administrator:
                    changed = msgspec.structs.replace(found, administrator=edit.administrator)
                    if await users.is_last_administrator(transaction, found, changed, now):
                        raise StartFailed(f"{found.email} is the last administrator: name another one first")
                    await users.TABLE.update(transaction, changed)
                    if edit.administrator:
                        await users.end_management(transaction, found.id, now)
                    changes["administrator"] = {
                        "before": found.administrator,
                        "after": edit.administrator,
                    }
                if hashed is not None:
                    await users.change_password(transaction, found.id, hashed, now)
                if edit.unlink_openid:
                    await openid_identities.delete_of_user(transaction, found.id)
                    changes["openid"] = "unlinked"
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
