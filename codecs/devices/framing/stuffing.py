"""Byte stuffing: bytes that a frame may not contain are sent as an escape byte and a code."""

import re
from collections.abc import Mapping


class ByteStuffing:
    r"""Replaces bytes by escape sequences of two bytes, and back.

    `ByteStuffing({b"}\x01": b"}", b"}\x02": b"["})` writes `[` as `7d 02`. All sequences are replaced in
    one pass, so that what a replacement brings is not read again; a sequence that is not listed stays as it
    is.
    """

    __slots__ = ("_bytes", "_first", "_plain", "_sequences", "_stuffed")

    def __init__(self, sequences: Mapping[bytes, bytes]) -> None:
        """Take the sequences of two bytes and the bytes that they stand for."""
        assert all(len(sequence) == 2 and len(byte) == 1 for sequence, byte in sequences.items())
        self._sequences = dict(sequences)
        self._bytes = {byte: sequence for sequence, byte in sequences.items()}
        self._first = {sequence[:1] for sequence in sequences}
        self._stuffed = re.compile(b"|".join(map(re.escape, self._sequences)), re.DOTALL)
        self._plain = re.compile(b"|".join(map(re.escape, self._bytes)), re.DOTALL)

    def decode(self, data: bytes) -> bytes:
        """Return the bytes with all sequences replaced."""
        if not any(first in data for first in self._first):
            return data
        return self._stuffed.sub(lambda found: self._sequences[found[0]], data)

    def encode(self, data: bytes) -> bytes:
        """Return the bytes with forbidden values replaced by escape sequences."""
        return self._plain.sub(lambda found: self._bytes[found[0]], data)
