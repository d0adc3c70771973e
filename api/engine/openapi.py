"""The OpenAPI 3.1 document, from the declared operations."""

import re
from collections.abc import Iterable
from http import HTTPStatus
from typing import Any

import msgspec

from motorpool.api.engine.operations import Content, Operation

__all__ = ["describe"]

_REFERENCE = "#/components/schemas/{name}"

Json = dict[str, Any]


def describe(operations: Iterable[Operation], *, version: str, server: str = "/api") -> Json:
    """Build the document."""
    listed = list(operations)
    shapes = [shape for operation in listed for shape in _shapes(operation)]
    schemas, components = msgspec.json.schema_components(shapes, ref_template=_REFERENCE)
    by_shape = {repr(shape): schema for shape, schema in zip(shapes, schemas, strict=True)}
    paths: dict[str, Json] = {}
    for operation in listed:
        paths.setdefault(operation.plain_path, {})[operation.method.lower()] = _operation(operation, by_shape)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Motorpool",
            "version": version,
            "description": "A server for vehicle fleets: positions, live video, commands.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": server}],
        "security": [{"BasicAuth": []}, {"ApiKey": []}, {"Session": []}],
        "tags": [{"name": tag} for tag in dict.fromkeys(operation.tag for operation in listed)],
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {
                "BasicAuth": {"type": "http", "scheme": "basic"},
                "ApiKey": {"type": "http", "scheme": "bearer"},
                "Session": {"type": "apiKey", "in": "cookie", "name": "JSESSIONID"},
            },
        },
    }


def _shapes(operation: Operation) -> list[Any]:
    fields = (*_fields(operation.query), *_fields(operation.form))
    contents = [content.shape for content in operation.answers.values()]
    wanted = [*(field.type for field in fields), operation.body, *contents]
    return [shape for shape in wanted if shape is not None]


def _fields(shape: type[msgspec.Struct] | None) -> tuple[msgspec.structs.FieldInfo, ...]:
    return msgspec.structs.fields(shape) if shape is not None else ()


def _operation(operation: Operation, schemas: dict[str, Json]) -> Json:
    described: Json = {
        "operationId": operation.name,
        "summary": operation.summary,
        "tags": [operation.tag],
        "parameters": [_path_parameter(name, kind) for name, kind in operation.path_parameters],
        "responses": {},
    }
    for field in _fields(operation.query):
        described["parameters"].append(_query_parameter(field, schemas[repr(field.type)]))
    if not described["parameters"]:
        del described["parameters"]
    if operation.body is not None:
        described["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": schemas[repr(operation.body)]}},
        }
    if operation.raw:
        described["requestBody"] = {"required": True, "content": {kind: {} for kind in operation.raw}}
    if operation.form is not None:
        fields = _fields(operation.form)
        described["requestBody"] = {
            "required": any(field.required for field in fields),
            "content": {
                "application/x-www-form-urlencoded": {
                    "schema": {
                        "type": "object",
                        "properties": {field.encode_name: schemas[repr(field.type)] for field in fields},
                        "required": [field.encode_name for field in fields if field.required],
                    }
                }
            },
        }
    if operation.public:
        described["security"] = []
    for status, content in operation.answers.items():
        described["responses"][str(status)] = _answer(status, content, schemas)
    for status in sorted(_refusals(operation)):
        described["responses"].setdefault(
            str(status),
            {
                "description": HTTPStatus(status).phrase,
                "content": {"text/plain": {"schema": {"type": "string"}}},
            },
        )
    return described


def _refusals(operation: Operation) -> set[int]:
    found = {*operation.refusals, 503}
    if not operation.public:
        found |= {401, 429}
    if operation.query or operation.body is not None or operation.form or operation.raw:
        found.add(400)
    if operation.body is not None or operation.form or operation.raw:
        found.add(413)
    if operation.path_parameters:
        found.add(404)
    return found


def _answer(status: int, content: Content, schemas: dict[str, Json]) -> Json:
    described: Json = {"description": content.text or HTTPStatus(status).phrase}
    if content.shape is not None:
        described["content"] = {content.media_type: {"schema": schemas[repr(content.shape)]}}
    elif content.media_type == "application/json":
        described["content"] = {content.media_type: {"schema": {}}}
    elif content.media_type:
        described["content"] = {content.media_type: {"schema": {"type": "string"}}}
    if content.or_text:
        described["content"]["text/plain"] = {"schema": {"type": "string"}}
    return described


def _path_parameter(name: str, kind: type) -> Json:
    schema: Json = {"type": "string"}
    if kind is int:
        schema = {"type": "integer", "format": "int64", "minimum": 0, "maximum": 2**63 - 1}
    return {"name": name, "in": "path", "required": True, "schema": schema}


def _query_parameter(field: "msgspec.structs.FieldInfo", schema: Json) -> Json:
    # In a query a missing parameter is its default; null is no text anyone sends.
    options = [option for option in schema.get("anyOf", ()) if option != {"type": "null"}]
    shown = options[0] if len(options) == 1 else dict(schema)
    described: Json = {"name": field.encode_name, "in": "query", "required": field.required, "schema": shown}
    text = shown.get("description") or schema.get("description")
    if text:
        described["description"] = re.sub(r"\s+", " ", text)
    if shown.get("type") == "array":
        described["explode"] = True
    return described
