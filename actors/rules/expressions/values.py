"""Conversion of values to numbers, booleans and texts, and their comparison.

Values are None, bool, int (64 bits), float, str, datetime, list and dict. Where a number is needed, a text
that contains one is converted, and booleans are 1 and 0.
"""

import math
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from decimal import Decimal

from motorpool.actors.rules.expressions.errors import ExpressionError
from motorpool.actors.rules.expressions.evaluation import MAX_TEXT_LENGTH

_INTEGER = re.compile(r"[+-]?[0-9]{1,25}")
_REAL = re.compile(r"[+-]?([0-9]{1,400}\.?[0-9]{0,400}|\.[0-9]{1,400})([eE][+-]?[0-9]{1,9})?")
_NUMBER = (int, float)
"""Ready made: `int | float` would be built anew at each comparison."""
MIN_INT64, MAX_INT64 = -(1 << 63), (1 << 63) - 1
"""Limits of a whole number."""
_SHOWN = 40
"""Characters of a text in a message."""


def kind(value: object) -> str:
    """Describe a value in a message: "a number", "the text 'abc'"."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return f"the text {value[:_SHOWN]!r}"
        case datetime():
            return "a time"
        case list():
            return "a list"
        case _:
            return "a map"


def in_64_bits(number: int) -> int:
    """Return the number; raise ExpressionError if it does not fit a signed 64-bit integer."""
    if MIN_INT64 <= number <= MAX_INT64:
        return number
    raise ExpressionError("a whole number grew beyond 64 bits")


def to_number(value: object) -> int | float:
    """Convert a value to a number."""
    if isinstance(value, float):
        return value
    if isinstance(value, int):
        # The sign makes a number of a boolean.
        return +value if MIN_INT64 <= value <= MAX_INT64 else in_64_bits(value)
    if isinstance(value, str):
        if _INTEGER.fullmatch(value):
            return in_64_bits(int(value))
        if _REAL.fullmatch(value):
            return float(value)
    raise ExpressionError(f"{kind(value)} is not a number")


def to_integer(value: object) -> int:
    """Convert a value to an integer, truncating fractions."""
    number = to_number(value)
    if isinstance(number, int):
        return number
    if not math.isfinite(number):
        raise ExpressionError("an infinite number or NaN is not a whole number")
    return in_64_bits(int(number))


def truth(value: object) -> bool:
    """Convert a value to a boolean: null, 0, NaN, the empty text and "false" are false, all else is true."""
    if isinstance(value, bool):
        return value
    if value is None:
        return False
    if isinstance(value, int | float):
        return value != 0 and not math.isnan(value)
    return not isinstance(value, str) or value not in {"", "false"}


def text(value: object) -> str:
    """Convert a value to text, numbers as in Java: 1.0, 1.0E10. Raise ExpressionError for null."""
    if value is None:
        raise ExpressionError("null is not a text")
    return _text(value)


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _float_text(value)
    if isinstance(value, int):
        return str(in_64_bits(value))
    if isinstance(value, datetime):
        precision = "milliseconds" if value.microsecond >= 1000 else "seconds"
        return value.astimezone(UTC).replace(tzinfo=None).isoformat(timespec=precision) + "Z"
    if isinstance(value, list):
        return "[" + _joined(_text(item) for item in value) + "]"
    if isinstance(value, dict):
        return "{" + _joined((f"{_text(key)}={_text(item)}" for key, item in value.items())) + "}"
    return "null"


def _joined(parts: Iterable[str]) -> str:
    written: list[str] = []
    length = 0
    for part in parts:
        length += len(part) + 2
        if length > MAX_TEXT_LENGTH:
            raise ExpressionError(f"a text grew longer than {MAX_TEXT_LENGTH} characters")
        written.append(part)
    return ", ".join(written)


def _float_text(value: float) -> str:
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value)
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    assert isinstance(exponent, int)
    fraction = "".join(map(str, digits[1:])) or "0"
    return f"{'-' if sign else ''}{digits[0]}.{fraction}E{exponent + len(digits) - 1}"


def equal(left: object, right: object) -> bool:
    """Whether two values are equal; values that cannot be compared are not."""
    if left is None or right is None:
        return left is right
    try:
        if isinstance(left, bool) or isinstance(right, bool):
            return truth(left) == truth(right)
        if isinstance(left, int | float) or isinstance(right, int | float):
            return to_number(left) == to_number(right)
    except ExpressionError:
        return False
    return left == right


def order(left: object, right: object) -> int | None:
    """Return -1, 0 or 1 if left is less, equal or greater; None if either is null or NaN."""
    if not (isinstance(left, _NUMBER) and isinstance(right, _NUMBER)):
        if left is None or right is None:
            return None
        if isinstance(left, str) and isinstance(right, str):
            return (left > right) - (left < right)
        if isinstance(left, datetime) and isinstance(right, datetime):
            return (left > right) - (left < right)
        if isinstance(left, datetime) or isinstance(right, datetime):
            raise ExpressionError(f"{kind(left)} and {kind(right)} cannot be compared")
    first, second = to_number(left), to_number(right)
    if first < second:
        return -1
    if first > second:
        return 1
    return 0 if first == second else None


def milliseconds(instant: datetime) -> int:
    """Return the milliseconds since 1970-01-01 UTC."""
    since = instant - _EPOCH
    return (since.days * 86_400 + since.seconds) * 1000 + since.microseconds // 1000


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
