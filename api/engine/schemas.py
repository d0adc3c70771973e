"""JSON Schema of the types that requests carry and answers hold.

An answer always has every field of its record, so all are `required`. A body may leave out what has a
default, and null stands for that default (docs/http-api.md#json-conventions); so a record
that goes both ways has two schemas: `Device` and `DeviceInput`.
"""

from collections.abc import Iterable
from typing import Any

from msgspec import inspect

from motorpool.api.engine.descriptions import describe_field, describe_record
from motorpool.api.engine.examples import EXAMPLES
from motorpool.api.engine.operations import NO_RULES, BodyRules

Json = dict[str, Any]

_REFERENCE = "#/components/schemas/{}"


class Schemas:
    """Builds schemas, and collects the schemas of records as named components."""

    def __init__(self, answered: Iterable[object]) -> None:
        """`answered` are the types of all answers; a body of such a record becomes a component of its own."""
        self.components: dict[str, Json] = {}
        for shape in answered:
            self.of_answer(shape)
        self._answered = frozenset(self.components)

    def of_answer(self, shape: object) -> Json:
        """Return the schema of an answer."""
        return self._of(inspect.type_info(shape), None)

    def of_body(self, shape: object, rules: BodyRules = NO_RULES) -> Json:
        """Return the schema of a JSON body."""
        return self._of(inspect.type_info(shape), rules)

    def of_parameter(self, field: inspect.Field) -> Json:
        """Return the schema of a parameter or form field; it is never null, it may be absent."""
        kind, annotations = _without_annotations(field.type)
        if isinstance(kind, inspect.UnionType):
            kind, inner = _without_annotations(next(each for each in kind.types if not _is_null(each)))
            annotations = {**inner, **annotations}
        schema = {**self._of(kind, NO_RULES), **annotations}
        if isinstance(field.default, bool | int | str) and field.default != "":
            schema["default"] = field.default
        return schema

    def _of(self, kind: inspect.Type, rules: BodyRules | None) -> Json:
        kind, annotations = _without_annotations(kind)
        return {**self._described(kind, rules), **annotations}

    def _described(self, kind: inspect.Type, rules: BodyRules | None) -> Json:
        match kind:
            case inspect.AnyType() | inspect.RawType():
                return {}
            case inspect.NoneType():
                return {"type": "null"}
            case inspect.BoolType():
                return {"type": "boolean"}
            case inspect.IntType():
                return {"type": "integer", "format": "int64", **_bounds(kind)}
            case inspect.FloatType():
                return {"type": "number", "format": "double", **_bounds(kind)}
            case inspect.StrType():
                lengths = {"minLength": kind.min_length, "maxLength": kind.max_length}
                return {"type": "string", **_set(lengths)}
            case inspect.DateTimeType():
                return {"type": "string", "format": "date-time"}
            case inspect.LiteralType():
                return {"type": "string", "enum": sorted(str(value) for value in kind.values)}
            case inspect.ListType() | inspect.VarTupleType():
                return {"type": "array", "items": self._of(kind.item_type, rules)}
            case inspect.DictType():
                values = self._of(kind.value_type, rules)
                counts = {"minProperties": kind.min_length, "maxProperties": kind.max_length}
                return {"type": "object", "additionalProperties": values or True, **_set(counts)}
            case inspect.UnionType():
                return _either([self._of(each, rules) for each in kind.types])
            case inspect.StructType():
                return self._record(kind, rules)
        raise TypeError(f"no JSON Schema is known for {kind}")

    def _record(self, kind: inspect.StructType, rules: BodyRules | None) -> Json:
        name = title = kind.cls.__name__
        if rules is not None and name in self._answered:
            name = f"{name}Input"
        if name not in self.components:
            self.components[name] = {}
            schema: Json = {"type": "object", "title": name, "description": describe_record(kind.cls)}
            sent = [field for field in kind.fields if rules is None or field.name not in rules.ignored]
            schema["properties"] = {field.encode_name: self._field(kind.cls, field, rules) for field in sent}
            required = [field.encode_name for field in sent if _is_required(field, rules)]
            if required:
                schema["required"] = required
            if rules is None and title in EXAMPLES:
                schema["examples"] = [EXAMPLES[title]]
            self.components[name] = schema
        return {"$ref": _REFERENCE.format(name)}

    def _field(self, record: type, field: inspect.Field, rules: BodyRules | None) -> Json:
        schema = self._of(field.type, rules)
        if rules is not None:
            if not _is_required(field, rules):
                schema = _either([schema, {"type": "null"}])
            elif schema.get("type") == "string":
                # Texts are stripped, and must not be blank.
                schema["pattern"] = r"\S"
            if field.name in rules.max_lengths:
                schema["maxLength"] = rules.max_lengths[field.name]
        if "description" not in schema:
            schema["description"] = describe_field(record, field.name, field.encode_name)
        return schema


def _is_required(field: inspect.Field, rules: BodyRules | None) -> bool:
    return rules is None or field.required or field.name in rules.required


def _without_annotations(kind: inspect.Type) -> tuple[inspect.Type, Json]:
    """Split a type into itself and the JSON Schema of its annotations."""
    annotations: Json = {}
    while isinstance(kind, inspect.Metadata):
        annotations = {**(kind.extra_json_schema or {}), **annotations}
        kind = kind.type
    return kind, annotations


def _is_null(kind: inspect.Type) -> bool:
    return isinstance(kind, inspect.NoneType)


def _bounds(kind: inspect.IntType | inspect.FloatType) -> Json:
    return _set(
        {
            "minimum": kind.ge,
            "exclusiveMinimum": kind.gt,
            "maximum": kind.le,
            "exclusiveMaximum": kind.lt,
        }
    )


def _set(keywords: Json) -> Json:
    return {name: value for name, value in keywords.items() if value is not None}


def _either(schemas: list[Json]) -> Json:
    """One of these; "or null" becomes a second type where there is just one other."""
    others = [schema for schema in schemas if schema != {"type": "null"}]
    nullable = len(others) < len(schemas)
    if nullable and len(others) == 1:
        (only,) = others
        if not only:
            return {}
        if isinstance(only.get("type"), list):
            return only
        if "type" in only:
            return {**only, "type": [only["type"], "null"]}
    if nullable:
        others.append({"type": "null"})
    return {"anyOf": others} if len(others) > 1 else others[0]
