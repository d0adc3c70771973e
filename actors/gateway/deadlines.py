"""When a device connection is closed although it works: nobody identified, idle, or answers left unread."""

from motorpool.actors.settings import DeviceSettings

__all__ = ["Deadlines"]

UPLOAD_IDLE_SECONDS = 60.0
"""A connection made for the files of an alarm is closed when nothing of them comes for so long."""
UPLOAD_SECONDS = 3600.0
"""All files of an alarm must have come within this."""
STALL_SECONDS = 60.0
"""How long a peer may leave what it is sent unread."""


class Deadlines:
    """The deadlines of one connection, checked from time to time."""

    __slots__ = ("_settings", "_stalled_at")

    def __init__(self, settings: DeviceSettings) -> None:
        self._settings = settings
        self._stalled_at: float | None = None

    def check(
        self, *, now: float, age: float, idle: float, backlog: int, is_identified: bool, is_uploading: bool
    ) -> str:
        """Return why the connection is to be closed, or an empty string.

        Args:
            now: seconds, of the monotonic clock.
            age: seconds since the connection was opened.
            idle: seconds since the last whole message, as far as is known.
            backlog: bytes that wait to be sent.
            is_identified: the connection serves a device.
            is_uploading: files of an alarm are expected.
        """
        if not backlog:
            self._stalled_at = None
        elif self._stalled_at is None:
            self._stalled_at = now
        elif now - self._stalled_at >= STALL_SECONDS:
            return "does not read what it is sent"
        if not is_identified and is_uploading:
            expired = idle >= UPLOAD_IDLE_SECONDS or age >= UPLOAD_SECONDS
            return "brings no more files" if expired else ""
        if not is_identified and age >= self._settings.login_seconds:
            return "did not say who it is"
        return "said nothing whole for too long" if idle >= self._settings.idle_seconds else ""
