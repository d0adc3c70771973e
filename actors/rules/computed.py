"""Computed attributes: the variables of their expressions, and how values are stored in a position
(docs/computed-attributes.md).
"""

import math
from collections.abc import Iterable
from typing import Any, Final

import msgspec

from motorpool.actors.rules.expressions import Expression, ExpressionError
from motorpool.actors.rules.expressions.values import text
from motorpool.storage.records import ComputedAttribute, Device, Position

__all__ = ["TYPES", "CompiledAttribute", "apply_computed", "compute_all", "convert", "variables_of"]

TYPES: Final = frozenset({"string", "number", "boolean"})
"""Types of computed attributes in lower case; types are compared case-insensitively."""

_FIELDS: Final = tuple(
    (field.name, field.encode_name)
    for field in msgspec.structs.fields(Position)
    if field.encode_name != "attributes"
)
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


def compute_all(
    compiled: Iterable[CompiledAttribute],
    position: Position,
    last: Position | None = None,
    device: Device | None = None,
) -> tuple[Position, tuple[tuple[int, str], ...]]:
    """Return the position with all the attributes, each computed from the results of those before.

    Returns also the ids of those that failed, with the reason; a failed one leaves the position as it was.
    `last` and `device` are as for `variables_of`.
    """
    failures: tuple[tuple[int, str], ...] = ()
    for each in compiled:
        try:
            position = apply_computed(each.attribute, each.expression, position, last, device)
        except ExpressionError as error:
            failures += ((each.attribute.id, str(error)),)
    return position, failures


def variables_of(
    position: Position, last: Position | None = None, device: Device | None = None
) -> dict[str, object]:
    """Return the variables of expressions: the position's fields by JSON name, and its attributes.

    `last` adds those of the previous position, as lastSpeed, lastIgnition; `device` adds the device's
    attributes. If names collide, a field precedes an attribute, and the position precedes the device.
    """
    variables: dict[str, object] = {}
    if device is not None:
        variables.update(device.attributes)
    if last is not None:
        variables.update(_with_last(last.attributes))
        variables.update(_with_last(_fields_of(last)))
    variables.update(position.attributes)
    variables.update(_fields_of(position))
    return variables


def _fields_of(position: Position) -> dict[str, object]:
    return {json_name: getattr(position, name) for name, json_name in _FIELDS}


def _with_last(named: dict[str, Any]) -> dict[str, object]:
    return {f"last{name[:1].upper()}{name[1:]}": value for name, value in named.items()}


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


def apply_computed(
    attribute: ComputedAttribute,
    expression: Expression,
    position: Position,
    last: Position | None = None,
    device: Device | None = None,
) -> Position:
    """Return the position with the computed attribute, for later expressions to use.

    Null removes the attribute, but leaves a field of the position unchanged.

    Raises:
        ExpressionError: the expression fails, or its value does not fit.
    """
    name = attribute.attribute
    value = convert(attribute, expression.evaluate(variables_of(position, last, device)))
    if name in _TYPE_OF_FIELD:
        return position if value is None else _with_field(position, name, value)
    attributes = dict(position.attributes)
    if value is None:
        attributes.pop(name, None)
    else:
        attributes[name] = value
    return msgspec.structs.replace(position, attributes=attributes)


def _with_field(position: Position, name: str, value: float | str) -> Position:
    if isinstance(value, int | float) and not isinstance(value, bool):
        if abs(value) > _MAX_DEGREES.get(name, math.inf):
            raise ExpressionError(f"{name}: {value} is not on Earth")
        value = float(value)
    return msgspec.structs.replace(position, **{name: value})
