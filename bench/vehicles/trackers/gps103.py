"""A GPS103 tracker (docs/protocols/gps103.md)."""

from datetime import UTC, datetime
from typing import Final

from motorpool.bench.vehicles.route import VehicleState
from motorpool.bench.vehicles.trackers.tracker import Tracker, minutes_of

KNOTS: Final = 3600 / 1852


class Gps103Tracker(Tracker):
    """Answers no commands: the devices report what they did as events."""

    protocol = "gps103"

    def login(self) -> bytes:
        """Return the login, which is answered `LOAD`."""
        return f"##,imei:{self.unique_id},A;".encode()

    def heartbeat(self) -> bytes:
        """Return the IMEI alone, which is answered `ON`."""
        return f"{self.unique_id};".encode()

    def position(self, moment: datetime, state: VehicleState) -> bytes:
        """Return a position with all fields; local time is UTC."""
        utc = moment.astimezone(UTC)
        latitude = f"{minutes_of(state.latitude, 2)},{'N' if state.latitude >= 0 else 'S'}"
        longitude = f"{minutes_of(state.longitude, 3)},{'E' if state.longitude >= 0 else 'W'}"
        return (
            f"imei:{self.unique_id},tracker,{utc:%y%m%d%H%M},,F,{utc:%H%M%S}.{utc.microsecond // 1000:03},A,"
            f"{latitude},{longitude},{state.speed * KNOTS:.2f},{state.course:.1f},34.0,1,0,51.5%,,+22;"
        ).encode()
