"""A GT06 tracker (docs/protocols/gt06.md)."""

from datetime import UTC, datetime
from struct import Struct

from motorpool.bench.vehicles.route import VehicleState
from motorpool.bench.vehicles.trackers.tracker import Tracker
from motorpool.codecs.checksums import crc16_x25

_GPS = Struct(">6BBIIBH")
_CELL = bytes.fromhex("01CC00287D001FB8")
_NORTH, _WEST, _VALID, _HAS_IGNITION, _IGNITION = 1 << 10, 1 << 11, 1 << 12, 1 << 14, 1 << 15
LOGIN, POSITION, HEARTBEAT, ANSWER, COMMAND = 0x01, 0x22, 0x13, 0x15, 0x80


class Gt06Tracker(Tracker):
    """Answers each command with its text."""

    protocol = "gt06"
    is_acknowledged = True

    def __init__(self, unique_id: str) -> None:
        super().__init__(unique_id)
        self._serial = 0

    def login(self) -> bytes:
        """Return the login of a device whose clock is UTC."""
        return self._frame(LOGIN, bytes.fromhex(f"0{self.unique_id}"))

    def heartbeat(self) -> bytes:
        """Return its states: ignition, charging, the battery full."""
        return self._frame(HEARTBEAT, bytes.fromhex("4606040002"))

    def position(self, moment: datetime, state: VehicleState) -> bytes:
        """Return a position with a cell, sent at once."""
        utc = moment.astimezone(UTC)
        flags = round(state.course) % 360 | _VALID | _HAS_IGNITION | _IGNITION
        flags |= (_NORTH if state.latitude >= 0 else 0) | (_WEST if state.longitude < 0 else 0)
        gps = _GPS.pack(
            *(utc.year % 100, utc.month, utc.day, utc.hour, utc.minute, utc.second),
            0xC9,
            round(abs(state.latitude) * 1_800_000),
            round(abs(state.longitude) * 1_800_000),
            min(255, round(state.speed * 3.6)),
            flags,
        )
        return self._frame(POSITION, gps + _CELL + bytes.fromhex("010000"))

    def receive(self, data: bytes) -> bytes:
        """Return the answers to the commands among these bytes, which are whole messages."""
        answers = b""
        while len(data) > 5 and data.startswith(b"\x78\x78"):
            content, kind, data = data[4 : data[2] - 1], data[3], data[data[2] + 5 :]
            if kind == COMMAND:
                answers += self._frame(ANSWER, content)
        return answers

    def _frame(self, kind: int, content: bytes) -> bytes:
        self._serial = self._serial % 0xFFFF + 1
        counted = bytes((len(content) + 5, kind)) + content + self._serial.to_bytes(2, "big")
        return b"\x78\x78" + counted + crc16_x25(counted).to_bytes(2, "big") + b"\r\n"
