"""A Meitrack tracker (docs/protocols/meitrack.md)."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from motorpool.bench.vehicles.route import VehicleState
from motorpool.bench.vehicles.trackers.tracker import Tracker
from motorpool.codecs.checksums import sum8

_COMMAND = re.compile(rb"@@.[0-9]+,[0-9]+,([A-Z][0-9]{2})(?:,([^\r\n]*))?\*[0-9A-F]{2}\r\n", re.DOTALL)
_VOLTAGES: Final[Mapping[str, str]] = {
    "": "019E|04E2",
    "MT90": "0A09|000C",
    "MVT380": "02C3|010B",
    "T3": "0A09|03CA",
}
"""About 4.14 and 12.5 V, by model, in its own steps."""
_PHOTO = b"\xff\xd8\xff\xd9"


class MeitrackTracker(Tracker):
    """Answers commands with `OK`, and has a photo of one packet."""

    protocol = "meitrack"
    models = tuple(filter(None, _VOLTAGES))

    def login(self) -> bytes:
        """Return a heartbeat, which the server answers."""
        return self.heartbeat()

    def heartbeat(self) -> bytes:
        """Return a heartbeat."""
        return self._frame(b"z", b"AAC,1")

    def position(self, moment: datetime, state: VehicleState) -> bytes:
        """Return a record in text: event 35, the interval has passed."""
        text = (
            f"AAA,35,{state.latitude:.6f},{state.longitude:.6f},{moment.astimezone(UTC):%y%m%d%H%M%S},A,9,24,"
            f"{round(state.speed * 3.6)},{round(state.course) % 360},0.9,35,{round(state.odometer)},0,"
            f"0|0|0000|0000,0400,0000|0000|0000|{_VOLTAGES[self.model]},,,3,,,0,"
        )
        return self._frame(b"A", text.encode())

    def receive(self, data: bytes) -> bytes:
        """Return the answers to commands."""
        answers = b""
        for found in _COMMAND.finditer(data):
            kind, values = found[1], found[2] or b""
            if kind == b"D00":
                name = values.split(b",")[0]
                answers += self._frame(b"P", b"D00,%s,1,0,%s" % (name, _PHOTO))
            else:
                answers += self._frame(b"B", kind + b",OK")
        return answers

    def _frame(self, flag: bytes, text: bytes) -> bytes:
        content = b",%s,%s*" % (self.unique_id.encode(), text)
        frame = b"$$%s%d%s" % (flag, len(content) + 4, content)
        return b"%s%02X\r\n" % (frame, sum8(frame))
