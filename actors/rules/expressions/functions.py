"""Static functions: `math:` with those of java.lang.Math, and functions such as `Integer.parseInt`."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from motorpool.actors.rules.expressions.errors import ExpressionError
from motorpool.actors.rules.expressions.evaluation import EvaluationState
from motorpool.actors.rules.expressions.values import in_64_bits, kind, order, text, to_integer, to_number

Called = Callable[[EvaluationState, Sequence[Any]], object]
"""The arguments of a method begin with the value on which it is called, which has the type of the method."""


@dataclass(frozen=True, slots=True)
class Function:
    """A function with the limits of its argument count."""

    called: Called
    fewest: int
    most: int


def call(function: Function, name: str, state: EvaluationState, arguments: Sequence[object]) -> object:
    """Call the function; raise ExpressionError if the number of arguments is wrong."""
    if not function.fewest <= len(arguments) <= function.most:
        raise ExpressionError(f"{name} does not take so many arguments")
    state.spend(1)
    return function.called(state, arguments)


def method(called: Called, fewest: int = 0, most: int | None = None) -> Function:
    """Return a method, whose first argument is the value on which it is called."""
    return Function(called, fewest + 1, (fewest if most is None else most) + 1)


def compare_to(state: EvaluationState, given: Sequence[object]) -> object:
    """Return -1, 0 or 1; raise ExpressionError if the two values cannot be ordered."""
    state.spend(1)
    found = order(given[0], given[1])
    if found is None:
        raise ExpressionError(f"{kind(given[0])} and {kind(given[1])} have no order")
    return found


def _real(operate: Callable[..., float], count: int = 1) -> Function:
    def called(state: EvaluationState, arguments: Sequence[object]) -> object:
        del state
        numbers = [float(to_number(argument)) for argument in arguments]
        try:
            return operate(*numbers)
        except ValueError:
            return math.nan
        except OverflowError:
            return math.inf

    return Function(called, count, count)


def _number(operate: Callable[..., int | float], count: int = 1) -> Function:
    """Return a function that gives an integer for integers, else a float."""

    def called(state: EvaluationState, arguments: Sequence[object]) -> object:
        del state
        numbers = [to_number(argument) for argument in arguments]
        if any(isinstance(number, float) for number in numbers):
            numbers = [float(number) for number in numbers]
        found = operate(*numbers)
        return in_64_bits(found) if isinstance(found, int) else found

    return Function(called, count, count)


def _whole(operate: Callable[..., int], count: int = 1) -> Function:
    def called(state: EvaluationState, arguments: Sequence[object]) -> object:
        del state
        try:
            return in_64_bits(operate(*(to_integer(argument) for argument in arguments)))
        except ZeroDivisionError:
            raise ExpressionError("division by zero") from None

    return Function(called, count, count)


def rounded(number: int | float) -> int:
    """Round to an integer, halves up, clamped to 64 bits."""
    if isinstance(number, int):
        return number
    if math.isnan(number):
        return 0
    # Not floor(x + 0.5): the sum of the largest number below one half and one half is 1.
    return int(max(-(1 << 63), min((1 << 63) - 1, _half_up(number))))


def _half_up(number: float) -> int | float:
    if math.isinf(number):
        return number
    below = math.floor(number)
    return below + 1 if number - below >= 0.5 else below


def _rounding(operate: Callable[[float], int]) -> Callable[[float], float]:
    """Return a rounding function that gives floats, and returns infinities and NaN unchanged."""
    return lambda number: float(operate(number)) if math.isfinite(number) else number


def _unless_nan(choose: Callable[[float, float], float]) -> Callable[[float, float], float]:
    return lambda first, second: (
        math.nan if math.isnan(first) or math.isnan(second) else choose(first, second)
    )


_least, _most = _unless_nan(min), _unless_nan(max)


def _logarithm(log: Callable[[float], float]) -> Function:
    return _real(lambda number: -math.inf if number == 0 else log(number))


def _power(base: float, exponent: float) -> float:
    if base == 0 and exponent < 0:
        return math.inf
    try:
        return math.pow(base, exponent)
    except OverflowError:
        return -math.inf if base < 0 and exponent % 2 == 1 else math.inf


def _cube_root(number: float) -> float:
    root = math.cbrt(number)
    # The C library may be one bit off for perfect cubes such as 27; Java is exact.
    whole = float(round(root)) if abs(root) < 1e5 else root
    return whole if whole**3 == number else root


def _sign(number: float) -> float:
    return number if number == 0 or math.isnan(number) else math.copysign(1.0, number)


MATH: Mapping[str, Function] = {
    "abs": _number(abs),
    "max": _number(_most, 2),
    "min": _number(_least, 2),
    "clamp": _number(lambda number, low, high: _most(low, _least(number, high)), 3),
    "round": Function(lambda _, given: rounded(to_number(given[0])), 1, 1),
    "floor": _real(_rounding(math.floor)),
    "ceil": _real(_rounding(math.ceil)),
    "rint": _real(_rounding(round)),
    "signum": _real(_sign),
    "sqrt": _real(math.sqrt),
    "cbrt": _real(_cube_root),
    "pow": _real(_power, 2),
    "exp": _real(math.exp),
    "expm1": _real(math.expm1),
    "log": _logarithm(math.log),
    "log10": _logarithm(math.log10),
    "log1p": _real(math.log1p),
    "hypot": _real(math.hypot, 2),
    "sin": _real(math.sin),
    "cos": _real(math.cos),
    "tan": _real(math.tan),
    "asin": _real(math.asin),
    "acos": _real(math.acos),
    "atan": _real(math.atan),
    "atan2": _real(math.atan2, 2),
    "sinh": _real(math.sinh),
    "cosh": _real(math.cosh),
    "tanh": _real(math.tanh),
    "toRadians": _real(math.radians),
    "toDegrees": _real(math.degrees),
    "floorDiv": _whole(lambda first, second: first // second, 2),
    "floorMod": _whole(lambda first, second: first % second, 2),
    "addExact": _whole(lambda first, second: first + second, 2),
    "subtractExact": _whole(lambda first, second: first - second, 2),
    "multiplyExact": _whole(lambda first, second: first * second, 2),
    "negateExact": _whole(lambda number: -number),
}
"""The functions of `math:`, without Java's `random`: the same position must give the same result."""


def _parse_whole(state: EvaluationState, arguments: Sequence[object]) -> object:
    written = text(arguments[0])
    state.read(written)
    base = to_integer(arguments[1]) if len(arguments) > 1 else 10
    if not 2 <= base <= 36:
        raise ExpressionError(f"numbers have a base of 2 to 36, not {base}")
    digits = written[1:] if written[:1] in {"+", "-"} else written
    if not digits.isascii() or not digits.isalnum() or len(digits) > 64:
        raise ExpressionError(f"{kind(written)} is not a whole number")
    try:
        return in_64_bits(int(written, base))
    except ValueError:
        raise ExpressionError(f"{kind(written)} is not a whole number of base {base}") from None


def _whole_value(state: EvaluationState, arguments: Sequence[object]) -> object:
    return _parse_whole(state, arguments) if isinstance(arguments[0], str) else to_integer(arguments[0])


def real_value(state: EvaluationState, arguments: Sequence[object]) -> object:
    """Return the first argument as a float."""
    del state
    return float(to_number(arguments[0]))


def _boolean_value(state: EvaluationState, arguments: Sequence[object]) -> object:
    state.spend(1)
    given = arguments[0]
    return given if isinstance(given, bool) else text(given)[:5].lower() == "true"


def text_value(state: EvaluationState, arguments: Sequence[object]) -> object:
    """Return the first argument as a text."""
    return state.written(text(arguments[0]))


def _in_base(form: str) -> Function:
    """Return a function that formats an integer; negative ones as two's complement, as in Java."""

    def called(state: EvaluationState, arguments: Sequence[object]) -> object:
        return state.written(format(to_integer(arguments[0]) & ((1 << 64) - 1), form))

    return Function(called, 1, 1)


_WHOLE: Mapping[str, Function] = {
    "valueOf": Function(_whole_value, 1, 2),
    "parseInt": Function(_parse_whole, 1, 2),
    "parseLong": Function(_parse_whole, 1, 2),
    "toString": Function(text_value, 1, 1),
    "toHexString": _in_base("x"),
    "toOctalString": _in_base("o"),
    "toBinaryString": _in_base("b"),
    "bitCount": _whole(lambda number: (number & ((1 << 64) - 1)).bit_count()),
    "max": _whole(max, 2),
    "min": _whole(min, 2),
}
_REAL: Mapping[str, Function] = {
    "valueOf": Function(real_value, 1, 1),
    "parseDouble": Function(real_value, 1, 1),
    "parseFloat": Function(real_value, 1, 1),
    "toString": Function(text_value, 1, 1),
    "max": MATH["max"],
    "min": MATH["min"],
}
STATIC: Mapping[str, Mapping[str, Function]] = {
    "Math": MATH,
    "Integer": _WHOLE,
    "Long": _WHOLE,
    "Double": _REAL,
    "Float": _REAL,
    "Boolean": {
        "valueOf": Function(_boolean_value, 1, 1),
        "parseBoolean": Function(_boolean_value, 1, 1),
        "toString": Function(text_value, 1, 1),
    },
    "String": {"valueOf": Function(text_value, 1, 1)},
}
"""Static functions by class and name, for `Integer.parseInt(text)`."""

FUNCTIONS = {f"math:{name}": function for name, function in MATH.items()}
