"""Mutations of messages that are right: what random bytes never reach."""

import random

_INTERESTING = (0x00, 0x01, 0x7D, 0x7E, 0x7F, 0x80, 0xFE, 0xFF)
_TEXTS = (
    "\0",
    "%00",
    "%ED%A0%80",
    "\\u0000",
    "\\ud800",
    "\u202e",
    "\U0001f69a",
    "-1",
    "0",
    "1e999",
    "-1e999",
    "NaN",
    "Infinity",
    "9223372036854775808",
    "99999999999999999999999999",
    "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59-23:59",
    "[",
    "{",
    "null",
    '"',
    "'",
    ";",
    "%",
    "\r\n",
    "A" * 5000,
    "[" * 2000,
    "(" * 2000,
)


def mutated(source: random.Random, content: bytes) -> bytes:
    """Return `content` with one to four changes: bytes flipped, cut, repeated, removed or inserted."""
    changed = bytearray(content)
    for _ in range(source.randint(1, 4)):
        at = source.randrange(len(changed) + 1)
        length = min(source.choice((1, 2, 4, 16, 64)), len(changed) - at)
        match source.randrange(6):
            case 0 if at < len(changed):
                changed[at] ^= 1 << source.randrange(8)
            case 1 if at < len(changed):
                changed[at] = source.choice(_INTERESTING)
            case 2:
                del changed[at:]
            case 3:
                changed[at:at] = changed[at : at + length] * source.randint(1, 4)
            case 4:
                del changed[at : at + length]
            case _:
                changed[at:at] = source.randbytes(source.choice((1, 2, 4, 16)))
    return bytes(changed)


def mutated_text(source: random.Random, text: str) -> str:
    """Return `text` with one or two of its characters or words replaced by what is easily mistaken."""
    for _ in range(source.randint(1, 2)):
        start = source.randrange(len(text) + 1)
        end = min(len(text), start + source.choice((0, 1, 1, 3, 8)))
        text = text[:start] + source.choice(_TEXTS) + text[end:]
    return text
