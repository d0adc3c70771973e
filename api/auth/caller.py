"""The authenticated user of a request, and the restrictions they are under (docs/users.md#restrictions,
docs/permissions.md#who-may-do-what).
"""

from dataclasses import dataclass
from datetime import datetime

from motorpool.storage.records import ServerSettings, Session, User


@dataclass(frozen=True, kw_only=True)
class Caller:
    """An authenticated user; the restrictions of the user and of the server both apply."""

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
    impersonator_id: int = 0
    """Who acts as this user; 0 if it is the user."""
    sharer_id: int = 0
    """Who gave this temporary user access by sharing; 0 for other users."""

    @property
    def id(self) -> int:
        """The user's id."""
        return self.user.id

    @property
    def administrator(self) -> bool:
        """Whether they may do everything."""
        return self.user.administrator

    @property
    def manager(self) -> bool:
        """Whether they may have users of their own, as administrators may."""
        return self.user.administrator or self.user.user_limit != 0

    @property
    def readonly(self) -> bool:
        """Whether they may only read and send commands."""
        return not self.administrator and (self.user.readonly or self.server.readonly)

    @property
    def device_readonly(self) -> bool:
        """Whether they may not change devices."""
        return not self.administrator and (self.user.device_readonly or self.server.device_readonly)

    @property
    def limit_commands(self) -> bool:
        """Whether they may send saved commands only."""
        return not self.administrator and (self.user.limit_commands or self.server.limit_commands)

    @property
    def disable_reports(self) -> bool:
        """Whether they may not see history and reports."""
        return not self.administrator and (self.user.disable_reports or self.server.disable_reports)

    @property
    def fixed_email(self) -> bool:
        """Whether they may not change their e-mail address."""
        return not self.administrator and (self.user.fixed_email or self.server.fixed_email)
