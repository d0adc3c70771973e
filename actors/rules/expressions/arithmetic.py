"""The binary operators.

As in Java, an operation on two integers gives an integer, and division truncates towards zero. Overflow of 64
bits and division by zero are errors. Bitwise operators act on signed 64-bit integers.
"""

import math
import operator
from collections.abc import Callable
from typing import Any, Final

from motorpool.actors.rules.expressions.errors import ExpressionError
from motorpool.actors.rules.expressions.evaluation import EvaluationState
from motorpool.actors.rules.expressions.patterns import matches
from motorpool.actors.rules.expressions.values import (
    MAX_INT64,
    MIN_INT64,
    equal,
    in_64_bits,
    order,
    text,
    to_integer,
    to_number,
)

Binary = Callable[[EvaluationState, object, object], object]

_MASK = (1 << 64) - 1
_NUMBERS: frozenset[Any] = frozenset({int, float})


def signed(bits: int) -> int:
    """Return the lowest 64 bits as a signed integer."""
    bits &= _MASK
    return bits - (1 << 64) if bits >> 63 else bits


def negate(value: object) -> int | float:
    """Return the negated number."""
    number = to_number(value)
    return -number if isinstance(number, float) else in_64_bits(-number)


def _arithmetic(operate: Callable[[Any, Any], int | float]) -> Binary:
    """Return an operator on numbers, of which two integers give an integer."""

    def operator_of_numbers(state: EvaluationState, left: object, right: object) -> int | float:
        del state
        found = operate(to_number(left), to_number(right))
        return in_64_bits(found) if found.__class__ is int else found

    return operator_of_numbers


_add_numbers: Final = _arithmetic(operator.add)


def _add(state: EvaluationState, left: object, right: object) -> object:
    if isinstance(left, str) or isinstance(right, str):
        first, second = text(left), text(right)
        state.will_write(len(first) + len(second))
        return first + second
    return _add_numbers(state, left, right)


def _divide(state: EvaluationState, left: object, right: object) -> object:
    del state
    first, second = to_number(left), to_number(right)
    if second == 0:
        raise ExpressionError("division by zero")
    if isinstance(first, int) and isinstance(second, int):
        return in_64_bits(_truncated_quotient(first, second))
    return first / second


def _remainder(first: int | float, second: int | float) -> int | float:
    if second == 0:
        raise ExpressionError("division by zero")
    if isinstance(first, int) and isinstance(second, int):
        return first - second * _truncated_quotient(first, second)
    return math.nan if math.isinf(first) else math.fmod(first, second)


def _truncated_quotient(first: int, second: int) -> int:
    whole = abs(first) // abs(second)
    return whole if (first < 0) == (second < 0) else -whole


def _bits(operate: Callable[[int, int], int]) -> Binary:
    def operator_of_bits(state: EvaluationState, left: object, right: object) -> object:
        del state
        return signed(operate(to_integer(left), to_integer(right)))

    return operator_of_bits


def _ordered(compare: Callable[[Any, Any], bool], *accepted: int) -> Binary:
    def operate(state: EvaluationState, left: Any, right: Any) -> object:  # noqa: ANN401 - values of any type
        del state
        # Most are numbers; the others, and those that are none or too large, are for `order`.
        if (
            left.__class__ in _NUMBERS
            and right.__class__ in _NUMBERS
            and MIN_INT64 <= left <= MAX_INT64
            and MIN_INT64 <= right <= MAX_INT64
        ):
            return compare(left, right)
        return order(left, right) in accepted

    return operate


def _equal(state: EvaluationState, left: object, right: object) -> object:
    state.spend(1 + (len(left) if isinstance(left, list | dict) else 0))
    return equal(left, right)


def _affix(is_there: Callable[[str, str], bool]) -> Binary:
    def operate(state: EvaluationState, left: object, right: object) -> bool:
        if left is None or right is None:
            return left is right
        first, second = text(left), text(right)
        state.read(second)
        return is_there(first, second)

    return operate


def _not(operate: Binary) -> Binary:
    return lambda state, left, right: not operate(state, left, right)


BINARY: dict[str, Binary] = {
    "+": _add,
    "-": _arithmetic(operator.sub),
    "*": _arithmetic(operator.mul),
    "/": _divide,
    "%": _arithmetic(_remainder),
    "&": _bits(operator.and_),
    "|": _bits(operator.or_),
    "^": _bits(operator.xor),
    # As in Java, only the lowest six bits of the right side count.
    "<<": _bits(lambda first, second: first << (second & 63)),
    ">>": _bits(lambda first, second: first >> (second & 63)),
    ">>>": _bits(lambda first, second: (first & _MASK) >> (second & 63)),
    "==": _equal,
    "!=": _not(_equal),
    "<": _ordered(operator.lt, -1),
    "<=": _ordered(operator.le, -1, 0),
    ">": _ordered(operator.gt, 1),
    ">=": _ordered(operator.ge, 1, 0),
    "=~": matches,
    "!~": _not(matches),
    "=^": _affix(str.startswith),
    "!^": _not(_affix(str.startswith)),
    "=$": _affix(str.endswith),
    "!$": _not(_affix(str.endswith)),
}
"""Operators by their symbol."""
COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">="})
"""Those whose values are booleans."""
SYMBOLS: dict[str, str] = {
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "div": "/",
    "mod": "%",
}
"""Operators that may be written as a word."""
