"""The methods and properties of values: `text.length()`, `list.contains(value)`, `time.getTime()`.

They are those of Java. The hours and days of times are in UTC.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from motorpool.actors.rules.expressions.arithmetic import signed
from motorpool.actors.rules.expressions.errors import Absent, ExpressionError
from motorpool.actors.rules.expressions.evaluation import EvaluationState
from motorpool.actors.rules.expressions.functions import (
    Function,
    call,
    compare_to,
    method,
    real_value,
    text_value,
)
from motorpool.actors.rules.expressions.text_methods import TEXT_METHODS
from motorpool.actors.rules.expressions.values import (
    equal,
    kind,
    milliseconds,
    order,
    to_integer,
    to_number,
)


def call_method(state: EvaluationState, value: object, name: str, arguments: Sequence[object]) -> object:
    """Call a method of a value; raise Absent if the value is null."""
    if value is None:
        raise Absent(f"{name}() of null")
    found = _methods(value).get(name) or _COMMON.get(name)
    if found is None:
        raise ExpressionError(f"{kind(value)} has no {name}()")
    return call(found, f"{name}()", state, (value, *arguments))


def property_of(state: EvaluationState, value: object, name: str) -> object:
    """Return `value.name`, null for a missing key of a map; raise Absent if the value is null."""
    if value is None:
        raise Absent(f"{name} of null")
    if isinstance(value, dict) and name not in {"size", "empty"}:
        return value.get(name)
    if name in {"size", "length"} and isinstance(value, list | dict):
        return len(value)
    if name == "empty":
        return is_empty(value)
    if isinstance(value, datetime):
        getter = _TIMES.get(f"get{name[:1].upper()}{name[1:]}")
        if getter is not None:
            return call(getter, name, state, (value,))
    raise ExpressionError(f"{kind(value)} has no {name}")


def indexed(value: object, index: object) -> object:
    """Return `value[index]`; raise Absent if the value is null or a list has no such item."""
    if value is None:
        raise Absent("an item of null")
    if isinstance(value, dict):
        return value.get(index) if isinstance(index, str | int | float) else None
    if isinstance(value, list):
        return _item(value, to_integer(index))
    raise ExpressionError(f"{kind(value)} has no items")


def size(value: object) -> int:
    """Return the length of a text, list or map; 0 for null."""
    if value is None:
        return 0
    if isinstance(value, str | list | dict):
        return len(value)
    raise ExpressionError(f"{kind(value)} has no size")


def is_empty(value: object) -> bool:
    """Whether a value is null, NaN, or an empty text, list or map."""
    if isinstance(value, str | list | dict):
        return not value
    return value is None or (isinstance(value, float) and math.isnan(value))


def _item(value: list[object], index: int) -> object:
    if not 0 <= index < len(value):
        raise Absent(f"a list of {len(value)} has no item {index}")
    return value[index]


def _methods(value: object) -> Mapping[str, Function]:
    if isinstance(value, str):
        return TEXT_METHODS
    if isinstance(value, bool):
        return _BOOLEANS
    if isinstance(value, int | float):
        return _NUMBERS
    if isinstance(value, datetime):
        return _TIMES
    return _LISTS if isinstance(value, list) else _MAPS


def _equals(state: EvaluationState, given: Sequence[object]) -> object:
    state.spend(1 + (len(given[0]) if isinstance(given[0], list | dict) else 0))
    return type(given[0]) is type(given[1]) and given[0] == given[1]


def _whole_of(bits: int) -> Function:
    """Return a method that converts to an integer of `bits` bits: integers wrap, floats are clamped."""

    def called(state: EvaluationState, given: Sequence[object]) -> object:
        del state
        number = to_number(given[0])
        if isinstance(number, int):
            return signed(number << (64 - bits)) >> (64 - bits)
        if math.isnan(number):
            return 0
        least, most = -(1 << bits - 1), (1 << bits - 1) - 1
        return least if number <= least else most if number >= most else int(number)

    return method(called)


def _time(read: Callable[[datetime], int]) -> Function:
    return method(lambda _, given: read(given[0].astimezone(UTC)))


def _contains_item(state: EvaluationState, given: Sequence[object]) -> object:
    return _index_of_item(state, given) >= 0


def _index_of_item(state: EvaluationState, given: Sequence[Any]) -> int:
    state.spend(len(given[0]))
    return next((index for index, item in enumerate(given[0]) if equal(item, given[1])), -1)


def _contains_value(state: EvaluationState, given: Sequence[Any]) -> object:
    state.spend(len(given[0]))
    return any(equal(item, given[1]) for item in given[0].values())


def _all_of(take: Callable[[dict[object, object]], list[object]]) -> Function:
    def called(state: EvaluationState, given: Sequence[Any]) -> object:
        state.spend(len(given[0]))
        return take(given[0])

    return method(called)


_COMMON: Mapping[str, Function] = {
    "toString": method(text_value),
    "equals": method(_equals, 1),
    "size": method(lambda _, given: size(given[0])),
    "empty": method(lambda _, given: is_empty(given[0])),
}
_NUMBERS: Mapping[str, Function] = {
    "intValue": _whole_of(32),
    "longValue": _whole_of(64),
    "shortValue": _whole_of(16),
    "byteValue": _whole_of(8),
    "doubleValue": method(real_value),
    "floatValue": method(real_value),
    "compareTo": method(compare_to, 1),
    "isNaN": method(lambda _, given: math.isnan(to_number(given[0]))),
    "isInfinite": method(lambda _, given: math.isinf(to_number(given[0]))),
}
_BOOLEANS: Mapping[str, Function] = {"booleanValue": method(lambda _, given: given[0])}
_TIMES: Mapping[str, Function] = {
    "getTime": _time(milliseconds),
    "getHours": _time(lambda instant: instant.hour),
    "getMinutes": _time(lambda instant: instant.minute),
    "getSeconds": _time(lambda instant: instant.second),
    "getDate": _time(lambda instant: instant.day),
    # Java counts days from Sunday as 0, months from 0, and years from 1900.
    "getDay": _time(lambda instant: instant.isoweekday() % 7),
    "getMonth": _time(lambda instant: instant.month - 1),
    "getYear": _time(lambda instant: instant.year - 1900),
    "before": method(lambda _, given: order(given[0], given[1]) == -1, 1),
    "after": method(lambda _, given: order(given[0], given[1]) == 1, 1),
    "compareTo": method(compare_to, 1),
}
_LISTS: Mapping[str, Function] = {
    "length": method(lambda _, given: size(given[0])),
    "isEmpty": method(lambda _, given: is_empty(given[0])),
    "get": method(lambda _, given: indexed(given[0], given[1]), 1),
    "contains": method(_contains_item, 1),
    "indexOf": method(_index_of_item, 1),
}
_MAPS: Mapping[str, Function] = {
    "isEmpty": method(lambda _, given: is_empty(given[0])),
    "get": method(lambda _, given: indexed(given[0], given[1]), 1),
    "getOrDefault": method(
        lambda _, given: given[2] if (found := indexed(given[0], given[1])) is None else found, 2
    ),
    "containsKey": method(
        lambda _, given: isinstance(given[1], str | int | float) and given[1] in given[0], 1
    ),
    "containsValue": method(_contains_value, 1),
    "keySet": _all_of(lambda entries: [*entries]),
    "values": _all_of(lambda entries: [*entries.values()]),
}
