"""Computed attributes: the variables of their expressions, and how values are stored in a position
(docs/computed-attributes.md).
"""

import itertools
import sys
from collections.abc import Iterable, Mapping
from math import inf, isfinite
from typing import Any, Final

import msgspec

from motorpool.actors.rules.expressions import TOO_DEEP, EvaluationState, Expression, ExpressionError
from motorpool.actors.rules.expressions.values import text
from motorpool.actors.rules.identity_rules import SECRET_KEY
from motorpool.storage.records import ComputedAttribute, Device, Position

Failure = tuple[int, str]
"""The id of a computed attribute whose expression failed, and the reason."""
Failures = tuple[Failure, ...]
NUMBER: Final = (int, float)
_MAX_NUMBER: Final = sys.float_info.max

TYPES: Final = frozenset({"string", "number", "boolean"})
"""Types of computed attributes in lower case; types are compared case-insensitively."""

_FIELDS: Final = {
    field.encode_name: field.name
    for field in msgspec.structs.fields(Position)
    if field.encode_name != "attributes"
}
"""The fields of a position by the names of their variables."""
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
_EXACT: Final[Mapping[str, type]] = {"boolean": bool, "number": float, "string": str}
_NOTHING: Final[Mapping[str, object]] = {}
_MAX_DEGREES: Final = {"latitude": 90.0, "longitude": 180.0}


class CompiledAttribute(msgspec.Struct, frozen=True, gc=False):
    """A computed attribute, ready to be evaluated."""

    attribute: ComputedAttribute
    expression: Expression
    name: str = ""
    """Of the attribute. Like what follows, it is set from the attribute."""
    target: str = ""
    """The type of its values: one of TYPES."""
    exact: type | None = None
    """Values of this class are stored as they are, if they are finite; None: no value of a field is."""
    is_field: bool = False
    """Whether it overwrites a field of the position."""
    is_variable: bool = True
    """Whether expressions see its value under its name; they see fields of the position instead."""

    def __post_init__(self) -> None:
        """Set what follows from the attribute."""
        name, target = self.attribute.attribute, _target_of(self.attribute)
        is_variable = name not in _FIELDS
        for field, value in (
            ("name", name),
            ("target", target),
            ("exact", _EXACT.get(target, str) if is_variable else None),
            ("is_field", name in _TYPE_OF_FIELD),
            ("is_variable", is_variable),
        ):
            msgspec.structs.force_setattr(self, field, value)


class UsedNames(msgspec.Struct, frozen=True, gc=False):
    """The variables that expressions use, by what may have them beside the attributes of the position."""

    fields: tuple[tuple[str, str], ...] = ()
    """Those that are fields of the position, which precede its attributes: name of variable and of field."""
    of_last: tuple[str, ...] = ()
    """Those that the last position may have (`lastSpeed`), if the attributes have not."""
    of_device: tuple[str, ...] = ()
    """Those that the device may have, if neither has."""
    work: int = 0
    """The work that these expressions take together at least."""


def used_names(
    names: Iterable[str], *, of_last: bool = True, of_device: bool = True, work: int = 0
) -> UsedNames:
    """Return the variables with these names, and whether the last position and the device may have them."""
    each = sorted(set(names))
    others = [name for name in each if name not in _FIELDS]
    return UsedNames(
        tuple((name, _FIELDS[name]) for name in each if name in _FIELDS),
        tuple(name for name in others if of_last and name.startswith("last")),
        tuple(name for name in others if of_device and name != SECRET_KEY),
        work,
    )


def variables_of(used: UsedNames, attributes: Mapping[str, object], position: Position) -> dict[str, object]:
    """Return the variables of expressions that know a position alone, whose attributes these are."""
    return {**attributes, **{name: getattr(position, field) for name, field in used.fields}}


def _elsewhere(used: UsedNames, last: Position | None, device: Device | None) -> dict[str, object]:
    """Return the variables that the last position and the device have."""
    found: dict[str, object] = {}
    if device is not None and used.of_device:
        found = {name: device.attributes[name] for name in used.of_device if name in device.attributes}
    if last is not None and used.of_last:
        named = _with_last(last)
        found |= {name: named[name] for name in used.of_last if name in named}
    return found


def _with_last(last: Position) -> dict[str, object]:
    fields = ((name, getattr(last, field)) for name, field in _FIELDS.items())
    pairs = itertools.chain(last.attributes.items(), fields)
    return {f"last{name[:1].upper()}{name[1:]}": value for name, value in pairs}


def compute_values(
    compiled: Iterable[CompiledAttribute],
    used: UsedNames,
    attributes: dict[str, Any],
    position: Position | None,
    last: Position | None = None,
    device: Device | None = None,
    work_here: int | None = None,
) -> tuple[dict[str, Any], Failures]:
    """Compute all the attributes, each from the results of those before, into `attributes`.

    `used` are the variables of all their expressions. `position` may be None if they use no field of it; of
    `last` and `device` they know nothing if these are None.

    Raises TooMuchHere if they take more than `work_here` together; None: each has its own limit.

    Null removes an attribute, but leaves a field of the position unchanged. Returns the values of fields of
    the position, and the attributes that failed; a failed one leaves everything as it was.
    """
    failures: Failures = ()
    fields: dict[str, Any] = {}
    elsewhere: Mapping[str, object] = _NOTHING
    if (last is not None and used.of_last) or (device is not None and used.of_device and device.attributes):
        elsewhere = _elsewhere(used, last, device)
    # What they use is looked up once, so that variables are a plain dict (docs/decisions/0215).
    variables = {**elsewhere, **attributes} if elsewhere else attributes.copy()
    for variable, field in used.fields:
        variables[variable] = getattr(position, field)
    state = EvaluationState(variables, work_here)
    have_own_limits = state.beyond > 0
    if not have_own_limits:
        # What all of them take at least is counted by one call.
        state.spend(used.work)
    for each in compiled:
        name = each.name
        try:
            if have_own_limits:
                state.begin(each.expression.work)
            value = each.expression.step(state)
            kind = value.__class__
            # Most values have the type of the attribute already.
            if kind is each.exact and (kind is not float or isfinite(value)):  # type: ignore[arg-type]
                attributes[name] = variables[name] = value
                continue
            if value is not None:
                value = _converted(value, each.target)
                if each.is_field:
                    variables[name] = fields[name] = _field_value(name, value)
                    continue
        except ExpressionError as error:
            failures += ((each.attribute.id, str(error)),)
            continue
        except RecursionError:
            failures += ((each.attribute.id, TOO_DEEP),)
            continue
        if value is not None:
            attributes[name] = value
            if each.is_variable:
                variables[name] = value
        elif not each.is_field:
            attributes.pop(name, None)
            if each.is_variable:
                variables.pop(name, None)
                if name in elsewhere:
                    variables[name] = elsewhere[name]
    return fields, failures


def convert(attribute: ComputedAttribute, value: object) -> bool | int | float | str | None:
    """Convert the value of an expression to the type of its attribute; None stays None.

    Raises:
        ExpressionError: the value does not fit the attribute, or the position's field of that name.
    """
    return None if value is None else _converted(value, _target_of(attribute))


def _target_of(attribute: ComputedAttribute) -> str:
    return _TYPE_OF_FIELD.get(attribute.attribute) or (attribute.type or "string").lower()


def _converted(value: object, target: str) -> bool | int | float | str:
    if target == "boolean":
        if isinstance(value, bool):
            return value
        raise ExpressionError("the value is not a boolean")
    if target == "number":
        if isinstance(value, bool) or not isinstance(value, NUMBER):
            raise ExpressionError("the value is not a number")
        # Attributes that users write in JSON may be integers of any size.
        if not -_MAX_NUMBER <= value <= _MAX_NUMBER:
            raise ExpressionError("the value is not a finite number")
        return value
    return text(value)


def _field_value(name: str, value: bool | float | str) -> bool | float | str:
    if isinstance(value, bool | str):
        return value
    if abs(value) > _MAX_DEGREES.get(name, inf):
        raise ExpressionError(f"{name}: {value} is not on Earth")
    return float(value)
