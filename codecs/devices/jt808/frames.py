"""JT/T 808 frames: delimiters, escaping, check byte and header in both forms (docs/protocols/jt808.md).

Both ends use it: the server's codec and the terminal of simulator and tests.
"""

from struct import Struct

import msgspec

from motorpool.codecs.checksums import xor8
from motorpool.codecs.errors import FrameError
from motorpool.codecs.reports import FrameRejected

MAX_BODY_BYTES = 1023
"""Of one packet: the length field has ten bits."""
MAX_UNFINISHED_BYTES = 4096
"""A frame of the greatest length, every byte of it escaped, has 2,090."""
SHOWN_BYTES = 256
"""Of a dropped frame, for the log."""

_HEAD_2013 = Struct(">HH6sH")
_HEAD_2019 = Struct(">HHB10sH")
_PACKET = Struct(">HH")
_SUBPACKAGED = 0x2000
_MODERN = 0x4000
_ENCRYPTED = 0x1C00


class Identity(msgspec.Struct, frozen=True, gc=False):
    """Who a header names, and in which of the two forms."""

    phone: bytes
    """As in the header: 6 bytes in the 2013 form, 10 in the 2019 form."""
    modern: bool
    """The 2019 form."""

    @property
    def key(self) -> int:
        """Both fields in 81 bits; `from_key` is the way back."""
        return self.modern << 80 | int.from_bytes(self.phone, "big")

    @staticmethod
    def from_key(key: int) -> "Identity":
        """The identity that `key` stands for."""
        modern = bool(key >> 80)
        return Identity((key & (1 << 80) - 1).to_bytes(10 if modern else 6, "big"), modern)

    @staticmethod
    def from_digits(digits: str, *, modern: bool) -> "Identity":
        """The identity of a phone number or other number of decimal or hexadecimal digits.

        Raises:
            FrameError: not such a number, or too long for the form.
        """
        width = 20 if modern else 12
        try:
            phone = bytes.fromhex(digits.rjust(width, "0"))
        except ValueError:
            phone = b""
        if len(phone) * 2 != width:
            raise FrameError(f"{digits!r} does not fit the {width} digits of a header")
        return Identity(phone, modern)

    @property
    def number(self) -> str:
        """The digits without leading zeros: the same in both forms."""
        return self.phone.hex().lstrip("0") or "0"

    @property
    def unique_ids(self) -> tuple[str, ...]:
        """Ways to write the identity, exactly as sent first; an IMEI where the digits are not decimal."""
        digits, number = self.phone.hex(), self.number
        if digits.isdecimal():
            shorter = (number.rjust(12, "0"),) if self.modern and len(number) <= 12 else ()
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
    """One frame with its header read; `start` is where the body begins in `content`."""

    message_id: int
    serial: int
    phone: bytes
    modern: bool
    start: int
    content: bytes
    """Unescaped, header to check byte."""
    total: int = 0
    """Packets of the message; 0 where it is not subpackaged."""
    index: int = 0
    """Of this packet, from 1."""

    @property
    def body(self) -> bytes:
        """Without header and check byte."""
        return self.content[self.start : -1]


def open_frame(content: bytes) -> Frame:
    """Read the header of an unescaped, checked frame.

    Raises:
        FrameError: too short, a length that disagrees, encrypted, or an impossible packet number.
    """
    size = len(content)
    if size < 13:
        raise FrameError(f"a frame of {size} bytes holds no header")
    modern = content[2] & 0x40 != 0
    if modern:
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
        raise FrameError(f"the header tells {properties & 0x3FF} bytes of body, {size - start - 1} came")
    if properties & _ENCRYPTED:
        raise FrameError(f"message 0x{message_id:04x} is encrypted")
    return Frame(message_id, serial, phone, modern, start, content, total, index)


def seal(
    identity: Identity, message_id: int, serial: int, body: bytes, total: int = 0, index: int = 0
) -> bytes:
    """One frame, ready to be sent.

    Raises:
        FrameError: the body has more than 1,023 bytes.
    """
    size = len(body)
    if size > MAX_BODY_BYTES:
        raise FrameError(f"a body of {size} bytes does not fit one packet")
    properties = size | _SUBPACKAGED if total else size
    if identity.modern:
        head = _HEAD_2019.pack(message_id, properties | _MODERN, 1, identity.phone, serial)
    else:
        head = _HEAD_2013.pack(message_id, properties, identity.phone, serial)
    content = head + _PACKET.pack(total, index) + body if total else head + body
    return wrap(content)


def seal_packets(
    identity: Identity, message_id: int, first_serial: int, body: bytes, packet_bytes: int = MAX_BODY_BYTES
) -> list[bytes]:
    """A message as frames of at most `packet_bytes` of body each, with consecutive serials."""
    if len(body) <= packet_bytes:
        return [seal(identity, message_id, first_serial, body)]
    total = -(-len(body) // packet_bytes)
    return [
        seal(
            identity,
            message_id,
            (first_serial + index) & 0xFFFF,
            body[index * packet_bytes : (index + 1) * packet_bytes],
            total,
            index + 1,
        )
        for index in range(total)
    ]


def wrap(content: bytes) -> bytes:
    """Header and body with check byte, escaped, between delimiters."""
    content += xor8(content).to_bytes(1, "big")
    if b"}" in content or b"~" in content:
        content = content.replace(b"}", b"}\x01").replace(b"~", b"}\x02")
    return b"~" + content + b"~"


class Framer:
    """Cuts a stream at its delimiters; what stands between two of them is a frame or is dropped.

    So a delimiter shared by two frames, two in a row, and junk between frames need no case of their own.
    """

    __slots__ = ("_carry", "_opened", "_overflowed")

    def __init__(self) -> None:
        self._carry = b""
        self._opened = False
        self._overflowed = False

    @property
    def buffered(self) -> int:
        """Bytes of the unfinished frame, at most `MAX_UNFINISHED_BYTES`."""
        return len(self._carry)

    @property
    def is_between(self) -> bool:
        """At a place where a frame may begin: behind a delimiter, or before the first byte."""
        return not self._carry and not self._overflowed

    def give_back(self, mark: bytes) -> bytes:
        """Take back the unfinished frame if it may become `mark`, which is none; else nothing."""
        given = self._carry if not self._overflowed and mark.startswith(self._carry) else b""
        if given:
            self._carry = b""
        return given

    def receive(self, data: bytes) -> list[bytes | FrameRejected]:
        """The contents of all frames that end in these bytes: unescaped, their check byte right."""
        pieces = data.split(b"~")
        if self._carry:
            pieces[0] = self._carry + pieces[0]
        self._carry = pieces.pop()
        frames: list[bytes | FrameRejected] = []
        if pieces and (self._overflowed or not self._opened):
            self._begin(pieces, frames)
        for piece in pieces:
            if not piece:
                continue
            if len(piece) > MAX_UNFINISHED_BYTES:
                frames.append(_oversized(piece))
                continue
            content = piece
            if b"}" in piece:
                # This order alone equals one pass from left to right.
                content = piece.replace(b"}\x02", b"~").replace(b"}\x01", b"}")
            if xor8(content):
                frames.append(FrameRejected("the check byte is wrong", piece[:SHOWN_BYTES]))
            else:
                frames.append(content)
        if len(self._carry) > MAX_UNFINISHED_BYTES:
            if not self._overflowed:
                frames.append(_oversized(self._carry))
            self._overflowed = True
            self._carry = b""
        return frames

    def _begin(self, pieces: list[bytes], frames: list[bytes | FrameRejected]) -> None:
        """Drop what came before the first delimiter, or the rest of a frame that was too long."""
        before = pieces[0]
        pieces[0] = b""
        if not self._overflowed and before:
            if len(before) > MAX_UNFINISHED_BYTES:
                frames.append(_oversized(before))
            else:
                frames.append(FrameRejected("bytes before the first delimiter", before[:SHOWN_BYTES]))
        self._opened = True
        self._overflowed = False


def _oversized(piece: bytes) -> FrameRejected:
    return FrameRejected(f"more than {MAX_UNFINISHED_BYTES} bytes without a delimiter", piece[:SHOWN_BYTES])
