"""Who may be sent a mail."""

from datetime import datetime

from motorpool.actors.outgoing import Mail
from motorpool.storage.records import ServerSettings, User

__all__ = ["is_reachable", "may_log_in", "may_read_reports"]


def may_log_in(user: User, now: datetime) -> bool:
    """Whether a user is neither disabled nor expired."""
    return not user.disabled and (user.expiration_time is None or user.expiration_time > now)


def may_read_reports(user: User, server: ServerSettings) -> bool:
    """Whether a user would be shown a report."""
    return user.administrator or not (user.disable_reports or server.disable_reports)


def is_reachable(user: User, mail: Mail) -> bool:
    """Whether a mail to a user can be sent: they have an address, and the server or they a mail account."""
    return not user.temporary and mail.enabled_for(user.attributes) and mail.can_reach(user.email)
