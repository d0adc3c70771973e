"""Who may do what, as one table (docs/users.md, docs/permissions.md#links).

This table depends on the caller alone: on their role, and on the restrictions that they are under. Access to
the record itself comes from links: `access` of each table in storage/ says which rows a user sees, and
storage/accounts/links.py which kinds of links there are. A caller with the right and with access may act;
only the limits on users and devices are checked beside that, in the policies of their resources.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum

from motorpool.api.auth.caller import Caller, Source
from motorpool.api.http.errors import BadRequest, Forbidden, HttpError, Unauthorized


class Role(Enum):
    """Who has a right; administrators count as managers, and no restriction applies to them."""

    USER = "anybody who is logged in"
    MANAGER = "an administrator or a manager"
    ADMINISTRATOR = "an administrator"


class Restriction(Enum):
    """What takes a right away; the value is the text of the error."""

    READONLY = "the user is read-only"
    DEVICE_READONLY = "the user may not change devices"
    LIMIT_COMMANDS = "the user may only send saved commands"
    DISABLE_REPORTS = "the user has no access to reports and position history"
    TEMPORARY = "a temporary user may not do this"
    VIEW_ONLY = "this session only shows what the user sees"


USER, MANAGER, ADMINISTRATOR = Role
READONLY, DEVICE_READONLY, LIMIT_COMMANDS, DISABLE_REPORTS, TEMPORARY, VIEW_ONLY = Restriction

_HOLDS: Mapping[Role, Callable[[Caller], bool]] = {
    USER: lambda _: True,
    MANAGER: lambda caller: caller.manager,
    ADMINISTRATOR: lambda caller: caller.administrator,
}
_APPLIES: Mapping[Restriction, Callable[[Caller], Source | None]] = {
    READONLY: lambda caller: caller.restricted_by("readonly"),
    DEVICE_READONLY: lambda caller: caller.restricted_by("device_readonly"),
    LIMIT_COMMANDS: lambda caller: caller.restricted_by("limit_commands"),
    DISABLE_REPORTS: lambda caller: caller.restricted_by("disable_reports"),
    TEMPORARY: lambda caller: Source.USER if caller.user.temporary else None,
    VIEW_ONLY: lambda caller: Source.USER if caller.view_only else None,
}


@dataclass(frozen=True)
class Right:
    """Who has a right, and how others are refused."""

    role: Role
    restrictions: tuple[Restriction, ...] = ()
    refusal: type[HttpError] = BadRequest
    """The error for all others (docs/decisions/0009)."""

    def require(self, caller: Caller) -> None:
        """Raise `refusal` if the caller does not have the right."""
        if not _HOLDS[self.role](caller):
            raise self.refusal(f"only {self.role.value} may do this", is_refusal=True)
        for restriction in self.restrictions:
            source = _APPLIES[restriction](caller)
            if source is not None:
                raise self.refusal(restriction.value + source.value, is_refusal=True)

    def holds(self, caller: Caller) -> bool:
        """Return whether the caller has the right."""
        return _HOLDS[self.role](caller) and not any(_APPLIES[each](caller) for each in self.restrictions)


CHANGE_ANYTHING = Right(USER, (VIEW_ONLY,), Forbidden)
"""Needed for every operation that changes something, but those of logging in and out (api/app.py)."""

# Creating, editing and deleting, by the names of resources.
CHANGE: Mapping[str, Right] = {
    "device": Right(USER, (READONLY, DEVICE_READONLY)),
    "group": Right(USER, (READONLY,)),
    "geofence": Right(USER, (READONLY,)),
    "driver": Right(USER, (READONLY,)),
    "driverAssignment": Right(USER, (READONLY, DEVICE_READONLY, DISABLE_REPORTS)),
    "maintenance": Right(USER, (READONLY,)),
    "calendar": Right(USER, (READONLY,)),
    "order": Right(USER, (READONLY,)),
    "notification": Right(USER, (READONLY,)),
    "report": Right(USER, (READONLY,)),
    "command": Right(USER, (READONLY, LIMIT_COMMANDS)),
    "scheduledCommand": Right(USER, (READONLY, LIMIT_COMMANDS)),
    "attribute": Right(ADMINISTRATOR),
    # With what companies configure; there also by what the caller is in the company (company_policy.py).
    "company": Right(USER, (READONLY, TEMPORARY)),
    # Checked by field, see below: read-only users may change some fields of their own.
    "user": Right(USER),
}
MANAGE_USERS = Right(USER, (READONLY,))
"""Creating users as a manager, and deleting users."""
CAPTURE_VIDEO = Right(USER, (READONLY,))
"""Captures write files."""
DELETE_POSITIONS = Right(USER, (READONLY,))
LINK = Right(USER, (READONLY,))
WRITE_TICKETS = Right(USER, (READONLY,))
"""Creating tickets and commenting on them, beside what the caller is in the company."""

SEND_UNSAVED_COMMANDS = Right(USER, (LIMIT_COMMANDS,))
TALK_TO_DRIVERS = Right(USER, (READONLY, LIMIT_COMMANDS, VIEW_ONLY), Forbidden)
CANCEL_COMMANDS_OF_OTHERS = Right(USER, (READONLY, LIMIT_COMMANDS))
"""Taking what others have sent out of queues; one's own takes the access that sending it took."""
READ_HISTORY = Right(USER, (DISABLE_REPORTS,))
REVIEW_EVENTS = Right(USER, (READONLY, DISABLE_REPORTS, TEMPORARY))
"""Who sees an event by a share link does not answer it for all."""
ISSUE_TOKENS = Right(USER, (TEMPORARY,))
LIST_CREDENTIALS = Right(USER, (TEMPORARY,))
"""One's own sessions, tokens and share links; the holders of a share link are one user."""
SHARE_OBJECTS = Right(USER, (TEMPORARY,), Forbidden)
CREATE_GUESTS = Right(USER, (READONLY,))
"""Needed for sharing as well, which creates a user."""

LIST_USERS = Right(MANAGER)
ANNOUNCE = Right(MANAGER)
ADMINISTER = Right(ADMINISTRATOR)
"""The server's settings, files, statistics and diagnostics, and the list of links."""
READ_AUDIT = Right(ADMINISTRATOR, refusal=Unauthorized)
TEST_ATTRIBUTES = Right(ADMINISTRATOR, refusal=Unauthorized)

# Fields of a user that not every user may change (docs/users.md#creation, docs/users.md#changes); all others
# may be changed by the user and their manager.
ROLE_FIELDS = ("administrator", "device_limit", "user_limit")
"""Fields that only administrators change."""
RESTRICTION_FIELDS = (
    "readonly",
    "device_readonly",
    "disabled",
    "limit_commands",
    "disable_reports",
    "fixed_email",
)
"""Fields that managers and administrators change, but no user for themselves."""
SELF_EDITABLE_ATTRIBUTES = frozenset({"notificationTokens", "termsAccepted"})
"""Attributes that even a read-only user may change of their own: the client's push token and terms dialog."""
