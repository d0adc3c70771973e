"""A TK103 tracker (docs/protocols/tk103.md)."""

from datetime import UTC, datetime

from motorpool.bench.vehicles.route import VehicleState
from motorpool.bench.vehicles.trackers.tracker import Tracker, minutes_of


class Tk103Tracker(Tracker):
    """Sends compact frames; answers no commands."""

    protocol = "tk103"
    digits = 12

    def login(self) -> bytes:
        """Return the handshake, which is answered `AP01HSO`."""
        return f"({self.unique_id}BP00353358017784062HSO)".encode()

    def position(self, moment: datetime, state: VehicleState) -> bytes:
        """Return a position with the ignition on and the odometer."""
        utc = moment.astimezone(UTC)
        latitude = f"{minutes_of(state.latitude, 2)}{'N' if state.latitude >= 0 else 'S'}"
        longitude = f"{minutes_of(state.longitude, 3)}{'E' if state.longitude >= 0 else 'W'}"
        return (
            f"({self.unique_id}BR00{utc:%y%m%d}A{latitude}{longitude}{state.speed * 3.6:05.1f}{utc:%H%M%S}"
            f"{state.course % 360:06.2f}01000000L{0x4E20:08X})"
        ).encode()
