"""Who may do what, as one table (docs/users.md, docs/permissions.md#links).

This is the part that hangs on who asks: his role, and the restrictions that he or the whole server is under.
The other part is access to the object itself, which comes by links: `access` of each table in storage/ says
which rows a user sees, and storage/links.py which kinds of links there are. Who has a right and has access
may do it; only the limits of users and devices are counted beside that, in the policy of their families.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum

from motorpool.api.auth.caller import Caller
from motorpool.api.http.errors import BadRequest, Forbidden, HttpError, Unauthorized

__all__ = [
    "ADMINISTER",
    "ANNOUNCE",
    "CAPTURE_VIDEO",
    "CHANGE",
    "CREATE_GUESTS",
    "DELETE_POSITIONS",
    "ISSUE_TOKENS",
    "LINK",
    "LIST_USERS",
    "MANAGE_USERS",
    "READ_AUDIT",
    "READ_HISTORY",
    "RESTRICTION_FIELDS",
    "ROLE_FIELDS",
    "SELF_EDITABLE_ATTRIBUTES",
    "SEND_UNSAVED_COMMANDS",
    "SHARE_OBJECTS",
    "TEST_ATTRIBUTES",
    "Right",
]


class Role(Enum):
    """Whom a right is given to; an administrator is a manager too, and nothing restricts him."""

    USER = "anybody who is logged in"
    MANAGER = "an administrator or a manager"
    ADMINISTRATOR = "an administrator"


class Restriction(Enum):
    """What takes a right away; the text is for who asked."""

    READONLY = "the user is read-only"
    DEVICE_READONLY = "the user may not change devices"
    LIMIT_COMMANDS = "the user may only send saved commands"
    DISABLE_REPORTS = "the user has no access to reports and position history"
    TEMPORARY = "a temporary user may not do this"


USER, MANAGER, ADMINISTRATOR = Role
READONLY, DEVICE_READONLY, LIMIT_COMMANDS, DISABLE_REPORTS, TEMPORARY = Restriction

_HOLDS: Mapping[Role, Callable[[Caller], bool]] = {
    USER: lambda _: True,
    MANAGER: lambda caller: caller.manager,
    ADMINISTRATOR: lambda caller: caller.administrator,
}
_APPLIES: Mapping[Restriction, Callable[[Caller], bool]] = {
    READONLY: lambda caller: caller.readonly,
    DEVICE_READONLY: lambda caller: caller.device_readonly,
    LIMIT_COMMANDS: lambda caller: caller.limit_commands,
    DISABLE_REPORTS: lambda caller: caller.disable_reports,
    TEMPORARY: lambda caller: caller.user.temporary,
}


@dataclass(frozen=True)
class Right:
    """One line of the table."""

    role: Role
    restrictions: tuple[Restriction, ...] = ()
    refusal: type[HttpError] = BadRequest
    """What everybody else gets (docs/decisions/0009)."""

    def require(self, caller: Caller) -> None:
        """Refuse who does not have it."""
        if not _HOLDS[self.role](caller):
            raise self.refusal(f"only {self.role.value} may do this")
        for restriction in self.restrictions:
            if _APPLIES[restriction](caller):
                raise self.refusal(restriction.value)


# Creating, editing and deleting, by the names of families.
CHANGE: Mapping[str, Right] = {
    "device": Right(USER, (READONLY, DEVICE_READONLY)),
    "group": Right(USER, (READONLY,)),
    "geofence": Right(USER, (READONLY,)),
    "driver": Right(USER, (READONLY,)),
    "maintenance": Right(USER, (READONLY,)),
    "calendar": Right(USER, (READONLY,)),
    "order": Right(USER, (READONLY,)),
    "notification": Right(USER, (READONLY,)),
    "command": Right(USER, (READONLY, LIMIT_COMMANDS)),
    "scheduledCommand": Right(USER, (READONLY, LIMIT_COMMANDS)),
    "attribute": Right(ADMINISTRATOR),
    # By field, below; and even the readonly change a little of themselves.
    "user": Right(USER),
}
MANAGE_USERS = Right(USER, (READONLY,))
"""Making them as a manager, and deleting them."""
CAPTURE_VIDEO = Right(USER, (READONLY,))
"""A capture writes a file."""
DELETE_POSITIONS = Right(USER, (READONLY,))
LINK = Right(USER, (READONLY,))

SEND_UNSAVED_COMMANDS = Right(USER, (LIMIT_COMMANDS,))
READ_HISTORY = Right(USER, (DISABLE_REPORTS,))
ISSUE_TOKENS = Right(USER, (TEMPORARY,))
SHARE_OBJECTS = Right(USER, (TEMPORARY,), Forbidden)
CREATE_GUESTS = Right(USER, (READONLY,))
"""Sharing makes a user: it needs this as well."""

LIST_USERS = Right(MANAGER)
ANNOUNCE = Right(MANAGER)
ADMINISTER = Right(ADMINISTRATOR)
"""The server's settings, files, statistics and innards, and the list of links."""
READ_AUDIT = Right(ADMINISTRATOR, refusal=Unauthorized)
TEST_ATTRIBUTES = Right(ADMINISTRATOR, refusal=Unauthorized)

# The fields of a user (docs/users.md#creation, docs/users.md#changes); all others are his own and his
# manager's to change.
ROLE_FIELDS = ("administrator", "device_limit", "user_limit")
"""What only administrators give."""
RESTRICTION_FIELDS = (
    "readonly",
    "device_readonly",
    "disabled",
    "limit_commands",
    "disable_reports",
    "fixed_email",
)
"""Given and lifted by his manager and by administrators: nobody lifts his own."""
SELF_EDITABLE_ATTRIBUTES = frozenset({"notificationTokens", "termsAccepted"})
"""What even a readonly user may change of himself: push token and terms dialog of the client."""
