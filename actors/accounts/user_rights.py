"""What the rows of a user and of the server allow, for those who act while the user sends no request."""

from datetime import datetime

from motorpool.storage.records import ServerSettings, User


def may_log_in(user: User, now: datetime) -> bool:
    """Return whether a user is neither disabled nor expired."""
    return not user.disabled and (user.expiration_time is None or user.expiration_time > now)


def may_read_reports(user: User, server: ServerSettings) -> bool:
    """Return whether a user may see history and reports."""
    return user.administrator or not (user.disable_reports or server.disable_reports)


def may_capture_video(user: User, server: ServerSettings) -> bool:
    """Return whether a user may store video of devices that they see."""
    return user.administrator or not (user.readonly or server.readonly or user.temporary)


def may_send_commands(user: User, server: ServerSettings) -> bool:
    """Return whether a user may send commands other than saved ones."""
    return user.administrator or not (user.limit_commands or server.limit_commands)
