"""Computed attributes: the variables of their expressions, and how values are stored in a position
(docs/computed-attributes.md).
"""

import itertools
import math
from collections.abc import Iterable
from operator import attrgetter
from typing import Any, Final

import msgspec

from motorpool.actors.rules.expressions import Expression, ExpressionError
from motorpool.actors.rules.expressions.values import text
from motorpool.storage.records import ComputedAttribute, Device, Position

__all__ = ["TYPES", "CompiledAttribute", "Variables", "compute_all", "convert", "variables_of"]

TYPES: Final = frozenset({"string", "number", "boolean"})
"""Types of computed attributes in lower case; types are compared case-insensitively."""

_FIELDS: Final = tuple(
    (field.name, field.encode_name)
    for field in msgspec.structs.fields(Position)
    if field.encode_name != "attributes"
)
_JSON_NAMES: Final = tuple(json_name for _, json_name in _FIELDS)
_FIELD_NAMES: Final = frozenset(_JSON_NAMES)
_field_values: Final = attrgetter(*(name for name, _ in _FIELDS))
_TYPE_OF_FIELD: Final = {
    "valid": "boolean",
    "latitude": "number",
    "longitude": "number",
    "altitude": "number",
    "speed": "number",
    "course": "number",
    "accuracy": "number",
    "address": "string",
}
"""Attributes that overwrite a field of the position, with the type of the field."""
_MAX_DEGREES: Final = {"latitude": 90.0, "longitude": 180.0}


class CompiledAttribute(msgspec.Struct, frozen=True, gc=False):
    """A computed attribute, ready to be evaluated."""

    attribute: ComputedAttribute
    expression: Expression


class Variables(dict[str, object]):
    """The variables of the expressions of one position.

    A dict of the position's attributes and fields; names of the previous position and of the device are
    looked up where the position has none, so that nothing is built for expressions that do not use them.
    """

    __slots__ = ("_device", "_last", "_last_named")

    def __init__(self, position: Position, last: Position | None, device: Device | None) -> None:
        super().__init__(position.attributes)
        self.update(zip(_JSON_NAMES, _field_values(position), strict=True))
        self._last = last
        self._last_named: dict[str, object] | None = None
        self._device = device

    def __missing__(self, name: str) -> object:
        if self._last is not None and name.startswith("last"):
            if self._last_named is None:
                self._last_named = _with_last(self._last)
            if name in self._last_named:
                return self._last_named[name]
        if self._device is not None and name in self._device.attributes:
            return self._device.attributes[name]
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        try:
            self[name]  # type: ignore[index] # of any other type: not found
        except KeyError:
            return False
        return True


def variables_of(position: Position, last: Position | None = None, device: Device | None = None) -> Variables:
    """Return the variables of expressions: the position's fields by JSON name, and its attributes.

    `last` adds those of the previous position, as lastSpeed, lastIgnition; `device` adds the device's
    attributes. If names collide, a field precedes an attribute, and the position precedes the device.
    """
    return Variables(position, last, device)


def _with_last(last: Position) -> dict[str, object]:
    pairs = itertools.chain(last.attributes.items(), zip(_JSON_NAMES, _field_values(last), strict=True))
    return {f"last{name[:1].upper()}{name[1:]}": value for name, value in pairs}


def compute_all(
    compiled: Iterable[CompiledAttribute],
    position: Position,
    last: Position | None = None,
    device: Device | None = None,
) -> tuple[Position, tuple[tuple[int, str], ...]]:
    """Return the position with all the attributes, each computed from the results of those before.

    Null removes an attribute, but leaves a field of the position unchanged. Returns also the ids of those
    that failed, with the reason; a failed one leaves the position as it was. `last` and `device` are as for
    `variables_of`.
    """
    failures: tuple[tuple[int, str], ...] = ()
    variables = variables_of(position, last, device)
    attributes = dict(position.attributes)
    fields: dict[str, Any] = {}
    for each in compiled:
        attribute = each.attribute
        name = attribute.attribute
        try:
            value = convert(attribute, each.expression.evaluate(variables))
            if name in _TYPE_OF_FIELD:
                if value is not None:
                    variables[name] = fields[name] = _field_value(name, value)
                continue
        except ExpressionError as error:
            failures += ((attribute.id, str(error)),)
            continue
        if value is None:
            attributes.pop(name, None)
            if name not in _FIELD_NAMES:
                variables.pop(name, None)
        else:
            attributes[name] = value
            if name not in _FIELD_NAMES:
                variables[name] = value
    return msgspec.structs.replace(position, attributes=attributes, **fields), failures


def convert(attribute: ComputedAttribute, value: object) -> bool | int | float | str | None:
    """Convert the value of an expression to the type of its attribute; None stays None.

    Raises:
        ExpressionError: the value does not fit the attribute, or the position's field of that name.
    """
    if value is None:
        return None
    target_type = _TYPE_OF_FIELD.get(attribute.attribute) or (attribute.type or "string").lower()
    if target_type == "boolean":
        if isinstance(value, bool):
            return value
        raise ExpressionError("the value is not a boolean")
    if target_type == "number":
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ExpressionError("the value is not a number")
        if not math.isfinite(value):
            raise ExpressionError("the value is not a finite number")
        return value
    return text(value)


def _field_value(name: str, value: bool | float | str) -> bool | float | str:
    if isinstance(value, bool | str):
        return value
    if abs(value) > _MAX_DEGREES.get(name, math.inf):
        raise ExpressionError(f"{name}: {value} is not on Earth")
    return float(value)
