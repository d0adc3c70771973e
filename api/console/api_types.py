"""TypeScript types of the API, from its OpenAPI document (docs/console.md#types)."""

import sys
from collections.abc import Iterator, Mapping
from typing import Any

from motorpool.api.app import openapi_document

HEAD = "// Written by build.py from the OpenAPI document; a change here is lost.\n"
KNOWN = {
    *(
        "type",
        "title",
        "description",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "enum",
        "$ref",
    ),
    *("anyOf", "examples", "format", "default", "pattern", "minimum", "maximum", "exclusiveMinimum"),
    *("exclusiveMaximum", "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"),
    *("propertyNames", "uniqueItems", "multipleOf"),
}
"""Words of schemas: those that say a type, and those that only narrow its values."""
SCALARS = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}

Json = Mapping[str, Any]


def write_types(document: Json) -> str:
    """Return a module with an interface for each component, and the types of each operation by its id.

    `Answers` has what operations answer as JSON, `Bodies` what they take as JSON, `Queries` their parameters
    in the query, `Paths` their methods and paths. Raises ValueError for a schema with words that are not
    known here.
    """
    parts = [HEAD]
    for name, schema in document["components"]["schemas"].items():
        parts.append(f"{_comment(schema, '')}export interface {name} {_object(schema, '')}\n")
    operations = [each for methods in document["paths"].values() for each in methods.values()]
    for name, entries in (("Answers", _answers), ("Bodies", _bodies), ("Queries", _queries)):
        lines = [f"  {each['operationId']}: {text};\n" for each in operations if (text := entries(each))]
        parts.append(f"export interface {name} {{\n{''.join(lines)}}}\n")
    lines = [
        f'  {each["operationId"]}: "{method.upper()} {path}";\n'
        for path, methods in document["paths"].items()
        for method, each in methods.items()
    ]
    parts.append(f"export interface Paths {{\n{''.join(lines)}}}\n")
    return "\n".join(parts)


def _type(schema: Json, indent: str) -> str:
    unknown = schema.keys() - KNOWN
    if unknown:
        raise ValueError(f"the OpenAPI document has {', '.join(sorted(unknown))} in a schema: see {__file__}")
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "anyOf" in schema:
        return " | ".join(dict.fromkeys(_type(each, indent) for each in schema["anyOf"]))
    given = schema.get("type", [])
    kinds = [given] if isinstance(given, str) else given
    if "enum" in schema:
        values = [f'"{each}"' if isinstance(each, str) else str(each) for each in schema["enum"]]
        return " | ".join([*values, "null"] if "null" in kinds else values)
    return " | ".join(_kind(each, schema, indent) for each in kinds) or "unknown"


def _kind(kind: str, schema: Json, indent: str) -> str:
    match kind:
        case "array":
            item = _type(schema.get("items", {}), indent)
            return (
                f"readonly ({item})[]"
                if " | " in item or item.startswith("readonly ")
                else f"readonly {item}[]"
            )
        case "object":
            return _object(schema, indent)
        case _:
            return SCALARS[kind]


def _object(schema: Json, indent: str) -> str:
    if "properties" not in schema:
        values = schema.get("additionalProperties", True)
        return f"{{ [name: string]: {_type(values, indent) if isinstance(values, dict) else 'unknown'} }}"
    deeper = indent + "  "
    needed = schema.get("required", ())
    lines = [
        f"{_comment(each, deeper)}{deeper}{name}{'' if name in needed else '?'}: {_type(each, deeper)};\n"
        for name, each in schema["properties"].items()
    ]
    return f"{{\n{''.join(lines)}{indent}}}"


def _comment(schema: Json, indent: str) -> str:
    text = schema.get("description", "").replace("*/", "* /")
    return f"{indent}/** {text} */\n" if text else ""


def _answers(operation: Json) -> str:
    return " | ".join(dict.fromkeys(_json(each) for each in _successes(operation)))


def _successes(operation: Json) -> Iterator[Json]:
    for status, answer in operation["responses"].items():
        if status.startswith("2") and "application/json" in answer.get("content", {}):
            yield answer


def _bodies(operation: Json) -> str:
    body = operation.get("requestBody", {})
    return _json(body) if "application/json" in body.get("content", {}) else ""


def _queries(operation: Json) -> str:
    fields = [each for each in operation.get("parameters", ()) if each["in"] == "query"]
    if not fields:
        return ""
    schema = {
        "properties": {each["name"]: each["schema"] for each in fields},
        "required": [each["name"] for each in fields if each["required"]],
    }
    return _object(schema, "  ")


def _json(holder: Json) -> str:
    return _type(holder["content"]["application/json"]["schema"], "  ")


if __name__ == "__main__":
    sys.stdout.write(write_types(openapi_document()))
