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
_INT: Final[frozenset[Any]] = frozenset({int})
_FLOAT: Final[frozenset[Any]] = frozenset({float})
_NUMBERS: Final = _INT | _FLOAT


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
    compute, types, least = simple
    if not left.is_variable:

        def step(state: EvaluationState) -> object:
            value = first(state)
            if value.__class__ in types and least <= value <= MAX_INT64:
                return compute(value, right)
            return operate(state, value, right)

        return step
    name = left.name

    def step_of_variable(state: EvaluationState) -> object:
        try:
            value = state.variables[name]
        except KeyError:
            raise Absent(f"undefined variable {name}") from None
        if value.__class__ in types and least <= value <= MAX_INT64:
            return compute(value, right)
        return operate(state, value, right)

    return step_of_variable


def _simple(sign: str, right: object) -> tuple[Compute, frozenset[Any], int] | None:
    """Return what computes the operator for left operands of these types, from a least one up to MAX_INT64.

    None if there is no such function for this constant. A value of such an operand and the constant never
    leaves 64 bits and never fails.
    """
    if right.__class__ is not int and right.__class__ is not float:
        return None
    assert isinstance(right, int | float)
    if not MIN_INT64 <= right <= MAX_INT64:  # NaN too
        return None
    if sign in _COMPARISONS:
        return _COMPARISONS[sign], _NUMBERS, MIN_INT64
    if sign in _BITS and isinstance(right, int) and right >= 0:
        return _BITS[sign], _INT, 0
    if sign in _ARITHMETIC and (right != 0 or sign in {"+", "-", "*"}):
        # Two integers make an integer, which may be too large, or is truncated.
        return _ARITHMETIC[sign], _FLOAT if isinstance(right, int) else _NUMBERS, MIN_INT64
    return None
