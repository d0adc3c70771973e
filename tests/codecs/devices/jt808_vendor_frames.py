"""Frames as small makers build them, written without the codec."""

from functools import reduce
from operator import xor
from struct import pack

PHONE = "013912345678"
TIME = "240305222231"
"""2024-03-05T14:22:31Z in GMT+8."""


def frame(message_id: int, body: bytes, *, phone: str = PHONE, serial: int = 1) -> bytes:
    """A frame of 2013."""
    content = pack(">HH", message_id, len(body)) + bytes.fromhex(phone) + pack(">H", serial) + body
    content += bytes((reduce(xor, content),))
    return b"~" + content.replace(b"\x7d", b"\x7d\x01").replace(b"\x7e", b"\x7d\x02") + b"~"


def octets(text: str) -> bytes:
    return bytes.fromhex(text.replace(" ", ""))


def item(item_id: int, value: bytes | str) -> bytes:
    """An item of a location; the value as bytes or in hexadecimal digits with blanks."""
    content = octets(value) if isinstance(value, str) else value
    return bytes((item_id, len(content))) + content


def entries(*fields: tuple[int, bytes | str], id_bytes: int = 2, length_bytes: int = 1) -> bytes:
    """A block of id, length and value."""
    block = b""
    for number, value in fields:
        content = octets(value) if isinstance(value, str) else value
        block += number.to_bytes(id_bytes, "big") + len(content).to_bytes(length_bytes, "big") + content
    return block


def bsj(*fields: tuple[int, bytes | str]) -> bytes:
    """A block of BSJ's, whose lengths count the ids."""
    block = b""
    for number, value in fields:
        content = octets(value) if isinstance(value, str) else value
        block += pack(">HH", len(content) + 2, number) + content
    return block


def place(*, alarm: int = 0, status: int = 3, altitude: int = 35) -> bytes:
    """The 28 bytes of a location at 22.5731, 113.9213, 47 km/h, 92 degrees."""
    return pack(">IIIIHHH", alarm, status, 22573100, 113921300, altitude, 470, 92) + octets(TIME)


def location(*items: bytes, alarm: int = 0, status: int = 3) -> bytes:
    """A frame 0x0200."""
    return frame(0x0200, place(alarm=alarm, status=status) + b"".join(items))
