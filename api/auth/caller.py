"""Who asks, and what he may do apart from any single object (docs/users.md#restrictions,
docs/permissions.md#who-may-do-what).
"""

from dataclasses import dataclass
from datetime import datetime

from motorpool.storage.records import ServerSettings, Session, User

__all__ = ["Caller"]


@dataclass(frozen=True, kw_only=True)
class Caller:
    """A user behind a valid credential, under the flags of user and server together."""

    user: User
    server: ServerSettings
    session: Session | None = None
    """The cookie's session, where it was a cookie."""
    token_expires: datetime | None = None
    """Until when the credential lives, where it was a token or began with one."""

    @property
    def id(self) -> int:
        """The user's id."""
        return self.user.id

    @property
    def administrator(self) -> bool:
        """May do everything."""
        return self.user.administrator

    @property
    def manager(self) -> bool:
        """May have users of his own; administrators may."""
        return self.user.administrator or self.user.user_limit != 0

    @property
    def readonly(self) -> bool:
        """Changes nothing; reading and sending commands stay."""
        return not self.administrator and (self.user.readonly or self.server.readonly)

    @property
    def device_readonly(self) -> bool:
        """Changes no devices."""
        return not self.administrator and (self.user.device_readonly or self.server.device_readonly)

    @property
    def limit_commands(self) -> bool:
        """Sends saved commands only."""
        return not self.administrator and (self.user.limit_commands or self.server.limit_commands)

    @property
    def disable_reports(self) -> bool:
        """Sees no history."""
        return not self.administrator and (self.user.disable_reports or self.server.disable_reports)

    @property
    def fixed_email(self) -> bool:
        """Keeps his address."""
        return not self.administrator and (self.user.fixed_email or self.server.fixed_email)
