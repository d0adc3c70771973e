"""A Teltonika tracker (docs/protocols/teltonika.md)."""

from collections.abc import Mapping
from datetime import datetime
from struct import Struct
from typing import Final

from motorpool.bench.vehicles.route import VehicleState
from motorpool.bench.vehicles.trackers.tracker import Tracker
from motorpool.codecs.checksums import crc16_arc

_RECORD = Struct(">QBiihHBH")
_SIZES = (1, 2, 4, 8)
_ELEMENTS = bytes.fromhex(
    "00 08 03 EF 01 F0 01 15 04 02 42 33C6 B6 0009 02 10 0002D093 F1 00005A12 01 4E 0000000000000000"
)
"""Ignition, motion, signal; supply, hdop; odometer, operator; no driver."""
_OF_ALL: Final[Mapping[int, bytes]] = {
    239: b"\x01",
    240: b"\x01",
    21: b"\x04",
    66: bytes.fromhex("33C6"),
    182: bytes.fromhex("0009"),
    16: bytes.fromhex("0002D093"),
    241: bytes.fromhex("00006592"),
}
_OF_MODELS: Final[Mapping[str, Mapping[int, bytes]]] = {
    "FMB003": {113: b"\x5a", 389: bytes.fromhex("00003039"), 256: b"WVWZZZ1JZXW000001"},
    "FMB120": {
        113: b"\x5a",
        9: bytes.fromhex("04D2"),
        205: bytes.fromhex("1FB8"),
        206: bytes.fromhex("287D"),
    },
    "FMC640": {85: bytes.fromhex("0003"), 701: bytes.fromhex("0113"), 195: b"DRIVER01", 196: b"23456789"},
    "TAT100": {113: b"\x5a", 206: bytes.fromhex("287D"), 636: bytes.fromhex("00001FB8")},
}
"""Elements that the models add, sent by codec 8 extended."""
COMMAND, ANSWER = 0x05, 0x06


class TeltonikaTracker(Tracker):
    """Sends codec 8, or as a model codec 8 extended, and answers each command with its text."""

    protocol = "teltonika"
    is_acknowledged = True
    models = tuple(_OF_MODELS)

    def __init__(self, unique_id: str) -> None:
        super().__init__(unique_id)
        self._number = 0

    def login(self) -> bytes:
        """Return the identification, which is answered with 01."""
        return len(self.unique_id).to_bytes(2, "big") + self.unique_id.encode()

    def position(self, moment: datetime, state: VehicleState) -> bytes:
        """Return a packet with one record."""
        record = _RECORD.pack(
            round(moment.timestamp() * 1000),
            0,
            round(state.longitude * 10_000_000),
            round(state.latitude * 10_000_000),
            34,
            round(state.course) % 360,
            11,
            round(state.speed * 3.6),
        )
        if self.model:
            return _packet(b"\x8e\x01" + record + _extended({**_OF_ALL, **_OF_MODELS[self.model]}) + b"\x01")
        return _packet(b"\x08\x01" + record + _ELEMENTS + b"\x01")

    def datagram(self, message: bytes) -> bytes:
        """Return a packet as a datagram, and nothing for the identification, which is in each."""
        if message == self.login():
            return b""
        self._number = self._number % 0xFF + 1
        numbers = b"\xca\xfe\x01" + bytes((self._number,))
        content = numbers + self.login() + message[8:-4]
        return len(content).to_bytes(2, "big") + content

    def receive(self, data: bytes) -> bytes:
        """Return the answers to the commands among these bytes, which are whole messages."""
        answers = b""
        while len(data) >= 12:
            if not data.startswith(bytes(4)):
                data = data[1:]
                continue
            size = int.from_bytes(data[4:8], "big")
            content, data = data[8 : 8 + size], data[12 + size :]
            if content[:1] == b"\x0c" and content[2:3] == bytes((COMMAND,)):
                answers += _packet(content[:2] + bytes((ANSWER,)) + content[3:])
        return answers


def _extended(elements: Mapping[int, bytes]) -> bytes:
    """Return elements as codec 8 extended has them: grouped by their size, then those that have a length."""
    content = bytes(2) + len(elements).to_bytes(2, "big")
    for size in _SIZES:
        group = [(number, value) for number, value in elements.items() if len(value) == size]
        content += len(group).to_bytes(2, "big")
        content += b"".join(number.to_bytes(2, "big") + value for number, value in group)
    others = [(number, value) for number, value in elements.items() if len(value) not in _SIZES]
    return (
        content
        + len(others).to_bytes(2, "big")
        + b"".join(
            number.to_bytes(2, "big") + len(value).to_bytes(2, "big") + value for number, value in others
        )
    )


def _packet(content: bytes) -> bytes:
    return bytes(4) + len(content).to_bytes(4, "big") + content + crc16_arc(content).to_bytes(4, "big")
