"""The platform's responses, and the receipts from which they are made once a message is stored
(docs/protocols/jt808.md#general-response).

A receipt is an integer: from the low end serial and id of the message, a media id, the kind of response, and
the identity's key, because one connection may carry several terminals. The receipt of an alarm's file is
bytes: the identity's key and the body of the response.
"""

from struct import Struct, pack

from motorpool.codecs.checksums import xor8
from motorpool.codecs.devices.jt808.attachments import FILE_END_RESPONSE
from motorpool.codecs.devices.jt808.frames import (
    Identity,
    encode_frame,
    encode_head,
    encode_lock_frame,
    escaped,
)
from motorpool.codecs.reports import Receipt

GENERAL_RESPONSE = 0x8001
REGISTER_RESPONSE = 0x8100
MEDIA_RESPONSE = 0x8800

DONE, FAILED, BAD, UNSUPPORTED = range(4)
"""Results of 0x8001."""
NO_SUCH_TERMINAL = 4
"""Result of 0x8100."""

GENERAL, REGISTRATION, MEDIA, MEDIA_PACKETS, LOCK = range(5)
"""Kinds of response. The last packet of a subpackaged file gets 0x8001 as well as 0x8800."""
LOCK_RESPONSE = 0x4401
_LOCK_SERIAL = 1
"""Responses to locks have always this serial."""

_GENERAL = Struct(">HHHBB")
"""Serial of the response, serial and id of the message, result, check byte."""
_GENERAL_BYTES = 5
"""The body."""

IDENTITY_SHIFT = 72
_KEY_BYTES = 11
_NO_KEY = 1 << 8 * _KEY_BYTES
"""That of no identity."""
_KIND_SHIFT = 64
_MEDIA_SHIFT = 32
_MESSAGE = (1 << _MEDIA_SHIFT) - 1
"""Serial and id."""


def make_receipt(
    identity_bits: int, message_id: int, serial: int, kind: int = GENERAL, media_id: int = 0
) -> int:
    """Return the receipt of a message; `identity_bits` is the identity's key shifted by `IDENTITY_SHIFT`."""
    return identity_bits | kind << _KIND_SHIFT | media_id << _MEDIA_SHIFT | message_id << 16 | serial


def make_file_receipt(identity: Identity, response: bytes) -> bytes:
    """Return the receipt of an alarm's file; `response` is the body of 0x9212 that confirms it."""
    return identity.key.to_bytes(_KEY_BYTES, "big") + response


_NO_IDENTITY = Identity(bytes(6), is_2019=False)


class ResponseEncoder:
    """Encodes responses and counts the platform's own serial."""

    __slots__ = ("_check", "_expected", "_head", "_identity", "_serial", "code")

    def __init__(self) -> None:
        self.code = ""
        """The authentication code of the next registration that is accepted; empty: the terminal's number."""
        self._serial = 0
        self.expect(_NO_IDENTITY, _NO_KEY)

    def expect(self, identity: Identity, key: int) -> None:
        """Keep the identity, with its key, that the next receipts probably belong to."""
        self._identity, self._expected = identity, key << IDENTITY_SHIFT
        head = b"" if identity.is_e7 else encode_head(identity, GENERAL_RESPONSE, 0, _GENERAL_BYTES)[:-2]
        self._head = b"" if identity.is_e7 else b"~" + escaped(head)
        """The head of 0x8001 up to its serial, escaped behind a delimiter; empty for frames between E7."""
        self._check = xor8(head)

    def next_serial(self) -> int:
        """Return the next serial: 0 to 65535, wrapping."""
        serial = self._serial
        self._serial = serial + 1 & 0xFFFF
        return serial

    def accept(self, receipt: Receipt) -> bytes:
        """Return the response of success to the message of the receipt."""
        if not isinstance(receipt, int):
            assert isinstance(receipt, bytes)
            identity = Identity.from_key(int.from_bytes(receipt[:_KEY_BYTES], "big"))
            return encode_frame(identity, FILE_END_RESPONSE, self.next_serial(), receipt[_KEY_BYTES:])
        message = receipt ^ self._expected
        if message <= _MESSAGE:
            # As nearly always: the general response to a message of the expected identity.
            return self._general(message, DONE)
        kind = receipt >> _KIND_SHIFT & 0xFF
        if kind == GENERAL:
            return self._general_to(receipt, DONE)
        if kind == REGISTRATION:
            identity = self._identity_of(receipt)
            # Of a device without a secret every code is accepted and none is kept.
            code, self.code = self.code or identity.number, ""
            body = pack(">HB", receipt & 0xFFFF, DONE) + code.encode()
            return encode_frame(identity, REGISTER_RESPONSE, self.next_serial(), body)
        if kind == LOCK:
            return self._lock(receipt, DONE)
        packet = self._general_to(receipt, DONE) if kind == MEDIA_PACKETS else b""
        media_id = (receipt >> _MEDIA_SHIFT & 0xFFFF_FFFF).to_bytes(4, "big")
        return packet + encode_frame(self._identity_of(receipt), MEDIA_RESPONSE, self.next_serial(), media_id)

    def refuse(self, receipt: Receipt, result: int = FAILED) -> bytes:
        """Return the response of failure; none to the end of a file, which the terminal then repeats."""
        if isinstance(receipt, bytes):
            return b""
        assert isinstance(receipt, int)
        if receipt >> _KIND_SHIFT & 0xFF == REGISTRATION:
            body = pack(">HB", receipt & 0xFFFF, NO_SUCH_TERMINAL)
            return encode_frame(self._identity_of(receipt), REGISTER_RESPONSE, self.next_serial(), body)
        if receipt >> _KIND_SHIFT & 0xFF == LOCK:
            return self._lock(receipt, result)
        return self._general_to(receipt, result)

    def _lock(self, receipt: int, result: int) -> bytes:
        body = pack(">HB", receipt >> 16 & 0xFFFF, result)
        return encode_lock_frame(self._identity_of(receipt), LOCK_RESPONSE, _LOCK_SERIAL, body)

    def _general_to(self, receipt: int, result: int) -> bytes:
        self._identity_of(receipt)
        return self._general(receipt & _MESSAGE, result)

    def _general(self, message: int, result: int) -> bytes:
        """Append to the head what differs; `message` is id and serial, of the expected identity."""
        serial = self._serial
        self._serial = serial + 1 & 0xFFFF
        answered, answered_id = message & 0xFFFF, message >> 16
        if not self._head:
            body = pack(">HHB", answered, answered_id, result)
            return encode_frame(self._identity, GENERAL_RESPONSE, serial, body)
        words = serial ^ answered ^ answered_id
        check = self._check ^ words >> 8 ^ words & 0xFF ^ result
        return self._head + escaped(_GENERAL.pack(serial, answered, answered_id, result, check)) + b"~"

    def _identity_of(self, receipt: int) -> Identity:
        key = receipt >> IDENTITY_SHIFT
        if key << IDENTITY_SHIFT != self._expected:
            self.expect(Identity.from_key(key), key)
        return self._identity
