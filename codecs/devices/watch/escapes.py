"""Bytes of sounds and pictures that would be marks of a frame (docs/protocols/watch.md#frames)."""

import re
from typing import Final

_ESCAPED: Final = {
    b"}": b"}\x01",
    b"[": b"}\x02",
    b"]": b"}\x03",
    b",": b"}\x04",
    b"*": b"}\x05",
}
_PLAIN: Final = {escaped: plain for plain, escaped in _ESCAPED.items()}
_MARK = re.compile(rb"[}\[\],*]")
_ESCAPE = re.compile(rb"\}[\x01-\x05]")


def escape(content: bytes) -> bytes:
    """Return the bytes with each mark replaced by two others."""
    return _MARK.sub(lambda found: _ESCAPED[found[0]], content)


def unescape(content: bytes) -> bytes:
    """Return the bytes that were escaped; other pairs stay as they are."""
    return _ESCAPE.sub(lambda found: _PLAIN[found[0]], content)
