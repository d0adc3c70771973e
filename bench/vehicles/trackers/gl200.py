"""A Queclink tracker (docs/protocols/gl200.md)."""

import re
from datetime import UTC, datetime

from motorpool.bench.vehicles.route import VehicleState
from motorpool.bench.vehicles.trackers.tracker import Tracker

_COMMAND = re.compile(rb"AT\+GT([A-Z]{3})=[^$]*\$")
_VERSION = "0F0106"


class Gl200Tracker(Tracker):
    """A GV55; answers each command."""

    protocol = "gl200"

    def __init__(self, unique_id: str) -> None:
        super().__init__(unique_id)
        self._count = 0

    def login(self) -> bytes:
        """Return a heartbeat, which the server answers."""
        return self.heartbeat()

    def heartbeat(self) -> bytes:
        """Return a heartbeat; the time in it is not read."""
        return self._text("+ACK:GTHBD", "20260501120000")

    def position(self, moment: datetime, state: VehicleState) -> bytes:
        """Return a report of one location, with the ignition on."""
        time = f"{moment.astimezone(UTC):%Y%m%d%H%M%S}"
        return self._text(
            "+RESP:GTFRI",
            f",10,1,1,{state.speed * 3.6:.1f},{round(state.course) % 360},35.0,{state.longitude:.6f},"
            f"{state.latitude:.6f},{time},0460,0000,18D8,6141,00,{state.odometer / 1000:.1f},00012:34:56,,,"
            f"90,220000,,,,{time}",
        )

    def receive(self, data: bytes) -> bytes:
        """Return the answers to commands."""
        kinds = [found[1].decode() for found in _COMMAND.finditer(data)]
        return b"".join(self._text(f"+ACK:GT{kind}", "FFFF,20260501120000") for kind in kinds)

    def _text(self, header: str, fields: str) -> bytes:
        self._count = self._count + 1 & 0xFFFF
        return f"{header},{_VERSION},{self.unique_id},,{fields},{self._count:04X}$".encode()
