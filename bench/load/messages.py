"""Location messages of many JT/T 808 terminals, cheap enough that the client does not limit the measurement.

Message n differs between terminals only by the phone number in its header. Header and body are prepared and
escaped separately and joined when sent; the check byte is the XOR of both parts' XORs.
"""

from datetime import UTC, datetime, timedelta
from struct import Struct

from motorpool.codecs.checksums import xor8
from motorpool.codecs.devices.jt808.terminal_messages import LOCATION

_BODY = Struct(">IIIIHHH")
_ITEMS = bytes.fromhex(
    "0104 0001e240 0202 01f4 0302 0190 1404 00000000 2504 00000001 3001 1f 3101 0c".replace(" ", "")
)
"""Seven items: odometer, fuel, recorder speed, video alarms, signals, radio, satellites."""
_GMT8 = timedelta(hours=8)
_TAILS = [bytes((check,)).replace(b"}", b"}\x01").replace(b"~", b"}\x02") + b"~" for check in range(256)]


def _escaped(content: bytes) -> bytes:
    return content.replace(b"}", b"}\x01").replace(b"~", b"}\x02")


_ORIGIN = 52.516_280, 13.377_700
"""The Brandenburger Tor."""


def _place(number: int, origin: tuple[float, float] = _ORIGIN) -> tuple[int, int]:
    # A slow drive north-east, about 10 m a message; millionths of degrees.
    latitude, longitude = origin
    return round(latitude * 1e6) + number % 5000 * 70, round(longitude * 1e6) + number % 5000 * 90


class LocationMessages:
    """The messages 0, 1, 2 … of every terminal, one second apart in device time."""

    def __init__(self, first: datetime) -> None:
        self.first = first.replace(microsecond=0)
        self._bodies: list[tuple[bytes, int]] = []

    def device_time(self, number: int) -> datetime:
        """Return the time in message `number`; each message of a terminal has its own."""
        return self.first + timedelta(seconds=number)

    @staticmethod
    def place(number: int) -> tuple[float, float]:
        """Return the latitude and longitude in message `number`."""
        latitude, longitude = _place(number)
        return latitude / 1e6, longitude / 1e6

    def head(self, phone: str, *, modern: bool) -> tuple[bytes, int]:
        """The first part of a terminal's frames, escaped, and its XOR."""
        properties = _BODY.size + 6 + len(_ITEMS)
        if modern:
            content = bytes((0x02, 0x00, 0x40 | properties >> 8, properties & 0xFF, 1)) + bytes.fromhex(
                phone.zfill(20)
            )
        else:
            content = bytes((0x02, 0x00, properties >> 8, properties & 0xFF)) + bytes.fromhex(phone.zfill(12))
        return b"~" + _escaped(content), xor8(content)

    def frame(self, head: tuple[bytes, int], number: int, origin: tuple[float, float] | None = None) -> bytes:
        """Message `number` of the terminal with that head, which drives from `origin`."""
        if origin is not None:
            body, check = self._body(number, origin)
            return head[0] + body + _TAILS[head[1] ^ check]
        while number >= len(self._bodies):
            self._bodies.append(self._body(len(self._bodies)))
        body, check = self._bodies[number]
        return head[0] + body + _TAILS[head[1] ^ check]

    def _body(self, number: int, origin: tuple[float, float] = _ORIGIN) -> tuple[bytes, int]:
        latitude, longitude = _place(number, origin)
        local = (self.device_time(number) + _GMT8).astimezone(UTC)
        content = (
            (number & 0xFFFF).to_bytes(2, "big")
            + _BODY.pack(0, 0x000C_0003, latitude, longitude, 34, 360, 38)
            + bytes.fromhex(local.strftime("%y%m%d%H%M%S"))
            + _ITEMS
        )
        return _escaped(content), xor8(content)


def is_accepted(answer: bytes) -> bool:
    """Whether these bytes are one general answer (0x8001) with result 0 to a location."""
    if answer[:1] != b"~" or answer[-1:] != b"~" or answer[1:3] != b"\x80\x01":
        return False
    return _general(answer[1:-1]) == (LOCATION, 0)


def general_answers(received: bytes) -> tuple[list[tuple[int, int]], bytes]:
    """Return the general answers among received frames, and the part of a frame that is left.

    An answer is the id of the message that it is for, and its result.
    """
    *whole, rest = received.split(b"~")
    found = [_general(content) for content in whole if content[:2] == b"\x80\x01"]
    return found, b"~" + rest if rest else b""


def _general(content: bytes) -> tuple[int, int]:
    if b"}" in content:
        content = content.replace(b"}\x02", b"~").replace(b"}\x01", b"}")
    # … answered serial WORD, answered id WORD, result BYTE, check BYTE
    return int.from_bytes(content[-4:-2], "big"), content[-2]
