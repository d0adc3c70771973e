"""The binary operators.

As in Java, an operation on two integers gives an integer, and division truncates towards zero. Overflow of 64
bits and division by zero are errors. Bitwise operators act on signed 64-bit integers.
"""

import math
import operator
from collections.abc import Callable
from typing import Any

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


def _add(state: EvaluationState, left: object, right: object) -> object:
    if isinstance(left, str) or isinstance(right, str):
        first, second = text(left), text(right)
        state.will_write(len(first) + len(second))
        return first + second
    first_number, second_number = to_number(left), to_number(right)
    if isinstance(first_number, int) and isinstance(second_number, int):
        return in_64_bits(first_number + second_number)
    return first_number + second_number


def _subtract(state: EvaluationState, left: object, right: object) -> object:
    del state
    first, second = to_number(left), to_number(right)
    if isinstance(first, int) and isinstance(second, int):
        return in_64_bits(first - second)
    return first - second


def _multiply(state: EvaluationState, left: object, right: object) -> object:
    del state
    first, second = to_number(left), to_number(right)
    if isinstance(first, int) and isinstance(second, int):
        return in_64_bits(first * second)
    return first * second


def _divide(state: EvaluationState, left: object, right: object) -> object:
    del state
    first, second = to_number(left), to_number(right)
    if second == 0:
        raise ExpressionError("division by zero")
    if isinstance(first, int) and isinstance(second, int):
        return in_64_bits(_truncated_quotient(first, second))
    return first / second


def _remainder(state: EvaluationState, left: object, right: object) -> object:
    del state
    first, second = to_number(left), to_number(right)
    if second == 0:
        raise ExpressionError("division by zero")
    if isinstance(first, int) and isinstance(second, int):
        return first - second * _truncated_quotient(first, second)
    if math.isinf(first):
        return math.nan
    return math.fmod(first, second)


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
    state.spend(1)
    return equal(left, right)


def _starts_with(state: EvaluationState, left: object, right: object) -> bool:
    if left is None or right is None:
        return left is right
    first, second = text(left), text(right)
    state.read(second)
    return first.startswith(second)


def _ends_with(state: EvaluationState, left: object, right: object) -> bool:
    if left is None or right is None:
        return left is right
    first, second = text(left), text(right)
    state.read(second)
    return first.endswith(second)


def _not(operate: Binary) -> Binary:
    return lambda state, left, right: not operate(state, left, right)


BINARY: dict[str, Binary] = {
    "+": _add,
    "-": _subtract,
    "*": _multiply,
    "/": _divide,
    "div": _divide,
    "%": _remainder,
    "mod": _remainder,
    "&": _bits(lambda first, second: first & second),
    "|": _bits(lambda first, second: first | second),
    "^": _bits(lambda first, second: first ^ second),
    # As in Java, only the lowest six bits of the right side count.
    "<<": _bits(lambda first, second: first << (second & 63)),
    ">>": _bits(lambda first, second: first >> (second & 63)),
    ">>>": _bits(lambda first, second: (first & _MASK) >> (second & 63)),
    "==": _equal,
    "eq": _equal,
    "!=": _not(_equal),
    "ne": _not(_equal),
    "<": _ordered(operator.lt, -1),
    "lt": _ordered(operator.lt, -1),
    "<=": _ordered(operator.le, -1, 0),
    "le": _ordered(operator.le, -1, 0),
    ">": _ordered(operator.gt, 1),
    "gt": _ordered(operator.gt, 1),
    ">=": _ordered(operator.ge, 1, 0),
    "ge": _ordered(operator.ge, 1, 0),
    "=~": matches,
    "!~": _not(matches),
    "=^": _starts_with,
    "!^": _not(_starts_with),
    "=$": _ends_with,
    "!$": _not(_ends_with),
}
"""Operators by their symbol or word."""
