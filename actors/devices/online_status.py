"""Whether a device is online, and when it was last seen (docs/devices.md#status).

Part of the device's actor. A message does not read the monotonic clock: ticks, which all actors of devices
get, count how long nothing has come.
"""

from datetime import datetime
from typing import Protocol

from motorpool.actors.devices.device_session import DeviceSession
from motorpool.actors.messages.directory import DIRECTORY, DeviceStatusChanged
from motorpool.actors.messages.topics import DeviceStatus

CHECKS_PER_TIMEOUT = 10
"""Ticks within the status time-out; `unknown` comes at most one of these spans late."""
LAST_UPDATE_SECONDS = 1.0
"""Between two announcements of one device that only bring a new last update."""


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
        "_listener",
        "_seen",
        "_silent_ticks",
        "last_update",
        "status",
    )

    def __init__(
        self,
        session: DeviceSession,
        listener: StatusListener,
        last_update: datetime | None,
    ) -> None:
        """Begin with the stored `last_update`, the server time of the last message; `listener` learns of each
        new status.
        """
        self._device_id = session.device_id
        self._context = session.context
        self._listener = listener
        self._seen = False
        """A message came since the last tick."""
        self._silent_ticks = 0
        """Ticks in a row before which no message came."""
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
            self.announce("online")

    def mark_offline(self) -> None:
        """Announce that the device is offline, unless it was already."""
        if self.status != "offline":
            self.announce("offline")

    def check(self) -> None:
        """Make the device `unknown` if no message came within the time-out; called at each tick."""
        if self._seen:
            self._seen = False
            self._silent_ticks = 0
        elif self.status == "online":
            self._silent_ticks += 1
            if self._silent_ticks >= CHECKS_PER_TIMEOUT:
                self.announce("unknown")

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
