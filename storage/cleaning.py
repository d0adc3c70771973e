"""Text and JSON as PostgreSQL can hold them: devices send what they like.

The usual value pays one encoding and one search; only what is refused is walked through.
"""

import msgspec

__all__ = ["json_bytes", "text_bytes"]

_encode = msgspec.json.Encoder().encode
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_DEEPEST = 64


def json_bytes(value: object) -> bytes:
    """Return the value as JSON for a jsonb column; NUL, lone surrogates and the like are replaced."""
    try:
        encoded = _encode(value)
    except (UnicodeError, OverflowError, TypeError, RecursionError, ValueError):
        return _encode(_cleaned(value, 0))
    # A NUL, or a backslash that happens to stand before "u0000": the slow way tells them apart.
    if b"\\u0000" in encoded:
        return _encode(_cleaned(value, 0))
    return encoded


def text_bytes(text: str) -> bytes:
    """Return the text as UTF-8 without NUL or lone surrogates."""
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
    if depth > _DEEPEST:
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
            return msgspec.to_builtins(value, enc_hook=str)
