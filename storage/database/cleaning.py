"""Removes what PostgreSQL cannot store from text and JSON that devices sent.

A valid value costs one encoding and one search; only values that PostgreSQL would reject are traversed.
"""

import msgspec

_encode = msgspec.json.Encoder().encode
_BACKSLASH = ord("\\")
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_MAX_DEPTH = 64
"""Values nested more deeply are replaced by null."""


def json_bytes(value: object) -> bytes:
    """Return the value as JSON for a jsonb column; invalid values such as NUL are replaced."""
    try:
        encoded = _encode(value)
    except (UnicodeError, OverflowError, TypeError, RecursionError, ValueError):
        return _encode(_cleaned(value, 0))
    # Either a NUL or an escaped backslash before "u0000": the traversal distinguishes them. Few values have a
    # backslash at all, and to look for a byte by its number takes a twentieth of the time.
    if _BACKSLASH in encoded and b"\\u0000" in encoded:
        return _encode(_cleaned(value, 0))
    return encoded


def text_bytes(text: str) -> bytes:
    """Return the text as UTF-8; NUL and lone surrogates are replaced."""
    return _clean_text(text).encode()


def _clean_text(text: str) -> str:
    if "\x00" in text:
        text = text.replace("\x00", _REPLACEMENT)
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    return text


def _cleaned(value: object, depth: int) -> object:
    if depth > _MAX_DEPTH:
        return None
    match value:
        case str():
            return _clean_text(value)
        case bool() | None | float() | int():
            return value
        case dict():
            return {_clean_text(str(key)): _cleaned(inner, depth + 1) for key, inner in value.items()}
        case list() | tuple() | set() | frozenset():
            return [_cleaned(inner, depth + 1) for inner in value]
        case _:
            return _cleaned(msgspec.to_builtins(value, enc_hook=str), depth + 1)
