"""Deadlines after which a device connection is closed: for login, idleness, uploads and unread answers."""

from motorpool.actors.gateway.settings import DeviceSettings

CHECK_SECONDS = 10.0
"""Longest time between two checks, and so their precision."""
UPLOAD_IDLE_SECONDS = 60.0
"""Idle time after which a connection that only uploads files is closed."""
UPLOAD_SECONDS = 3600.0
"""Time limit for all files of an alarm on such a connection."""
STALL_SECONDS = 60.0
"""Time in which a peer must read data sent to it."""


def check_seconds(login_seconds: float) -> float:
    """Return the time between two checks where a peer must identify itself within `login_seconds`."""
    return min(CHECK_SECONDS, login_seconds / 2)


class Deadlines:
    """Checks the deadlines of one connection. Times are monotonic, in seconds."""

    __slots__ = ("_active_at", "_opened_at", "_settings", "_stalled_at", "is_active")

    def __init__(self, settings: DeviceSettings, now: float) -> None:
        """`now` is when the connection was opened."""
        self._settings = settings
        self._opened_at = self._active_at = now
        self._stalled_at: float | None = None
        self.is_active = True
        """A whole message came since the last check. Set by the connection: no message reads the clock."""

    def check(self, now: float, *, backlog: int, is_identified: bool, is_uploading: bool) -> str:
        """Return why the connection is to be closed, or an empty string; `backlog`: bytes not sent yet."""
        if self.is_active:
            self.is_active = False
            self._active_at = now
        age, idle = now - self._opened_at, now - self._active_at
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
            return "did not identify itself in time"
        return "sent no complete message for too long" if idle >= self._settings.idle_seconds else ""
