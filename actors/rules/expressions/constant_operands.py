"""Binary operators with a constant right operand, as `speed * 1.852` and `fuel < 5` (docs/decisions/0215).

For the numbers that devices send they need no conversion and no check, and give what the general operator
would give, which gets everything else.
"""

import operator
from collections.abc import Callable
from typing import Any, Final

from motorpool.actors.rules.expressions.arithmetic import BINARY
from motorpool.actors.rules.expressions.errors import Absent
from motorpool.actors.rules.expressions.evaluation import EvaluationState
from motorpool.actors.rules.expressions.nodes import Node, Step
from motorpool.actors.rules.expressions.values import MAX_INT64, MIN_INT64

Compute = Callable[[Any, Any], object]

_ARITHMETIC: Final[dict[str, Compute]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}
_COMPARISONS: Final[dict[str, Compute]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_BITS: Final[dict[str, Compute]] = {"&": operator.and_, "|": operator.or_, "^": operator.xor}
_NO_INTEGER: Final = MAX_INT64 + 1
"""The least integer where none will do."""


def with_constant(sign: str, left: Node, right: object) -> Step:
    """Return a step that applies the operator `sign` to the value of a node and a constant."""
    operate = BINARY[sign]
    first: Callable[[EvaluationState], Any] = left.step
    if right is None and sign == "==":
        return lambda state: first(state) is None
    if right is None and sign == "!=":
        return lambda state: first(state) is not None
    simple = _simple(sign, right)
    if simple is None:
        return lambda state: operate(state, first(state), right)
    compute, takes_floats, least = simple
    if not left.is_variable:

        def step(state: EvaluationState) -> object:
            value = first(state)
            kind = value.__class__
            if (kind is float and takes_floats) or (kind is int and least <= value <= MAX_INT64):
                return compute(value, right)
            return operate(state, value, right)

        return step
    name = left.name

    def step_of_variable(state: EvaluationState) -> object:
        try:
            value = state.variables[name]
        except KeyError:
            raise Absent(f"undefined variable {name}") from None
        kind = value.__class__
        if (kind is float and takes_floats) or (kind is int and least <= value <= MAX_INT64):
            return compute(value, right)
        return operate(state, value, right)

    return step_of_variable


def _simple(sign: str, right: object) -> tuple[Compute, bool, int] | None:
    """Return what computes the operator, whether for floats on the left, and from which integer to MAX_INT64.

    None if there is no such function for this constant. The value for such an operand and the constant never
    is an integer beyond 64 bits and never fails.
    """
    if right.__class__ is not int and right.__class__ is not float:
        return None
    assert isinstance(right, int | float)
    if not MIN_INT64 <= right <= MAX_INT64:  # NaN too
        return None
    if sign in _COMPARISONS:
        return _COMPARISONS[sign], True, MIN_INT64
    if sign in _BITS and isinstance(right, int) and right >= 0:
        return _BITS[sign], False, 0
    if sign in _ARITHMETIC and (right != 0 or sign in {"+", "-", "*"}):
        # Two integers make an integer, which may be too large, or is truncated.
        return _ARITHMETIC[sign], True, _NO_INTEGER if isinstance(right, int) else MIN_INT64
    return None
