"""An H02 tracker (docs/protocols/h02.md)."""

from datetime import UTC, datetime
from typing import Final

from motorpool.bench.vehicles.route import VehicleState
from motorpool.bench.vehicles.trackers.tracker import Tracker, minutes_of

KNOTS: Final = 3600 / 1852


class H02Tracker(Tracker):
    """Answers a command with its text."""

    protocol = "h02"
    is_acknowledged = True
    digits = 10

    def heartbeat(self) -> bytes:
        """Return the battery level, which is answered by its own beginning."""
        return f"*HQ,{self.unique_id},HTBT,90#".encode()

    def position(self, moment: datetime, state: VehicleState) -> bytes:
        """Return a position with the ignition on."""
        utc = moment.astimezone(UTC)
        latitude = f"{minutes_of(state.latitude, 2)},{'N' if state.latitude >= 0 else 'S'}"
        longitude = f"{minutes_of(state.longitude, 3)},{'E' if state.longitude >= 0 else 'W'}"
        return (
            f"*HQ,{self.unique_id},V1,{utc:%H%M%S},A,{latitude},{longitude},"
            f"{state.speed * KNOTS:06.2f},{round(state.course) % 360:03},{utc:%d%m%y},FFFFFFFF#"
        ).encode()

    def receive(self, data: bytes) -> bytes:
        """Return the answers to commands: what is not an answer itself."""
        texts = [text for text in data.decode("ascii", "replace").split("#") if text.startswith("*HQ,")]
        kinds = [text.split(",")[2:3] for text in texts]
        return b"".join(
            f"*HQ,{self.unique_id},SMS,{kind[0]} done#".encode()
            for kind in kinds
            if kind and kind[0] not in ("V4", "R12", "HTBT")
        )
