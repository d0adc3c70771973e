"""Numbers in texts that others wrote. `int` and `float` also take digits of other scripts and underscores."""

import math
import re

_WHOLE = re.compile(r"[+-]?[0-9]{1,19}")
_REAL = re.compile(r"[+-]?(?:[0-9]{1,400}\.?[0-9]{0,400}|\.[0-9]{1,400})(?:[eE][+-]?[0-9]{1,9})?")


def parse_whole(text: str) -> int | None:
    """Return the whole number that the text consists of, up to 19 ASCII digits with a sign or none.

    Blanks around it are ignored. None for anything else.
    """
    found = _WHOLE.fullmatch(text.strip())
    return int(found[0]) if found else None


def parse_real(text: str) -> float | None:
    """Return the decimal number that the text consists of, infinite if it is too large for a float.

    Blanks around it are ignored. None for anything else, such as "nan".
    """
    found = _REAL.fullmatch(text.strip())
    return float(found[0]) if found else None


def parse_finite(text: str) -> float | None:
    """As `parse_real`, but None for a number that is too large for a float."""
    number = parse_real(text)
    return number if number is not None and math.isfinite(number) else None


def whole_number(value: object) -> int | None:
    """Return the whole number that a JSON value is or, as a text, consists of; None for anything else."""
    if isinstance(value, str):
        return parse_whole(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
