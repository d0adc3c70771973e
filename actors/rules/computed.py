"""Computed attributes: what expressions know of a position, what becomes of their value
(docs/computed-attributes.md).
"""

import math
from typing import Any, Final

import msgspec

from motorpool.actors.rules.expressions import Expression, ExpressionError
from motorpool.actors.rules.expressions.values import text
from motorpool.storage.records import ComputedAttribute, Device, Position

__all__ = ["TYPES", "apply_computed", "convert", "variables_of"]

TYPES: Final = frozenset({"string", "number", "boolean"})
"""Of computed attributes, in lower case; they are compared whatever their case."""

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
"""The attributes that overwrite a field of the position, and what the field takes."""
_FARTHEST: Final = {"latitude": 90.0, "longitude": 180.0}
"""Degrees."""


def variables_of(
    position: Position, last: Position | None = None, device: Device | None = None
) -> dict[str, object]:
    """Return what expressions may name: the position's fields as in JSON, and its attributes by key.

    With `last`, those of that position too, as lastSpeed, lastIgnition; with `device`, the attributes of the
    device. Of one name, a field goes before an attribute, the position before the device.
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
    return {shown: getattr(position, name) for name, shown in _FIELDS}


def _with_last(named: dict[str, Any]) -> dict[str, object]:
    return {f"last{name[:1].upper()}{name[1:]}": value for name, value in named.items()}


def convert(attribute: ComputedAttribute, value: object) -> bool | int | float | str | None:
    """Return an expression's value as its attribute holds it; None stays None.

    Raises:
        ExpressionError: the attribute, or the position's field of its name, takes no such value.
    """
    if value is None:
        return None
    wanted = _TYPE_OF_FIELD.get(attribute.attribute) or (attribute.type or "string").lower()
    if wanted == "boolean":
        if isinstance(value, bool):
            return value
        raise ExpressionError("the value is not a boolean")
    if wanted == "number":
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
    """Return the position with the attribute computed, so that those computed later see it.

    Null removes the attribute, but leaves a field of the position as it was.

    Raises:
        ExpressionError: there is no value, or none that fits.
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
        if abs(value) > _FARTHEST.get(name, math.inf):
            raise ExpressionError(f"{name}: {value} is not on Earth")
        value = float(value)
    return msgspec.structs.replace(position, **{name: value})
