"""A Queclink tracker (docs/protocols/gl200.md)."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from motorpool.bench.vehicles.route import VehicleState
from motorpool.bench.vehicles.trackers.tracker import Tracker

_COMMAND = re.compile(rb"AT\+GT([A-Z]{3})=[^$]*\$")
_VERSIONS: Final[Mapping[str, str]] = {
    "": "0F0106",
    "GL320M": "C30100",
    "GL500": "400100",
    "GV200": "350100",
    "GV310LAU": "6E0100",
}
_MASK_OF_EXTERNAL_BATTERY = 0x80


class Gl200Tracker(Tracker):
    """A GV55, or a model whose ERI differs; answers each command."""

    protocol = "gl200"
    models = tuple(filter(None, _VERSIONS))

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
        place = (
            f"1,{state.speed * 3.6:.1f},{round(state.course) % 360},35.0,{state.longitude:.6f},"
            f"{state.latitude:.6f},{time},0460,0000,18D8,6141"
        )
        odometer, inputs = f"{state.odometer / 1000:.1f}", "00012:34:56,100,200,300"
        match self.model:
            case "":
                head, tail = ",10,1", f",00,{odometer},00012:34:56,,,90,220000,,,"
            case "GL320M":
                head, tail = f"{_MASK_OF_EXTERNAL_BATTERY:08X},12500,10,1", f",{odometer},90,80"
            case "GL500":
                head, tail = "00000000,,10,1", ",24,0,00,90,1,1"
            case "GV200":
                head, tail = "00000000,12500,10,1", f",00,{odometer},{inputs},01,02,0"
            case _:
                head, tail = "00000000,12500,10,1", f",00,{odometer},{inputs},90,220000,0"
        kind = "ERI" if self.model else "FRI"
        return self._text(f"+RESP:GT{kind}", f"{head},{place}{tail},{time}")

    def receive(self, data: bytes) -> bytes:
        """Return the answers to commands."""
        kinds = [found[1].decode() for found in _COMMAND.finditer(data)]
        return b"".join(self._text(f"+ACK:GT{kind}", "FFFF,20260501120000") for kind in kinds)

    def _text(self, header: str, fields: str) -> bytes:
        self._count = self._count + 1 & 0xFFFF
        return f"{header},{_VERSIONS[self.model]},{self.unique_id},,{fields},{self._count:04X}$".encode()
