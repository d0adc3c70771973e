"""The authenticated user of a request, and the restrictions they are under (docs/users.md#restrictions,
docs/permissions.md#who-may-do-what).
"""

from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from motorpool.actors.accounts.user_rights import is_forced
from motorpool.storage.records import ServerSettings, Session, User


class Source(Enum):
    """Whose restriction applies to a caller; the value completes the text of the error."""

    USER = ""
    IMPERSONATOR = ", by a restriction of who acts as them"
    SERVER = ", by the settings of the server"


@dataclass(frozen=True, kw_only=True)
class Caller:
    """An authenticated user, under their own restrictions, those of who acts as them, and forced ones."""

    user: User
    server: ServerSettings
    session: Session | None = None
    """The session, if the credential was a cookie."""
    token_expires: datetime | None = None
    """When the credential expires, if it was a token or a session opened with one."""
    token_id: str | None = None
    """The id of that token."""
    expires: datetime | None = None
    """When the access of the caller, their sharer or impersonator ends: they must be identified again."""
    impersonator: User | None = None
    """Who acts as this user; None if it is the user."""
    view_only: bool = False
    """Whether they act as the user only to see what the user sees."""
    sharer_id: int = 0
    """Who gave this temporary user access by sharing; 0 for other users."""
    lacks_codes: bool = False
    """Whether the user has to set up one-time codes before anything else."""

    @property
    def id(self) -> int:
        """The user's id."""
        return self.user.id

    @property
    def impersonator_id(self) -> int:
        """Who acts as this user; 0 if it is the user."""
        return self.impersonator.id if self.impersonator is not None else 0

    @property
    def administrator(self) -> bool:
        """Whether they may do everything."""
        return self.user.administrator

    @property
    def manager(self) -> bool:
        """Whether they may have users of their own, as administrators may."""
        return self.user.administrator or self.user.user_limit != 0

    def restricted_by(self, flag: str) -> Source | None:
        """Return whose restriction of this name applies; None: none, as always for administrators."""
        if self.administrator:
            return None
        if getattr(self.user, flag):
            return Source.USER
        actor = self.impersonator
        if actor is not None and not actor.administrator and getattr(actor, flag):
            return Source.IMPERSONATOR
        return Source.SERVER if is_forced(self.server, flag) else None

    @property
    def account_expires(self) -> datetime | None:
        """When the account of the user, or of who acts as them, expires."""
        actor = self.impersonator
        ends = (self.user.expiration_time, actor.expiration_time if actor is not None else None)
        return min((end for end in ends if end is not None), default=None)

    @property
    def readonly(self) -> bool:
        """Whether they may only read and send commands."""
        return self.restricted_by("readonly") is not None

    @property
    def limit_commands(self) -> bool:
        """Whether they may send saved commands only."""
        return self.restricted_by("limit_commands") is not None

    @property
    def disable_reports(self) -> bool:
        """Whether they may not see history and reports."""
        return self.restricted_by("disable_reports") is not None
