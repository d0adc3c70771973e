"""What callers may give to users: nothing that they lack themselves (docs/users.md#what-managers-may-give).

`above` is the one comparison behind every way to give: creating and changing users, setting their passwords
and where their messages go, and sharing. A session as another user needs none, since its caller is under the
restrictions of both users (api/auth/caller.py). Links give what the caller sees
(api/resources/permissions.py).
"""

from collections.abc import Container
from typing import TypeVar

import msgspec

from motorpool.api.auth.caller import Caller
from motorpool.api.auth.guarded_fields import guarded_changes
from motorpool.api.auth.new_users import SHARED_FLAGS
from motorpool.api.auth.rights import ROLE_FIELDS
from motorpool.api.http.errors import BadRequest
from motorpool.api.json import camel
from motorpool.storage.records import User

U = TypeVar("U", bound=User)

EXPIRES = "expiration_time"


def above(caller: Caller, user: User) -> list[str]:
    """Return the fields in which a user has more than the caller: free of a restriction, or for longer.

    What the server restricts by default counts as if it bound the caller: only administrators except from it.
    """
    if caller.administrator:
        return []
    found = [flag for flag in SHARED_FLAGS if not getattr(user, flag) and _is_bound(caller, flag)]
    ends, expires = user.expiration_time, caller.account_expires
    if expires is not None and (ends is None or ends > expires):
        found.append(EXPIRES)
    return found


def _is_bound(caller: Caller, flag: str) -> bool:
    return caller.restricted_by(flag) is not None or bool(getattr(caller.server, flag))


def bounded(caller: Caller, user: U, *, among: Container[str] = SHARED_FLAGS) -> U:
    """Return the user with those restrictions `among` these that the caller may not leave out."""
    return msgspec.structs.replace(
        user,
        **dict.fromkeys((flag for flag in above(caller, user) if flag != EXPIRES and flag in among), True),
    )


def require_grant(caller: Caller, new: User, old: User | None) -> None:
    """Check that the caller may make this user, or change it so; what it had already stays.

    Raises:
        BadRequest: the user would get what only an administrator gives, or what the caller lacks.
    """
    if caller.administrator:
        return
    for name in (*ROLE_FIELDS, "temporary"):
        if getattr(new, name) != getattr(old or _NOBODY, name):
            raise BadRequest(
                f"{camel(name)}: only an administrator may {'change' if old else 'set'} it", is_refusal=True
            )
    for name in above(caller, new):
        if old is None or getattr(new, name) != getattr(old, name):
            raise BadRequest(f"{camel(name)}: {_reason(caller, name)}", is_refusal=True)


_NOBODY = User()


def _reason(caller: Caller, name: str) -> str:
    if name == EXPIRES:
        return "later than the caller's own"
    if caller.restricted_by(name) is None:
        return "only an administrator frees users of a default of the server"
    return "nobody frees users of a restriction that they are under themselves"


def require_account_grant(caller: Caller, new: User, old: User, *, password: bool) -> None:
    """Check that the caller may change what somebody else logs in with, or where their messages go.

    Raises:
        BadRequest: the user has more than the caller, who would get it with the login or the messages.
    """
    # A login name alone lets nobody in.
    changed = [name for name in guarded_changes(new, old) if name != "login"]
    if new.totp_key != old.totp_key:
        changed.insert(0, "totpKey")
    if password:
        changed.insert(0, "password")
    # Who keeps an address may well be given another's login: that changes no address.
    more = [name for name in above(caller, new) if name != "fixed_email"]
    if changed and more:
        raise BadRequest(
            f"{changed[0]}: the user has more rights than the caller ({camel(more[0])})", is_refusal=True
        )
