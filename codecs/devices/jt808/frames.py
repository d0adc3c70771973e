"""JT/T 808 frames: escaping, check byte and the forms of the header.

docs/protocols/jt808.md#framing, docs/protocols/jt808.md#header and docs/protocols/jt808-vendors.md#frames.
Used by both ends: the server's codec, and the terminal of the simulator and the tests.
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
_HEAD_E7 = Struct(">HH7sH")
_HEAD_LOCK = Struct(">HH6sB")
_LOCK_IDS = 0x55
"""High byte of the message ids of locks, whose headers have a serial of one byte."""
_ANSWER_WANTED = 0x8000
_E7_ESCAPES = ((b"\xe6", b"\xe6\x01"), (b"\xe7", b"\xe6\x02"), (b"\x3e", b"\x3e\x01"), (b"\x3d", b"\x3e\x02"))
"""Bytes that are escaped between the delimiters E7, in this order, and their escapes."""
DELIMITER, ESCAPE = 0x7E, 0x7D
"""As integers, since `in` finds an integer in bytes several times as fast as one byte."""
_PACKET = Struct(">HH")
_SUBPACKAGED = 0x2000
_MODERN = 0x4000
_ENCRYPTED = 0x1C00


class Identity(msgspec.Struct, frozen=True, gc=False):
    """The terminal that a header names, and the form of the header."""

    phone: bytes
    """As in the header: 6 bytes in the 2013 form, 7 between the delimiters E7, 10 in the 2019 form."""
    is_2019: bool
    """Whether the header has the 2019 form."""
    is_e7: bool = False
    """Whether frames stand between the delimiters E7."""

    @property
    def key(self) -> int:
        """All fields as an integer of 82 bits; `from_key` reverses it."""
        return self.is_e7 << 81 | self.is_2019 << 80 | int.from_bytes(self.phone, "big")

    @staticmethod
    def from_key(key: int) -> "Identity":
        """Return the identity with this key."""
        is_2019, is_e7 = bool(key >> 80 & 1), bool(key >> 81)
        return Identity((key & (1 << 80) - 1).to_bytes(_phone_bytes(is_2019, is_e7), "big"), is_2019, is_e7)

    @staticmethod
    def from_digits(digits: str, *, is_2019: bool, is_e7: bool = False) -> "Identity":
        """Return the identity of a phone number, or of another number in decimal or hexadecimal digits.

        An IMEI, of 15 digits, fits the 2013 form as the binary number of its first 14.

        Raises:
            FrameError: not such a number, or too long for the form.
        """
        size = _phone_bytes(is_2019, is_e7)
        if len(digits) == 15 and size == 6 and digits.isdecimal() and digits.isascii():
            return Identity(int(digits[:14]).to_bytes(6, "big"), is_2019)
        try:
            phone = bytes.fromhex(digits.rjust(size * 2, "0"))
        except ValueError:
            phone = b""
        if len(phone) != size:
            raise FrameError(f"{digits!r} does not fit the {size * 2} digits of a header")
        return Identity(phone, is_2019, is_e7)

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
        readings, packed = [digits], int.from_bytes(self.phone, "big")
        if len(self.phone) == 7:
            # A whole IMEI, or the first 14 digits of one in six of the bytes: which of both is not known.
            readings += [str(packed)] if 10**14 <= packed < 10**15 else []
            packed >>= 8
        if packed < 10**14:
            readings.append(with_luhn_digit(f"{packed:014}"))
        return tuple(readings)


def _phone_bytes(is_2019: bool, is_e7: bool) -> int:
    return 10 if is_2019 else 7 if is_e7 else 6


def with_luhn_digit(digits: str) -> str:
    """Return decimal digits and behind them the check digit of an IMEI."""
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
    is_e7: bool = False
    """Whether it stood between the delimiters E7."""
    answer_wanted: bool = True
    """False for a lock's message that asks for no answer."""

    @property
    def body(self) -> bytes:
        """Without header and check byte."""
        return self.content[self.start : -1]


def new_framer() -> DelimiterFramer:
    """Return the framing of JT/T 808; its frames are read by `decode_frame`."""
    return DelimiterFramer(b"~", MAX_FRAME_BYTES)


def decode_frame(escaped: bytes, *, is_e7: bool = False) -> Frame:
    """Unescape what is between two delimiters, verify its check byte and read its header.

    `is_e7` says that the delimiters are E7.

    Raises:
        ChecksumError: the check byte is wrong.
        FrameError: too short, a length that disagrees, encrypted, or an impossible packet number.
    """
    content = escaped
    if is_e7:
        content = unescape_e7(escaped)
    elif ESCAPE in escaped:
        content = unescaped(escaped)
    if xor8(content):
        # Some makers do not escape 7d.
        if is_e7 or xor8(escaped) or len(escaped) != _announced_bytes(escaped):
            raise ChecksumError("the check byte is wrong")
        content = escaped
    size = len(content)
    if size < 13:
        raise FrameError(f"a frame of {size} bytes holds no header")
    if content[0] == _LOCK_IDS and not is_e7:
        return _decode_lock_header(content)
    is_2019 = content[2] & 0x40 != 0
    if is_2019:
        if size < 18:
            raise FrameError(f"a frame of {size} bytes holds no 2019 header")
        message_id, properties, _, phone, serial = _HEAD_2019.unpack_from(content)
        start = 17
    elif is_e7:
        if size < 14:
            raise FrameError(f"a frame of {size} bytes holds no header")
        message_id, properties, phone, serial = _HEAD_E7.unpack_from(content)
        start = 13
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
    return Frame(message_id, serial, phone, is_2019, start, content, total, index, is_e7)


def _announced_bytes(content: bytes) -> int:
    """Return the size of a frame of 2013 or 2019 that its header announces."""
    properties = int.from_bytes(content[2:4], "big")
    header = (17 if properties & _MODERN else 12) + (4 if properties & _SUBPACKAGED else 0)
    return header + (properties & 0x3FF) + 1


def _decode_lock_header(content: bytes) -> Frame:
    """Read a header whose serial has one byte; of the properties only length and `_ANSWER_WANTED` count."""
    message_id, properties, phone, serial = _HEAD_LOCK.unpack_from(content)
    start = _HEAD_LOCK.size
    if len(content) - start - 1 != properties & 0x3FF:
        raise FrameError(
            f"the header announces a body of {properties & 0x3FF} bytes, {len(content) - start - 1} came"
        )
    answer_wanted = properties & _ANSWER_WANTED != 0
    return Frame(message_id, serial, phone, False, start, content, answer_wanted=answer_wanted)


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
    head = encode_head(identity, message_id, serial, size | _SUBPACKAGED if total else size)
    content = head + _PACKET.pack(total, index) + body if total else head + body
    return add_e7_framing(content) if identity.is_e7 else add_framing(content)


def encode_head(identity: Identity, message_id: int, serial: int, properties: int) -> bytes:
    """Return the head of a frame, which ends with its serial; `properties` hold the length of the body."""
    if identity.is_2019:
        return _HEAD_2019.pack(message_id, properties | _MODERN, 1, identity.phone, serial)
    form = _HEAD_E7 if identity.is_e7 else _HEAD_2013
    return form.pack(message_id, properties, identity.phone, serial)


def encode_lock_frame(identity: Identity, message_id: int, serial: int, body: bytes) -> bytes:
    """Return a frame with a serial of one byte, as locks have it."""
    return add_framing(_HEAD_LOCK.pack(message_id, len(body), identity.phone, serial) + body)


def add_framing(content: bytes) -> bytes:
    """Return header and body with check byte, escaped, between delimiters."""
    return b"~" + escaped(content + xor8(content).to_bytes(1, "big")) + b"~"


def escaped(content: bytes) -> bytes:
    """Return bytes as they stand between two delimiters."""
    if ESCAPE in content or DELIMITER in content:
        content = content.replace(b"}", b"}\x01").replace(b"~", b"}\x02")
    return content


def unescaped(content: bytes) -> bytes:
    """Return what stands between two delimiters, or with them, without its escapes."""
    # In this order two replacements equal one pass from left to right.
    return content.replace(b"}\x02", b"~").replace(b"}\x01", b"}")


def add_e7_framing(content: bytes) -> bytes:
    """Return header and body with check byte, escaped, between the delimiters E7."""
    content += xor8(content).to_bytes(1, "big")
    for plain, escaped in _E7_ESCAPES:
        content = content.replace(plain, escaped)
    return b"\xe7" + content + b"\xe7"


def with_right_check(frame: bytes) -> bytes:
    """Return a frame with its delimiters and the check byte of its content; other bytes as they are."""
    if len(frame) > 3 and frame.startswith(b"~") and frame.endswith(b"~"):
        return add_framing(unescaped(frame[1:-1])[:-1])
    if len(frame) > 3 and frame.startswith(b"\xe7") and frame.endswith(b"\xe7"):
        return add_e7_framing(unescape_e7(frame[1:-1])[:-1])
    return frame


def unescape_e7(content: bytes) -> bytes:
    """Return what is between two delimiters E7 without its escapes."""
    # Backwards: an escape that this makes is none, since the bytes behind it are not looked at again.
    for plain, escaped in reversed(_E7_ESCAPES):
        content = content.replace(escaped, plain)
    return content
