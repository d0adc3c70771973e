"""Whether a device is online, and when it was last seen (docs/devices.md#status).

Part of the device's actor. A message does not read the monotonic clock: while the device is online one timer
checks whether anything came since it last ran.
"""

from datetime import datetime
from typing import Protocol

from motorpool.actors.devices.device_session import DeviceSession
from motorpool.actors.messages.directory import DIRECTORY, DeviceStatusChanged
from motorpool.actors.messages.topics import DeviceStatus
from motorpool.actors.messages.uplink import CheckStatus

CHECKS_PER_TIMEOUT = 10
"""Checks within the status time-out; `unknown` comes at most one of these spans late."""
LAST_UPDATE_SECONDS = 1.0
"""Between two announcements of one device that only bring a new last update."""
_CHECK = CheckStatus()


class StatusListener(Protocol):
    """What is told of new statuses: the device's actor."""

    def status_changed(self, status: str) -> None:
        """Learn the new status."""


class OnlineStatus:
    """Status and last update of one device, announced to the directory as they change."""

    __slots__ = (
        "_announced_at",
        "_context",
        "_device_id",
        "_is_timer_set",
        "_listener",
        "_seen",
        "_seen_at",
        "_timeout_seconds",
        "last_update",
        "status",
    )

    def __init__(
        self,
        session: DeviceSession,
        timeout_seconds: float,
        listener: StatusListener,
        last_update: datetime | None,
    ) -> None:
        """Begin with the stored `last_update`, the server time of the last message.

        A device without a message for `timeout_seconds` is `unknown`; `listener` learns of each new status.
        """
        self._device_id = session.device_id
        self._context = session.context
        self._timeout_seconds = timeout_seconds
        self._listener = listener
        self._is_timer_set = False
        self._seen = False
        """A message came since the last check."""
        self._seen_at = 0.0
        self._announced_at = 0.0
        self.status = "offline"
        """"online", "offline" or "unknown"."""
        self.last_update = last_update

    def mark_seen(self, now: datetime) -> None:
        """Note a message at `now`, and announce it, a mere new last update once a second at most."""
        was_online = self.status == "online"
        self.note_position(now)
        if was_online and self._context.clock.monotonic() - self._announced_at >= LAST_UPDATE_SECONDS:
            self.announce("online")

    def note_position(self, now: datetime) -> None:
        """Note a position at `now`; that it is stored announces the new last update."""
        self._seen = True
        self.last_update = now
        if self.status != "online":
            self._mark_online()

    def _mark_online(self) -> None:
        """Announce that the device is online, and begin to check whether it stays so."""
        self.announce("online")
        if not self._is_timer_set:
            self._seen_at = self._context.clock.monotonic()
            self._set_timer()

    def mark_offline(self) -> None:
        """Announce that the device is offline, unless it was already."""
        if self.status != "offline":
            self.announce("offline")

    def check(self) -> None:
        """Make the device `unknown` if no message came within the time-out."""
        self._is_timer_set = False
        if self.status != "online":
            return
        now = self._context.clock.monotonic()
        if self._seen:
            self._seen = False
            self._seen_at = now
        if now - self._seen_at >= self._timeout_seconds:
            self.announce("unknown")
        else:
            self._set_timer()

    def leave(self) -> None:
        """Announce that the device is online at another server now, which is no change of its status."""
        self._report("offline")

    def announce(self, status: str) -> None:
        """Change the status and report it to the directory."""
        has_changed = status != self.status
        self._report(status)
        if has_changed:
            self._listener.status_changed(status)

    def _report(self, status: str) -> None:
        self.status = status
        self._announced_at = self._context.clock.monotonic()
        self._context.system.ref(DIRECTORY).offer(
            DeviceStatusChanged(DeviceStatus(self._device_id, status, self.last_update, 0))
        )

    def _set_timer(self) -> None:
        self._is_timer_set = True
        self._context.after(self._timeout_seconds / CHECKS_PER_TIMEOUT, _CHECK)
