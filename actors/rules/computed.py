"""Computed attributes: the variables of their expressions, and how values are stored in a position
(docs/computed-attributes.md).
"""

import itertools
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import msgspec

from motorpool.actors.rules.expressions import EvaluationState, Expression, ExpressionError
from motorpool.actors.rules.expressions.values import text
from motorpool.actors.rules.identity_rules import SECRET_KEY
from motorpool.storage.records import ComputedAttribute, Device, Position

Failure = tuple[int, str]
"""The id of a computed attribute whose expression failed, and the reason."""
Failures = tuple[Failure, ...]
NUMBER: Final = (int, float)

TYPES: Final = frozenset({"string", "number", "boolean"})
"""Types of computed attributes in lower case; types are compared case-insensitively."""

_FIELDS: Final = {
    field.encode_name: field.name
    for field in msgspec.structs.fields(Position)
    if field.encode_name != "attributes"
}
"""The fields of a position by the names of their variables."""
_FIELD_NAMES: Final = frozenset(_FIELDS)
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
_ABSENT: Final = object()
_MAX_DEGREES: Final = {"latitude": 90.0, "longitude": 180.0}


class CompiledAttribute(msgspec.Struct, frozen=True, gc=False):
    """A computed attribute, ready to be evaluated."""

    attribute: ComputedAttribute
    expression: Expression
    name: str = ""
    """Of the attribute. Like what follows, it is set from the attribute."""
    target: str = ""
    """The type of its values: one of TYPES."""
    exact: type = str
    """Values of this class are of that type, if they are finite."""
    is_field: bool = False
    """Whether it overwrites a field of the position."""
    is_variable: bool = True
    """Whether expressions see its value under its name; they see fields of the position instead."""

    def __post_init__(self) -> None:
        """Set what follows from the attribute."""
        name, target = self.attribute.attribute, _target_of(self.attribute)
        for field, value in (
            ("name", name),
            ("target", target),
            ("exact", _EXACT.get(target, str)),
            ("is_field", name in _TYPE_OF_FIELD),
            ("is_variable", name not in _FIELDS),
        ):
            msgspec.structs.force_setattr(self, field, value)


class Variables(dict[str, object]):
    """The variables of the expressions of one position.

    A dict of the position's attributes. Fields of the position, by their JSON names, are looked up when they
    are first used, and names of the `last` position (`lastSpeed`) and of the device where the position has
    none, so that nothing is built for expressions that do not use them; not even the position if a function
    that makes it is given. A field precedes an attribute of its name.
    """

    __slots__ = ("_device", "_last", "_last_named", "_position")

    def __init__(
        self,
        attributes: Mapping[str, object],
        position: Position | Callable[[], Position],
        last: Position | None = None,
        device: Device | None = None,
    ) -> None:
        super().__init__(attributes)
        if not _FIELD_NAMES.isdisjoint(attributes):
            for name in _FIELD_NAMES & attributes.keys():
                del self[name]
        self._position = position
        self._last = last
        self._last_named: dict[str, object] | None = None
        self._device = device

    def __missing__(self, name: str) -> object:
        value = self._find(name)
        if value is _ABSENT:
            raise KeyError(name)
        return value

    def get(self, name: str, default: object = None) -> object:
        """Return the value of a variable, or `default` if it is undefined."""
        value = super().get(name, _ABSENT)
        if value is _ABSENT:
            value = self._find(name)
        return default if value is _ABSENT else value

    def __contains__(self, name: object) -> bool:
        return self.get(name, _ABSENT) is not _ABSENT  # type: ignore[arg-type] # of any other type: not found

    def _find(self, name: str) -> object:
        """Return the value of a variable that is no attribute, _ABSENT if there is none."""
        field = _FIELDS.get(name)
        if field is not None:
            if not isinstance(self._position, Position):
                self._position = self._position()
            value: object = getattr(self._position, field)
            self[name] = value
            return value
        if self._last is not None and name.startswith("last"):
            if self._last_named is None:
                self._last_named = _with_last(self._last)
            if name in self._last_named:
                return self._last_named[name]
        if self._device is None or name == SECRET_KEY:
            return _ABSENT
        return self._device.attributes.get(name, _ABSENT)


def _with_last(last: Position) -> dict[str, object]:
    fields = ((name, getattr(last, field)) for name, field in _FIELDS.items())
    pairs = itertools.chain(last.attributes.items(), fields)
    return {f"last{name[:1].upper()}{name[1:]}": value for name, value in pairs}


def compute_values(
    compiled: Iterable[CompiledAttribute],
    attributes: dict[str, Any],
    variables: Variables,
    work_here: int | None = None,
) -> tuple[dict[str, Any], Failures]:
    """Compute all the attributes, each from the results of those before, into `attributes`.

    Raises TooMuchHere if they take more than `work_here` together; None: each has its own limit.

    Null removes an attribute, but leaves a field of the position unchanged. Returns the values of fields of
    the position, and the attributes that failed; a failed one leaves everything as it was.
    """
    failures: Failures = ()
    fields: dict[str, Any] = {}
    state = EvaluationState(variables, work_here)
    for each in compiled:
        name = each.name
        try:
            value = each.expression.evaluate_in(state)
            if value is not None:
                kind = value.__class__
                # Most values have the type of the attribute already.
                if kind is not each.exact or (kind is float and not math.isfinite(value)):  # type: ignore[arg-type]
                    value = _converted(value, each.target)
                if each.is_field:
                    variables[name] = fields[name] = _field_value(name, value)  # type: ignore[arg-type]
                    continue
        except ExpressionError as error:
            failures += ((each.attribute.id, str(error)),)
            continue
        if value is not None:
            attributes[name] = value
            if each.is_variable:
                variables[name] = value
        elif not each.is_field:
            attributes.pop(name, None)
            if each.is_variable:
                variables.pop(name, None)
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
