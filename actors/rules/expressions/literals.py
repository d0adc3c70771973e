"""The literals of expressions: whole numbers, strings and templates."""

from motorpool.actors.rules.expressions.errors import ExpressionError
from motorpool.actors.rules.expressions.values import in_64_bits

_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


def read_integer(written: str, position: int) -> int:
    """Read 12, 0x1F or 017 (octal, as in Java), with or without a type suffix such as L."""
    digits = written.rstrip("lLhH").lower()
    base = 16 if digits.startswith("0x") else 8 if digits.startswith("0") and digits.strip("0") else 10
    if len(digits) > 30:  # int() itself refuses thousands of digits, with another message
        raise ExpressionError("a whole number is beyond 64 bits", position)
    try:
        return in_64_bits(int(digits, base))
    except ValueError:
        raise ExpressionError(f"{written} is not a number", position) from None
    except ExpressionError:
        raise ExpressionError("a whole number is beyond 64 bits", position) from None


def read_string(written: str, position: int) -> str:
    """Read a quoted string."""
    return unescape(written[1:-1], position + 1)


def unescape(text: str, position: int) -> str:
    r"""Replace escape sequences; unknown ones keep their backslash, so that '\d' can be a pattern."""
    if "\\" not in text:
        return text
    parts = []
    index = 0
    while index < len(text):
        sign = text[index]
        following = text[index + 1 : index + 2]
        index += 1
        if sign != "\\" or not following:
            parts.append(sign)
            continue
        index += 1
        if following in "\\'\"`$" or following in _ESCAPES:
            parts.append(_ESCAPES.get(following, following))
        elif following == "u":
            parts.append(_code_point(text[index : index + 4], position + index))
            index += 4
        else:
            parts.append(sign + following)
    return "".join(parts)


def _code_point(digits: str, position: int) -> str:
    if len(digits) == 4 and all(digit in "0123456789abcdefABCDEF" for digit in digits):
        found = chr(int(digits, 16))
        if found != "\0" and not "\ud800" <= found <= "\udfff":
            return found
    raise ExpressionError("\\u stands before the four digits of a character", position)


def split_template(text: str, position: int) -> list[tuple[bool, str, int]]:
    """Split the content of a template into parts: (whether it is an expression, its text, its position)."""
    parts: list[tuple[bool, str, int]] = []
    index = start = 0
    while index < len(text):
        if text[index] == "\\":
            index += 2
        elif text.startswith("${", index):
            end = _closing(text, index + 2)
            if end < 0:
                raise ExpressionError("${ without }", position + index)
            parts.append((False, text[start:index], position + start))
            parts.append((True, text[index + 2 : end], position + index + 2))
            index = start = end + 1
        else:
            index += 1
    parts.append((False, text[start:], position + start))
    return [part for part in parts if part[0] or part[1]]


def _closing(text: str, start: int) -> int:
    depth = 1
    quote = ""
    for index in range(start, len(text)):
        sign = text[index]
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "'\"":
            quote = sign
        elif sign in "{}":
            depth += 1 if sign == "{" else -1
            if depth == 0:
                return index
    return -1
