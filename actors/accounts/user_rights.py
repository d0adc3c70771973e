"""What the rows of a user and of the server allow, for those who act while the user sends no request."""

from datetime import datetime

from motorpool.storage.records import ServerSettings, User


def may_log_in(user: User, now: datetime) -> bool:
    """Return whether a user is neither disabled nor expired."""
    return not user.disabled and (user.expiration_time is None or user.expiration_time > now)


def is_forced(server: ServerSettings, flag: str) -> bool:
    """Return whether the server's restriction of this name acts on users, and is not only their default."""
    return server.force_settings and bool(getattr(server, flag))


def is_restricted(user: User, server: ServerSettings, flag: str) -> bool:
    """Return whether a restriction applies to a user: one of their own, or one that the server forces.

    `storage/accounts/users.py: restricted` says the same in SQL.
    """
    return not user.administrator and (bool(getattr(user, flag)) or is_forced(server, flag))


def may_read_history(user: User, server: ServerSettings) -> bool:
    """Return whether a user may see what is stored of the past of their devices, and reports."""
    return not is_restricted(user, server, "disable_reports")


def may_capture_video(user: User, server: ServerSettings) -> bool:
    """Return whether a user may store video of devices that they see."""
    return user.administrator or not (is_restricted(user, server, "readonly") or user.temporary)


def may_send_commands(user: User, server: ServerSettings) -> bool:
    """Return whether a user may send commands other than saved ones."""
    return not is_restricted(user, server, "limit_commands")
