"""A GT06 tracker, of one of many makers (docs/protocols/gt06.md)."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from struct import Struct
from typing import Final

from motorpool.bench.vehicles.route import VehicleState
from motorpool.bench.vehicles.trackers.tracker import Tracker
from motorpool.codecs.checksums import crc16_x25

_GPS = Struct(">6BBIIBH")
_CELL = bytes.fromhex("01CC00287D001FB8")
_CELL_OF_4 = bytes.fromhex("01CC00287D00001FB8")
_CELL_OF_4G = bytes.fromhex("01CC000000287D0000000000001FB8")
_NORTH, _WEST, _VALID, _HAS_IGNITION, _IGNITION = 1 << 10, 1 << 11, 1 << 12, 1 << 14, 1 << 15
LOGIN, POSITION, HEARTBEAT, ANSWER, COMMAND, INFORMATION = 0x01, 0x22, 0x13, 0x15, 0x80, 0x94
_IS_LONG = 0x100
"""Added to a type that stands behind 7979."""

_Layout = tuple[int, Callable[[bytes, bytes], bytes]]
"""The type, and the content made of the IMEI and a GPS block."""


def _hexadecimal(before: str, after: str = "") -> Callable[[bytes, bytes], bytes]:
    """Return a layout with fixed bytes around the GPS block."""
    head, tail = bytes.fromhex(before), bytes.fromhex(after)
    return lambda imei, gps: head + gps + tail


def _nt(tail: str) -> Callable[[bytes, bytes], bytes]:
    return lambda imei, gps: b"\x01" + imei + gps[:6] + gps + bytes.fromhex(tail)


_NT: Final[_Layout] = 0x22, _nt("0901CC00287D001FB8 02 04D2 2A 04 00 02 003039 00010F")
_LAYOUTS: Final[Mapping[str, _Layout]] = {
    "": (POSITION, lambda imei, gps: gps + _CELL + bytes.fromhex("010000")),
    **dict.fromkeys(("NT11", "NT20", "NT26", "NT40", "NT46", "VL100"), _NT),
    "XT40": (0x25, _nt("0A01CC00287D00001FB8 02 04D2 2A 04 00 02 003039 00010F 05 01 12AB34CD")),
    # States, and the alarm that is hard braking with these models alone.
    **dict.fromkeys(
        ("G18", "LL303", "VL103", "VL512"), (0x26, _hexadecimal("", f"09{_CELL.hex()} 020604 3002"))
    ),
    "QH302R": (0x12, lambda imei, gps: imei + gps + _CELL),
    "LW4G": (
        0xA2,
        lambda imei, gps: (
            gps
            + _CELL_OF_4G
            + bytes.fromhex("04 02 04D2 04 03 00 02 0001E240 00000E10")
            + imei
            + bytes.fromhex("0005")
        ),
    ),
    "Seeworld": (
        0x22,
        lambda imei, gps: gps + _CELL_OF_4 + bytes.fromhex("01 00 00 0001E240 00000E10 020D 1400"),
    ),
    "TRX16i": (
        0x36,
        lambda imei, gps: gps + _CELL + bytes.fromhex("01 02 00 0001E240 04D2 002A 00010F 0000000012AB34CD"),
    ),
    "VXT01": (0x12, _hexadecimal("", f"{_CELL.hex()} 02 04D2 03 00")),
    "BENWAY": (0x12, _hexadecimal("", f"{_CELL.hex()} 9014")),
    "S5": (0x12, _hexadecimal("", f"{_CELL.hex()} 02 04D2 03 00 012C 14 00003039")),
    "WETRUST": (0x12, _hexadecimal("", f"{_CELL.hex()} 0001E240 01 37 00 02 003C")),
    "GT06E": (0x12, lambda imei, gps: gps + _CELL + bytes.fromhex("0001E240 50") + b"%1234?".ljust(82)),
    "SR411": (0x24, _hexadecimal("", f"{_CELL.hex()} 01 04D2 019C {'00' * 10}")),
    "SL4X": (0x31, _hexadecimal("", "01CC0007287D0000000000001FB8 01 02 00 0023")),
    "JM-VL03": (0xA0, lambda imei, gps: gps + _CELL_OF_4G + bytes.fromhex("010000 0001E240")),
    **dict.fromkeys(("GT06N", "H'02"), (0x12, lambda imei, gps: gps + _CELL)),
    "JC100": (0x95, lambda imei, gps: gps[:6] + gps[7:15] + gps[16:] + bytes.fromhex("87 0000")),
    "JC400": (
        0x95,
        lambda imei, gps: (
            b"\xff\xff\x01" + gps[:15] + gps[16:] + b"\0" + gps[15:16] + bytes.fromhex("007B 87 0000")
        ),
    ),
    "X1": (
        0x34,
        _hexadecimal(
            "00000000", f"0000 0001E240 {_CELL_OF_4.hex()} 12345678 019C 04D2 00200000 03 01 0064 00C8"
        ),
    ),
    "AZ735": (
        0x32 | _IS_LONG,
        lambda imei, gps: gps[:6] + b"\x0c" + gps[6:] + b"\x09" + _CELL + bytes.fromhex("1F 00 00 01 00"),
    ),
}
"""By model."""
_HEARTBEATS: Final[Mapping[str, bytes]] = {
    "R11": bytes.fromhex("4604D204"),
    "LW4G": bytes.fromhex("460604007B"),
    "Seeworld": bytes.fromhex("4606040C02"),
}
_WETRACK = "Wetrack"
_SUPPLY = bytes.fromhex("0004D2")
"""Information 00: the voltage of the vehicle, 12.34 V."""


class Gt06Tracker(Tracker):
    """Answers each command with its text."""

    protocol = "gt06"
    is_acknowledged = True
    models = (*filter(None, _LAYOUTS), "R11", "iTriangle", _WETRACK)

    def __init__(self, unique_id: str) -> None:
        super().__init__(unique_id)
        self._serial = 0

    def login(self) -> bytes:
        """Return the login of a device whose clock is UTC."""
        return self._frame(LOGIN, self._imei)

    def heartbeat(self) -> bytes:
        """Return its states: ignition, charging, the battery full; of Wetrack the supply voltage, too."""
        states = self._frame(HEARTBEAT, _HEARTBEATS.get(self.model, bytes.fromhex("4606040002")))
        return states + self._frame(INFORMATION | _IS_LONG, _SUPPLY) if self.model == _WETRACK else states

    def position(self, moment: datetime, state: VehicleState) -> bytes:
        """Return a position in the way of its model; without one with a cell, sent at once."""
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
        kind, content = _LAYOUTS.get(self.model, _LAYOUTS[""])
        return self._frame(kind, content(self._imei, gps))

    def receive(self, data: bytes) -> bytes:
        """Return the answers to the commands among these bytes, which are whole messages."""
        answers = b""
        while len(data) > 5 and data.startswith(b"\x78\x78"):
            content, kind, data = data[4 : data[2] - 1], data[3], data[data[2] + 5 :]
            if kind == COMMAND:
                answers += self._frame(ANSWER, content)
        return answers

    @property
    def _imei(self) -> bytes:
        return bytes.fromhex(f"0{self.unique_id}")

    def _frame(self, kind: int, content: bytes) -> bytes:
        self._serial = self._serial % 0xFFFF + 1
        is_long = kind & _IS_LONG
        length = (len(content) + 5).to_bytes(2 if is_long else 1, "big")
        counted = length + bytes((kind & 0xFF,)) + content + self._serial.to_bytes(2, "big")
        return (b"yy" if is_long else b"xx") + counted + crc16_x25(counted).to_bytes(2, "big") + b"\r\n"
