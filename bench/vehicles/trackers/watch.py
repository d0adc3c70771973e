"""A watch (docs/protocols/watch.md)."""

import re
from datetime import UTC, datetime
from typing import Final

from motorpool.bench.vehicles.route import VehicleState
from motorpool.bench.vehicles.trackers.tracker import Tracker

KILOMETRES_PER_HOUR: Final = 3.6
_MESSAGE = re.compile(rb"\[[0-9A-Z]{2}\*[0-9]+\*[0-9a-f]{4}\*([A-Z0-9]+)[^\]]*\]")
_ANSWERS: Final = ("INIT", "LK", "AL", "TKQ", "TKQ2", "JXTKR")


class WatchTracker(Tracker):
    """Answers a command with its type, and a voice message with its receipt."""

    protocol = "watch"
    digits = 10

    def login(self) -> bytes:
        """Return the message of a watch that has been switched on."""
        return self._message("INIT")

    def heartbeat(self) -> bytes:
        """Return steps, rolls and battery level."""
        return self._message("LK,1204,0,90")

    def position(self, moment: datetime, state: VehicleState) -> bytes:
        """Return a location without cells."""
        utc = moment.astimezone(UTC)
        return self._message(
            f"UD,{utc:%d%m%y,%H%M%S},A,"
            f"{abs(state.latitude):.6f},{'N' if state.latitude >= 0 else 'S'},"
            f"{abs(state.longitude):.6f},{'E' if state.longitude >= 0 else 'W'},"
            f"{state.speed * KILOMETRES_PER_HOUR:.2f},{round(state.course) % 360}.0,"
            "35.0,9,80,90,1204,0,00000000,0,0"
        )

    def receive(self, data: bytes) -> bytes:
        """Return the answers to commands: what is not an answer itself."""
        kinds = [found[1].decode() for found in _MESSAGE.finditer(data)]
        return b"".join(
            self._message("TK,1" if kind == "TK" else kind) for kind in kinds if kind not in _ANSWERS
        )

    def _message(self, content: str) -> bytes:
        return f"[3G*{self.unique_id}*{len(content):04X}*{content}]".encode()
