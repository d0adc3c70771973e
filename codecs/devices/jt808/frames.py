"""JT/T 808 frames: escaping, check byte and both forms of the header.

docs/protocols/jt808.md#framing and docs/protocols/jt808.md#header. Used by both ends: the server's codec, and
the terminal of the simulator and the tests.
"""

from struct import Struct

import msgspec

from motorpool.codecs.checksums import xor8
from motorpool.codecs.devices.framing import DelimiterFramer
from motorpool.codecs.errors import ChecksumError, FrameError

MAX_BODY_BYTES = 1023
"""Body of one packet: the length field has ten bits."""
MAX_FRAME_BYTES = 4096
"""Escaped, without delimiters. A frame of the greatest length with every byte escaped has 2,090."""

_HEAD_2013 = Struct(">HH6sH")
_HEAD_2019 = Struct(">HHB10sH")
_PACKET = Struct(">HH")
_SUBPACKAGED = 0x2000
_MODERN = 0x4000
_ENCRYPTED = 0x1C00


class Identity(msgspec.Struct, frozen=True, gc=False):
    """The terminal that a header names, and the form of the header."""

    phone: bytes
    """As in the header: 6 bytes in the 2013 form, 10 in the 2019 form."""
    is_2019: bool
    """Whether the header has the 2019 form."""

    @property
    def key(self) -> int:
        """Both fields as an integer of 81 bits; `from_key` reverses it."""
        return self.is_2019 << 80 | int.from_bytes(self.phone, "big")

    @staticmethod
    def from_key(key: int) -> "Identity":
        """Return the identity with this key."""
        is_2019 = bool(key >> 80)
        return Identity((key & (1 << 80) - 1).to_bytes(10 if is_2019 else 6, "big"), is_2019)

    @staticmethod
    def from_digits(digits: str, *, is_2019: bool) -> "Identity":
        """Return the identity of a phone number, or of another number in decimal or hexadecimal digits.

        Raises:
            FrameError: not such a number, or too long for the form.
        """
        width = 20 if is_2019 else 12
        try:
            phone = bytes.fromhex(digits.rjust(width, "0"))
        except ValueError:
            phone = b""
        if len(phone) * 2 != width:
            raise FrameError(f"{digits!r} does not fit the {width} digits of a header")
        return Identity(phone, is_2019)

    @property
    def number(self) -> str:
        """The digits without leading zeros: the same in both forms."""
        return self.phone.hex().lstrip("0") or "0"

    @property
    def unique_ids(self) -> tuple[str, ...]:
        """The ways to write the identity, as sent first (docs/protocols/jt808.md#phone-number)."""
        digits, number = self.phone.hex(), self.number
        if digits.isdecimal():
            shorter = (number.rjust(12, "0"),) if self.is_2019 and len(number) <= 12 else ()
            return tuple(dict.fromkeys((digits, *shorter, number)))
        binary = int.from_bytes(self.phone, "big")
        if binary >= 10**14:
            return (digits,)
        return digits, _with_luhn_digit(f"{binary:014}")


def _with_luhn_digit(digits: str) -> str:
    total = 0
    for place, digit in enumerate(reversed(digits)):
        doubled = int(digit) * (2 - place % 2)
        total += doubled - 9 if doubled > 9 else doubled
    return f"{digits}{-total % 10}"


class Frame(msgspec.Struct, frozen=True, gc=False):
    """A frame whose header was read."""

    message_id: int
    serial: int
    phone: bytes
    is_2019: bool
    start: int
    """Offset of the body in `content`."""
    content: bytes
    """Unescaped, from header to check byte."""
    total: int = 0
    """Number of packets; 0 where the message is not subpackaged."""
    index: int = 0
    """Index of this packet, from 1."""

    @property
    def body(self) -> bytes:
        """Without header and check byte."""
        return self.content[self.start : -1]


def new_framer() -> DelimiterFramer:
    """Return the framing of JT/T 808; its frames are read by `decode_frame`."""
    return DelimiterFramer(b"~", MAX_FRAME_BYTES)


def decode_frame(escaped: bytes) -> Frame:
    """Unescape what is between two delimiters, verify its check byte and read its header.

    Raises:
        ChecksumError: the check byte is wrong.
        FrameError: too short, a length that disagrees, encrypted, or an impossible packet number.
    """
    content = escaped
    if b"}" in escaped:
        # In this order two replacements equal one pass from left to right.
        content = escaped.replace(b"}\x02", b"~").replace(b"}\x01", b"}")
    if xor8(content):
        raise ChecksumError("the check byte is wrong")
    size = len(content)
    if size < 13:
        raise FrameError(f"a frame of {size} bytes holds no header")
    is_2019 = content[2] & 0x40 != 0
    if is_2019:
        if size < 18:
            raise FrameError(f"a frame of {size} bytes holds no 2019 header")
        message_id, properties, _, phone, serial = _HEAD_2019.unpack_from(content)
        start = 17
    else:
        message_id, properties, phone, serial = _HEAD_2013.unpack_from(content)
        start = 12
    total = index = 0
    if properties & _SUBPACKAGED:
        if size < start + 5:
            raise FrameError(f"a frame of {size} bytes holds no packet numbers")
        total, index = _PACKET.unpack_from(content, start)
        start += 4
        if not 1 <= index <= total:
            raise FrameError(f"packet {index} of {total}")
    if size - start - 1 != properties & 0x3FF:
        raise FrameError(
            f"the header announces a body of {properties & 0x3FF} bytes, {size - start - 1} came"
        )
    if properties & _ENCRYPTED:
        raise FrameError(f"message 0x{message_id:04x} is encrypted")
    return Frame(message_id, serial, phone, is_2019, start, content, total, index)


def encode_frame(
    identity: Identity, message_id: int, serial: int, body: bytes, total: int = 0, index: int = 0
) -> bytes:
    """Return one frame, ready to be sent.

    Raises:
        FrameError: the body has more than 1,023 bytes.
    """
    size = len(body)
    if size > MAX_BODY_BYTES:
        raise FrameError(f"a body of {size} bytes does not fit one packet")
    properties = size | _SUBPACKAGED if total else size
    if identity.is_2019:
        head = _HEAD_2019.pack(message_id, properties | _MODERN, 1, identity.phone, serial)
    else:
        head = _HEAD_2013.pack(message_id, properties, identity.phone, serial)
    content = head + _PACKET.pack(total, index) + body if total else head + body
    return add_framing(content)


def encode_packets(
    identity: Identity, message_id: int, first_serial: int, body: bytes, packet_bytes: int = MAX_BODY_BYTES
) -> list[bytes]:
    """Return a message as frames with at most `packet_bytes` of body each and consecutive serials."""
    if len(body) <= packet_bytes:
        return [encode_frame(identity, message_id, first_serial, body)]
    total = -(-len(body) // packet_bytes)
    return [
        encode_frame(
            identity,
            message_id,
            (first_serial + index) & 0xFFFF,
            body[index * packet_bytes : (index + 1) * packet_bytes],
            total,
            index + 1,
        )
        for index in range(total)
    ]


def add_framing(content: bytes) -> bytes:
    """Return header and body with check byte, escaped, between delimiters."""
    content += xor8(content).to_bytes(1, "big")
    if b"}" in content or b"~" in content:
        content = content.replace(b"}", b"}\x01").replace(b"~", b"}\x02")
    return b"~" + content + b"~"
