"""A Ruptela tracker (docs/protocols/ruptela.md)."""

from datetime import datetime
from struct import Struct

from motorpool.bench.vehicles.route import VehicleState
from motorpool.bench.vehicles.trackers.tracker import Tracker
from motorpool.codecs.checksums import crc16_kermit

RECORDS, TEXT_ANSWER, HEARTBEAT, OUTPUT = 1, 7, 16, 17
CONFIGURATION, VERSION, FIRMWARE, SMS = 2, 3, 4, 8
SERVER_COMMAND = 100
_RECORD = Struct(">IBBiiHHBHBB")
_VALUES = bytes.fromhex("03 0201 0501 FB01 02 1D33C6 1E0FB5 01 410002D093 00")
"""Inputs, ignition; supply, battery; odometer."""
_EVENT = 7


class RuptelaTracker(Tracker):
    """Sends records one by one and answers the commands that have an answer."""

    protocol = "ruptela"
    is_acknowledged = True

    def heartbeat(self) -> bytes:
        """Return a heartbeat, which is answered."""
        return self._frame(HEARTBEAT, b"")

    def position(self, moment: datetime, state: VehicleState) -> bytes:
        """Return a packet with one record."""
        record = _RECORD.pack(
            round(moment.timestamp()),
            0,
            0,
            round(state.longitude * 10_000_000),
            round(state.latitude * 10_000_000),
            340,
            round(state.course * 100) % 36_000,
            11,
            round(state.speed * 3.6),
            8,
            _EVENT,
        )
        return self._frame(RECORDS, b"\x00\x01" + record + _VALUES)

    def receive(self, data: bytes) -> bytes:
        """Return the answers to the commands among these bytes, which are whole frames."""
        answers = b""
        while len(data) >= 5:
            size = int.from_bytes(data[:2], "big")
            command, data = data[2] - SERVER_COMMAND, data[4 + size :]
            if command in (CONFIGURATION, VERSION, FIRMWARE):
                answers += self._frame(command, b"done")
            elif command == SMS:
                answers += self._frame(TEXT_ANSWER, b"done")
            elif command == OUTPUT:
                answers += self._frame(OUTPUT, b"\x01")
        return answers

    def _frame(self, command: int, payload: bytes) -> bytes:
        body = int(self.unique_id).to_bytes(8, "big") + bytes((command,)) + payload
        return len(body).to_bytes(2, "big") + body + crc16_kermit(body).to_bytes(2, "big")
